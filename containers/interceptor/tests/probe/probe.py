"""Attacks on the interceptor, the sniffer that looks for what got through, and a client that behaves.

Every packet of an attack carries `LEAK:<name>;`, or has a shape the sniffer knows. Each command prints JSON.
"""
import ctypes, errno, json, mmap, select, signal, socket, ssl, struct, sys, threading, time

ETH_P_ALL, ETH_P_IP, ETH_P_ARP = 3, 0x0800, 0x0806
SO_MARK = 36
SPOOFED_PORT = 7777


def token(name):
    return f"LEAK:{name};".encode()


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip(src, dst, proto, payload, options=b"", fragment=0):
    words = 5 + len(options) // 4
    head = struct.pack("!BBHHHBBH4s4s", 0x40 | words, 0, 4 * words + len(payload), 1, fragment, 64, proto, 0,
                       socket.inet_aton(src), socket.inet_aton(dst)) + options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def tcp(src, dst, sport, dport, flags, payload=b"", seq=1):
    head = struct.pack("!HHIIBBHHH", sport, dport, seq, 1, 0x50, flags, 8192, 0, 0)
    pseudo = socket.inet_aton(src) + socket.inet_aton(dst) + struct.pack("!BBH", 0, 6, len(head) + len(payload))
    return head[:16] + struct.pack("!H", checksum(pseudo + head + payload)) + head[18:] + payload


def udp(sport, dport, payload):
    return struct.pack("!HHHH", sport, dport, 8 + len(payload), 0) + payload


def arp(op, sender_mac, sender_ip, target_mac, target_ip):
    return struct.pack("!HHBBH", 1, ETH_P_IP, 6, 4, op) + sender_mac + socket.inet_aton(sender_ip) + target_mac + socket.inet_aton(target_ip)


def attempt(action):
    """Runs one try; what stopped it, or what came back."""
    try:
        return action() or "sent"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))


def tcp_dial(host, port, payload, mark=0, source=None, source_port=0):
    with socket.socket() as s:
        s.settimeout(3)
        if source_port:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if mark:
            s.setsockopt(socket.SOL_SOCKET, SO_MARK, struct.pack("I", mark))
        if source:
            s.bind((source, source_port))
        s.connect((host, port))
        s.sendall(payload)
        return "got:" + s.recv(4096).decode(errors="replace")


def udp_send(host, port, payload, mark=0):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        if mark:
            s.setsockopt(socket.SOL_SOCKET, SO_MARK, struct.pack("I", mark))
        s.sendto(payload, (host, port))


def raw_send(proto, host, payload, mark=0, header=False, device=None):
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW if header else proto) as s:
        if mark:
            s.setsockopt(socket.SOL_SOCKET, SO_MARK, struct.pack("I", mark))
        if device:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
        s.sendto(payload, (host, 0))


def packet_send(frame, device="eth0", bypass=False, mark=0, proto=0):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as s:
        if bypass:
            s.setsockopt(263, 20, 1)  # SOL_PACKET, PACKET_QDISC_BYPASS
        if mark:
            s.setsockopt(socket.SOL_SOCKET, SO_MARK, struct.pack("I", mark))
        s.sendto(frame, (device, proto))


