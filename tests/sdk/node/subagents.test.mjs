// Subagents: the root's calls, their events, and the resources under which children are read. One session.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { agent, all, itemOf, none, requestsWith, script, sessions, unique } from "./support.mjs";

const UNKNOWN = "agent_00000000000000000000000000000000";
const lookup = { type: "function", name: "lookup", description: "Looks up a city.", parameters: { type: "object", properties: {} } };
const tag = unique("child");
const TASK = script(tag, { say: "Child done." });

let events, session, child;
before(async () => {
  const stream = await sessions.create({
    agent: { ...agent, multi_agent: { enabled: true, max_concurrent_subagents: 2 }, tools: [lookup] },
    environment: none,
    input: script("Delegate.", { spawn: TASK }, { await: true }, { dismiss: true }, { say: "All done." }),
    stream: true,
  });
  stream.withResultCollection();
  events = await all(stream);
  assert.equal((await stream.finalResult()).output_text, "All done.");
  session = await sessions.retrieve(events[0].session.id);
  child = events.find(({ type }) => type === "agent.session.subagent.created").subagent;
});
after(() => session && sessions.delete(session.id));

test("the session says how many may work at once", () => {
  assert.deepEqual(session.agent.multi_agent, { enabled: true, max_concurrent_subagents: 2 });
});

test("the stream tells of the subagent's life, and nothing of what it does", () => {
  const kinds = events.map(({ type }) => type);
  const created = kinds.indexOf("agent.session.subagent.created");
  assert.equal(kinds[created + 1], "agent.session.subagent.active");
  const closed = kinds.indexOf("agent.session.subagent.closed");
  assert.ok(0 < created && created < closed && closed < kinds.indexOf("agent.session.turn.completed"), `${kinds}`);
  const [root, ...others] = events.filter(({ type }) => type === "agent.session.turn.created");
  assert.deepEqual(others, []);
  for (const event of events) assert.ok([undefined, null, root.turn_id].includes(event.turn_id), event.type);
  assert.ok(!JSON.stringify(events).includes('"Child done."'));
  assert.equal(events[closed].subagent.id, child.id);
});

test("the root's calls are items of its turn", async () => {
  const items = await all(sessions.items.list(session.id, { order: "asc" }));
  const kinds = items.map(({ type }) => type).filter((type) => type.endsWith("_call"));
  assert.deepEqual(kinds, ["create_subagent_call", "wait_for_subagents_call", "close_subagent_call"]);
  const [create, wait, close] = items.filter(({ type }) => type.endsWith("_call"));
  assert.equal(create.agent_id, session.agent.id);
  assert.deepEqual(create.content, [{ type: "output_text", text: TASK }]);
  assert.deepEqual([wait.sender_agent_id, wait.recipient_agent_ids], [session.agent.id, [child.id]]);
  assert.deepEqual([close.sender_agent_id, close.recipient_agent_id], [session.agent.id, child.id]);
  for (const call of [create, wait, close]) {
    assert.equal(call.status, "completed");
    assert.deepEqual(itemOf(events, call.type, "agent.session.turn.item.done"), call);
  }
});

test("subagents.list and retrieve", async () => {
  const [listed, ...others] = await all(sessions.subagents.list(session.id));
  assert.deepEqual(others, []);
  const { _request_id, ...retrieved } = await sessions.subagents.retrieve(child.id, { session_id: session.id });
  assert.deepEqual(retrieved, listed);
  assert.deepEqual([listed.id, listed.session_id, listed.parent_agent_id, listed.status], [child.id, session.id, session.agent.id, "closed"]);
  assert.ok(listed.closed_at >= listed.opened_at);
  assert.deepEqual(listed.instructions ?? create(TASK), create(TASK));
  for (const query of [{ limit: 0 }, { limit: 101 }, { after: UNKNOWN }]) {
    await assert.rejects(sessions.subagents.list(session.id, query), (error) => error.status === 400 && error.param === Object.keys(query)[0]);
  }
});
const create = (text) => [{ type: "output_text", text }];

test("a subagent's conversation", async () => {
  const items = await all(sessions.subagents.items.list(child.id, { session_id: session.id, order: "asc" }));
  const last = items.at(-1);
  assert.deepEqual([last.type, last.role, last.content], ["message", "assistant", [{ type: "output_text", text: "Child done." }]]);
  assert.deepEqual(await all(sessions.subagents.items.list(child.id, { session_id: session.id, limit: 1 })), items.toReversed());
});

test("a subagent's turns and their items", async () => {
  const of = { session_id: session.id, subagent_id: child.id };
  const [turn, ...others] = await all(sessions.subagents.turns.list(child.id, { session_id: session.id }));
  assert.deepEqual(others, []);
  assert.deepEqual([turn.subagent_id, turn.agent_id, turn.session_id, turn.status], [child.id, session.agent.id, session.id, "completed"]);
  const { _request_id, ...retrieved } = await sessions.subagents.turns.retrieve(turn.id, of);
  assert.deepEqual(retrieved, turn);
  const items = await all(sessions.subagents.turns.items.list(turn.id, { ...of, order: "asc", limit: 1 }));
  assert.deepEqual(items, await all(sessions.subagents.items.list(child.id, { session_id: session.id, order: "asc" })));

  // The root's lists hold the root's turns and items only.
  await assert.rejects(sessions.turns.retrieve(turn.id, { session_id: session.id }), OpenAI.NotFoundError);
  await assert.rejects(sessions.turns.items.list(turn.id, { session_id: session.id }), OpenAI.NotFoundError);
  assert.ok((await all(sessions.turns.list(session.id))).every(({ subagent_id }) => subagent_id === null));
  const root = (await all(sessions.turns.list(session.id)))[0];
  await assert.rejects(sessions.subagents.turns.retrieve(root.id, of), OpenAI.NotFoundError);
});

test("ids that are none: 404", async () => {
  const of = { session_id: session.id };
  const turn = "turn_00000000000000000000000000000000";
  for (const call of [
    () => sessions.subagents.retrieve(UNKNOWN, of),
    () => sessions.subagents.items.list(UNKNOWN, of),
    () => sessions.subagents.turns.list(UNKNOWN, of),
    () => sessions.subagents.turns.retrieve(turn, { ...of, subagent_id: child.id }),
    () => sessions.subagents.turns.items.list(turn, { ...of, subagent_id: child.id }),
  ]) {
    await assert.rejects(call(), OpenAI.NotFoundError);
  }
});

test("a subagent is not offered the client's functions", async () => {
  // The root's requests hold the task as an argument of its call; the child's as what the user said.
  const requests = (await requestsWith(tag)).filter(({ input }) => !input.some(({ type, name }) => type === "function_call" && name === "spawn_agent"));
  assert.ok(requests.length > 0);
  for (const { tools } of requests.filter(({ input }) => !JSON.stringify(input).includes("Delegate."))) {
    assert.ok(!JSON.stringify(tools ?? []).includes('"lookup"'));
  }
});
