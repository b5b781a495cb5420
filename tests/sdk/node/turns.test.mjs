// Turns: the tests of this file share two sessions, because each session starts containers.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import OpenAI from "openai";
import { agent, all, environment, message, newClient, release, script, sessions, settled, textOf, unique, until } from "./support.mjs";

const STEPS = [{ think: "Look first.", shell: "echo from the sandbox" }, { say: "It said so." }];
const FIRST_TURN = script("Look.", ...STEPS);

test("create with stream: events to the end of the stream, and the final result", async () => {
  const stream = await sessions.create({ agent, environment, input: FIRST_TURN, stream: true });
  stream.withResultCollection();
  const events = await all(stream);
  const types = events.map(({ type }) => type);
  const session = events[0].session.id;
  try {
    assert.deepEqual(types.slice(0, 2), ["agent.session.created", "agent.session.environment.pending"]);
    assert.deepEqual(types.slice(-2), ["agent.session.turn.completed", "agent.session.idle"]);
    for (const type of [
      "agent.session.turn.created",
      "agent.session.in_progress",
      "agent.session.turn.in_progress",
      "agent.session.turn.reasoning_summary_text.delta",
      "agent.session.turn.output_text.delta",
      "agent.session.turn.output_text.done",
    ]) {
      assert.ok(types.includes(type), `${type} in ${types}`);
    }
    assert.equal(new Set(events.map(({ event_id: id }) => id)).size, events.length);
    const told = events.filter(({ type }) => type.startsWith("agent.session.environment."));
    assert.deepEqual(told.map(({ environment: { status } }) => status), ["pending", "ready", "connected"]);
    assert.ok(told.every((event) => event.turn_id === null && event.environment.id === events[0].session.environment.id));
    assert.ok(types.indexOf("agent.session.environment.connected") < types.indexOf("agent.session.turn.in_progress"));

    const command = events.find((event) => event.type === "agent.session.turn.item.done" && event.item.type === "command_execution").item;
    assert.equal(command.status, "completed");
    assert.equal(command.exit_code, 0);
    assert.equal(command.output, "from the sandbox\n");
    const deltas = events.filter(({ type }) => type === "agent.session.turn.output_text.delta");
    assert.equal(deltas.map(({ delta }) => delta).join(""), "It said so.");

    const result = await stream.finalResult();
    assert.equal(result.output_text, "It said so.");
    assert.equal(result.session_id, session);
    assert.equal(result.turn.status, "completed");
    assert.equal(result.turn.subagent_id, null);
  } finally {
    await sessions.delete(session);
  }
});

