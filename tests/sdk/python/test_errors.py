"""What the gateway refuses, and how it says so. None of these starts a container."""

import unittest

import openai
from support import AGENT, BASE_URL, ENVIRONMENT, Case, agents, attempts, raw, sessions

UNKNOWN = "sess_00000000000000000000000000000000"


class Errors(Case):
    def refused(self, kind, call, *args, **kwargs):
        with self.assertRaises(kind) as caught:
            call(*args, **kwargs)
        self.assertRegex(caught.exception.request_id, "^req_")
        return caught.exception

    def envelope(self, answer, status, code):
        got, headers, body = answer
        self.assertEqual(got, status)
        self.assertEqual(headers.get_content_type(), "application/json")
        self.assertRegex(headers["x-request-id"], "^req_")
        self.assertEqual(set(body["error"]), {"message", "type", "code", "param"})
        self.assertEqual(body["error"]["code"], code)

    def test_a_wrong_key(self):
        stranger = openai.OpenAI(base_url=BASE_URL, api_key="clk_wrong")
        error = self.refused(openai.AuthenticationError, stranger.beta.agents.sessions.list)
        self.assertEqual((error.code, attempts(error)), ("invalid_api_key", 1))

    def test_the_beta_header(self):
        for beta in "", "agents=v2":
            answer = raw("GET", "/agents/sessions", openai_beta=beta, authorization="Bearer clk_wrong")
            self.envelope(answer, 400, "invalid_beta")

    def test_bodies(self):
        good = {"agent": AGENT, "environment": ENVIRONMENT}
        for param, words, body in [
            ("surprise", "Unknown parameter: 'surprise'.", good | {"extra_body": {"surprise": 1}}),
            ("agent.surprise", "Unknown parameter: 'agent.surprise'.", good | {"agent": {**AGENT, "surprise": 1}}),
            ("agent", "Missing required parameter: 'agent'.", {"environment": ENVIRONMENT}),
            ("agent.model", "Supported values are: 'codex'.", good | {"agent": {"model": "gpt-5"}}),
            ("metadata.key", "Invalid type for 'metadata.key'", good | {"metadata": {"key": 1}}),
            ("input", "streaming session creation requires initial input", good | {"stream": True}),
        ]:
            with self.subTest(param=param):
                error = self.refused(openai.BadRequestError, sessions.create, **body)
                self.assertEqual((error.param, error.code, error.type), (param, *["invalid_request_error"] * 2))
                self.assertIn(words, error.message)

    def test_what_is_not_built_yet(self):
        good = {"agent": AGENT, "environment": ENVIRONMENT}
        for param, body in [
            ("vault_ids", good | {"vault_ids": ["vault_1"]}),
            ("review", good | {"review": "auto_review"}),
            ("environment.type", good | {"environment": {"type": "self_hosted", "workspace_directory": "/w"}}),
            ("environment.packages", good | {"environment": {**ENVIRONMENT, "packages": {"python": ["x"]}}}),
        ]:
            with self.subTest(param=param):
                error = self.refused(openai.BadRequestError, sessions.create, **body)
                self.assertEqual(error.param, param)
                self.assertIn("is not supported by this deployment yet", error.message)

    def test_places_that_are_not_there(self):
        for session_id in UNKNOWN, "x":
            error = self.refused(openai.NotFoundError, sessions.retrieve, session_id)
            self.assertEqual((error.type, error.code), ("not_found_error", "not_found_error"))
        error = self.refused(openai.NotFoundError, agents.vaults.list)
        self.assertEqual(error.code, "unknown_url")
        for call in agents.environments.list, agents.automations.list:
            self.refused(openai.NotFoundError, call)
        nowhere = {"session_id": UNKNOWN}
        for call, args, kwargs in [
            (sessions.update, [UNKNOWN], {"metadata": {}}),
            (sessions.events.create, [UNKNOWN], {"events": []}),
            (sessions.items.list, [UNKNOWN], {}),
            (sessions.turns.retrieve, ["turn_x"], nowhere),
            (sessions.turns.items.list, ["turn_x"], nowhere),
            (sessions.subagents.list, [UNKNOWN], {}),
            (sessions.subagents.retrieve, ["x"], nowhere),
            (sessions.subagents.items.list, ["x"], nowhere),
            (sessions.subagents.turns.list, ["x"], nowhere),
            (sessions.subagents.turns.retrieve, ["turn_x"], nowhere | {"subagent_id": "x"}),
            (sessions.subagents.turns.items.list, ["turn_x"], nowhere | {"subagent_id": "x"}),
        ]:
            with self.subTest(call=call.__qualname__):
                error = self.refused(openai.NotFoundError, call, *args, **kwargs)
                self.assertEqual(error.code, "not_found_error")
        self.envelope(raw("GET", "/nothing"), 404, "unknown_url")
        answer = raw("PUT", "/agents/sessions")
        self.envelope(answer, 405, "method_not_allowed")
        self.assertEqual(answer[1]["allow"], "GET, HEAD, POST")


if __name__ == "__main__":
    unittest.main()
