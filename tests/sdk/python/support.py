"""What these tests share. They need a gateway with a scripted model; from the environment:

CLOISTER_BASE_URL    the gateway's, with /v1
CLOISTER_API_KEY     a key of it
CLOISTER_MODEL_URL   the scripted model's (tests/support/model.mjs)
"""

import json
import os
import secrets
import time
import urllib.error
import urllib.request

from openai import OpenAI


def setting(name):
    value = os.environ.get(name)
    if not value:
        raise RuntimeError(f"{name} is not set: run these tests through ./dev test")
    return value


BASE_URL = setting("CLOISTER_BASE_URL")
API_KEY = setting("CLOISTER_API_KEY")
MODEL_URL = setting("CLOISTER_MODEL_URL")

# Retries and all else as applications have it; only a hang ends sooner.
client = OpenAI(base_url=BASE_URL, api_key=API_KEY, timeout=60)
sessions = client.beta.agents.sessions
AGENT = {"model": "codex"}
ENVIRONMENT = {"type": "openai_hosted"}


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


def settled(session_id):
    """Waits until nothing runs in the session."""
    return until(f"{session_id} to be idle", lambda: sessions.retrieve(session_id).status == "idle")


def text_of(item):
    return "".join(part.text for part in item.content)


def attempts(error):
    """How often the SDK had tried when it was given this answer: 1 is once."""
    return 1 + int(error.response.request.headers["x-stainless-retry-count"])