describe("in one session", () => {
  let id;

  before(async () => {
    ({ id } = await sessions.create({ agent, environment, input: FIRST_TURN }));
    assert.equal((await sessions.retrieve(id)).status, "in_progress");
    await settled(id);
  });
  after(() => id && sessions.delete(id));

  test("a session that was created with input has run its turn", async () => {
    const [turn, ...others] = await all(sessions.turns.list(id));
    assert.deepEqual(others, []);
    assert.equal(turn.status, "completed");
    assert.equal(turn.error, null);
    assert.equal(turn.usage.total_tokens, turn.usage.input_tokens + turn.usage.output_tokens);
    assert.ok(turn.created_at <= turn.started_at && turn.started_at <= turn.completed_at);
    const { _request_id, ...retrieved } = await sessions.turns.retrieve(turn.id, { session_id: id });
    assert.deepEqual(retrieved, turn);
    assert.deepEqual((await sessions.retrieve(id)).usage, turn.usage);
  });

  test("items.list gives the conversation, in both orders and by pages", async () => {
    const items = await all(sessions.items.list(id, { order: "asc" }));
    assert.deepEqual(items.map(({ type }) => type), ["message", "reasoning", "command_execution", "message"]);
    assert.deepEqual([items[0].role, items[3].role], ["user", "assistant"]);
    assert.equal(textOf(items[0]), FIRST_TURN);
    assert.equal(textOf(items[3]), "It said so.");
    assert.deepEqual(await all(sessions.items.list(id, { limit: 3 })), items.toReversed());
    // Unlike other lists, those of items take any limit.
    assert.equal((await sessions.items.list(id, { limit: 0 })).data.length, 1);
    assert.equal((await sessions.items.list(id, { limit: 1000 })).data.length, 4);
  });

  test("the items of a turn are paged by last_id", async () => {
    const [turn] = await all(sessions.turns.list(id, { order: "asc" }));
    const { client, sent } = newClient();
    const page = await client.beta.agents.sessions.turns.items.list(turn.id, { session_id: id, limit: 3, order: "asc" });
    assert.equal(page.last_id, page.data[2].id);
    const items = await all(page);
    assert.deepEqual(items, await all(sessions.items.list(id, { order: "asc" })));
    assert.equal(sent.length, 2);
  });

  test("sessions.stream sends the input, follows the turn and gives its result", async () => {
    const result = await sessions.stream(id, { input: script("Say it.", { say: "Said." }) }).finalResult();
    assert.equal(result.output_text, "Said.");
    assert.equal(result.turn.status, "completed");
    assert.equal((await sessions.turns.list(id)).data[0].id, result.turn_id);

    const types = [];
    for await (const { type } of sessions.stream(id, { input: script("Again.", { say: "Again." }) })) types.push(type);
    assert.equal(types.at(-1), "agent.session.idle");
    assert.ok(types.includes("agent.session.turn.completed"));
  });

  test("events.stream answers before there is an event, and shows a turn that begins later", async () => {
    const begin = Date.now();
    const { data: stream, response } = await sessions.events.stream(id, { include_obfuscation: false }).withResponse();
    assert.ok(Date.now() - begin < 2000, "headers come at once");
    assert.match(response.headers.get("content-type"), /^text\/event-stream/);

    const sent = await sessions.events.create(id, { events: [message(script("Go.", { shell: "sleep 0.2; echo out" }, { say: "Gone." }))] }).asResponse();
    assert.equal(sent.status, 202);
    assert.equal(await sent.text(), "");
    const events = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === "agent.session.idle" && events.some(({ type }) => type === "agent.session.turn.completed")) break;
    }
    const kinds = events.map(({ type }) => type);
    assert.equal(kinds[0], "agent.session.turn.created");
    assert.ok(kinds.indexOf("agent.session.turn.created") < kinds.indexOf("agent.session.in_progress"));
    const user = events.find(({ type }) => type === "agent.session.turn.item.added");
    assert.deepEqual([user.item.role, user.output_index], ["user", null]);
    const streamed = events.filter(({ type }) => type === "agent.session.turn.item.done").map(({ item }) => item);
    const stored = await all(sessions.turns.items.list(user.turn_id, { session_id: id, order: "asc" }));
    assert.deepEqual([user.item, ...streamed], stored);
  });

  test("an Idempotency-Key makes one message of several tries, and refuses another body", async () => {
    const key = unique("key");
    const text = script(unique("once"), { say: "Once." });
    const send = (body) => sessions.events.create(id, { events: [message(body)], "Idempotency-Key": key });
    await send(text);
    await send(text);
    await settled(id);
    await send(text);
    await settled(id);
    const said = (await all(sessions.items.list(id, { limit: 100 }))).filter((item) => item.role === "user" && textOf(item) === text);
    assert.equal(said.length, 1);
    await assert.rejects(send("something else"), (error) => error instanceof OpenAI.ConflictError && error.code === "conflict_error");
  });

  test("a message to a running turn steers it", async () => {
    const hold = unique("hold");
    const turns = (await all(sessions.turns.list(id))).length;
    await sessions.events.create(id, { events: [message(script("Begin.", { say: "Begun.", hold }))] });
    const turn = await until("the turn to run", async () => (await sessions.turns.list(id)).data.find(({ status }) => status === "in_progress"));
    const steer = script("And this.", { say: "Both." });
    await sessions.events.create(id, { events: [message(steer)] });
    await release(hold);
    await settled(id);
    assert.equal((await all(sessions.turns.list(id))).length, turns + 1);
    const items = await all(sessions.turns.items.list(turn.id, { session_id: id, order: "asc" }));
    assert.ok(items.some((item) => item.role === "user" && textOf(item) === steer));
    assert.equal(textOf(items.at(-1)), "Both.");
  });

  test("a running turn cannot be deleted, and can be cancelled", async () => {
    const hold = unique("hold");
    const stream = await sessions.events.stream(id);
    await sessions.events.create(id, { events: [message(script("Wait.", { wait: hold, say: "Never said." }))] });
    await until("the turn to run", async () => (await sessions.turns.list(id)).data[0].status === "in_progress");
    assert.equal((await sessions.retrieve(id)).status, "in_progress");

    // The gateway says that trying again is useless, so the SDK does not.
    const { client, sent } = newClient();
    await assert.rejects(
      client.beta.agents.sessions.delete(id),
      (error) => error instanceof OpenAI.ConflictError && error.headers.get("x-should-retry") === "false",
    );
    assert.deepEqual(sent, [`DELETE /v1/agents/sessions/${id}`]);

    await sessions.events.create(id, { events: [{ type: "agent.session.input.cancel" }] });
    let ended;
    for await (const event of stream) {
      if (event.type === "agent.session.turn.cancelled") ended = event.turn;
      if (event.type === "agent.session.idle" && ended) break;
    }
    assert.equal(ended.status, "cancelled");
    assert.equal(ended.error, null);
    assert.equal((await sessions.turns.retrieve(ended.id, { session_id: id })).status, "cancelled");

    const result = await sessions.stream(id, { input: script("And now?", { say: "Still here." }) }).finalResult();
    assert.equal(result.output_text, "Still here.");
  });

  test("a failed turn is reported as failed, and the session goes on", async () => {
    const refusal = { http: 400, body: { error: { message: "no", type: "invalid_request_error", code: "invalid_request" } } };
    await assert.rejects(sessions.stream(id, { input: script("Fail.", refusal) }).finalResult(), (error) => error.reason === "failed");
    const [turn] = (await sessions.turns.list(id, { limit: 1 })).data;
    assert.equal(turn.status, "failed");
    assert.equal(typeof turn.error.code, "string");
    assert.equal((await sessions.retrieve(id)).status, "idle");
  });

  test("who stops reading does not stop the turn; sessions.stream wants an idle session", async () => {
    const hold = unique("hold");
    for await (const { type } of sessions.stream(id, { input: script("Unheard.", { say: "Said anyway.", hold }) })) {
      if (type === "agent.session.turn.output_text.delta") break;
    }
    await assert.rejects(sessions.stream(id, { input: "Now?" }).finalResult(), (error) => error.cause?.message.includes("requires an idle session"));
    await release(hold);
    await settled(id);
    const [turn] = (await sessions.turns.list(id, { limit: 1 })).data;
    assert.equal(turn.status, "completed");
    assert.equal(textOf((await sessions.turns.items.list(turn.id, { session_id: id, limit: 1 })).data[0]), "Said anyway.");
  });

  test("turns are paged, in both orders", async () => {
    const turns = await all(sessions.turns.list(id));
    const { client, sent } = newClient();
    assert.deepEqual(await all(client.beta.agents.sessions.turns.list(id, { limit: 2, order: "asc" })), turns.toReversed());
    assert.equal(sent.length, Math.ceil(turns.length / 2));
    assert.deepEqual(await all(sessions.turns.list(id, { after: turns[1].id })), turns.slice(2));
  });

  test("ids of turns and cursors that are none of the session's", async () => {
    const unknown = "turn_00000000000000000000000000000000";
    await assert.rejects(sessions.turns.retrieve(unknown, { session_id: id }), OpenAI.NotFoundError);
    await assert.rejects(sessions.turns.items.list(unknown, { session_id: id }), OpenAI.NotFoundError);
    await assert.rejects(sessions.turns.list(id, { limit: 0 }), (error) => error.status === 400 && error.param === "limit");
    await assert.rejects(sessions.turns.list(id, { after: unknown }), (error) => error.status === 400 && error.param === "after");
    await assert.rejects(sessions.items.list(id, { after: "msg_0" }), (error) => error.status === 400 && error.param === "after");
  });
});

test("release lets a held answer go on", async () => {
  const hold = unique("hold");
  const stream = await sessions.create({ agent, environment, input: script("Hold.", { say: "One two.", hold }), stream: true });
  let session;
  let text = "";
  for await (const event of stream) {
    if (event.type === "agent.session.created") session = event.session.id;
    if (event.type !== "agent.session.turn.output_text.delta") continue;
    // The first word is here although the model has not gone on: nothing on the way waits for the whole answer.
    if (text === "") {
      assert.equal(event.delta, "One ");
      await release(hold);
    }
    text += event.delta;
  }
  assert.equal(text, "One two.");
  await sessions.delete(session);
});
