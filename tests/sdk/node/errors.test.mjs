// What the gateway refuses, and how it says so. None of these starts a container.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import OpenAI from "openai";
import { agent, client, environment, newClient, raw, sessions } from "./support.mjs";

const UNKNOWN = "sess_00000000000000000000000000000000";

/** The error of a call that must fail; its answer carried a request id. */
async function refused(call) {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof OpenAI.APIError, error);
    assert.match(error.requestID, /^req_/);
    return error;
  }
  return assert.fail("it was not refused");
}

function envelope(answer, status, type, code, param = null) {
  assert.equal(answer.status, status);
  assert.match(answer.headers.get("content-type"), /application\/json/);
  assert.match(answer.headers.get("x-request-id"), /^req_/);
  assert.deepEqual(Object.keys(answer.json), ["error"]);
  const { message, ...rest } = answer.json.error;
  assert.deepEqual(rest, { type, code, param });
  assert.ok(message.length > 0);
}

describe("who calls", () => {
  test("a wrong key: 401, tried once", async () => {
    const { client, sent } = newClient({ apiKey: "clk_wrong" });
    const error = await refused(client.beta.agents.sessions.list());
    assert.ok(error instanceof OpenAI.AuthenticationError);
    assert.deepEqual([error.type, error.code], ["invalid_request_error", "invalid_api_key"]);
    assert.equal(sent.length, 1);
  });

  test("no key: the same", async () => {
    for (const authorization of ["", "Bearer ", "Basic abc"]) {
      envelope(await raw("GET", "/agents/sessions", { headers: { authorization } }), 401, "invalid_request_error", "invalid_api_key");
    }
  });

  test("the beta header is missing or another: 400, before the key is looked at", async () => {
    for (const beta of ["", "agents=v2"]) {
      const headers = { "openai-beta": beta, authorization: "Bearer clk_wrong" };
      const answer = await raw("GET", "/agents/sessions", { headers });
      envelope(answer, 400, "invalid_beta", "invalid_beta");
      assert.match(answer.json.error.message, /OpenAI-Beta.*agents=v1/);
    }
  });
});

describe("bodies of sessions.create", () => {
  const good = { agent, environment };
  const with_ = (more) => ({ agent: { ...agent, ...more }, environment });
  const tool = { type: "function", name: "f", description: "", parameters: { type: "object" } };
  const create = (body) => refused(sessions.create(body));

  for (const [name, body, param, words] of [
    ["an unknown field", { ...good, surprise: 1 }, "surprise", "Unknown parameter: 'surprise'."],
    ["an unknown field further in", { ...good, agent: { ...agent, surprise: 1 } }, "agent.surprise", "Unknown parameter: 'agent.surprise'."],
    ["no environment", { agent }, "environment", "Missing required parameter: 'environment'."],
    ["no agent", { environment }, "agent", "Missing required parameter: 'agent'."],
    ["no model", { environment, agent: {} }, "agent.model", "Missing required parameter: 'agent.model'."],
    ["a wrong type", { ...good, agent: { model: 5 } }, "agent.model", "Invalid type for 'agent.model': expected a string"],
    ["a wrong value", { ...good, agent: { ...agent, reasoning: { effort: "huge" } } }, "agent.reasoning.effort", "Invalid value: 'huge'."],
    ["a model that is no preset", { ...good, agent: { model: "gpt-5" } }, "agent.model", "Invalid value: 'gpt-5'. Supported values are: 'codex'."],
    ["a function without parameters", with_({ tools: [{ type: "function", name: "f", description: "" }] }), "agent.tools[0].parameters", "Missing required parameter: 'agent.tools[0].parameters'."],
    ["parameters that are no object's", with_({ tools: [{ ...tool, parameters: { type: "array" } }] }), "agent.tools[0].parameters", ""],
    ["a function with a field too many", with_({ tools: [{ ...tool, strict: true }] }), "agent.tools[0].strict", "Unknown parameter"],
    ["two functions of one name", with_({ tools: [tool, tool] }), undefined, "duplicate function tool name: f"],
    ["two tool searches", with_({ tools: [{ type: "tool_search" }, { type: "tool_search" }] }), undefined, "duplicate tool_search tool"],
    ["no subagents at once", with_({ multi_agent: { enabled: true, max_concurrent_subagents: 0 } }), "agent.multi_agent.max_concurrent_subagents", ""],
    ["too much metadata", { ...good, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, ""])) }, "metadata", ""],
    ["metadata that is no text", { ...good, metadata: { key: 1 } }, "metadata.key", "Invalid type for 'metadata.key'"],
    ["empty input", { ...good, input: "" }, "input", "Invalid 'input'"],
    ["a pattern that leads out of the workspace", { agent, environment: { ...environment, checkpoint: { exclude: ["a", "../b"] } } }, "environment.checkpoint.exclude[1]", "Invalid 'environment.checkpoint.exclude[1]'"],
    ["a checkpoint without a workspace", { ...good, environment: { type: "none", checkpoint: {} } }, "environment.checkpoint", "Unknown parameter"],
    ["a stream of nothing", { ...good, stream: true }, "input", "streaming session creation requires initial input"],
    ["stream options without a stream", { ...good, stream_options: {} }, "stream_options", "only allowed when 'stream' is true"],
  ]) {
    test(name, async () => {
      const error = await create(body);
      assert.equal(error.status, 400);
      assert.deepEqual([error.type, error.code], ["invalid_request_error", "invalid_request_error"]);
      if (param !== undefined) assert.equal(error.param, param);
      assert.ok(error.message.includes(words), error.message);
    });
  }

  const hosted = (more) => ({ agent, environment: { ...environment, ...more } });
  const file = { type: "inline", data: "aGk=", path: "/workspace/a" };
  for (const [param, body] of [
    ["vault_ids", { ...good, vault_ids: ["vault_1"] }],
    ["review", { ...good, review: "auto_review" }],
    ["spend_control.limit", { ...good, spend_control: { limit: 5 } }],
    ...["mcp", "web_search", "computer_use", "programmatic_tool_calling", "automations"].map((type) => ["agent.tools[0].type", with_({ tools: [{ type }] })]),
    ["environment.type", { agent, environment: { type: "self_hosted", workspace_directory: "/w" } }],
    ["environment.environment_id", hosted({ environment_id: "env_123456789" })],
    ["environment.environment_template_id", hosted({ environment_template_id: "t_1" })],
    ["environment.container_size", hosted({ container_size: "small" })],
    ["environment.packages", hosted({ packages: { python: ["x"] } })],
    ["environment.files", hosted({ files: [file] })],
    ["environment.capability_directories", hosted({ capability_directories: ["/workspace"] })],
    ["environment.desktop", hosted({ desktop: { enabled: true } })],
  ]) {
    test(`not built yet: ${param} in ${JSON.stringify(body).slice(0, 90)}`, async () => {
      const error = await create(body);
      assert.deepEqual([error.status, error.param, error.code], [400, param, "invalid_request_error"]);
      assert.match(error.message, /is not supported by this deployment yet/);
    });
  }

  for (const [name, body, words] of [
    ["broken JSON", '{"agent":', "could not parse the JSON body"],
    ["a key twice", '{"agent":{"model":"codex"},"agent":{"model":"codex"}}', "could not parse the JSON body"],
    ["a list", "[]", ""],
  ]) {
    test(`${name}: 400`, async () => {
      const answer = await raw("POST", "/agents/sessions", { body });
      envelope(answer, 400, "invalid_request_error", "invalid_request_error");
      assert.ok(answer.json.error.message.includes(words), answer.json.error.message);
    });
  }

  test("nothing at all is an empty object", async () => {
    envelope(await raw("POST", "/agents/sessions"), 400, "invalid_request_error", "invalid_request_error", "environment");
  });

  test("another content type: 400", async () => {
    const answer = await raw("POST", "/agents/sessions", { body: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } });
    envelope(answer, 400, "invalid_request_error", "invalid_request_error");
  });
});

