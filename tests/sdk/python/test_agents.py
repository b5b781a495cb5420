"""Saved agents as resources, and sessions made from them: none of these starts a container."""

import unittest

import openai
from support import ENVIRONMENT, Case, agents, raw, sessions

UNKNOWN = "agent_00000000000000000000000000000000"
LOOKUP = {"type": "function", "name": "lookup", "description": "Looks it up.", "parameters": {"type": "object"}}
FULL = {
    "name": "Before",
    "instructions": "Before.",
    "metadata": {"a": "1"},
    "reasoning": {"effort": "low", "summary": "auto"},
    "text": {"verbosity": "low"},
    "multi_agent": {"enabled": True, "max_concurrent_subagents": 2},
    "tools": [LOOKUP],
}


class Agents(Case):
    def make(self, **fields):
        agent = agents.create(model="codex", **fields)
        self.addCleanup(lambda: agents.delete(agent.id) if agent.id not in self.deleted else None)
        return agent

    def setUp(self):
        self.deleted = set()

    def delete(self, agent_id):
        self.deleted.add(agent_id)
        return agents.delete(agent_id)

    def test_create_and_retrieve_give_the_whole_resource(self):
        plain = self.make()
        self.assertRegex(plain.id, "^agent_")
        self.assertEqual((plain.object, plain.model, plain.name, plain.instructions), ("agent", "codex", None, None))
        self.assertEqual((plain.metadata, plain.tools, plain.service_tier), ({}, [], "auto"))
        self.assertEqual((plain.reasoning.effort, plain.text.format.type, plain.text.verbosity), (None, "text", "medium"))
        self.assertEqual((plain.multi_agent.enabled, plain.multi_agent.max_concurrent_subagents), (False, None))
        full = self.make(**FULL)
        self.assertEqual(agents.retrieve(full.id), full)
        self.assertEqual((full.name, full.metadata, full.reasoning.summary), ("Before", {"a": "1"}, "auto"))
        self.assertEqual((full.multi_agent.max_concurrent_subagents, full.tools[0].defer_loading), (2, False))

    def test_update_keeps_what_is_omitted_replaces_and_clears(self):
        for change, read, expected in [
            ({}, lambda agent: agent.name, "Before"),
            ({"name": "After"}, lambda agent: (agent.name, agent.instructions), ("After", "Before.")),
            ({"name": None, "instructions": None}, lambda agent: (agent.name, agent.instructions), (None, None)),
            ({"metadata": {"b": "2"}}, lambda agent: agent.metadata, {"b": "2"}),
            ({"metadata": None}, lambda agent: agent.metadata, {}),
            ({"reasoning": {"effort": "high"}}, lambda agent: (agent.reasoning.effort, agent.reasoning.summary), ("high", None)),
            ({"reasoning": None}, lambda agent: (agent.reasoning.effort, agent.reasoning.summary), (None, None)),
            ({"text": None}, lambda agent: agent.text.verbosity, "medium"),
            ({"multi_agent": {"enabled": True}}, lambda agent: agent.multi_agent.max_concurrent_subagents, 6),
            ({"tools": None}, lambda agent: agent.tools, []),
        ]:
            with self.subTest(change=change):
                agent = self.make(**FULL)
                updated = agents.update(agent.id, **change)
                self.assertEqual(read(updated), expected)
                self.assertEqual(agents.retrieve(agent.id), updated)
                kept = set(FULL) - set(change)
                self.assertEqual({name: getattr(updated, name) for name in kept}, {name: getattr(agent, name) for name in kept})

    def test_refusals(self):
        for call, param in [
            (lambda: agents.create(model=None), "model"),
            (lambda: agents.create(model="codex", extra_body={"surprise": 1}), "surprise"),
            (lambda: agents.create(model="codex", reasoning={"effort": "huge"}), "reasoning.effort"),
            (lambda: agents.update(self.make().id, model=None), "model"),
        ]:
            with self.subTest(param=param), self.assertRaises(openai.BadRequestError) as refused:
                call()
            self.assertEqual(refused.exception.param, param)
        with self.assertRaises(openai.BadRequestError) as refused:
            agents.create(model="codex", tools=[LOOKUP, LOOKUP])
        self.assertIn("duplicate function tool name: lookup", refused.exception.message)
        for call in agents.retrieve, agents.update, agents.delete:
            with self.subTest(call=call.__name__), self.assertRaises(openai.NotFoundError):
                call(UNKNOWN)

    def test_list_pages_without_gaps_and_survives_deletion(self):
        made = {self.make().id for _ in range(5)}
        found = [agent.id for agent in agents.list(limit=2)]
        self.assertEqual(len(found), len(set(found)))
        self.assertLessEqual(made, set(found))
        self.assertEqual([agent.id for agent in agents.list(limit=100, order="asc")], found[::-1])
        cursor = agents.list(limit=2).data[1].id
        self.delete(cursor)
        self.assertEqual([agent.id for agent in agents.list(after=cursor)][: len(found) - 2], found[2:])
        for query in "limit=0", "limit=101", "limit=abc", "order=sideways", f"after={UNKNOWN}", "limit=1&limit=2":
            self.assertEqual(raw("GET", f"/agents?{query}")[0], 400, query)

    def test_a_deleted_agent_is_gone(self):
        agent = self.make()
        self.assertEqual(self.delete(agent.id).to_dict(), {"id": agent.id, "object": "agent.deleted", "deleted": True})
        with self.assertRaises(openai.NotFoundError):
            agents.retrieve(agent.id)

    def test_sessions_of_a_saved_agent(self):
        agent = self.make(**FULL)
        made = []
        self.addCleanup(lambda: [sessions.delete(each.id) for each in made])
        made.append(sessions.create(environment=ENVIRONMENT, agent_id=agent.id))
        shown = made[0].agent
        self.assertEqual((shown.id, shown.name, shown.instructions), (agent.id, "Before", "Before."))
        self.assertEqual((shown.reasoning, shown.multi_agent), (agent.reasoning, agent.multi_agent))
        other = {"instructions": None, "reasoning": {"effort": "high"}, "tools": []}
        made.append(sessions.create(environment=ENVIRONMENT, agent_id=agent.id, agent=other))
        shown = made[1].agent
        self.assertEqual((shown.name, shown.instructions, shown.tools), ("Before", None, []))
        self.assertEqual((shown.reasoning.effort, shown.reasoning.summary), ("high", None))
        agents.update(agent.id, instructions="After.")
        self.assertEqual(sessions.retrieve(made[0].id).agent.instructions, "Before.")
        self.assertEqual({each.id for each in sessions.list(agent_id=agent.id)}, {each.id for each in made})
        with self.assertRaises(openai.NotFoundError):
            sessions.create(environment=ENVIRONMENT, agent_id=UNKNOWN)


if __name__ == "__main__":
    unittest.main()
