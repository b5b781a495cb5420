"""Checks all that the gateway answers against tests/schemas/, and notes what was seen.

A violation fails the test during which it came. From the environment, optional:

CLOISTER_SEEN   a file to which each process adds what it saw, one a line: endpoints with their statuses, kinds of events,
                items and inputs
"""

import atexit
import json
import os
import pathlib
import re
import sys
import zlib

import httpx2
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

FOLDER = pathlib.Path(__file__).parents[2] / "schemas"
FILES = {path.name: json.loads(path.read_text()) for path in FOLDER.glob("*.json") if path.name != "routes.json"}
REGISTRY = Registry().with_resources((name, DRAFT202012.create_resource(schema)) for name, schema in FILES.items())
ROUTES = [
    (re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), path, methods)
    for path, methods in json.loads((FOLDER / "routes.json").read_text()).items()
]
FRAME = re.compile(r"event: (\S+)\ndata: (.*)")

problems = []
seen = set()


def no_problems():
    """Fails the test that is running with what was wrong since the last time."""
    found, problems[:] = problems[:], []
    assert not found, "\n".join(found)


@atexit.register
def _finish():
    if os.environ.get("CLOISTER_SEEN"):
        with open(os.environ["CLOISTER_SEEN"], "a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in sorted(seen))
    if problems:
        print("after the last test:", *problems, sep="\n", file=sys.stderr, flush=True)
        os._exit(1)


_validators = {}


def check(schema, value, where):
    if schema not in _validators:
        file, _, name = schema.partition("#/$defs/")
        if name and name not in FILES[file]["$defs"]:
            problems.append(f"{where}: there is no schema {schema}")
            return
        _validators[schema] = Draft202012Validator({"$ref": schema}, registry=REGISTRY)
    errors = [f"{error.json_path} {error.message[:400]}" for error in _validators[schema].iter_errors(value)]
    if errors:
        problems.append(f"{where}: {'; '.join(errors[:6])}; in {json.dumps(value)[:2000]}")


def _kind_of(item):
    return f"{item['role']}_message" if item["type"] == "message" else item["type"]


class _Frames:
    """Takes a stream apart as it comes: comments, or frames of exactly one event and one data line."""

    def __init__(self, where):
        self.where, self.rest, self.ids = where, b"", set()

    def feed(self, chunk):
        *frames, self.rest = (self.rest + chunk).split(b"\n\n")
        for frame in frames:
            self.frame(frame.decode())

    def frame(self, frame):
        if frame.startswith(":") and "\n" not in frame:
            return
        match = FRAME.fullmatch(frame)
        if not match or "\r" in frame:
            problems.append(f"{self.where}: no frame: {frame[:400]!r}")
            return
        event = json.loads(match[2])
        if event["type"] != match[1]:
            problems.append(f"{self.where}: event {match[1]} carries {event['type']}")
        if event["event_id"] in self.ids:
            problems.append(f"{self.where}: {event['event_id']} came twice")
        self.ids.add(event["event_id"])
        # By its own branch, so that what is reported is about that kind alone.
        check(f"event.json#/$defs/{event['type']}", event, self.where)
        seen.add(f"event {event['type']}")
        if "item" in event:
            seen.add(f"item {_kind_of(event['item'])}")

    def end(self):
        pass


class _Body:
    """A body that is checked when all of it is here."""

    def __init__(self, method, route, methods, status, where):
        self.method, self.route, self.methods, self.status, self.where, self.text = method, route, methods, status, where, b""

    def feed(self, chunk):
        self.text += chunk

    def end(self):
        if self.method == "HEAD" or self.status == 202:
            if self.text:
                problems.append(f"{self.where}: a body: {self.text[:200]!r}")
            return
        try:
            body = json.loads(self.text)
        except ValueError:
            problems.append(f"{self.where}: no JSON: {self.text[:200]!r}")
            return
        schema = "error.json" if self.status >= 400 else self.methods.get(self.method, {}).get(str(self.status))
        if schema is None:
            problems.append(f"{self.where}: no such answer is known: {self.text[:200]!r}")
            return
        check(schema, body, self.where)
        if schema.endswith("/items"):
            seen.update(f"item {_kind_of(item)}" for item in body["data"])


class _File:
    """Bytes that say nothing of themselves, of the length that was announced."""

    def __init__(self, headers, where):
        self.missing, self.where = int(headers["content-length"]), where
        if headers.get("content-type") != "application/octet-stream":
            problems.append(f"{where}: content type {headers.get('content-type')}")

    def feed(self, chunk):
        self.missing -= len(chunk)

    def end(self):
        if self.missing:
            problems.append(f"{self.where}: {self.missing} bytes are missing")


class _Watched(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    def __init__(self, stream, reader, encoding):
        self.stream, self.reader = stream, reader
        # The runtime compresses for clients that say they take it, as this SDK does.
        self.decode = zlib.decompressobj(wbits=31).decompress if encoding == "gzip" else bytes

    def __iter__(self):
        for chunk in self.stream:
            self.reader.feed(self.decode(chunk))
            yield chunk
        self.reader.end()

    async def __aiter__(self):
        async for chunk in self.stream:
            self.reader.feed(self.decode(chunk))
            yield chunk
        self.reader.end()

    def close(self):
        self.stream.close()

    async def aclose(self):
        await self.stream.aclose()


def _watch(request, response):
    method, status = request.method, response.status_code
    path = request.url.path.removeprefix("/v1")
    _, route, methods = next((each for each in ROUTES if each[0].fullmatch(path)), (None, None, {}))
    where = f"{method} {path} {status}"
    kind = response.headers.get("content-type", "")
    if ("GET" if method == "HEAD" else method) in methods:
        seen.add(f"{method} {route} {status}")
    if not re.fullmatch(r"req_\w+", response.headers.get("x-request-id", "")):
        problems.append(f"{where}: no request id")
    encoding = response.headers.get("content-encoding")
    if encoding not in (None, "gzip"):
        problems.append(f"{where}: encoded as {encoding}")
    if status == 202 and path.endswith("/events"):
        seen.update(f"input {event['type']}" for event in json.loads(request.content)["events"])
    if status < 300 and kind.startswith("text/event-stream"):
        if method == "POST":
            seen.add(f"POST {route} stream")
        reader = _Frames(where)
    elif status != 202 and methods.get(method, {}).get(str(status), "") is None:
        reader = _File(response.headers, where)
    else:
        if status != 202 and not kind.startswith("application/json"):
            problems.append(f"{where}: content type {kind}")
        reader = _Body(method, route, methods, status, where)
    response.stream = _Watched(response.stream, reader, encoding)
    return response


class Transport(httpx2.HTTPTransport):
    """The ordinary transport, but what comes is checked on the way."""

    def handle_request(self, request):
        return _watch(request, super().handle_request(request))


class AsyncTransport(httpx2.AsyncHTTPTransport):
    """The same for the asynchronous client."""

    async def handle_async_request(self, request):
        return _watch(request, await super().handle_async_request(request))
