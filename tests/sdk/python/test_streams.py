"""How one stream goes on where another ended, and many at once."""

import asyncio
import unittest

import openai
from support import AGENT, CANCEL, NONE, Case, Followed, async_client, message, script, sessions, settled, unique, until


class Streams(Case):
    @classmethod
    def setUpClass(cls):
        cls.id = sessions.create(agent=AGENT, environment=NONE, input=script("Begin.", {"say": "Ready."})).id
        cls.addClassCleanup(lambda: (settled(cls.id), sessions.delete(cls.id)))
        settled(cls.id)

    def say(self, words, *more):
        sessions.events.create(self.id, events=[message(script(unique("say"), {"say": words})), *more])

    def after(self, event_id):
        return sessions.events.stream(self.id, extra_query={"after": event_id})

    def test_after_an_event_exactly_what_follows_it_comes(self):
        live = Followed(self, sessions.events.stream(self.id))
        for words in "Remember this.", "And this.":
            start = len(live.events)
            self.say(words)
            live.up_to_rest(start)
        whole = list(live.events)
        for at in 0, len(whole) // 2, len(whole) - 2:
            again = Followed(self, self.after(whole[at].event_id))
            until("the rest", lambda: len(again.events) >= len(whole) - at - 1)
            self.assertEqual(again.events, whole[at + 1 :])
        again = Followed(self, self.after(whole[-1].event_id))
        self.say("Live.")
        live.up_to_rest(len(whole))
        until("the same", lambda: len(again.events) >= len(live.events) - len(whole))
        self.assertEqual(again.events, live.events[len(whole) :])

    def test_an_event_that_is_none_of_the_sessions(self):
        other = sessions.create(agent=AGENT, environment=NONE, input=script("Other.", {"say": "Other."}), stream=True)
        foreign = list(other)[0]
        self.addCleanup(sessions.delete, foreign.session.id)
        for event_id in foreign.event_id, "evt_00000000000000000000000000000000", "x":
            with self.subTest(event_id=event_id), self.assertRaises(openai.BadRequestError) as refused:
                self.after(event_id)
            self.assertEqual(refused.exception.param, "after")

    def test_a_cancel_in_one_request_with_the_message(self):
        followed = Followed(self, sessions.events.stream(self.id))
        text = script(unique("never"), {"wait": unique("hold"), "say": "Never said."})
        sessions.events.create(self.id, events=[message(text), CANCEL])
        ended = followed.up_to_rest()[-2]
        self.assertEqual((ended.type, ended.turn.status), ("agent.session.turn.cancelled", "cancelled"))

    def test_five_sessions_streamed_at_once_by_one_client_all_deliver(self):
        async def run(own, word):
            start = script("Say it.", {"say": f"It is {word}"})
            stream = await own.create(agent=AGENT, environment=NONE, input=start, stream=True)
            done = await stream.get_final_result()
            await own.delete(done.session_id)
            return done.output_text

        async def all_of(words):
            async with async_client() as client:
                return await asyncio.gather(*(run(client.beta.agents.sessions, word) for word in words))

        words = [unique("five") for _ in range(5)]
        self.assertEqual(asyncio.run(all_of(words)), [f"It is {word}" for word in words])


if __name__ == "__main__":
    unittest.main()
