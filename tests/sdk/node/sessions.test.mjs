// Sessions as resources: none of these starts a container.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import OpenAI from "openai";
import { agent, all, client, environment, newClient, sessions, unique } from "./support.mjs";

const run = unique("run");
const made = [];

before(async () => {
  for (let number = 0; number < 5; number += 1) {
    made.push(await sessions.create({ agent, environment, metadata: { run, number: String(number) } }));
  }
});
after(() => Promise.all(made.map(({ id }) => sessions.delete(id))));

test("create and retrieve give the whole resource", async () => {
  const [session] = made;
  assert.match(session.id, /^sess_/);
  assert.match(session._request_id, /^req_/);
  const { id, object, created_at, last_active_at, agent, environment, ...rest } = await sessions.retrieve(session.id);
  assert.deepEqual({ id, object, created_at }, { id: session.id, object: "agent.session", created_at: session.created_at });
  assert.ok(last_active_at >= created_at && Math.abs(created_at - Date.now() / 1000) < 300);
  assert.deepEqual(
    { ...rest },
    { status: "idle", error: null, metadata: { run, number: "0" }, required_actions: [], usage: null, vault_ids: [] },
  );
  assert.match(agent.id, /^agent_/);
  assert.deepEqual(
    { ...agent, id: null },
    {
      id: null,
      name: null,
      model: "codex",
      instructions: null,
      reasoning: { effort: null, summary: null },
      text: { format: { type: "text" }, verbosity: "medium" },
      service_tier: "auto",
      multi_agent: { enabled: false, max_concurrent_subagents: null },
      tools: [],
    },
  );
  assert.match(environment.id, /^env_/);
  assert.equal(environment.type, "openai_hosted");
  assert.deepEqual(environment.network, { access: "disabled", allowed_domains: [] });
});

test("answers are JSON and say so", async () => {
  const created = await sessions.create({ agent, environment }).withResponse();
  const { id } = created.data;
  const calls = [sessions.list({ limit: 1 }), sessions.retrieve(id), sessions.items.list(id), sessions.turns.list(id)];
  const answers = [created.response];
  for (const call of calls) answers.push(await call.asResponse());
  answers.push(await sessions.delete(id).asResponse());
  assert.deepEqual(answers.map(({ status }) => status), [201, 200, 200, 200, 200, 200]);
  for (const answer of answers) assert.match(answer.headers.get("content-type"), /^application\/json/);
});

test("create keeps what was asked for", async () => {
  const session = await sessions.create({
    agent: { model: "codex", instructions: "Be short.", reasoning: { effort: "low", summary: "auto" }, text: { verbosity: "low" } },
    environment: { type: "openai_hosted", network: { access: "disabled" } },
    prompt_cache_options: { ttl: "12h" },
  });
  assert.equal(session.agent.instructions, "Be short.");
  assert.deepEqual(session.agent.reasoning, { effort: "low", summary: "auto" });
  assert.equal(session.agent.text.verbosity, "low");
  assert.deepEqual(session.prompt_cache_options, { ttl: "12h" });
  await sessions.delete(session.id);
});

describe("list", () => {
  const newestFirst = () => made.map(({ id }) => id).reverse();
  const ids = async (query) => (await all(sessions.list(query))).map(({ id }) => id);

  test("pages through five sessions, two at a time", async () => {
    const { client, sent } = newClient();
    const found = await all(client.beta.agents.sessions.list({ limit: 2, metadata: { run } }));
    assert.deepEqual(new Set(found.map(({ id }) => id)), new Set(newestFirst()));
    assert.equal(found.length, 5);
    assert.equal(sent.length, 3);
  });

  test("a page says where it begins and ends", async () => {
    const page = await sessions.list({ limit: 2, metadata: { run } });
    assert.equal(page.data.length, 2);
    assert.equal(page.has_more, true);
    const { first_id, last_id, object } = await client.get("/agents/sessions", {
      query: { limit: 2, metadata: { run } },
      headers: { "OpenAI-Beta": "agents=v1" },
    });
    assert.deepEqual({ object, first_id, last_id }, { object: "list", first_id: page.data[0].id, last_id: page.data[1].id });
  });

  test("goes both ways and filters", async () => {
    const descending = await ids({ metadata: { run } });
    assert.deepEqual(await ids({ metadata: { run }, order: "asc", limit: 2 }), descending.toReversed());
    assert.deepEqual(await ids({ metadata: { run, number: "3" } }), [made[3].id]);
    assert.deepEqual(await ids({ metadata: { run, number: "9" } }), []);
    assert.deepEqual(await ids({ metadata: { run: `${run}x` } }), []);
    assert.deepEqual(await ids({ agent_id: made[1].agent.id }), [made[1].id]);
  });

  test("without a filter holds them too", async () => {
    const found = await ids({ limit: 100 });
    for (const id of newestFirst()) assert.ok(found.includes(id));
  });

  for (const [query, param] of [
    [{ limit: 0 }, "limit"],
    [{ limit: 101 }, "limit"],
    [{ order: "sideways" }, "order"],
    [{ after: "sess_00000000000000000000000000000000" }, "after"],
  ]) {
    test(`refuses ${JSON.stringify(query)}`, async () => {
      await assert.rejects(sessions.list(query), (error) => error instanceof OpenAI.BadRequestError && error.param === param);
    });
  }
});

test("a deleted session is gone, and deleting it again says the same", async () => {
  const { id } = await sessions.create({ agent, environment, metadata: { run: unique("gone") } });
  for (let times = 0; times < 2; times += 1) {
    const { _request_id, ...deleted } = await sessions.delete(id);
    assert.deepEqual(deleted, { id, object: "agent.session.deleted", deleted: true });
  }
  const gone = (error) => error instanceof OpenAI.NotFoundError && error.message.includes(`No managed agent resource found: ${id}`);
  await assert.rejects(sessions.retrieve(id), gone);
  await assert.rejects(sessions.events.create(id, { events: [] }), gone);
  await assert.rejects(sessions.items.list(id), gone);
  assert.ok(!(await all(sessions.list({ limit: 100 }))).some((session) => session.id === id));
});
