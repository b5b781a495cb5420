"""An HTTP client: python3 container_client.py HOST PORT

It keeps one connection, but makes another after a pause, in which the server may have closed it.

Each line of standard input is an order: {"count", "method", "path", "headers", "body", "body_bytes", "status"}; the body is
a text, or that many bytes. Its requests are sent one after the other; the answer is a line with [sent, first byte, last
byte] of each, in ms of the monotonic clock.
"""
import http.client
import json
import socket
import sys
import time


# Seconds that an unused connection is taken to live.
PAUSE = 2


def now():
    return time.monotonic() * 1000


def call(connection, method, request, status):
    sent = now()
    connection.sendall(request)
    response = http.client.HTTPResponse(connection, method=method)
    response.begin()
    first = response.read(1)
    at_first = now()
    if response.status != status:
        sys.exit(f"status {response.status}: {(first + response.read())[:300]!r}")
    while response.read(1 << 20):
        pass
    return [sent, at_first, now()]


def connect(host, port):
    connection = socket.create_connection((host, port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    connection, used = connect(host, port), now()
    for line in sys.stdin:
        if now() - used > PAUSE * 1000:
            connection = connect(host, port)
        order = json.loads(line)
        body = bytes(order["body_bytes"]) or order["body"].encode()
        length = {"content-length": len(body)} if body else {}
        headers = {"host": host, **order["headers"], **length}
        lines = [f"{order['method']} {order['path']} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        request = "\r\n".join(lines).encode() + body
        print(json.dumps([call(connection, order["method"], request, order["status"]) for _ in range(order["count"])]), flush=True)
        used = now()


main()