def xdp_send(frame, queue=0):
    """Sends a frame through an AF_XDP socket in copy mode, which goes around the qdisc and netfilter."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_longlong]
    memory = libc.mmap(None, 8192, 3, 0x22, -1, 0)
    ctypes.memmove(memory, frame, len(frame))
    with socket.socket(44, socket.SOCK_RAW, 0) as s:
        s.setsockopt(283, 4, struct.pack("QQIII4x", memory, 8192, 4096, 0, 0))  # XDP_UMEM_REG
        for option in (5, 6, 3):  # fill, completion and transmit ring
            s.setsockopt(283, option, struct.pack("I", 4))
        offsets = struct.unpack("16Q", s.getsockopt(283, 1, 128))
        producer, _, desc, _ = offsets[4:8]
        ring = libc.mmap(None, desc + 4 * 16, 3, 1, s.fileno(), 0x80000000)
        address = struct.pack("HHIII", 44, 2, socket.if_nametoindex("eth0"), queue, 0)  # XDP_COPY
        if libc.bind(s.fileno(), address, len(address)):
            raise OSError(ctypes.get_errno(), "bind")
        ctypes.memmove(ring + desc, struct.pack("QII", 0, len(frame), 0), 16)
        ctypes.memmove(ring + producer, struct.pack("I", 1), 4)
        if libc.sendto(s.fileno(), None, 0, socket.MSG_DONTWAIT, None, 0) < 0:
            raise OSError(ctypes.get_errno(), "sendto")
        time.sleep(0.3)


def attacks(c, mark=0, prefix=""):
    """All ways out. With `mark` on every socket that takes one."""
    own, gw, victim = c["own"], c["gateway"], c["victim"]
    me, gw_mac, victim_mac = mac(c["own_mac"]), mac(c["gateway_mac"]), mac(c["victim_mac"])
    everyone = b"\xff" * 6
    sink, egress, other = c["sink"], c["egress"], c["other_egress"]
    out = {}

    def run(name, action):
        out[prefix + name] = attempt(lambda: action(token(prefix + name)))

    def to_victim(payload):
        return victim_mac + me + struct.pack("!H", ETH_P_IP) + payload

    def to_gateway(payload):
        return gw_mac + me + struct.pack("!H", ETH_P_IP) + payload

    # Kernel sockets.
    for place, host in (("gateway", gw), ("victim", victim), ("nowhere", "11.0.0.1"), ("broadcast", "172.17.255.255")):
        run(f"udp-{place}", lambda t, host=host: udp_send(host, sink, t, mark) if place != "broadcast" else broadcast(host, sink, t, mark))
        if place != "broadcast":
            run(f"icmp-{place}", lambda t, host=host: raw_send(1, host, icmp_echo(t), mark))
            run(f"sctp-{place}", lambda t, host=host: raw_send(132, host, t, mark))
    run("udp-multicast", lambda t: udp_send("224.0.0.251", 5353, t, mark))
    run("igmp", lambda t: join())
    run("ping-socket", lambda t: ping(victim, t))
    run("raw-udp-header", lambda t: raw_send(0, victim, ip(own, victim, 17, udp(9, sink, t)), mark, header=True))
    run("raw-udp-gateway", lambda t: raw_send(0, gw, ip(own, gw, 17, udp(9, sink, t)), mark, header=True))
    run("raw-tcp-data", lambda t: raw_send(0, victim, ip(own, victim, 6, tcp(own, victim, 9, sink, 0x18, t)), mark, header=True))
    run("raw-bound-device", lambda t: raw_send(0, victim, ip(own, victim, 17, udp(9, sink, t)), mark, True, "eth0"))
    run("raw-other-source", lambda t: raw_send(0, gw, ip(victim, gw, 17, udp(9, sink, t)), mark, header=True))
    # As the interceptor answers, but to open a connection, to others than workerd, or in another address's name.
    run("raw-syn-from-ingress", lambda t: raw_send(0, gw, ip(own, gw, 6, tcp(own, gw, 39001, sink, 2, t)), mark, header=True))
    run("raw-fin-from-ingress", lambda t: raw_send(0, gw, ip(own, gw, 6, tcp(own, gw, 39001, sink, 1, t)), mark, header=True))
    run("raw-answer-victim", lambda t: raw_send(0, victim, ip(own, victim, 6, tcp(own, victim, 39001, sink, 0x18, t)), mark, header=True))
    run("raw-answer-other-source", lambda t: raw_send(0, gw, ip(victim, gw, 6, tcp(victim, gw, 39001, sink, 0x18, t)), mark, header=True))
    run("raw-answer-fragment", lambda t: raw_send(0, gw, ip(own, gw, 6, tcp(own, gw, 39001, sink, 0x18, t), fragment=0x2000), mark, header=True))
    # Frames, the usual way and around the qdisc.
    for way, bypass in (("packet", False), ("bypass", True)):
        def frame(name, build, proto=0):
            run(f"{way}-{name}", lambda t: packet_send(build(t), bypass=bypass, mark=mark, proto=proto))
        frame("udp", lambda t: to_victim(ip(own, victim, 17, udp(9, sink, t))))
        frame("udp-gateway", lambda t: to_gateway(ip(own, gw, 17, udp(9, sink, t))))
        frame("icmp", lambda t: to_gateway(ip(own, gw, 1, icmp_echo(t))))
        frame("tcp-victim", lambda t: to_victim(ip(own, victim, 6, tcp(own, victim, 9, sink, 2, t))))
        frame("tcp-sink", lambda t: to_gateway(ip(own, gw, 6, tcp(own, gw, 9, sink, 2, t))))
        frame("tcp-other-egress", lambda t: to_gateway(ip(own, gw, 6, tcp(own, gw, 9, other, 2, t))))
        frame("syn-from-ingress", lambda t: to_gateway(ip(own, gw, 6, tcp(own, gw, 39001, sink, 2, t))))
        frame("fin-from-ingress", lambda t: to_gateway(ip(own, gw, 6, tcp(own, gw, 39001, sink, 1, t))))
        frame("egress-to-victim-mac", lambda t: to_victim(ip(own, gw, 6, tcp(own, gw, 9, egress, 2, t))))
        frame("egress-to-everyone", lambda t: everyone + to_gateway(ip(own, gw, 6, tcp(own, gw, 9, egress, 2, t)))[6:])
        frame("egress-other-source", lambda t: to_gateway(ip(victim, gw, 6, tcp(victim, gw, 9, egress, 2, t))))
        frame("other-mac", lambda t: gw_mac + victim_mac + to_gateway(ip(own, gw, 6, tcp(own, gw, 9, egress, 2, t)))[12:])
        frame("source-route", lambda t: to_gateway(
            ip(own, gw, 6, tcp(own, gw, 9, egress, 2, t), b"\x83\x07\x04" + socket.inet_aton(victim) + b"\0")))
        frame("fragment-first", lambda t: to_gateway(ip(own, gw, 6, tcp(own, gw, 9, egress, 2, t), fragment=0x2000)))
        frame("fragment-later", lambda t: to_gateway(ip(own, gw, 6, t + b"\0" * 20, fragment=0x0003)))
        frame("vlan", lambda t: gw_mac + me + b"\x81\x00\x00\x05" + to_gateway(ip(own, gw, 6, tcp(own, gw, 9, egress, 2, t)))[12:])
        frame("lying-type", lambda t: gw_mac + me + b"\x88\xb5" + ip(own, gw, 6, tcp(own, gw, 9, egress, 2, t)), proto=ETH_P_IP)
        frame("unknown-type", lambda t: everyone + me + b"\x88\xb5" + t)
        frame("ipv6", lambda t: everyone + me + b"\x86\xdd" + struct.pack("!IHBB", 0x60000000, len(t), 59, 64) + b"\xfe\x80" + b"\0" * 13 + b"\x01" + b"\xff\x02" + b"\0" * 13 + b"\x01" + t)
        frame("arp-padding", lambda t: everyone + me + b"\x08\x06" + arp(1, me, own, b"\0" * 6, gw) + t)
        for where, to in (("everyone", everyone), ("gateway", gw_mac), ("other", victim_mac)):
            # To pass for the gateway, and for the victim.
            frame(f"arp-spoof-2-{where}", lambda t: to + me + b"\x08\x06" + arp(2, me, gw, to, victim))
            frame(f"arp-spoof-1-{where}", lambda t: to + me + b"\x08\x06" + arp(1, me, victim, b"\0" * 6, gw))
        frame("arp-target", lambda t: everyone + me + b"\x08\x06" + arp(1, me, own, token("x")[:6], gw))
    run("xdp", lambda t: xdp_send(to_victim(ip(own, victim, 17, udp(9, sink, t)))))
    # On loopback, to be forwarded out.
    run("forward", lambda t: packet_send(b"\0" * 12 + b"\x08\x00" + ip("11.0.0.2", victim, 17, udp(9, sink, t)), "lo", mark=mark))
    return out


def dials(c, mark=0, prefix=""):
    """TCP connections to what must not be reached: each must end in a reset."""
    out = {}
    places = (("sink", c["gateway"], c["sink"]), ("other-egress", c["gateway"], c["other_egress"]),
              ("victim", c["victim"], c["victim_port"]), ("other-control", c["other"], 39001),
              ("gateway-control", c["gateway"], 39001), ("published", c["gateway"], c["published"]),
              ("loopback-control", "127.0.0.1", 39001), ("own-control", c["own"], 39001), ("any-control", "0.0.0.0", 39001),
              ("mapped-control", "127.5.5.5", 39001))
    for name, host, port in places:
        request = b"GET /ca HTTP/1.1\r\n\r\n" + token(prefix + name)
        out[prefix + name] = attempt(lambda: tcp_dial(host, port, request, mark))
    for name, source in (("own", c["own"]), ("any", "0.0.0.0"), ("loopback", "127.0.0.1")):
        # The port that workerd's calls are answered from.
        out[prefix + f"sink-from-control-{name}"] = attempt(
            lambda: tcp_dial(c["gateway"], c["sink"], token(prefix + name), mark, source, 39001))
    out[prefix + "own-control-from-gateway"] = attempt(lambda: spoof_transparent(c))
    return out


def spoof_transparent(c):
    with socket.socket() as s:
        s.settimeout(3)
        s.setsockopt(socket.SOL_IP, 15, 1)  # IP_FREEBIND
        s.bind((c["gateway"], 0))
        s.connect((c["own"], 39001))
        return "connected"


def spoofed_control(c):
    """SYNs to the control port that claim to come from the gateway, on loopback and through raw sockets; whether any is answered."""
    own, gw, mark = c["own"], c["gateway"], c["mark"]
    watch = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    results = {}
    for source in (gw, own, "127.0.0.1", "11.0.0.1"):
        packet = ip(source, own, 6, tcp(source, own, SPOOFED_PORT, 39001, 2))
        results[f"packet-{source}"] = attempt(lambda: packet_send(b"\0" * 12 + b"\x08\x00" + packet, "lo", mark=mark))
        results[f"bypass-{source}"] = attempt(lambda: packet_send(b"\0" * 12 + b"\x08\x00" + packet, "lo", bypass=True, mark=mark))
        results[f"raw-{source}"] = attempt(lambda: raw_send(0, own, packet, mark, header=True))
    answered, end = 0, time.time() + 1
    while time.time() < end:
        if select.select([watch], [], [], 0.1)[0]:
            frame = watch.recv(2048)
            if frame[12:14] == b"\x08\x00" and frame[23] == 6:
                sport, dport = struct.unpack("!HH", frame[34:38])
                if sport == 39001 and dport == SPOOFED_PORT and frame[47] & 0x12 == 0x12:
                    answered += 1
    return {"tries": results, "answered": answered}


def broadcast(host, port, payload, mark):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        if mark:
            s.setsockopt(socket.SOL_SOCKET, SO_MARK, struct.pack("I", mark))
        s.sendto(payload, (host, port))


def icmp_echo(payload):
    head = struct.pack("!BBHHH", 8, 0, 0, 1, 1)
    return head[:2] + struct.pack("!H", checksum(head + payload)) + head[4:] + payload


def ping(host, payload):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as s:
        s.sendto(icmp_echo(payload), (host, 0))


def join():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.1.2.3") + socket.inet_aton("0.0.0.0"))
    time.sleep(0.5)
    s.close()


def learn_mark(c):
    """Finds the interceptor's mark, bit by bit, with packet filters on a tap: root can."""
    taps = []
    for bit in range(32):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        # ld mark; jset 1<<bit, 0, 1; ret all; ret none
        code = [(0x20, 0, 0, 0xFFFFF000 + 20), (0x45, 0, 1, 1 << bit), (6, 0, 0, 0xFFFF), (6, 0, 0, 0)]
        program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
        tap.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HxxxxxxP", len(code), ctypes.addressof(program)))
        taps.append(tap)
    time.sleep(0.1)
    for tap in taps:
        while select.select([tap], [], [], 0)[0]:
            tap.recv(2048)
    attempt(lambda: tcp_dial("11.0.0.1", 80, b"GET / HTTP/1.1\r\nHost: mark.example\r\n\r\n"))
    time.sleep(0.3)
    mark = 0
    for bit, tap in enumerate(taps):
        while select.select([tap], [], [], 0)[0]:
            frame = tap.recv(2048)
            if frame[12:14] == b"\x08\x00" and frame[30:34] == socket.inet_aton(c["gateway"]):
                mark |= 1 << bit
    return mark


