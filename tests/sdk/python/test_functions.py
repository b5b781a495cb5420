"""Functions of the client: what the agent calls, and what the client answers. The tests share a session."""

import asyncio
import unittest

import openai
from openai.lib.beta.agents import AgentTurnResultError, function_tool, pydantic_function_tool
from pydantic import BaseModel
from support import (
    AGENT, CANCEL, NONE, Case, Followed, added, async_client, attempts, message, outputs_in, release, release_while, requests_with, result, script, sessions, settled, unique, until,
)

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
LOOKUP = {"type": "function", "name": "lookup", "description": "Looks up a city.", "parameters": PARAMETERS}
HIDDEN = LOOKUP | {"name": "hidden_weather", "description": "Weather forecast of a city.", "defer_loading": True}
LATER = LOOKUP | {"name": "later", "description": "Looks it up later.", "async": True}
TOOLS = [LOOKUP, HIDDEN, LATER, {"type": "tool_search"}]
CALL = {"call": "lookup", "arguments": {"city": "Oslo"}}
SAY = {"say": "Cold."}
UNKNOWN_TURN = "turn_00000000000000000000000000000000"


class CreationStream(Case):
    def test_a_handler_answers_calls_of_the_first_turn(self):
        tag, calls = unique("creation"), []
        handlers = {"lookup": lambda given: calls.append(given) or {"degrees": -3}}
        stream = sessions.create(
            agent={**AGENT, "tools": [LOOKUP]}, environment=NONE, input=script(tag, CALL, SAY), stream=True, tool_handlers=handlers
        )
        events = list(stream.with_result_collection())
        self.addCleanup(sessions.delete, events[0].session.id)
        self.assertEqual(calls, [{"city": "Oslo"}])
        output = added(events, "function_call_output")
        self.assertEqual((output.status, output.error, output.call_id), ("completed", None, added(events, "function_call").call_id))
        self.assertIn("agent.session.requires_action", [event.type for event in events])
        self.assertEqual(stream.get_final_result().output_text, "Cold.")
        self.assertEqual([output.replace(" ", "") for output in outputs_in(tag)], ['{"degrees":-3}'])


