// Sessions as resources: none of these starts a container.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import OpenAI from "openai";
import { agent, all, client, environment, newClient, raw, sessions, unique } from "./support.mjs";

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

test("what checkpoints leave out is taken, and not shown", async () => {
  const plain = await sessions.create({ agent, environment });
  const with_ = await sessions.create({ agent, environment: { ...environment, checkpoint: { exclude: ["node_modules", "**/*.log"] } } });
  const shown = ({ environment: { id, ...rest } }) => rest;
  assert.deepEqual(shown(with_), shown(plain));
  assert.deepEqual(await sessions.retrieve(with_.id).then(shown), shown(plain));
  for (const { id } of [plain, with_]) await sessions.delete(id);
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

describe("list, in pages", () => {
  const tag = unique("pages");
  const query = (more) => ({ metadata: { tag }, ...more });
  const ids = async (more) => (await all(sessions.list(query(more)))).map(({ id }) => id);
  let here;

  // At once, so that many have the same second.
  before(async () => {
    here = (await Promise.all(Array.from({ length: 24 }, () => sessions.create({ agent, environment, metadata: { tag } })))).map(({ id }) => id);
  });
  after(async () => Promise.all((await ids({ limit: 100 })).map((id) => sessions.delete(id))));

  test("rows of one instant neither repeat nor go missing", async () => {
    const whole = await ids({ limit: 100 });
    assert.deepEqual(whole.toSorted(), here.toSorted());
    for (const limit of [1, 5, 23, 24]) assert.deepEqual(await ids({ limit }), whole, `limit ${limit}`);
    assert.deepEqual(await ids({ limit: 7, order: "asc" }), whole.toReversed());
  });

  test("has_more is exact", async () => {
    assert.equal((await sessions.list(query({ limit: 24 }))).has_more, false);
    assert.equal((await sessions.list(query({ limit: 23 }))).has_more, true);
  });

  test("a cursor is valid after its session is deleted, and rows that come while paging do no harm", async () => {
    const whole = await ids({ limit: 100 });
    const page = await sessions.list(query({ limit: 8 }));
    await sessions.delete(whole[7]);
    const { id: added } = await sessions.create({ agent, environment, metadata: { tag } });
    const seen = [...page.data.map(({ id }) => id)];
    for await (const { id } of await page.getNextPage()) seen.push(id);
    assert.deepEqual(seen, whole);
    assert.equal((await ids({ limit: 100 }))[0], added);
  });

  test("limits that are none: 400", async () => {
    for (const limit of ["0", "101", "-1", "abc", "1.5", "", "1e1"]) {
      const answer = await raw("GET", `/agents/sessions?limit=${limit}`);
      assert.deepEqual([answer.status, answer.json.error.param], [400, "limit"], limit);
    }
  });

  test("a key that comes twice: 400; one that nobody knows: ignored", async () => {
    for (const twice of ["limit=1&limit=2", "order=asc&order=asc", `metadata[tag]=${tag}&metadata[tag]=x`]) {
      assert.equal((await raw("GET", `/agents/sessions?${twice}`)).status, 400, twice);
    }
    assert.equal((await raw("GET", "/agents/sessions?limit=1&surprise=1&surprise=2&before=x")).status, 200);
  });
});

describe("update", () => {
  let session;
  before(async () => {
    session = await sessions.create({ agent: { ...agent, instructions: "Stay.", reasoning: { effort: "low", summary: "auto" } }, environment, metadata: { a: "1", b: "2" } });
  });
  after(() => sessions.delete(session.id));
  const update = (body) => sessions.update(session.id, body);
  const lookup = { type: "function", name: "lookup", description: "", parameters: { type: "object", properties: {} } };

  test("metadata replaces all of it, null clears it, and the rest stays", async () => {
    const { _request_id, last_active_at, ...rest } = await update({ metadata: { c: "3" } });
    const { _request_id: _r, last_active_at: _l, ...old } = session;
    assert.deepEqual(rest, { ...old, metadata: { c: "3" } });
    assert.deepEqual((await sessions.retrieve(session.id)).metadata, { c: "3" });
    assert.deepEqual((await all(sessions.list({ metadata: { c: "3" } }))).map(({ id }) => id), [session.id]);
    assert.deepEqual((await all(sessions.list({ metadata: { a: "1", b: "2" }, agent_id: session.agent.id }))).length, 0);
    assert.deepEqual((await update({ metadata: null })).metadata, {});
  });

  test("reasoning is merged, and a null effort is the model's own", async () => {
    assert.deepEqual((await update({ agent: { reasoning: { effort: "high" } } })).agent.reasoning, { effort: "high", summary: "auto" });
    assert.deepEqual((await update({ agent: { reasoning: { effort: null } } })).agent.reasoning, { effort: null, summary: "auto" });
  });

  test("a null service tier is automatic", async () => {
    assert.equal((await update({ agent: { service_tier: null } })).agent.service_tier, "auto");
  });

  test("tools replace, and null clears them", async () => {
    const names = async (tools) => (await update({ agent: { tools } })).agent.tools.map(({ name }) => name);
    assert.deepEqual(await names([lookup]), ["lookup"]);
    assert.deepEqual(await names([{ ...lookup, name: "other" }]), ["other"]);
    assert.deepEqual(await names(null), []);
    await assert.rejects(update({ agent: { tools: [lookup, lookup] } }), (error) => error.status === 400 && error.message.includes("duplicate function tool name: lookup"));
  });

  test("the lifetime of the prompt cache", async () => {
    assert.deepEqual((await update({ prompt_cache_options: { ttl: "12h" } })).prompt_cache_options, { ttl: "12h" });
    assert.equal((await update({ prompt_cache_options: null })).prompt_cache_options ?? null, null);
  });

  test("the model, to one there is", async () => {
    assert.equal((await update({ agent: { model: "codex" } })).agent.model, "codex");
    await assert.rejects(update({ agent: { model: "gpt-5" } }), (error) => error.status === 400 && error.param === "agent.model");
  });

  for (const [name, body, param] of [
    ["null for the model", { agent: { model: null } }, "agent.model"],
    ["an unknown field", { surprise: 1 }, "surprise"],
    ["instructions", { agent: { instructions: "Other." } }, "agent.instructions"],
    ["text", { agent: { text: { verbosity: "low" } } }, "agent.text"],
    ["an environment", { environment }, "environment"],
    ["input", { input: "hi" }, "input"],
  ]) {
    test(`refuses ${name}`, async () => {
      await assert.rejects(update(body), (error) => error instanceof OpenAI.BadRequestError && error.param === param);
    });
  }

  test("refuses nothing at all", async () => {
    for (const body of ["{}", "", "null"]) {
      const answer = await raw("POST", `/agents/sessions/${session.id}`, { body });
      assert.equal(answer.status, 400);
      assert.match(answer.json.error.message, /At least one update field is required/);
    }
  });
});

test("create with one Idempotency-Key twice makes two sessions", async () => {
  const made = [];
  const options = { headers: { "Idempotency-Key": unique("key") } };
  for (let times = 0; times < 2; times += 1) made.push((await sessions.create({ agent, environment }, options)).id);
  assert.notEqual(made[0], made[1]);
  await Promise.all(made.map((id) => sessions.delete(id)));
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
