// Saved agents as resources, and sessions made from them: none of these starts a container.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import OpenAI from "openai";
import { agents, all, environment, newClient, raw, sessions, unique } from "./support.mjs";

const UNKNOWN = "agent_00000000000000000000000000000000";
const lookup = { type: "function", name: "lookup", description: "Looks it up.", parameters: { type: "object", properties: { city: { type: "string" } } } };
const FORMAT = { type: "json_schema", schema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"], additionalProperties: false } };
/** What an agent is that was made with a model only. */
const PLAIN = {
  object: "agent",
  name: null,
  model: "codex",
  instructions: null,
  metadata: {},
  reasoning: { effort: null, summary: null },
  text: { format: { type: "text" }, verbosity: "medium" },
  service_tier: "auto",
  multi_agent: { enabled: false, max_concurrent_subagents: null },
  tools: [],
};

/** Without what each agent has of its own, and without what may be left out when it is off. */
function plain({ id, created_at, updated_at, compaction, experimental, ...rest }) {
  assert.match(id, /^agent_/);
  assert.ok(updated_at >= created_at && Math.abs(created_at - Date.now() / 1000) < 300);
  assert.ok(compaction === undefined || compaction.async === false);
  assert.ok(experimental === undefined || experimental.time_awareness === false);
  return { ...rest };
}

const made = [];
async function make(fields) {
  const agent = await agents.create({ model: "codex", ...fields });
  made.push(agent.id);
  return agent;
}
after(() => Promise.all(made.map((id) => agents.delete(id).catch(() => {}))));

describe("create", () => {
  test("with a model only, and retrieve", async () => {
    const agent = await make({});
    assert.deepEqual(plain(agent), PLAIN);
    assert.match(agent._request_id, /^req_/);
    assert.deepEqual(await agents.retrieve(agent.id), agent);
  });

  test("answers 201", async () => {
    const { data, response } = await agents.create({ model: "codex" }).withResponse();
    made.push(data.id);
    assert.equal(response.status, 201);
  });

  test("nulls are the defaults", async () => {
    const nulls = Object.fromEntries(["name", "instructions", "metadata", "reasoning", "text", "service_tier", "multi_agent", "tools"].map((name) => [name, null]));
    assert.deepEqual(plain(await make(nulls)), PLAIN);
  });

  test("keeps what was asked for, and fills in the rest of it", async () => {
    const agent = await make({
      name: "Finder",
      instructions: "Look it up.",
      metadata: { team: "a" },
      reasoning: { effort: "low" },
      text: { format: FORMAT },
      multi_agent: { enabled: true },
      tools: [lookup, { ...lookup, name: "later", defer_loading: true }, { type: "tool_search" }],
    });
    assert.deepEqual(plain(agent), {
      ...PLAIN,
      name: "Finder",
      instructions: "Look it up.",
      metadata: { team: "a" },
      reasoning: { effort: "low", summary: null },
      text: { format: FORMAT, verbosity: "medium" },
      multi_agent: { enabled: true, max_concurrent_subagents: 6 },
      tools: agent.tools,
    });
    const tools = agent.tools.map(({ async: _, ...tool }) => tool);
    assert.deepEqual(tools, [{ ...lookup, defer_loading: false }, { ...lookup, name: "later", defer_loading: true }, { type: "tool_search" }]);
  });

  for (const [name, body, param] of [
    ["no model", {}, "model"],
    ["null for the model", { model: null }, "model"],
    ["an unknown field", { model: "codex", surprise: 1 }, "surprise"],
    ["a name that is too long", { model: "codex", name: "n".repeat(129) }, "name"],
    ["a wrong effort", { model: "codex", reasoning: { effort: "huge" } }, "reasoning.effort"],
    ["metadata that is no text", { model: "codex", metadata: { key: 1 } }, "metadata.key"],
    ["a tool without a description", { model: "codex", tools: [{ type: "function", name: "f", parameters: { type: "object" } }] }, "tools[0].description"],
  ]) {
    test(`refuses ${name}`, async () => {
      await assert.rejects(agents.create(body), (error) => error instanceof OpenAI.BadRequestError && error.code === "invalid_request_error" && error.param === param);
    });
  }

  for (const [name, tools, words] of [
    ["two functions of one name", [lookup, lookup], "duplicate function tool name: lookup"],
    ["two tool searches", [{ type: "tool_search" }, { type: "tool_search" }], "duplicate tool_search tool"],
  ]) {
    test(`refuses ${name}`, async () => {
      await assert.rejects(agents.create({ model: "codex", tools }), (error) => error.status === 400 && error.message.includes(words));
    });
  }
});

describe("update", () => {
  const full = {
    name: "Before",
    instructions: "Before.",
    metadata: { a: "1", b: "2" },
    reasoning: { effort: "low", summary: "auto" },
    text: { verbosity: "low" },
    multi_agent: { enabled: true, max_concurrent_subagents: 2 },
    tools: [lookup],
  };

  for (const [name, change, expected] of [
    ["nothing keeps all", {}, {}],
    ["a name", { name: "After" }, { name: "After" }],
    ["null clears the name and the instructions", { name: null, instructions: null }, { name: null, instructions: null }],
    ["metadata replaces all of it", { metadata: { c: "3" } }, { metadata: { c: "3" } }],
    ["null clears metadata", { metadata: null }, { metadata: {} }],
    ["reasoning replaces the object", { reasoning: { effort: "high" } }, { reasoning: { effort: "high", summary: null } }],
    ["null resets reasoning", { reasoning: null }, { reasoning: PLAIN.reasoning }],
    ["text replaces the object", { text: { format: FORMAT } }, { text: { format: FORMAT, verbosity: "medium" } }],
    ["null resets text", { text: null }, { text: PLAIN.text }],
    ["null is the automatic service tier", { service_tier: null }, { service_tier: "auto" }],
    ["multi_agent replaces the object", { multi_agent: { enabled: true } }, { multi_agent: { enabled: true, max_concurrent_subagents: 6 } }],
    ["multi_agent off", { multi_agent: { enabled: false } }, { multi_agent: PLAIN.multi_agent }],
    ["null clears tools", { tools: null }, { tools: [] }],
    ["no tools", { tools: [] }, { tools: [] }],
  ]) {
    test(name, async () => {
      const agent = await make(full);
      const updated = await agents.update(agent.id, change);
      const { _request_id, updated_at, ...rest } = updated;
      const { _request_id: _r, updated_at: before, ...old } = agent;
      assert.deepEqual(rest, { ...old, ...expected });
      assert.ok(updated_at >= before);
      assert.deepEqual(await agents.retrieve(agent.id), updated);
    });
  }

  test("refuses null for the model, and fields it does not know", async () => {
    const { id } = await make({});
    for (const [body, param] of [[{ model: null }, "model"], [{ surprise: 1 }, "surprise"]]) {
      await assert.rejects(agents.update(id, body), (error) => error.status === 400 && error.param === param);
    }
  });

  test("an unknown agent: 404", async () => {
    for (const call of [() => agents.update(UNKNOWN, { name: "x" }), () => agents.retrieve(UNKNOWN), () => agents.delete(UNKNOWN)]) {
      await assert.rejects(call(), (error) => error instanceof OpenAI.NotFoundError && error.code === "not_found_error");
    }
  });
});

describe("list", () => {
  let ids;
  before(async () => {
    ids = (await Promise.all(Array.from({ length: 7 }, (_, number) => make({ name: `listed ${number}` })))).map(({ id }) => id);
  });

  test("pages without gaps or repeats, in both orders", async () => {
    const { client, sent } = newClient();
    const found = (await all(client.beta.agents.list({ limit: 3 }))).map(({ id }) => id);
    assert.equal(new Set(found).size, found.length);
    for (const id of ids) assert.ok(found.includes(id));
    assert.equal(sent.length, Math.ceil(found.length / 3));
    assert.deepEqual((await all(client.beta.agents.list({ limit: 100, order: "asc" }))).map(({ id }) => id), found.toReversed());
  });

  test("a cursor is valid after its agent is deleted", async () => {
    const page = await agents.list({ limit: 3 });
    const cursor = page.data[2].id;
    const rest = (await all(agents.list({ after: cursor, limit: 100 }))).map(({ id }) => id);
    await agents.delete(cursor);
    assert.deepEqual((await all(agents.list({ after: cursor, limit: 100 }))).map(({ id }) => id), rest);
    assert.ok(!(await all(agents.list({ limit: 100 }))).some(({ id }) => id === cursor));
  });

  test("limits are kept to, and has_more is exact", async () => {
    const count = (await all(agents.list({ limit: 100 }))).length;
    assert.equal((await agents.list({ limit: count })).has_more, false);
    assert.equal((await agents.list({ limit: count - 1 })).has_more, true);
    for (const limit of ["0", "101", "abc", ""]) {
      assert.equal((await raw("GET", `/agents?limit=${limit}`)).status, 400, limit);
    }
    for (const query of ["order=sideways", `after=${UNKNOWN}`, "limit=1&limit=2"]) {
      assert.equal((await raw("GET", `/agents?${query}`)).status, 400, query);
    }
    assert.equal((await raw("GET", "/agents?limit=1&surprise=2")).status, 200, "unknown keys are ignored");
  });
});

test("a deleted agent is gone", async () => {
  const { id } = await make({});
  const { _request_id, ...deleted } = await agents.delete(id);
  assert.deepEqual(deleted, { id, object: "agent.deleted", deleted: true });
  await assert.rejects(agents.retrieve(id), OpenAI.NotFoundError);
});

test("HEAD, and other methods", async () => {
  const { id } = await make({});
  for (const [path, allow] of [["/agents", "GET, HEAD, POST"], [`/agents/${id}`, "GET, HEAD, POST, DELETE"]]) {
    assert.equal((await raw("HEAD", path)).status, 200);
    const answer = await raw("PUT", path);
    assert.deepEqual([answer.status, answer.json.error.code], [405, "method_not_allowed"]);
    const allowed = answer.headers.get("allow").split(/, */);
    assert.deepEqual(allowed.toSorted(), allow.split(", ").toSorted());
  }
});

describe("sessions of a saved agent", () => {
  let saved;
  const opened = [];
  before(async () => {
    saved = await make({
      name: "Finder",
      instructions: "Look it up.",
      metadata: { team: "a" },
      reasoning: { effort: "low", summary: "auto" },
      text: { verbosity: "low" },
      multi_agent: { enabled: true, max_concurrent_subagents: 2 },
      tools: [lookup],
    });
  });
  after(() => Promise.all(opened.map((id) => sessions.delete(id))));

  async function open(fields) {
    const session = await sessions.create({ environment, agent_id: saved.id, ...fields });
    opened.push(session.id);
    return session;
  }
  /** What a session shows of an agent. */
  const shown = ({ metadata, object, created_at, updated_at, _request_id, ...rest }) => ({ ...rest, tools: rest.tools.filter(({ type }) => type !== "tool_search") });

  test("copies it", async () => {
    const session = await open({});
    assert.deepEqual(session.agent, shown(saved));
    assert.deepEqual(session.metadata, {}, "the agent's metadata is its own");
  });

  test("each supplied field replaces the saved one, and null resets it", async () => {
    const other = { ...lookup, name: "other" };
    const { agent } = await open({ agent: { instructions: "Other.", reasoning: { effort: "high" }, multi_agent: null, tools: [other] } });
    assert.deepEqual(
      { ...agent, tools: agent.tools.map(({ name }) => name) },
      { ...shown(saved), instructions: "Other.", reasoning: { effort: "high", summary: null }, multi_agent: PLAIN.multi_agent, tools: ["other"] },
    );
    const reset = (await open({ agent: { instructions: null, reasoning: null, text: null, tools: null } })).agent;
    assert.deepEqual(reset, { ...shown(saved), instructions: null, reasoning: PLAIN.reasoning, text: PLAIN.text, tools: [] });
  });

  test("changes of the agent reach sessions of later only", async () => {
    const session = await open({});
    await agents.update(saved.id, { name: "Renamed", instructions: "Changed." });
    assert.deepEqual((await sessions.retrieve(session.id)).agent, session.agent);
    const later = await open({});
    assert.deepEqual([later.agent.name, later.agent.instructions], ["Renamed", "Changed."]);
  });

  test("are listed by it, and outlive it", async () => {
    const agent = await make({});
    const session = await sessions.create({ environment, agent_id: agent.id, metadata: { run: unique("run") } });
    opened.push(session.id);
    assert.deepEqual((await all(sessions.list({ agent_id: agent.id }))).map(({ id }) => id), [session.id]);
    await agents.delete(agent.id);
    assert.equal((await sessions.retrieve(session.id)).agent.id, agent.id);
    await assert.rejects(sessions.create({ environment, agent_id: agent.id }), (error) => error.status === 404);
  });

  test("refuses an unknown agent, a name and metadata in overrides", async () => {
    await assert.rejects(sessions.create({ environment, agent_id: UNKNOWN }), (error) => error.status === 404);
    for (const name of ["name", "metadata"]) {
      const call = sessions.create({ environment, agent_id: saved.id, agent: { [name]: null } });
      await assert.rejects(call, (error) => error.status === 400 && error.param === `agent.${name}`);
    }
    await assert.rejects(sessions.create({ environment, agent_id: saved.id, agent: { model: null } }), (error) => error.status === 400 && error.param === "agent.model");
  });
});
