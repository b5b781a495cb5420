"""What a sandbox may reach: given with a session, read and replaced. None of these starts a container."""

import openai
from support import AGENT, ENVIRONMENT, Case, client, foreign_client, sessions

BETA = {"headers": {"OpenAI-Beta": "agents=v1"}}


def path(session_id):
    return f"/agents/sessions/{session_id}/network"


class Network(Case):
    def create(self, **environment):
        session = sessions.create(agent=AGENT, environment=ENVIRONMENT | environment)
        self.addCleanup(sessions.delete, session.id)
        return session

    def test_given_with_a_session_and_shown(self):
        session = self.create(network={"access": "restricted", "allowed_domains": ["example.com"]}, env={"A": "canary"})
        for each in session, sessions.retrieve(session.id):
            network = each.environment.network
            self.assertEqual((network.access, network.allowed_domains), ("restricted", ["example.com"]))
            self.assertNotIn("canary", each.model_dump_json())

    def test_read_and_replaced(self):
        session_id = self.create().id
        before = client.get(path(session_id), cast_to=object, options=BETA)
        self.assertEqual((before["access"], before["session_id"]), ("disabled", session_id))
        body = {"access": "restricted", "blocked_domains": ["example.com"]}
        after = client.post(path(session_id), cast_to=object, body=body, options=BETA)
        self.assertEqual((after["access"], after["blocked_domains"]), ("restricted", ["example.com"]))
        self.assertGreater(after["epoch"], before["epoch"])
        self.assertEqual(client.get(path(session_id), cast_to=object, options=BETA), after)
        network = sessions.retrieve(session_id).environment.network
        self.assertEqual((network.access, network.allowed_domains), ("restricted", []))

    def test_nothing_was_decided_yet(self):
        audit = client.get(f"{path(self.create().id)}/audit", cast_to=object, options=BETA)
        self.assertEqual((audit["object"], audit["data"]), ("list", []))

    def test_another_tenant_finds_nothing(self):
        session_id = self.create().id
        with foreign_client() as foreign:
            for call, more in [(foreign.get, {}), (foreign.post, {"body": {"access": "enabled"}})]:
                with self.assertRaises(openai.NotFoundError):
                    call(path(session_id), cast_to=object, options=BETA, **more)
        self.assertEqual(sessions.retrieve(session_id).environment.network.access, "disabled")
