// Functions of the client: what the agent calls, and what the client answers. Most tests share one session.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import OpenAI from "openai";
import { standardResponsesFunction } from "openai/helpers/standard-schema";
import { functionTool } from "openai/lib/beta/agents/function-tool";
import { checkedFetch } from "./contract.mjs";
import {
  CANCEL, agent, all, apiKey, baseURL, follow, itemOf, message, newClient, none, outputsIn, release, releaseWhile, requestsWith, result, script, sessions, settled, unique, until, upToRest,
} from "./support.mjs";

const PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const parameters = { type: "object", properties: { city: { type: "string" } } };
const lookup = { type: "function", name: "lookup", description: "Looks up a city.", parameters };
const hidden = { type: "function", name: "hidden_weather", description: "Weather forecast of a city.", parameters, defer_loading: true };
const later = { type: "function", name: "later", description: "Looks it up later.", parameters, async: true };

const isType = (wanted) => ({ type }) => type === `agent.session.${wanted}`;
const ask = (tag, ...steps) => script(tag, ...steps);
const CALL = { call: "lookup", arguments: { city: "Oslo" } };
const SAY = { say: "Cold." };

test("create with stream and handlers: the call, its result, and the final result", async () => {
  const tag = unique("creation");
  const calls = [];
  const stream = await sessions.create({
    agent: { ...agent, tools: [lookup] },
    environment: none,
    input: ask(tag, CALL, SAY),
    stream: true,
    toolHandlers: { lookup: (given) => calls.push(given) && { degrees: -3, ...given } },
  });
  stream.withResultCollection();
  const events = await all(stream);
  const { id } = events[0].session;
  try {
    assert.deepEqual(calls, [{ city: "Oslo" }]);
    const types = events.map(({ type }) => type);
    const { _request_id, ...call } = itemOf(events, "function_call");
    assert.deepEqual([call.name, call.arguments], ["lookup", { city: "Oslo" }]);
    const output = itemOf(events, "function_call_output");
    assert.deepEqual({ ...output, id: null }, {
      id: null,
      turn_id: call.turn_id,
      type: "function_call_output",
      call_id: call.call_id,
      output: '{"degrees":-3,"city":"Oslo"}',
      error: null,
      status: "completed",
    });
    const done = itemOf(events, "function_call", "agent.session.turn.item.done");
    assert.deepEqual(done, { ...call, status: "completed" });
    assert.ok(!itemOf(events, "function_call_output", "agent.session.turn.item.done"), "an output is added only");
    assert.ok(types.includes("agent.session.requires_action"));
    assert.deepEqual(types.slice(-2), ["agent.session.turn.completed", "agent.session.idle"]);

    const final = await stream.finalResult();
    assert.equal(final.output_text, "Cold.");
    assert.deepEqual(await outputsIn(tag), ['{"degrees":-3,"city":"Oslo"}']);
    const items = await all(sessions.items.list(id, { order: "asc" }));
    assert.deepEqual(items.map(({ type }) => type), ["message", "function_call", "function_call_output", "message"]);
    assert.deepEqual(items.slice(1, 3), [done, output]);
  } finally {
    await sessions.delete(id);
  }
});

