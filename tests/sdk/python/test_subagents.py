"""Subagents: the root's calls, their events, and the resources under which children are read. One session."""

import unittest

import openai
from support import AGENT, NONE, Case, script, sessions, text_of, unique

TASK = script(unique("child"), {"say": "Child done."})
STEPS = [{"spawn": TASK}, {"await": True}, {"dismiss": True}, {"say": "All done."}]


class Subagents(Case):
    @classmethod
    def setUpClass(cls):
        agent = {**AGENT, "multi_agent": {"enabled": True}}
        stream = sessions.create(agent=agent, environment=NONE, input=script("Delegate.", *STEPS), stream=True)
        cls.events = list(stream.with_result_collection())
        cls.session = cls.events[0].session
        cls.addClassCleanup(sessions.delete, cls.session.id)
        assert stream.get_final_result().output_text == "All done."
        cls.child = next(event.subagent for event in cls.events if event.type == "agent.session.subagent.created")
        cls.of = {"session_id": cls.session.id}

    def test_the_stream_tells_of_the_subagents_life_and_nothing_of_what_it_does(self):
        kinds = [event.type for event in self.events]
        self.assertLess(kinds.index("agent.session.subagent.created"), kinds.index("agent.session.subagent.closed"))
        self.assertEqual(kinds.count("agent.session.turn.created"), 1)
        root = next(event.turn_id for event in self.events if event.type == "agent.session.turn.created")
        self.assertLessEqual({getattr(event, "turn_id", None) for event in self.events}, {root, None})

    def test_the_resources(self):
        [listed] = sessions.subagents.list(self.session.id)
        self.assertEqual(sessions.subagents.retrieve(self.child.id, **self.of), listed)
        self.assertEqual((listed.id, listed.status, listed.parent_agent_id), (self.child.id, "closed", self.session.agent.id))
        items = list(sessions.subagents.items.list(self.child.id, order="asc", limit=1, **self.of))
        self.assertEqual(text_of(items[-1]), "Child done.")
        [turn] = sessions.subagents.turns.list(self.child.id, **self.of)
        self.assertEqual((turn.subagent_id, turn.agent_id, turn.status), (self.child.id, self.session.agent.id, "completed"))
        of = self.of | {"subagent_id": self.child.id}
        self.assertEqual(sessions.subagents.turns.retrieve(turn.id, **of), turn)
        self.assertEqual(list(sessions.subagents.turns.items.list(turn.id, order="asc", limit=1, **of)), items)
        for call in sessions.turns.retrieve, sessions.turns.items.list:
            with self.subTest(call=call.__qualname__), self.assertRaises(openai.NotFoundError):
                call(turn.id, **self.of)

    def test_the_roots_calls_are_items_of_its_turn(self):
        items = [item for item in sessions.items.list(self.session.id, order="asc") if item.type.endswith("_call")]
        self.assertEqual([item.type for item in items], ["create_subagent_call", "wait_for_subagents_call", "close_subagent_call"])
        self.assertEqual(items[0].content[0].text, TASK)
        self.assertEqual((items[1].recipient_agent_ids, items[2].recipient_agent_id), ([self.child.id], self.child.id))


if __name__ == "__main__":
    unittest.main()
