"""Sessions as resources: none of these starts a container."""

import unittest

import openai
from support import AGENT, ENVIRONMENT, Case, raw, sessions, unique


class Sessions(Case):
    @classmethod
    def setUpClass(cls):
        cls.run_id = unique("run")
        cls.made = []
        cls.addClassCleanup(lambda: [sessions.delete(session.id) for session in cls.made])
        for number in range(5):
            metadata = {"run": cls.run_id, "number": str(number)}
            cls.made.append(sessions.create(agent=AGENT, environment=ENVIRONMENT, metadata=metadata))

    def ids(self, **query):
        return [session.id for session in sessions.list(**query)]

    def test_create_and_retrieve_give_the_whole_resource(self):
        session = sessions.retrieve(self.made[0].id)
        self.assertEqual(session, self.made[0].model_copy(update={"last_active_at": session.last_active_at}))
        self.assertRegex(session.id, "^sess_")
        self.assertRegex(session._request_id, "^req_")
        self.assertEqual((session.object, session.status, session.error), ("agent.session", "idle", None))
        self.assertEqual((session.agent.model, session.agent.instructions, session.agent.tools), ("codex", None, []))
        self.assertEqual((session.environment.type, session.environment.network.access), ("openai_hosted", "disabled"))
        self.assertEqual((session.required_actions, session.usage, session.vault_ids), ([], None, []))
        self.assertEqual(session.metadata, {"run": self.run_id, "number": "0"})

    def test_answers_are_json_and_say_so(self):
        answers = [
            sessions.with_raw_response.create(agent=AGENT, environment=ENVIRONMENT),
            sessions.with_raw_response.list(limit=1),
            sessions.with_raw_response.retrieve(self.made[0].id),
            sessions.items.with_raw_response.list(self.made[0].id),
            sessions.turns.with_raw_response.list(self.made[0].id),
        ]
        answers.append(sessions.with_raw_response.delete(answers[0].parse().id))
        self.assertEqual([answer.status_code for answer in answers], [201, *[200] * 5])
        for answer in answers:
            self.assertEqual(answer.headers["content-type"].split(";")[0], "application/json")

    def test_list_pages_through_five_sessions_two_at_a_time(self):
        page = sessions.list(limit=2, metadata={"run": self.run_id})
        sizes = [len(each.data) for each in page.iter_pages()]
        self.assertEqual(sizes, [2, 2, 1])
        self.assertTrue(page.has_more)
        found = self.ids(limit=2, metadata={"run": self.run_id})
        self.assertEqual(len(found), 5)
        self.assertEqual(set(found), {session.id for session in self.made})

    def test_list_goes_both_ways_and_filters(self):
        descending = self.ids(metadata={"run": self.run_id})
        self.assertEqual(self.ids(metadata={"run": self.run_id}, order="asc", limit=2), descending[::-1])
        self.assertEqual(self.ids(metadata={"run": self.run_id, "number": "3"}), [self.made[3].id])
        self.assertEqual(self.ids(metadata={"run": self.run_id, "number": "9"}), [])
        self.assertEqual(self.ids(agent_id=self.made[1].agent.id), [self.made[1].id])

    def test_list_refuses_what_it_does_not_know(self):
        nothing = "sess_00000000000000000000000000000000"
        for query in {"limit": 0}, {"limit": 101}, {"order": "sideways"}, {"after": nothing}:
            with self.subTest(**query), self.assertRaises(openai.BadRequestError) as refused:
                sessions.list(**query)
            self.assertEqual(refused.exception.param, next(iter(query)))

    def test_limits_that_are_none_and_keys_that_come_twice(self):
        for query in "limit=0", "limit=101", "limit=abc", "limit=", "limit=1&limit=2", "order=asc&order=asc":
            self.assertEqual(raw("GET", f"/agents/sessions?{query}")[0], 400, query)
        self.assertEqual(raw("GET", "/agents/sessions?limit=1&surprise=1&surprise=2")[0], 200)

    def test_a_cursor_is_valid_after_its_session_is_deleted(self):
        run = unique("run")
        made = [sessions.create(agent=AGENT, environment=ENVIRONMENT, metadata={"run": run}).id for _ in range(4)]
        self.addCleanup(lambda: [sessions.delete(session_id) for session_id in made])
        page = sessions.list(limit=2, metadata={"run": run})
        whole = self.ids(metadata={"run": run})
        sessions.delete(whole[1])
        self.assertEqual([session.id for session in page.get_next_page().data], whole[2:])

    def test_update(self):
        agent = {**AGENT, "instructions": "Stay.", "reasoning": {"effort": "low", "summary": "auto"}}
        made = sessions.create(agent=agent, environment=ENVIRONMENT, metadata={"a": "1"})
        self.addCleanup(sessions.delete, made.id)
        tool = {"type": "function", "name": "lookup", "description": "", "parameters": {"type": "object"}}
        for change, read, expected in [
            ({"metadata": {"b": "2"}}, lambda session: session.metadata, {"b": "2"}),
            ({"metadata": None}, lambda session: session.metadata, {}),
            ({"agent": {"reasoning": {"effort": "high"}}}, lambda session: session.agent.reasoning.to_dict(), {"effort": "high", "summary": "auto"}),
            ({"agent": {"reasoning": {"effort": None}}}, lambda session: session.agent.reasoning.to_dict(), {"effort": None, "summary": "auto"}),
            ({"agent": {"service_tier": None}}, lambda session: session.agent.service_tier, "auto"),
            ({"agent": {"tools": [tool]}}, lambda session: [each.name for each in session.agent.tools], ["lookup"]),
            ({"agent": {"tools": None}}, lambda session: session.agent.tools, []),
            ({"prompt_cache_options": {"ttl": "12h"}}, lambda session: session.prompt_cache_options.ttl, "12h"),
        ]:
            with self.subTest(change=change):
                updated = sessions.update(made.id, **change)
                self.assertEqual(read(updated), expected)
                self.assertEqual(updated.agent.instructions, "Stay.")
                self.assertEqual(read(sessions.retrieve(made.id)), expected)
        for change, param in [({"agent": {"model": None}}, "agent.model"), ({"agent": {"instructions": "x"}}, "agent.instructions")]:
            with self.subTest(change=change), self.assertRaises(openai.BadRequestError) as refused:
                sessions.update(made.id, **change)
            self.assertEqual(refused.exception.param, param)
        with self.assertRaises(openai.BadRequestError) as refused:
            sessions.update(made.id)
        self.assertIn("At least one update field is required", refused.exception.message)

    def test_create_with_one_idempotency_key_twice_makes_two_sessions(self):
        headers = {"Idempotency-Key": unique("key")}
        made = [sessions.create(agent=AGENT, environment=ENVIRONMENT, extra_headers=headers).id for _ in range(2)]
        self.addCleanup(lambda: [sessions.delete(session_id) for session_id in made])
        self.assertNotEqual(*made)

    def test_a_deleted_session_is_gone_and_deleting_it_again_says_the_same(self):
        session = sessions.create(agent=AGENT, environment=ENVIRONMENT)
        for _ in range(2):
            deleted = sessions.delete(session.id)
            self.assertEqual(deleted.to_dict(), {"id": session.id, "object": "agent.session.deleted", "deleted": True})
        for call in sessions.retrieve, sessions.items.list, sessions.turns.list, sessions.events.stream:
            with self.subTest(call=call.__qualname__), self.assertRaises(openai.NotFoundError) as gone:
                call(session.id)
            self.assertIn(f"No managed agent resource found: {session.id}", gone.exception.message)


if __name__ == "__main__":
    unittest.main()