describe("bodies of events.create", () => {
  let id;
  before(async () => ({ id } = await sessions.create({ agent, environment })));
  after(() => sessions.delete(id));

  test("no events: taken, and nothing happens", async () => {
    assert.equal((await sessions.events.create(id, { events: [] }).asResponse()).status, 202);
    assert.deepEqual((await sessions.turns.list(id)).data, []);
  });

  test("a cancel of nothing: taken", async () => {
    const sent = sessions.events.create(id, { events: [{ type: "agent.session.input.cancel" }] });
    assert.equal((await sent.asResponse()).status, 202);
    assert.equal((await sessions.retrieve(id)).status, "idle");
  });

  const user = (content) => ({ type: "agent.session.input.message", input: [{ role: "user", content }] });
  for (const [name, events, param] of [
    ["an unknown type", [{ type: "agent.session.input.nothing" }], "events[0].type"],
    ["a tool result without its call", [{ type: "agent.session.input.tool_result", turn_id: "t", success: true }], "events[0].call_id"],
    ["a tool result that does not say whether it is one", [{ type: "agent.session.input.tool_result", turn_id: "t", call_id: "c" }], "events[0].success"],
    ["a message that is a string", [{ type: "agent.session.input.message", input: "hi" }], "events[0].input"],
    ["another's words", [{ type: "agent.session.input.message", input: [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }] }], "events[0].input[0].role"],
    ["a part of an unknown kind", [user([{ type: "input_file", file_id: "f" }])], "events[0].input[0].content[0].type"],
    ["a cancel with more", [{ type: "agent.session.input.cancel", turn_id: "t" }], "events[0].turn_id"],
    ["empty text", [user([{ type: "input_text", text: "" }])], "events[0].input[0].content[0].text"],
    ["no content", [user([])], "events[0].input[0].content"],
  ]) {
    test(name, async () => {
      const error = await refused(sessions.events.create(id, { events }));
      assert.deepEqual([error.status, error.param], [400, param], error.message);
    });
  }

  test("an answer to a request for approval that there is not", async () => {
    for (const [kind, response] of [
      ["mcp", { type: "mcp_tool_call", decision: "approve" }],
      ["computer_use", { type: "browser_origin_access", decision: "deny" }],
      ["computer_use", { type: "browser_authentication", action: "cancel" }],
    ]) {
      const event = { type: `agent.session.input.${kind}_approval_request_result`, request_id: "req_0", response };
      assert.equal((await refused(sessions.events.create(id, { events: [event] }))).status, 400);
    }
    const event = { type: "agent.session.input.mcp_approval_request_result", request_id: "req_0", response: { type: "mcp_tool_call", decision: "perhaps" } };
    assert.equal((await refused(sessions.events.create(id, { events: [event] }))).param, "events[0].response.decision");
  });

  test("one event of several is refused: none is taken", async () => {
    const good = user([{ type: "input_text", text: "hi" }]);
    await refused(sessions.events.create(id, { events: [good, { type: "agent.session.input.nothing" }] }));
    await refused(sessions.events.create(id, { events: [good, { type: "agent.session.input.tool_result", turn_id: "turn_0", call_id: "call_0", success: true }] }));
    assert.deepEqual((await sessions.turns.list(id)).data, []);
  });

  test("an Idempotency-Key that is too long", async () => {
    const error = await refused(sessions.events.create(id, { events: [], "Idempotency-Key": "k".repeat(257) }));
    assert.deepEqual([error.status, error.param], [400, "Idempotency-Key"]);
  });
});

