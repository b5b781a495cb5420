// Streams as they are on the wire: frames, when they come, when they end, and how one goes on where another ended.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { frameReader } from "./contract.mjs";
import { CANCEL, agent, all, client, environment, follow, message, none, raw, rawStream, release, script, sessions, settled, textOf, unique, until, upToRest } from "./support.mjs";

/** A session in which nothing runs, without containers. */
const idle = () => sessions.create({ agent, environment });
const post = (id, ...events) => sessions.events.create(id, { events });
const say = (id, words) => post(id, message(script(unique("say"), { say: words })));

/** Follows a stream without an SDK: events, comments, and what ended it. */
async function rawFollow(path, init) {
  const { response, pieces, close } = await rawStream(path, init);
  const events = [];
  const comments = [];
  const read = frameReader((event) => events.push(event), (comment) => comments.push(comment));
  const done = (async () => {
    for await (const piece of pieces) read(piece);
    return "ended";
  })().catch(() => "closed");
  const next = (probe) => until(`an event after ${events.length}`, () => events.find(probe));
  return { response, events, comments, done, close, next };
}
const ended = ({ type }) => /turn\.(completed|failed|cancelled)$/.test(type);
const isIdle = ({ type }) => type === "agent.session.idle";
const ids = (events) => events.map(({ event_id }) => event_id);

test("the headers of a live stream come at once, and comments while nothing happens", async () => {
  const { id } = await idle();
  const begin = Date.now();
  const stream = await rawFollow(`/agents/sessions/${id}/events?stream=true&include_obfuscation=false`);
  assert.ok(Date.now() - begin < 2000);
  assert.equal(stream.response.status, 200);
  assert.match(stream.response.headers.get("content-type"), /^text\/event-stream/);
  await until("a comment", () => stream.comments.length > 0, 35_000);
  assert.ok(stream.comments.every((comment) => comment.startsWith(":")));
  assert.deepEqual(stream.events, []);
  stream.close();
  await sessions.delete(id);
});

test("HEAD of a stream answers and ends", async () => {
  const { id } = await idle();
  assert.equal((await raw("HEAD", `/agents/sessions/${id}/events`)).status, 200);
  await sessions.delete(id);
});

test("a creation stream is chosen by the body, not by Accept, and ends by itself", async () => {
  const body = JSON.stringify({ agent, environment: none, input: script("Once.", { say: "Done." }), stream: true });
  const headers = { accept: "application/json", "content-type": "application/json" };
  const stream = await rawFollow("/agents/sessions", { method: "POST", body, headers });
  assert.equal(stream.response.status, 201);
  assert.match(stream.response.headers.get("content-type"), /^text\/event-stream/);
  assert.equal(await stream.done, "ended");
  assert.equal(stream.events[0].type, "agent.session.created");
  assert.ok(ended(stream.events.at(-2)) && isIdle(stream.events.at(-1)));
  await sessions.delete(stream.events[0].session.id);
});

test("five sessions streamed at once by one client all deliver", async () => {
  const words = Array.from({ length: 5 }, () => unique("five"));
  const run = async (word) => {
    const stream = await client.beta.agents.sessions.create({ agent, environment: none, input: script("Say it.", { say: `It is ${word}` }), stream: true });
    stream.withResultCollection();
    const events = await all(stream);
    const { output_text, session_id } = await stream.finalResult();
    await sessions.delete(session_id);
    for (const event of events) assert.equal(event.session?.id ?? event.session_id ?? event.subagent.session_id, session_id);
    return output_text;
  };
  assert.deepEqual(await Promise.all(words.map(run)), words.map((word) => `It is ${word}`));
});