class InOneSession(Case):
    @classmethod
    def setUpClass(cls):
        start = script("Begin.", {"say": "Ready."})
        cls.id = sessions.create(agent={**AGENT, "tools": TOOLS}, environment=NONE, input=start).id
        cls.addClassCleanup(lambda: sessions.delete(cls.id))

    def setUp(self):
        if sessions.retrieve(self.id).status == "requires_action":
            self.post(CANCEL)
        settled(self.id)

    def post(self, *events, **more):
        return sessions.events.create(self.id, events=list(events), **more)

    def run_turn(self, tag, *steps, **more):
        with sessions.stream(self.id, input=script(tag, *steps), **more) as stream:
            return stream.get_final_result()

    def up_to_call(self, *steps):
        followed = Followed(self, sessions.events.stream(self.id))
        self.post(message(script(*steps)))
        required = followed.next(lambda event: event.type == "agent.session.requires_action", what="a call")
        return followed, required.session.required_actions

    def refused(self, kind, words, *events):
        with self.assertRaises(kind) as caught:
            self.post(*events)
        self.assertRegex(caught.exception.body["message"], words)
        return caught.exception

    def test_what_is_required_from_the_call_to_its_result(self):
        tag, hold = unique("required"), unique("hold")
        followed, [action] = self.up_to_call(tag, CALL, {"wait": hold, **SAY})
        self.assertEqual((action.type, action.name, action.arguments), ("function_call", "lookup", {"city": "Oslo"}))
        session = sessions.retrieve(self.id)
        self.assertEqual((session.status, session.required_actions), ("requires_action", [action]))
        self.assertEqual(sessions.turns.retrieve(action.turn_id, session_id=self.id).status, "waiting")
        with self.assertRaises(openai.ConflictError) as busy:
            sessions.delete(self.id)
        self.assertEqual(attempts(busy.exception), 1)

        unknown = result(action, success=True, output="x") | {"call_id": "call_unknown"}
        error = self.refused(openai.BadRequestError, "^Unknown pending tool call: call_unknown$", unknown)
        self.assertEqual(error.code, "invalid_request_error")
        elsewhere = result(action, success=True, output="x") | {"turn_id": UNKNOWN_TURN}
        self.refused(openai.BadRequestError, "belongs to a different managed agent turn", elsewhere)

        given = result(action, success=True, output="-3")
        self.post(given)
        self.assertEqual(sessions.retrieve(self.id).required_actions, [])
        self.post(given)
        error = self.refused(openai.ConflictError, ".", result(action, success=True, output="-4"))
        self.assertEqual((error.code, attempts(error)), ("conflict_error", 1))
        release(hold)
        events = followed.up_to_rest()
        outputs = [event.item for event in events if event.type.endswith("item.added") and event.item.type == "function_call_output"]
        self.assertEqual([output.output for output in outputs], ["-3"])
        self.assertEqual(events[-1].session.required_actions, [])
        self.assertEqual(outputs_in(tag), ["-3"])

    def test_a_cancel_ends_what_waits_for_a_call(self):
        followed, [action] = self.up_to_call(unique("cancelled"), CALL, SAY)
        self.post(CANCEL)
        events = followed.up_to_rest()
        self.assertEqual((events[-2].type, events[-1].session.required_actions), ("agent.session.turn.cancelled", []))
        error = self.refused(openai.ConflictError, ".", result(action, success=True, output="late"))
        self.assertEqual(attempts(error), 1)
        self.assertEqual(self.run_turn(unique("after"), {"say": "Still here."}).output_text, "Still here.")

    def test_calls_that_were_made_at_once(self):
        tag, cities = unique("parallel"), ["Oslo", "Rome", "Lima"]
        calls = [{"call": "lookup", "arguments": {"city": city}} for city in cities]
        done = self.run_turn(tag, calls, {"say": "All."}, tool_handlers={"lookup": lambda given: f"in {given['city']}"})
        self.assertEqual(done.output_text, "All.")
        self.assertEqual(sorted(outputs_in(tag)), sorted(f"in {city}" for city in cities))

    def test_a_handler_that_fails_is_a_failed_call(self):
        tag, failures = unique("failing"), []

        def fail(_):
            raise RuntimeError("a secret of the client")

        done = self.run_turn(tag, CALL, {"say": "A pity."}, tool_handlers={"lookup": fail}, on_tool_error=failures.append)
        self.assertEqual((done.output_text, [failure.stage for failure in failures]), ("A pity.", ["execution"]))
        items = sessions.turns.items.list(done.turn_id, session_id=self.id)
        output = next(item for item in items if item.type == "function_call_output")
        self.assertEqual((output.status, output.output), ("failed", None))
        self.assertEqual(output.error, failures and "Tool handler failed.")
        self.assertNotIn("secret", outputs_in(tag)[0])

    def test_a_function_without_a_handler_is_the_applications_to_answer(self):
        with self.assertRaises(AgentTurnResultError) as stopped:
            self.run_turn(unique("unhandled"), CALL, SAY)
        error = stopped.exception
        self.assertEqual((error.reason, [action.name for action in error.required_actions]), ("requires_action", ["lookup"]))
        self.post(result(error.required_actions[0], success=True, output="By hand."))
        settled(self.id)
        self.assertEqual(sessions.turns.retrieve(error.turn_id, session_id=self.id).status, "completed")

    def test_function_tools_check_arguments_before_the_function_runs(self):
        class Place(BaseModel):
            """Looks up a place."""

            city: str

        @function_tool
        def lookup(city: str) -> list:
            """Looks up a city."""
            return [city, 1]

        typed = pydantic_function_tool(Place, handler=lambda place: {"seen": place.city}, name="place")
        session = sessions.update(self.id, agent={"tools": [lookup.definition, typed.definition]})
        self.addCleanup(sessions.update, self.id, agent={"tools": TOOLS})
        self.assertEqual([tool.name for tool in session.agent.tools], ["lookup", "place"])
        tag, stages = unique("typed"), []
        steps = [CALL, {"call": "lookup", "arguments": {"city": 5}}, {"call": "place", "arguments": {"city": "Rome"}}, SAY]
        done = self.run_turn(
            tag, *steps, tool_handlers={"lookup": lookup, "place": typed}, on_tool_error=lambda failure: stages.append(failure.stage)
        )
        self.assertEqual((done.output_text, stages), ("Cold.", ["arguments"]))
        outputs = outputs_in(tag)
        self.assertEqual((outputs[0], outputs[2].replace(" ", "")), ('["Oslo",1]', '{"seen":"Rome"}'))

    def test_a_deferred_function_is_found_by_a_search(self):
        tag, calls = unique("deferred"), []
        steps = [{"search": "weather forecast"}, {"call": "hidden_weather", "arguments": {"city": "Oslo"}}, SAY]
        self.run_turn(tag, *steps, tool_handlers={"hidden_weather": lambda given: calls.append(given) or "-3"})
        self.assertEqual(calls, [{"city": "Oslo"}])
        self.assertNotIn("hidden_weather", str(requests_with(tag)[0]["tools"]))

    def test_an_asynchronous_function_does_not_block_the_agent(self):
        tag, hold = unique("async"), unique("hold")
        followed = Followed(self, sessions.events.stream(self.id))
        self.post(message(script(tag, {"call": "later", "arguments": {}}, {"wait": hold, "say": "Going on."})))
        until("the model to be asked again", lambda: len(requests_with(tag)) >= 2)
        self.post(result(added(followed.events, "function_call"), success=True, output="the late result"))
        events = release_while(hold, followed.up_to_rest)
        self.assertEqual(events[-2].type, "agent.session.turn.completed")
        self.assertIn("the late result", str(requests_with(tag)[-1]["input"]))

    def test_the_asynchronous_client_with_asynchronous_handlers(self):
        async def lookup(given):
            await asyncio.sleep(0.01)
            return {"city": given["city"]}

        async def turn():
            async with async_client() as client:
                own = client.beta.agents.sessions
                async with own.stream(self.id, input=script(unique("awaited"), CALL, SAY), tool_handlers={"lookup": lookup}) as stream:
                    done = await stream.get_final_result()
                items = own.turns.items.list(done.turn_id, session_id=self.id, order="asc", limit=2)
                return done, [item.type async for item in items]

        done, kinds = asyncio.run(turn())
        self.assertEqual(done.output_text, "Cold.")
        self.assertEqual(kinds, ["message", "function_call", "function_call_output", "message"])


if __name__ == "__main__":
    unittest.main()