# The sniffer.

def sniff(c):
    """Prints every frame that left the named containers and should not have, once each."""
    watched = {mac(m): w for m, w in c["watched"].items()}
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE, if permitted
    seen = set()
    print(json.dumps({"ready": True}))
    while True:
        frame = tap.recv(65535)
        name = judge(c, watched, frame)
        if name and name not in seen:
            seen.add(name)
            print(json.dumps({"who": name[0], "what": name[1], "frame": frame[:80].hex()}))


def judge(c, watched, frame):
    who = watched.get(frame[6:12])
    kind = struct.unpack("!H", frame[12:14])[0]
    start = frame.find(b"LEAK:")
    named = frame[start + 5:frame.index(b";", start)].decode(errors="replace") if start >= 0 and b";" in frame[start:] else None
    if not who:
        return ("unknown", named) if named and frame[6:12] != mac(c["gateway_mac"]) else None
    own = socket.inet_aton(who["ip"])
    if kind == ETH_P_ARP:
        if frame[28:32] != own:
            where = {b"\xff" * 6: "everyone", mac(c["gateway_mac"]): "gateway"}.get(frame[:6], "other")
            return who["name"], f"arp-spoof-{frame[21]}-{where}"
        if frame[20:22] == b"\0\x01" and frame[32:38] != b"\0" * 6:
            return who["name"], "arp-target"
        return (who["name"], named) if named else None
    if kind == ETH_P_IP and frame[14] == 0x45 and frame[23] == 6 and frame[26:30] == own and frame[30:34] == socket.inet_aton(c["gateway"]):
        sport, dport = struct.unpack("!HH", frame[34:38])
        flags = frame[47]
        if frame[:6] == mac(c["gateway_mac"]) and not struct.unpack("!H", frame[20:22])[0] & 0x3FFF:
            if dport in who["egress"]:
                return None
            if sport == 39001 and dport != SPOOFED_PORT and flags & 0x14 and flags & 0x12 != 0x02:
                return None
    if kind == ETH_P_IP and frame[23] == 2:
        return who["name"], "igmp"
    return who["name"], named or f"type {kind:#x} protocol {frame[23]}"


