"""Turns: the tests of one class share a session, because each session starts containers."""

import time
import unittest

import openai
from openai.lib.beta.agents import AgentTurnResultError
from support import AGENT, ENVIRONMENT, Case, attempts, message, release, script, sessions, settled, text_of, unique, until

STEPS = [{"think": "Look first.", "shell": "echo from the sandbox"}, {"say": "It said so."}]
FIRST_TURN = script("Look.", *STEPS)


class CreationStream(Case):
    def test_events_to_the_end_of_the_stream_and_the_final_result(self):
        stream = sessions.create(agent=AGENT, environment=ENVIRONMENT, input=FIRST_TURN, stream=True)
        events = list(stream.with_result_collection())
        session_id = events[0].session.id
        self.addCleanup(sessions.delete, session_id)
        types = [event.type for event in events]
        self.assertEqual(types[:2], ["agent.session.created", "agent.session.environment.pending"])
        self.assertEqual(types[-2:], ["agent.session.turn.completed", "agent.session.idle"])
        self.assertEqual(len({event.event_id for event in events}), len(events))
        told = [event for event in events if event.type.startswith("agent.session.environment.")]
        self.assertEqual([event.environment.status for event in told], ["pending", "ready", "connected"])
        self.assertTrue(all(event.turn_id is None and event.environment.id == events[0].session.environment.id for event in told))
        self.assertLess(types.index("agent.session.environment.connected"), types.index("agent.session.turn.in_progress"))
        done = [event.item for event in events if event.type == "agent.session.turn.item.done"]
        self.assertEqual([item.type for item in done], ["reasoning", "command_execution", "message"])
        self.assertEqual((done[1].status, done[1].exit_code, done[1].output), ("completed", 0, "from the sandbox\n"))
        deltas = [event.delta for event in events if event.type == "agent.session.turn.output_text.delta"]
        self.assertEqual("".join(deltas), "It said so.")

        result = stream.get_final_result()
        self.assertEqual((result.output_text, result.session_id, result.turn.status), ("It said so.", session_id, "completed"))


class InOneSession(Case):
    @classmethod
    def setUpClass(cls):
        cls.id = sessions.create(agent=AGENT, environment=ENVIRONMENT, input=FIRST_TURN).id
        cls.addClassCleanup(lambda: (settled(cls.id), sessions.delete(cls.id)))
        assert sessions.retrieve(cls.id).status == "in_progress"
        settled(cls.id)
        cls.first = next(iter(sessions.turns.list(cls.id)))

    def newest_turn(self):
        return sessions.turns.list(self.id, limit=1).data[0]

    def send(self, text, **more):
        sessions.events.create(self.id, events=[message(text)], **more)

    def test_turns(self):
        self.assertEqual((self.first.status, self.first.error, self.first.subagent_id), ("completed", None, None))
        self.assertLessEqual(self.first.created_at, self.first.completed_at)
        self.assertEqual(sessions.turns.retrieve(self.first.id, session_id=self.id), self.first)
        usage = self.first.usage
        self.assertEqual(usage.total_tokens, usage.input_tokens + usage.output_tokens)

    def test_items_of_the_session_and_of_a_turn_by_pages(self):
        items = [item for item in sessions.items.list(self.id, order="asc", limit=3) if item.turn_id == self.first.id]
        self.assertEqual([item.type for item in items], ["message", "reasoning", "command_execution", "message"])
        self.assertEqual((text_of(items[0]), text_of(items[3])), (FIRST_TURN, "It said so."))
        page = sessions.turns.items.list(self.first.id, session_id=self.id, order="asc", limit=3)
        self.assertEqual(page.last_id, page.data[-1].id)
        self.assertEqual([len(each.data) for each in page.iter_pages()], [3, 1])
        self.assertEqual(list(page), items)
        newest_first = sessions.turns.items.list(self.first.id, session_id=self.id)
        self.assertEqual(list(newest_first), items[::-1])

    def test_sessions_stream_sends_the_input_and_gives_the_result(self):
        with sessions.stream(self.id, input=script("Say it.", {"say": "Said."})) as stream:
            result = stream.get_final_result()
        self.assertEqual((result.output_text, result.turn.status), ("Said.", "completed"))
        self.assertEqual(self.newest_turn().id, result.turn_id)
        with sessions.stream(self.id, input=script("Again.", {"say": "Again."})) as stream:
            types = [event.type for event in stream]
        self.assertEqual(types[-1], "agent.session.idle")
        self.assertIn("agent.session.turn.completed", types)

    def test_events_stream_answers_before_there_is_an_event(self):
        begin = time.monotonic()
        with sessions.events.stream(self.id) as stream:
            self.assertLess(time.monotonic() - begin, 2)
            self.assertTrue(stream.response.headers["content-type"].startswith("text/event-stream"))
            self.send(script("Go.", {"shell": "sleep 0.2; echo out"}, {"say": "Gone."}))
            types = []
            for event in stream:
                types.append(event.type)
                if event.type == "agent.session.idle" and "agent.session.turn.completed" in types:
                    break
        self.assertEqual(types[0], "agent.session.turn.created")

    def test_an_idempotency_key_makes_one_message_of_several_tries(self):
        key, text = unique("key"), script(unique("once"), {"say": "Once."})
        for _ in range(3):
            self.send(text, idempotency_key=key)
        settled(self.id)
        said = [item for item in sessions.items.list(self.id) if item.type == "message" and text_of(item) == text]
        self.assertEqual(len(said), 1)
        with self.assertRaises(openai.ConflictError) as refused:
            self.send("something else", idempotency_key=key)
        self.assertEqual(refused.exception.code, "conflict_error")

    def test_a_running_turn_cannot_be_deleted_and_can_be_cancelled(self):
        with sessions.events.stream(self.id) as stream:
            self.send(script("Wait.", {"wait": unique("hold"), "say": "Never said."}))
            until("the turn to run", lambda: self.newest_turn().status == "in_progress")
            with self.assertRaises(openai.ConflictError) as refused:
                sessions.delete(self.id)
            self.assertEqual(refused.exception.response.headers["x-should-retry"], "false")
            self.assertEqual(attempts(refused.exception), 1)
            sessions.events.create(self.id, events=[{"type": "agent.session.input.cancel"}])
            cancelled = next(event.turn for event in stream if event.type == "agent.session.turn.cancelled")
        self.assertEqual((cancelled.status, cancelled.error), ("cancelled", None))
        settled(self.id)
        with sessions.stream(self.id, input=script("And now?", {"say": "Still here."})) as stream:
            self.assertEqual(stream.get_final_result().output_text, "Still here.")

    def test_a_failed_turn_is_reported_and_the_session_goes_on(self):
        refusal = {"http": 400, "body": {"error": {"message": "no", "code": "invalid_request"}}}
        with sessions.stream(self.id, input=script("Fail.", refusal)) as stream:
            with self.assertRaises(AgentTurnResultError) as failed:
                stream.get_final_result()
        self.assertEqual(failed.exception.reason, "failed")
        self.assertEqual(self.newest_turn().status, "failed")
        self.assertEqual(sessions.retrieve(self.id).status, "idle")

    def test_text_arrives_before_the_model_has_finished(self):
        hold, text = unique("hold"), ""
        with sessions.stream(self.id, input=script("Hold.", {"say": "One two.", "hold": hold})) as stream:
            for event in stream:
                if event.type == "agent.session.turn.output_text.delta":
                    if text == "":
                        self.assertEqual(event.delta, "One ")
                        release(hold)
                    text += event.delta
        self.assertEqual(text, "One two.")


if __name__ == "__main__":
    unittest.main()
