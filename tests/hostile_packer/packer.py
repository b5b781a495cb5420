#!/usr/bin/python3
"""What workspace code may put in the place of the packer.

As `/sbin/cloister-packer` it is run by the Worker with live grants. It writes them to /hostile/held, waits for a line in
/hostile/plan, takes that and does as it says:

    exec        be the honest packer
    honest      be the honest packer, but announce nothing
    exit N      end with this code
    noise       print megabytes, and ignore being asked to end
    fork        leave children that hold the output open, then print megabytes

As `python3 packer.py send` it reads a list of requests, JSON, sends each to the store over a connection of its own and prints
the answers. As `flood N` it sends N requests at once and prints how often each answer came.
"""
import hashlib, http.client, json, os, signal, socket, ssl, sys, threading, time

HONEST = "/sbin/honest-packer"
HELD, PLAN = "/hostile/held", "/hostile/plan"
STORE = ("backup.internal", 80)


def argument(name):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None


def line():
    """The next line of the plan, waited for."""
    while True:
        try:
            with open(PLAN) as plan:
                lines = plan.read().splitlines()
        except FileNotFoundError:
            lines = []
        if lines:
            with open(PLAN, "w") as plan:
                plan.write("".join(f"{rest}\n" for rest in lines[1:]))
            return lines[0]
        time.sleep(0.02)


def noise():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        os.write(1, b"noise " * 10_000)


def be_packer():
    if sys.argv[1] != "save":
        os.execv(HONEST, [HONEST, *sys.argv[1:]])
    with open(HELD + ".new", "w") as held:
        json.dump({"store": argument("--grant"), "announce": argument("--announce")}, held)
    os.rename(HELD + ".new", HELD)
    what, _, rest = line().partition(" ")
    if what == "exec":
        os.execv(HONEST, [HONEST, *sys.argv[1:]])
    if what == "honest":
        at = sys.argv.index("--announce") if "--announce" in sys.argv else len(sys.argv)
        os.execv(HONEST, [HONEST, *sys.argv[1:at], *sys.argv[at + 2 :]])
    if what == "exit":
        sys.exit(int(rest))
    if what == "fork":
        for _ in range(5):
            if os.fork() == 0:
                os.setsid()
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(120)
                os._exit(0)
    noise()


def connect(tls):
    plain = socket.create_connection((STORE[0], 443 if tls else STORE[1]), 20)
    if not tls:
        return plain
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(plain, server_hostname=STORE[0])


def parts(request):
    """Head and body of a request."""
    body = request.get("body", "")
    if "file" in request:
        with open(request["file"], "rb") as file:
            body = file.read()
    body = b"x" * body if isinstance(body, int) else body.encode() if isinstance(body, str) else body
    method = request.get("method", "PUT")
    lines = [f"{method} {request['target']} HTTP/1.1", f"host: {request.get('host', STORE[0])}"]
    length = request.get("length", len(body))
    if length is not None:
        lines.append(f"content-length: {length}")
    digest = request.get("digest", hashlib.sha256(body).hexdigest() if method == "PUT" else None)
    if digest is not None:
        lines.append(f"x-cloister-sha256: {digest}")
    if request.get("chunked"):
        lines.append("transfer-encoding: chunked")
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    lines += request.get("lines", [])
    return "\r\n".join(lines).encode() + b"\r\n\r\n", body


def answer(connection, method=None):
    response = http.client.HTTPResponse(connection, method=method)
    response.begin()
    try:
        text = response.read().decode(errors="replace")
    except (OSError, http.client.HTTPException):
        # The connection ends with an answer that comes before the end of the request.
        text = ""
    try:
        value = json.loads(text)
    except ValueError:
        value = {}
    code = value.get("code") or value.get("error", {}).get("code")
    return {"status": response.status, "code": code, "next": response.headers.get("x-cloister-next"), "body": text[:100_000]}


def trickle(connection, body):
    """One byte now and then, for ever, in a process that nobody waits for."""
    if os.fork() == 0:
        os.setsid()
        for stream in (0, 1, 2):
            os.close(stream)
        for at in range(len(body)):
            connection.sendall(body[at : at + 1])
            time.sleep(0.5)
        os._exit(0)


def send(request):
    head, body = parts(request)
    try:
        connection = connect(request.get("tls"))
        try:
            connection.sendall(head)
            if "trickle" in request:
                trickle(connection, body)
                return {"status": 0, "code": "trickles"}
            connection.sendall(body[: request.get("stop", len(body))])
        except OSError:
            # It may have been answered before its end.
            pass
        if "stop" in request:
            connection.close()
            return {"status": 0, "code": "stopped"}
        return answer(connection, request.get("method"))
    except (OSError, http.client.HTTPException) as error:
        return {"status": 0, "code": type(error).__name__}


def together(requests):
    """Sends them at the same time: each but for its last byte, then those."""
    whole = [b"".join(parts(request)) for request in requests]
    connections = [connect(False) for _ in requests]
    answers = [None] * len(requests)
    ready = threading.Barrier(len(requests))

    def one(at):
        connections[at].sendall(whole[at][:-1])
        ready.wait()
        connections[at].sendall(whole[at][-1:])
        try:
            answers[at] = answer(connections[at])
        except (OSError, http.client.HTTPException) as error:
            answers[at] = {"status": 0, "code": type(error).__name__}

    threads = [threading.Thread(target=one, args=(at,)) for at in range(len(requests))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def flood(count):
    seen = {}
    connections = []
    for number in range(count):
        head, body = parts({"target": f"/{number:032x}", "body": "hello"})
        connections.append(connect(False))
        connections[-1].sendall(head + body)
    for connection in connections:
        try:
            code = answer(connection)["code"]
        except (OSError, http.client.HTTPException) as error:
            code = type(error).__name__
        seen[code] = seen.get(code, 0) + 1
    print(json.dumps(seen))


if __name__ == "__main__":
    if os.path.basename(sys.argv[0]) == "cloister-packer":
        be_packer()
    elif sys.argv[1] == "flood":
        flood(int(sys.argv[2]))
    else:
        requests = json.load(sys.stdin)
        print(json.dumps([together(one) if isinstance(one, list) else send(one) for one in requests]))
