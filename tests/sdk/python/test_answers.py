"""What reaches the model, and answers that follow a schema. None of these has a sandbox."""

import unittest

import openai
from openai.lib.beta.agents import AgentOutputParseError, agent_text_format
from pydantic import BaseModel
from support import AGENT, NONE, Case, requests_with, script, sessions, settled, unique

PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Total(BaseModel):
    sum: int


class Answers(Case):
    def made(self, session_id):
        self.addCleanup(lambda: (settled(session_id), sessions.delete(session_id)))

    def test_a_conversation_without_a_sandbox(self):
        with self.assertRaises(openai.BadRequestError) as refused:
            sessions.create(agent=AGENT, environment=NONE)
        self.assertIn("conversation-only sessions currently require initial input", refused.exception.message)
        tag = unique("first")
        agent = {**AGENT, "instructions": "Answer as a pirate would.", "reasoning": {"effort": "low"}}
        session = sessions.create(agent=agent, environment=NONE, input=script(tag, {"say": "Arr."}))
        self.made(session.id)
        self.assertEqual(session.environment.to_dict(), NONE)
        settled(session.id)
        request = requests_with(tag)[0]
        self.assertIn("Answer as a pirate would.", str([request.get("instructions"), request["input"]]))
        self.assertEqual(request["reasoning"]["effort"], "low")
        self.assertNotIn("exec_command", str(request.get("tools")))

        changed = sessions.update(session.id, agent={"reasoning": {"effort": "high"}})
        self.assertEqual(changed.agent.reasoning.effort, "high")
        image = {"type": "input_image", "image_url": PIXEL}
        tag = unique("image")
        text = {"type": "input_text", "text": script(tag, {"say": "A pixel."})}
        with sessions.stream(session.id, input=[{"role": "user", "content": [text, image]}]) as stream:
            done = stream.get_final_result()
        self.assertEqual(done.output_text, "A pixel.")
        request = requests_with(tag)[0]
        self.assertIn(PIXEL, str(request["input"]))
        self.assertEqual(request["reasoning"]["effort"], "high")
        first = next(iter(sessions.turns.items.list(done.turn_id, session_id=session.id, order="asc")))
        self.assertEqual([part.to_dict() for part in first.content], [text, image])

    def test_a_type_for_the_answer(self):
        tag = unique("typed")
        start = script(tag, {"say": '{"sum": 5}'})
        stream = sessions.create(agent=AGENT, environment=NONE, input=start, stream=True, output_type=Total)
        done = stream.get_final_result()
        self.made(done.session_id)
        self.assertEqual(done.output_parsed, Total(sum=5))
        asked = requests_with(tag)[0]["text"]["format"]
        self.assertEqual((asked["type"], asked["schema"]), ("json_schema", agent_text_format(Total)["schema"]))
        settled(done.session_id)
        kept = sessions.retrieve(done.session_id).agent.text.format
        self.assertEqual((kept.type, kept.schema_), ("json_schema", agent_text_format(Total)["schema"]))

        with sessions.stream(done.session_id, input=script("Again.", {"say": '{"sum": 6}'}), output_type=Total) as stream:
            self.assertEqual(stream.get_final_result().output_parsed.sum, 6)
        with sessions.stream(done.session_id, input=script("Again.", {"say": "six"}), output_type=Total) as stream:
            with self.assertRaises(AgentOutputParseError) as failed:
                stream.get_final_result()
        self.assertEqual(failed.exception.result.output_text, "six")

    def test_a_schema_that_is_no_objects_is_refused(self):
        agent = {**AGENT, "text": {"format": {"type": "json_schema", "schema": {"type": "array"}}}}
        with self.assertRaises(openai.BadRequestError) as refused:
            sessions.create(agent=agent, environment=NONE, input="hi")
        self.assertTrue(refused.exception.param.startswith("agent.text.format.schema"))


if __name__ == "__main__":
    unittest.main()