describe("in one session", () => {
  let id;
  before(async () => {
    const tools = [lookup, hidden, later, { type: "tool_search" }];
    const session = await sessions.create({ agent: { ...agent, tools }, environment: none, input: script("Begin.", { say: "Ready." }) });
    ({ id } = session);
    const shown = session.agent.tools.map(({ name, defer_loading }) => [name, defer_loading]);
    assert.deepEqual(shown, [["lookup", false], ["hidden_weather", true], ["later", false]], "a tool search is not among a session's tools");
    assert.equal(session.agent.tools[2].async, true);
  });
  beforeEach(async () => {
    const { status } = await sessions.retrieve(id);
    if (status === "requires_action") await post(CANCEL);
    await settled(id);
  });
  after(() => sessions.delete(id));

  const post = (...events) => sessions.events.create(id, { events });
  const stream = (tag, steps, more) => sessions.stream(id, { input: ask(tag, ...steps), ...more });
  /** A turn up to its call, followed on a stream. */
  async function upToCall(tag, ...steps) {
    const followed = follow(await sessions.events.stream(id));
    await post(message(ask(tag, ...steps)));
    const required = await followed.next(isType("requires_action"), 0, "a call");
    return { followed, required, actions: required.session.required_actions };
  }
  const refused = async (call, status, words) => {
    const error = await call.then(() => assert.fail("it was not refused"), (error) => error);
    assert.equal(error.status, status, error);
    assert.match(error.error.message, words);
    return error;
  };

  test("what is required, from the call to its result", async () => {
    const tag = unique("required");
    const hold = unique("hold");
    const { followed, required, actions } = await upToCall(tag, CALL, { wait: hold, ...SAY });
    const call = itemOf(followed.events, "function_call");
    const action = { type: "function_call", turn_id: call.turn_id, call_id: call.call_id, name: "lookup", arguments: { city: "Oslo" } };
    assert.deepEqual(actions, [action]);
    assert.equal(call.turn_id, followed.events.find(isType("turn.created")).turn_id);

    const session = await sessions.retrieve(id);
    assert.equal(session.status, "requires_action");
    assert.deepEqual(session.required_actions, [action]);
    assert.equal((await sessions.turns.retrieve(call.turn_id, { session_id: id })).status, "waiting");
    const { client, sent } = newClient();
    await refused(client.beta.agents.sessions.delete(id), 409, /idle/);
    assert.equal(sent.length, 1, "x-should-retry: false");

    const unknown = await refused(post(result({ ...action, call_id: "call_unknown" }, { success: true, output: "x" })), 400, /^Unknown pending tool call: call_unknown$/);
    assert.deepEqual([unknown.type, unknown.code], ["invalid_request_error", "invalid_request_error"]);
    const turn = "turn_00000000000000000000000000000000";
    await refused(post(result({ ...action, turn_id: turn }, { success: true, output: "x" })), 400, /belongs to a different managed agent turn/);
    assert.deepEqual((await sessions.retrieve(id)).required_actions, [action], "a refused result changes nothing");

    const given = result(action, { success: true, output: "-3" });
    await post(given);
    assert.deepEqual((await sessions.retrieve(id)).required_actions, []);
    await post(given);
    assert.equal((await refused(post(result(action, { success: true, output: "-4" })), 409, /./)).code, "conflict_error");
    assert.equal((await refused(post(result(action, { success: false, error: "No." })), 409, /./)).headers.get("x-should-retry"), "false");
    await release(hold);
    const rest = (await upToRest(followed)).slice(followed.events.indexOf(required) + 1);
    const types = rest.map(({ type }) => type).filter((type) => !type.includes("output_text") && !type.includes("content_part"));
    const output = rest.findIndex(({ item }) => item?.type === "function_call_output");
    const resumed = rest.findIndex(isType("in_progress"));
    assert.ok(output >= 0 && output < resumed, `the output comes before the session goes on: ${types}`);
    for (const event of rest.filter(({ session }) => session)) assert.deepEqual(event.session.required_actions, []);
    assert.equal(rest.filter(({ item }) => item?.type === "function_call_output").length, 1, "a repeat adds nothing");
    assert.deepEqual(await outputsIn(tag), ["-3"]);
  });

  test("a result during no turn, and one of nothing", async () => {
    const call = { turn_id: "turn_00000000000000000000000000000000", call_id: "call_0" };
    await refused(post(result(call, { success: true, output: "x" })), 400, /^Unknown pending tool call: call_0$/);
    for (const [fields, param] of [[{ output: "x" }, "events[0].success"], [{ success: true, output: 5 }, "events[0].output"], [{ success: true, surprise: 1 }, "events[0].surprise"]]) {
      assert.equal((await refused(post(result(call, fields)), 400, /./)).param, param);
    }
  });

  test("a cancel ends what waits for a call; a result after it: 409", async () => {
    const tag = unique("cancelled");
    const { followed, actions } = await upToCall(tag, CALL, SAY);
    await post(CANCEL);
    const events = await upToRest(followed);
    assert.equal(events.find(isType("turn.cancelled")).turn.status, "cancelled");
    assert.deepEqual(events.at(-1).session.required_actions, []);
    const { client, sent } = newClient();
    const late = client.beta.agents.sessions.events.create(id, { events: [result(actions[0], { success: true, output: "late" })] });
    assert.equal((await refused(late, 409, /./)).code, "conflict_error");
    assert.equal(sent.length, 1, "x-should-retry: false");
    const final = await stream(unique("after"), [{ say: "Still here." }]).finalResult();
    assert.equal(final.output_text, "Still here.");
    assert.ok(!JSON.stringify(await requestsWith("Still here.")).includes('"late"'));
  });

  test("a message while a call waits steers the turn, and leaves the call waiting", async () => {
    const tag = unique("steered");
    const { followed, actions } = await upToCall(tag, CALL, SAY);
    await post(message("By the way."));
    assert.deepEqual((await sessions.retrieve(id)).required_actions, actions);
    await post(result(actions[0], { success: true, output: "-3" }));
    const events = await upToRest(followed);
    assert.equal(events.filter(isType("turn.created")).length, 1);
    const items = await all(sessions.turns.items.list(actions[0].turn_id, { session_id: id, order: "asc" }));
    assert.deepEqual(items.filter(({ role }) => role === "user").length, 2);
    assert.ok(JSON.stringify((await requestsWith(tag)).at(-1).input).includes("By the way."));
  });

  test("handlers answer calls that were made at once, one after the other", async () => {
    const tag = unique("parallel");
    const cities = ["Oslo", "Rome", "Lima"];
    const calls = [];
    let running = 0;
    const handler = async ({ city }) => {
      assert.equal((running += 1), 1, "one at a time");
      await new Promise((done) => setTimeout(done, 20));
      running -= 1;
      calls.push(city);
      return `in ${city}`;
    };
    const steps = [cities.map((city) => ({ call: "lookup", arguments: { city } })), { say: "All." }];
    const final = await stream(tag, steps, { toolHandlers: { lookup: handler } }).finalResult();
    assert.equal(final.output_text, "All.");
    assert.deepEqual(calls.toSorted(), cities.toSorted());
    assert.deepEqual((await outputsIn(tag)).toSorted(), cities.map((city) => `in ${city}`).toSorted());
  });

  test("calls that were made at once are answered one by one", async () => {
    const tag = unique("one-by-one");
    await post(message(ask(tag, [CALL, { call: "lookup", arguments: { city: "Rome" } }], { say: "Both." })));
    const answered = [];
    for (;;) {
      const session = await until("a call or rest", async () => {
        const session = await sessions.retrieve(id);
        const open = session.required_actions.some(({ call_id }) => !answered.includes(call_id));
        return (open || (session.status === "idle" && answered.length > 0)) && session;
      });
      if (session.status === "idle") break;
      const [action, ...others] = session.required_actions;
      await post(result(action, { success: true, output: `in ${action.arguments.city}` }));
      answered.push(action.call_id);
      const left = await sessions.retrieve(id);
      assert.ok(!left.required_actions.some(({ call_id }) => call_id === action.call_id));
      if (others.length > 0) assert.equal(left.status, "requires_action", "the others still wait");
    }
    assert.equal(answered.length, 2);
    assert.deepEqual((await outputsIn(tag)).toSorted(), ["in Oslo", "in Rome"]);
  });

  test("what a handler may give", async () => {
    const tag = unique("kinds");
    const content = [{ type: "input_text", text: "Look:" }, { type: "input_image", image_url: PIXEL }];
    const kinds = { text: "plain", object: { degrees: -3 }, content, nothing: null };
    const names = Object.keys(kinds);
    const steps = [...names.map((city) => ({ call: "lookup", arguments: { city } })), { say: "Seen." }];
    const run = stream(tag, steps, { toolHandlers: { lookup: ({ city }) => kinds[city] } });
    const { turn_id } = await run.finalResult();
    const items = await all(sessions.turns.items.list(turn_id, { session_id: id, order: "asc" }));
    const outputs = items.filter(({ type }) => type === "function_call_output");
    assert.deepEqual(outputs.map(({ output }) => output), ["plain", '{"degrees":-3}', content, null]);
    assert.deepEqual(outputs.map(({ status }) => status), names.map(() => "completed"));
    assert.ok((await outputsIn(tag))[2].includes(PIXEL), "the image reached the model");
  });

  test("a handler that fails is a failed call; its error stays here", async () => {
    const tag = unique("failing");
    const failures = [];
    const run = stream(tag, [CALL, { say: "A pity." }], {
      toolHandlers: { lookup: () => assert.fail("a secret of the client") },
      onToolError: (failure) => failures.push(failure),
    });
    const { output_text, turn_id } = await run.finalResult();
    assert.equal(output_text, "A pity.");
    assert.deepEqual(failures.map(({ stage, tool_name, session_id }) => [stage, tool_name, session_id]), [["execution", "lookup", id]]);
    const output = (await all(sessions.turns.items.list(turn_id, { session_id: id }))).find(({ type }) => type === "function_call_output");
    assert.deepEqual([output.status, output.error, output.output], ["failed", "Tool handler failed.", null]);
    const [told] = await outputsIn(tag);
    assert.ok(told.includes("Tool handler failed.") && !told.includes("secret"), told);
  });

  test("a function without a handler is the application's to answer", async () => {
    const error = await stream(unique("unhandled"), [CALL, SAY]).finalResult().catch((error) => error);
    assert.equal(error.reason, "requires_action", error);
    assert.deepEqual(error.required_actions.map(({ name }) => name), ["lookup"]);
    await post(result(error.required_actions[0], { success: true, output: "By hand." }));
    await settled(id);
    assert.equal((await sessions.turns.retrieve(error.turn_id, { session_id: id })).status, "completed");
  });

  test("the SDK sends a result again that came before its call was known, with the same key", async () => {
    const keys = [];
    // Twice the result is about a call that there is not; the answers are made to look as if it had been this one.
    const early = async (url, init) => {
      if (!init.body?.includes("input.tool_result")) return checkedFetch(url, init);
      keys.push(new Headers(init.headers).get("idempotency-key"));
      if (keys.length > 2) return checkedFetch(url, init);
      const call = JSON.parse(init.body).events[0].call_id;
      const answer = await checkedFetch(url, { ...init, body: init.body.replaceAll(call, "call_early") });
      return new Response((await answer.text()).replaceAll("call_early", call), answer);
    };
    const { beta } = new OpenAI({ baseURL, apiKey, fetch: early });
    const run = beta.agents.sessions.stream(id, { input: ask(unique("early"), CALL, SAY), toolHandlers: { lookup: () => "-3" } });
    assert.equal((await run.finalResult()).output_text, "Cold.");
    assert.equal(keys.length, 3);
    assert.equal(new Set(keys).size, 1);
  });

  test("arguments that are no JSON never hang a turn", async () => {
    const run = stream(unique("broken"), [{ call: "lookup", arguments: "not json" }, { say: "Again." }], { toolHandlers: { lookup: () => "unexpected" } });
    assert.equal((await run.finalResult()).output_text, "Again.");
  });

  test("functionTool: arguments are checked before the function runs", async () => {
    const schema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => (typeof value.city === "string" ? { value } : { issues: [{ message: "no city" }] }),
      },
    };
    const tool = functionTool(standardResponsesFunction({ name: "lookup", description: "Looks up a city.", parameters: schema, schema: { ...parameters, required: ["city"], additionalProperties: false }, function: ({ city }) => [city, 1] }));
    const { agent: shown } = await sessions.update(id, { agent: { tools: [tool.definition, hidden, later, { type: "tool_search" }] } });
    assert.deepEqual(shown.tools[0].parameters, tool.definition.parameters);
    const tag = unique("typed");
    const stages = [];
    const steps = [CALL, { call: "lookup", arguments: { city: 5 } }, SAY];
    const run = stream(tag, steps, { toolHandlers: { [tool.name]: tool.handler }, onToolError: ({ stage }) => stages.push(stage) });
    assert.equal((await run.finalResult()).output_text, "Cold.");
    assert.deepEqual(stages, ["arguments"]);
    assert.equal((await outputsIn(tag))[0], '["Oslo",1]');
  });

  test("a deferred function is found by a search, and then called", async () => {
    const tag = unique("deferred");
    const calls = [];
    const steps = [{ search: "weather forecast" }, { call: "hidden_weather", arguments: { city: "Oslo" } }, SAY];
    const run = stream(tag, steps, { toolHandlers: { hidden_weather: (given) => calls.push(given) && "-3" } });
    assert.equal((await run.finalResult()).output_text, "Cold.");
    assert.deepEqual(calls, [{ city: "Oslo" }]);
    const [first] = await requestsWith(tag);
    assert.ok(!JSON.stringify(first.tools).includes('"hidden_weather"'), "not shown before it is searched for");
    assert.ok(first.tools.some(({ type, name }) => type === "tool_search" || name === "tool_search"));
  });

  test("an asynchronous function does not block the agent", async () => {
    const tag = unique("async");
    const hold = unique("hold");
    const followed = follow(await sessions.events.stream(id));
    await post(message(ask(tag, { call: "later", arguments: { city: "Oslo" } }, { wait: hold, say: "Going on." })));
    const { item: call } = await followed.next(({ item }) => item?.type === "function_call");
    // The model is asked again although nobody has answered.
    await until("the model to be asked again", async () => (await requestsWith(tag)).length >= 2);
    assert.equal((await sessions.turns.retrieve(call.turn_id, { session_id: id })).status, "in_progress");
    await post(result(call, { success: true, output: "the late result" }));
    const events = await releaseWhile(hold, upToRest(followed));
    assert.equal(events.at(-2).type, "agent.session.turn.completed");
    assert.ok(JSON.stringify((await requestsWith(tag)).at(-1).input).includes("the late result"), "the result reached the model");
  });

  test("tools that are updated are the next turn's", async () => {
    const other = { ...lookup, name: "other" };
    await sessions.update(id, { agent: { tools: [other] } });
    const tag = unique("updated");
    const run = stream(tag, [{ call: "other", arguments: { city: "Oslo" } }, SAY], { toolHandlers: { other: () => "-3" } });
    assert.equal((await run.finalResult()).output_text, "Cold.");
    const tools = JSON.stringify((await requestsWith(tag))[0].tools);
    assert.ok(tools.includes('"other"') && !tools.includes('"lookup"'), tools);
  });
});