# A client that behaves.

def fetch(c):
    """One request over HTTP or HTTPS by name; the body, or what went wrong."""
    try:
        s = socket.create_connection((c["host"], c["port"]), 5)
        if c.get("ca"):
            context = ssl.create_default_context(cadata=c["ca"])
            context.verify_flags |= ssl.VERIFY_X509_STRICT
            s = context.wrap_socket(s, server_hostname=c["host"])
        s.sendall(f"GET {c['path']} HTTP/1.1\r\nHost: {c['host']}\r\nConnection: close\r\n\r\n".encode())
        data = b""
        while part := s.recv(65536):
            data += part
        return data.decode(errors="replace")
    except OSError as error:
        return f"error: {error}"


def query(name, kind, number):
    return struct.pack("!HHHHHH", number, 0x0100, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0" + struct.pack("!HH", kind, 1)


def lookups(c):
    """A and AAAA of a name in parallel from one socket, many times; what was lost or wrong."""
    lost = wrong = 0
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if c.get("connected", True):
        s.connect(("1.1.1.1", 53))
    for i in range(c["count"]):
        pairs = [(1, "1.1.1.1"), (28, "1.1.1.1")] if c.get("connected", True) else [(1, "1.1.1.1"), (28, "8.8.8.8")]
        waiting = {}
        for kind, server in pairs:
            number = (2 * i + (kind == 28)) & 0xFFFF
            data = query(c["name"], kind, number)
            s.send(data) if c.get("connected", True) else s.sendto(data, (server, 53))
            waiting[number] = (kind, server)
        while waiting:
            if not select.select([s], [], [], 2)[0]:
                lost += len(waiting)
                break
            data, source = s.recvfrom(2048)
            number, flags, _, answers = struct.unpack("!HHHH", data[:8])
            expected = waiting.pop(number, None)
            if expected is None or source != (expected[1], 53) or flags & 15 or answers != (expected[0] == 1):
                wrong += 1
            elif expected[0] == 1 and not data.endswith(socket.inet_aton("11.0.0.1")):
                wrong += 1
    return {"lost": lost, "wrong": wrong}


def threads(c):
    """The same from several threads on one socket, in bursts: replies are only counted."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect(("1.1.1.1", 53))
    lost = 0
    for i in range(c["count"]):
        barrier = threading.Barrier(4)
        def send(number):
            barrier.wait()
            s.send(query(c["name"], 1 if number % 2 else 28, number))
        started = [threading.Thread(target=send, args=(4 * i + k,)) for k in range(4)]
        [t.start() for t in started]
        [t.join() for t in started]
        for _ in range(4):
            if not select.select([s], [], [], 2)[0]:
                lost += 1
                continue
            s.recv(2048)
    return {"lost": lost}


def rcode(c):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(3)
    s.sendto(query(c["name"], 1, 7), ("1.1.1.1", 53))
    return s.recv(2048)[3] & 15


def serve(c):
    """An echo server, so that there is something to reach."""
    s = socket.create_server(("0.0.0.0", c["port"]))
    print(json.dumps({"ready": True}))
    while True:
        connection, _ = s.accept()
        threading.Thread(target=lambda: [connection.sendall(d) for d in iter(lambda: connection.recv(4096), b"")], daemon=True).start()


def wait(c):
    print(json.dumps({"ready": True}))
    signal.pause()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    command, config = sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
    commands = {"sniff": sniff, "serve": serve, "wait": wait, "fetch": fetch, "lookups": lookups, "threads": threads, "rcode": rcode,
                "learn_mark": learn_mark, "spoofed_control": spoofed_control,
                "attacks": lambda c: attacks(c, c.get("mark", 0), c.get("prefix", "")),
                "dials": lambda c: dials(c, c.get("mark", 0), c.get("prefix", "")),
                "dial": lambda c: attempt(lambda: tcp_dial(c["host"], c["port"], c["say"].encode(), c.get("mark", 0)))}
    print(json.dumps(commands[command](config)))
