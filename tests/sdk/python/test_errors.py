"""What the gateway refuses, and how it says so. None of these starts a container."""

import unittest

import openai
from support import AGENT, BASE_URL, ENVIRONMENT, attempts, client, raw, sessions

UNKNOWN = "sess_00000000000000000000000000000000"


class Errors(unittest.TestCase):
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
        tool = {"type": "function", "name": "f", "description": "", "parameters": {"type": "object"}}
        for param, body in [
            ("agent_id", {"environment": ENVIRONMENT, "agent_id": "agent_1"}),
            ("vault_ids", good | {"vault_ids": ["vault_1"]}),
            ("review", good | {"review": "auto_review"}),
            ("agent.tools", good | {"agent": {**AGENT, "tools": [tool]}}),
            ("environment.type", good | {"environment": {"type": "none"}, "input": "hi"}),
            ("environment.type", good | {"environment": {"type": "self_hosted", "workspace_directory": "/w"}}),
            ("environment.packages", good | {"environment": {**ENVIRONMENT, "packages": {"python": ["x"]}}}),
            ("environment.network.access", good | {"environment": {**ENVIRONMENT, "network": {"access": "enabled"}}}),
        ]:
            with self.subTest(param=param):
                error = self.refused(openai.BadRequestError, sessions.create, **body)
                self.assertEqual(error.param, param)
                self.assertIn("is not supported by this deployment yet", error.message)

    def test_places_that_are_not_there(self):
        for session_id in UNKNOWN, "x":
            error = self.refused(openai.NotFoundError, sessions.retrieve, session_id)
            self.assertEqual((error.type, error.code), ("not_found_error", "not_found_error"))
        error = self.refused(openai.NotFoundError, client.beta.agents.list)
        self.assertEqual(error.code, "unknown_url")
        error = self.refused(openai.APIStatusError, sessions.update, UNKNOWN, metadata={})
        self.assertEqual((error.status_code, error.response.headers["allow"]), (405, "GET, HEAD, DELETE"))
        self.envelope(raw("GET", "/nothing"), 404, "unknown_url")
        answer = raw("PUT", "/agents/sessions")
        self.envelope(answer, 405, "method_not_allowed")
        self.assertEqual(answer[1]["allow"], "GET, HEAD, POST")


if __name__ == "__main__":
    unittest.main()
