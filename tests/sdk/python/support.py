"""What these tests share. They need a gateway with a scripted model; from the environment:

CLOISTER_BASE_URL    the gateway's, with /v1
CLOISTER_API_KEY     a key of it
CLOISTER_OTHER_KEY   a key of another tenant
CLOISTER_MODEL_URL   the scripted model's (tests/support/model.mjs)

Every answer is checked against tests/schemas/ on its way (contract.py).
"""

import json
import os
import secrets
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import contract
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI


def setting(name):
    value = os.environ.get(name)
    if not value:
        raise RuntimeError(f"{name} is not set: run these tests through ./dev test")
    return value


BASE_URL = setting("CLOISTER_BASE_URL")
API_KEY = setting("CLOISTER_API_KEY")
OTHER_KEY = setting("CLOISTER_OTHER_KEY")
MODEL_URL = setting("CLOISTER_MODEL_URL")

# Retries and all else as applications have it; only a hang ends sooner.
OPTIONS = {"base_url": BASE_URL, "api_key": API_KEY, "timeout": 60}
client = OpenAI(**OPTIONS, http_client=DefaultHttpxClient(transport=contract.Transport()))
agents = client.beta.agents
sessions = agents.sessions
AGENT = {"model": "codex"}
# With a sandbox.
ENVIRONMENT = {"type": "openai_hosted"}
# Without one: a conversation, which starts faster.
NONE = {"type": "none"}
CANCEL = {"type": "agent.session.input.cancel"}


def foreign_client():
    """A client of another tenant."""
    return OpenAI(**OPTIONS | {"api_key": OTHER_KEY}, http_client=DefaultHttpxClient(transport=contract.Transport()))


def async_client():
    """A client for one event loop."""
    return AsyncOpenAI(**OPTIONS, http_client=DefaultAsyncHttpxClient(transport=contract.AsyncTransport()))


class Case(unittest.TestCase):
    """A test that fails when an answer broke the schemas."""

    def tearDown(self):
        contract.no_problems()


def raw(method, path, body=None, **headers):
    """A request without an SDK: status, headers and JSON."""
    sent = {"authorization": f"Bearer {API_KEY}", "openai-beta": "agents=v1", "content-type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(BASE_URL + path, body, sent, method=method)
    try:
        response = urllib.request.urlopen(request, timeout=30)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        return response.status, response.headers, json.loads(response.read())


def unique(prefix):
    return f"{prefix}-{secrets.token_hex(6)}"


def script(words, *steps):
    """A message for the scripted model: each step is one of its answers."""
    return "\n".join([words, *(f"@@{json.dumps(step)}" for step in steps)])


def message(text):
    content = [{"type": "input_text", "text": text}]
    return {"type": "agent.session.input.message", "input": [{"role": "user", "content": content}]}


def until(what, probe, limit=30):
    end = time.monotonic() + limit
    while True:
        found = probe()
        if found:
            return found
        assert time.monotonic() < end, f"waited {limit} s in vain for {what}"
        time.sleep(0.05)


def release(name):
    """Lets a held answer of the model go on, as soon as it is held."""

    def released():
        try:
            request = urllib.request.Request(f"{MODEL_URL}/release/{name}", method="POST")
            with urllib.request.urlopen(request, timeout=5) as response:
                return response.status == 204
        except urllib.error.HTTPError:
            return False

    until(f"the model to hold {name}", released)


def release_while(name, pending):
    """Lets held answers of a name go on until a function returns: the harness may have asked more than once."""
    over = threading.Event()

    def releasing():
        while not over.wait(0.1):
            try:
                urllib.request.urlopen(urllib.request.Request(f"{MODEL_URL}/release/{name}", method="POST"), timeout=5).close()
            except urllib.error.HTTPError:
                pass  # nothing is held

    thread = threading.Thread(target=releasing, daemon=True)
    thread.start()
    try:
        return pending()
    finally:
        over.set()
        thread.join()


def settled(session_id):
    """Waits until nothing runs in the session."""
    return until(f"{session_id} to be idle", lambda: sessions.retrieve(session_id).status == "idle")


def result(call, **fields):
    return {"type": "agent.session.input.tool_result", "turn_id": call.turn_id, "call_id": call.call_id, **fields}


def requests_with(text):
    """The requests that the model got and that contain a text, oldest first."""
    with urllib.request.urlopen(f"{MODEL_URL}/requests?with={urllib.parse.quote(text)}", timeout=10) as response:
        return json.loads(response.read())


def outputs_in(text):
    """What the model was given as results of calls since it was told a text, in the newest request with it."""
    later = requests_with(text)[-1]["input"]
    while any(item.get("role") == "user" and text in json.dumps(item) for item in later):
        later = later[1:]
    outputs = [item["output"] for item in later if item["type"].endswith("_output")]
    return [output if isinstance(output, str) else json.dumps(output) for output in outputs]


class Followed:
    """Reads a stream in the background, to its end or the test's."""

    def __init__(self, test, stream):
        self.events = []
        self.over = False
        self.stream = stream
        test.addCleanup(self.close)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        try:
            for event in self.stream:
                self.events.append(event)
        except Exception:  # noqa: BLE001 - closing a stream that is being read raises what it likes
            pass
        self.over = True

    def close(self):
        self.stream.close()

    def next(self, probe, start=0, what="an event"):
        """The first event from `start` on for which `probe` holds."""

        def found():
            event = next(filter(probe, self.events[start:]), None)
            assert event or not self.over, f"the stream ended after {[event.type for event in self.events]}"
            return event

        return until(what, found)

    def up_to_rest(self, start=0):
        """Events until a turn has come to its end and the session to rest."""
        end = self.next(lambda event: event.type.endswith((".completed", ".failed", ".cancelled")), start, "the turn's end")
        self.next(lambda event: event.type == "agent.session.idle", self.events.index(end), "rest")
        return self.events[start:]


def added(events, kind):
    """The item of a kind that was added first."""
    items = (event.item for event in events if event.type == "agent.session.turn.item.added")
    return next(item for item in items if item.type == kind)


def text_of(item):
    return "".join(part.text for part in item.content)


def attempts(error):
    """How often the SDK had tried when it was given this answer: 1 is once."""
    return 1 + int(error.response.request.headers["x-stainless-retry-count"])