describe("in one session", () => {
  let id;
  let path;
  before(async () => {
    ({ id } = await sessions.create({ agent, environment: none, input: script("Begin.", { say: "Ready." }) }));
    path = `/agents/sessions/${id}/events`;
    await settled(id);
  });
  after(() => sessions.delete(id));

  test("a live stream goes on over turns, and shows each once", async () => {
    const stream = await rawFollow(path);
    for (const words of ["One.", "Two."]) {
      const before = stream.events.length;
      await say(id, words);
      await until("rest", () => stream.events.slice(before).some(ended) && isIdle(stream.events.at(-1)));
    }
    await sleep(300);
    assert.equal(stream.events.filter(({ type }) => type === "agent.session.turn.created").length, 2);
    assert.equal(stream.events.filter(ended).length, 2);
    assert.ok(!stream.events.some(({ type }) => type === "agent.session.created"));
    stream.close();
    assert.equal(await stream.done, "closed");
  });

  test("a live stream begins with what comes, not with what was", async () => {
    const stream = await rawFollow(path);
    await say(id, "Now.");
    await stream.next(ended);
    const old = stream.events.findIndex(({ type }) => type === "agent.session.turn.created");
    assert.ok(stream.events.slice(0, old).every(({ type }) => isIdle({ type }) || type.startsWith("agent.session.environment.")));
    stream.close();
    await settled(id);
  });

  test("two streams of one session show the same", async () => {
    const streams = await Promise.all([rawFollow(path), rawFollow(path)]);
    await say(id, "Same.");
    for (const stream of streams) await until("rest", () => stream.events.some(ended) && isIdle(stream.events.at(-1)));
    assert.deepEqual(streams[0].events, streams[1].events);
  });

  test("after an event exactly what follows it comes, and then what is new", async () => {
    const live = await rawFollow(path);
    for (const words of ["Remember this.", "And this."]) {
      const before = live.events.length;
      await say(id, words);
      await until("rest", () => live.events.slice(before).some(ended) && isIdle(live.events.at(-1)));
    }
    const whole = [...live.events];
    for (const at of [0, 1, Math.floor(whole.length / 2), whole.length - 2, whole.length - 1]) {
      const again = await rawFollow(`${path}?after=${whole[at].event_id}`);
      await until("the rest", () => again.events.length >= whole.length - at - 1);
      await sleep(100);
      assert.deepEqual(again.events, whole.slice(at + 1), `after event ${at}`);
    }

    const again = follow(await sessions.events.stream(id, { after: whole[3].event_id }, {}));
    await say(id, "Live.");
    await until("the new turn", () => live.events.slice(whole.length).some(ended) && isIdle(live.events.at(-1)));
    await until("the same", () => again.events.length >= live.events.length - 4);
    assert.deepEqual(ids(again.events), ids(live.events.slice(4)));
  });

  test("what came while nobody listened is not lost, also in the middle of a turn", async () => {
    const hold = unique("hold");
    const first = await rawFollow(path);
    await post(id, message(script(unique("gap"), { say: "Half and half.", hold })));
    await first.next(({ type }) => type === "agent.session.turn.output_text.delta");
    first.close();
    const { length } = first.events;
    await release(hold);
    await settled(id);
    const second = await rawFollow(`${path}?after=${first.events.at(-1).event_id}`);
    await second.next(ended);
    const events = [...first.events.slice(0, length), ...second.events];
    assert.equal(new Set(ids(events)).size, events.length);
    const deltas = events.filter(({ type }) => type === "agent.session.turn.output_text.delta");
    assert.equal(deltas.map(({ delta }) => delta).join(""), "Half and half.");
  });

  test("an event that is none of the session's: 400", async () => {
    const other = await sessions.create({ agent, environment: none, input: script("Other.", { say: "Other." }), stream: true });
    const foreign = (await all(other))[0];
    for (const after of [foreign.event_id, "evt_00000000000000000000000000000000", "x", "", "0", "-1"]) {
      const answer = await raw("GET", `${path}?after=${after}`);
      assert.deepEqual([answer.status, answer.json?.error.param], [400, "after"], after);
    }
    await sessions.delete(foreign.session.id);
  });

  test("a stream that is opened with the message, not before it, shows the turn's end", async () => {
    const hold = unique("hold");
    const opening = sessions.events.stream(id);
    const posting = post(id, message(script(unique("both"), { wait: hold, say: "Both." })));
    const followed = follow(await opening);
    await posting;
    await release(hold);
    const events = await upToRest(followed);
    assert.equal(new Set(ids(events)).size, events.length);
    assert.equal(events.filter(ended).length, 1);
  });

  test("deltas add up to what is done and stored", async () => {
    const followed = follow(await sessions.events.stream(id));
    await post(id, message(script(unique("whole"), { think: "Think it over.", say: "Word after word after word." })));
    const events = await upToRest(followed);
    const joined = (type) => events.filter((event) => event.type === type).map(({ delta }) => delta).join("");
    const only = (type) => events.filter((event) => event.type === type);
    assert.equal(joined("agent.session.turn.output_text.delta"), only("agent.session.turn.output_text.done")[0].text);
    assert.equal(joined("agent.session.turn.reasoning_summary_text.delta"), only("agent.session.turn.reasoning_summary_text.done")[0].text);
    const done = only("agent.session.turn.item.done").map(({ item }) => item);
    const [{ turn_id }] = events;
    const stored = await all(sessions.turns.items.list(turn_id ?? events[1].turn_id, { session_id: id, order: "asc" }));
    assert.deepEqual(stored.slice(1), done);
    assert.deepEqual(only("agent.session.turn.item.done").map(({ output_index }) => output_index), done.map((_, index) => index));
    assert.equal(textOf(stored.at(-1)), "Word after word after word.");
  });

  test("a cancel right after the message, and in one request with it", async () => {
    for (const send of [async (text) => (await post(id, message(text)), post(id, CANCEL)), (text) => post(id, message(text), CANCEL)]) {
      const followed = follow(await sessions.events.stream(id));
      const tag = unique("never");
      await send(script(tag, { wait: unique("hold"), say: "Never said." }));
      const events = await upToRest(followed);
      const { turn } = events.find(ended);
      assert.deepEqual([turn.status, turn.error], ["cancelled", null]);
      assert.equal((await sessions.turns.retrieve(turn.id, { session_id: id })).status, "cancelled");
    }
    await say(id, "Goes on.");
    await settled(id);
    assert.equal((await sessions.turns.list(id, { limit: 1 })).data[0].status, "completed");
  });
});