describe("places that are not there", () => {
  test("an unknown session, and ids that are none", async () => {
    for (const id of [UNKNOWN, "sess_1", "x", "a/b", "sess_%00"]) {
      assert.equal((await refused(sessions.retrieve(id))).status, 404, id);
    }
    const error = await refused(sessions.retrieve(UNKNOWN));
    assert.deepEqual([error.type, error.code], ["not_found_error", "not_found_error"]);
    await refused(sessions.delete(UNKNOWN));
    await refused(sessions.events.stream(UNKNOWN));
  });

  test("parts of the API that are not built: 404", async () => {
    const { agents } = client.beta;
    for (const call of [() => agents.vaults.list(), () => sessions.traces.list(UNKNOWN)]) {
      const error = await refused(call());
      assert.deepEqual([error.status, error.code], [404, "unknown_url"]);
    }
    // Neither is taken for a saved agent of that name.
    for (const call of [() => agents.environments.list(), () => agents.automations.list()]) assert.equal((await refused(call())).status, 404);
    assert.equal((await raw("DELETE", "/agents/sessions")).status, 405);
  });

  test("an unknown session on every path: 404", async () => {
    const of = { session_id: UNKNOWN };
    const turn = "turn_00000000000000000000000000000000";
    const artifact = "artifact_00000000000000000000000000000000";
    for (const call of [
      () => sessions.update(UNKNOWN, { metadata: {} }),
      () => sessions.events.create(UNKNOWN, { events: [] }),
      () => sessions.items.list(UNKNOWN),
      () => sessions.turns.list(UNKNOWN),
      () => sessions.turns.retrieve(turn, of),
      () => sessions.turns.items.list(turn, of),
      () => sessions.subagents.list(UNKNOWN),
      () => sessions.subagents.retrieve("x", of),
      () => sessions.subagents.items.list("x", of),
      () => sessions.subagents.turns.list("x", of),
      () => sessions.subagents.turns.retrieve(turn, { ...of, subagent_id: "x" }),
      () => sessions.subagents.turns.items.list(turn, { ...of, subagent_id: "x" }),
      () => sessions.artifacts.list(UNKNOWN),
      () => sessions.artifacts.retrieve(artifact, of),
      () => sessions.artifacts.content(artifact, of),
      () => sessions.artifacts.delete(artifact, of),
    ]) {
      const error = await refused(call());
      assert.deepEqual([error.status, error.code], [404, "not_found_error"], `${call}`);
    }
  });

  test("an unknown route: 404 with the envelope", async () => {
    for (const path of ["/nothing", "/agents/sessions/", "/agents/sessions//items", `/agents/sessions/${UNKNOWN}/nothing`]) {
      envelope(await raw("GET", path), 404, "invalid_request_error", "unknown_url");
    }
  });

  test("another method: 405 with Allow", async () => {
    const session = `/agents/sessions/${UNKNOWN}`;
    const subagent = `${session}/subagents/x`;
    const readOnly = [`${session}/items`, `${session}/turns`, `${session}/turns/t`, `${session}/turns/t/items`, `${session}/subagents`, subagent, `${subagent}/items`, `${subagent}/turns`, `${subagent}/turns/t`, `${subagent}/turns/t/items`];
    for (const [method, path, allow] of [
      ["PUT", "/agents/sessions", "GET, HEAD, POST"],
      ["DELETE", "/agents/sessions", "GET, HEAD, POST"],
      ["PATCH", session, "DELETE, GET, HEAD, POST"],
      ["DELETE", `${session}/events`, "GET, HEAD, POST"],
      ...readOnly.map((path) => ["POST", path, "GET, HEAD"]),
    ]) {
      const answer = await raw(method, path);
      envelope(answer, 405, "invalid_request_error", "method_not_allowed");
      assert.equal(answer.headers.get("allow").split(/, */).toSorted().join(", "), allow, path);
    }
  });
});
