"""A model client with one connection: python3 model_client.py HOST PORT

Each line of standard input is an order: {"count", "path", "headers", "body", "status"}. Its requests are sent
one after the other; the answer is a line with [sent, first byte, last byte] of each, in ms of the monotonic clock.
"""
import http.client
import json
import socket
import sys
import time


def now():
    return time.monotonic() * 1000


def call(connection, request, status):
    sent = now()
    connection.sendall(request)
    response = http.client.HTTPResponse(connection, method="POST")
    response.begin()
    first = response.read(1)
    at_first = now()
    rest = response.read()
    if response.status != status:
        sys.exit(f"status {response.status}: {(first + rest)[:300]!r}")
    return [sent, at_first, now()]


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    connection = socket.create_connection((host, port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for line in sys.stdin:
        order = json.loads(line)
        body = order["body"].encode()
        headers = {"host": host, "accept": "text/event-stream", "content-type": "application/json", **order["headers"], "content-length": len(body)}
        lines = [f"POST {order['path']} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        request = "\r\n".join(lines).encode() + body
        print(json.dumps([call(connection, request, order["status"]) for _ in range(order["count"])]), flush=True)


main()
