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
    ["metadata that is no text", { ...good, metadata: { key: 1 } }, "metadata.key", "Invalid type for 'metadata.key'"],
    ["empty input", { ...good, input: "" }, "input", "Invalid 'input'"],
    ["a stream of nothing", { ...good, stream: true }, "input", "streaming session creation requires initial input"],
    ["stream options without a stream", { ...good, stream_options: {} }, "stream_options", "only allowed when 'stream' is true"],
  ]) {
    test(name, async () => {
      const error = await create(body);
      assert.equal(error.status, 400);
      assert.deepEqual([error.type, error.code, error.param], ["invalid_request_error", "invalid_request_error", param]);
      assert.ok(error.message.includes(words), error.message);
    });
  }

  const hosted = (more) => ({ agent, environment: { ...environment, ...more } });
  const with_ = (more) => ({ agent: { ...agent, ...more }, environment });
  const file = { type: "inline", data: "aGk=", path: "/workspace/a" };
  const tool = { type: "function", name: "f", description: "", parameters: { type: "object" } };
  for (const [param, body] of [
    ["agent_id", { environment, agent_id: "agent_1" }],
    ["vault_ids", { ...good, vault_ids: ["vault_1"] }],
    ["review", { ...good, review: "auto_review" }],
    ["spend_control", { ...good, spend_control: { limit: 5 } }],
    ["agent.tools", with_({ tools: [tool] })],
    ["agent.multi_agent.enabled", with_({ multi_agent: { enabled: true } })],
    ["agent.compaction", with_({ compaction: { async: true } })],
    ["agent.experimental", with_({ experimental: { time_awareness: true } })],
    ["agent.service_tier", with_({ service_tier: "flex" })],
    ["agent.text.format.type", with_({ text: { format: { type: "json_schema", schema: { type: "object" } } } })],
    ["environment.type", { agent, environment: { type: "none" }, input: "hi" }],
    ["environment.type", { agent, environment: { type: "self_hosted", workspace_directory: "/w" } }],
    ["environment.environment_id", hosted({ environment_id: "env_123456789" })],
    ["environment.environment_template_id", hosted({ environment_template_id: "t_1" })],
    ["environment.container_size", hosted({ container_size: "small" })],
    ["environment.packages", hosted({ packages: { python: ["x"] } })],
    ["environment.env", hosted({ env: { A: "b" } })],
    ["environment.files", hosted({ files: [file] })],
    ["environment.setup_commands", hosted({ setup_commands: [{ command: "true" }] })],
    ["environment.capability_directories", hosted({ capability_directories: ["/workspace"] })],
    ["environment.desktop", hosted({ desktop: { enabled: true } })],
    ["environment.network.access", hosted({ network: { access: "enabled" } })],
    ["environment.network.access", hosted({ network: { access: "restricted", allowed_domains: ["example.com"] } })],
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
    ["a tool result", [{ type: "agent.session.input.tool_result", turn_id: "t", call_id: "c", success: true }], "events[0].type"],
    ["an image", [user([{ type: "input_image", image_url: "data:image/png;base64,aGk=" }])], "events[0].input[0].content[0].type"],
    ["empty text", [user([{ type: "input_text", text: "" }])], "events[0].input[0].content[0].text"],
    ["no content", [user([])], "events[0].input[0].content"],
  ]) {
    test(name, async () => {
      const error = await refused(sessions.events.create(id, { events }));
      assert.deepEqual([error.status, error.param], [400, param], error.message);
    });
  }

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

  test("parts of the API that are not built: 404, or 405", async () => {
    const { agents } = client.beta;
    for (const call of [() => agents.list(), () => agents.vaults.list(), () => agents.environments.list(), () => sessions.artifacts.list(UNKNOWN)]) {
      const error = await refused(call());
      assert.deepEqual([error.status, error.code], [404, "unknown_url"]);
    }
    const error = await refused(sessions.update(UNKNOWN, { metadata: {} }));
    assert.equal(error.status, 405);
    assert.equal(error.headers.get("allow"), "GET, HEAD, DELETE");
  });

  test("an unknown route: 404 with the envelope", async () => {
    for (const path of ["/nothing", "/agents/sessions/", "/agents/sessions//items", `/agents/sessions/${UNKNOWN}/nothing`]) {
      envelope(await raw("GET", path), 404, "invalid_request_error", "unknown_url");
    }
  });

  test("another method: 405 with Allow", async () => {
    for (const [method, path, allow] of [
      ["PUT", "/agents/sessions", "GET, HEAD, POST"],
      ["DELETE", "/agents/sessions", "GET, HEAD, POST"],
      ["PATCH", `/agents/sessions/${UNKNOWN}`, "GET, HEAD, DELETE"],
      ["POST", `/agents/sessions/${UNKNOWN}/items`, "GET, HEAD"],
    ]) {
      const answer = await raw(method, path);
      envelope(answer, 405, "invalid_request_error", "method_not_allowed");
      assert.equal(answer.headers.get("allow"), allow);
    }
  });
});
