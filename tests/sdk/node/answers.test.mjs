// What reaches the model, and answers that follow a schema. None of these has a sandbox.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { standardAgentTextFormat } from "openai/helpers/beta/agents/standard-schema";
import { AgentOutputParseError, agentOutputFormat } from "openai/lib/beta/agents/output-format";
import { agent, agents, all, none, raw, requestsWith, script, sessions, settled, unique } from "./support.mjs";

const PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SCHEMA = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"], additionalProperties: false };
const format = agentOutputFormat(SCHEMA, (text) => {
  const value = JSON.parse(text);
  if (typeof value.sum !== "number") throw new Error("no sum");
  return value;
});
const namesOf = (tools) => tools.flatMap((tool) => [tool.name, ...(tool.tools ?? []).map(({ name }) => name)]);
/** The one request of the model in which a text came first. */
const firstWith = async (tag) => (await requestsWith(tag))[0];

describe("a conversation without a sandbox", () => {
  const tag = unique("first");
  let session;
  before(async () => {
    session = await sessions.create({
      agent: { ...agent, instructions: "Answer as a pirate would.", reasoning: { effort: "low", summary: "auto" }, text: { verbosity: "low" } },
      environment: none,
      input: script(tag, { say: "Arr." }),
    });
    await settled(session.id);
  });
  after(() => sessions.delete(session.id));
  const run = (words, more) => sessions.stream(session.id, { input: words, ...more }).finalResult();

  test("needs input, and says what its environment is", async () => {
    for (const input of [undefined, null]) {
      await assert.rejects(sessions.create({ agent, environment: none, input }), (error) => error.status === 400 && error.message.includes("conversation-only sessions currently require initial input"));
    }
    assert.deepEqual(session.environment, none);
    const answer = await raw("POST", "/agents/sessions", { body: JSON.stringify({ agent, environment: { type: "none", network: { access: "disabled" } }, input: "hi" }) });
    assert.deepEqual([answer.status, answer.json.error.param], [400, "environment.network"]);
  });

  test("the model is offered no commands and no files", async () => {
    const names = namesOf((await firstWith(tag)).tools ?? []);
    for (const name of ["exec_command", "write_stdin", "apply_patch", "shell", "view_image"]) assert.ok(!names.includes(name), `${names}`);
  });

  test("instructions, effort, summary and verbosity reach the model", async () => {
    const request = await firstWith(tag);
    assert.ok(JSON.stringify([request.instructions, request.input]).includes("Answer as a pirate would."));
    assert.equal(request.reasoning.effort, "low");
    assert.equal(request.reasoning.summary, "auto");
    assert.equal(request.text.verbosity, "low");
  });

  test("an updated effort is the next turn's", async () => {
    await sessions.update(session.id, { agent: { reasoning: { effort: "high" } } });
    const next = unique("effort");
    await run(script(next, { say: "Aye." }));
    assert.equal((await firstWith(next)).reasoning.effort, "high");
  });

  test("an image reaches the model, and is kept as it came", async () => {
    const next = unique("image");
    const content = [{ type: "input_text", text: script(next, { say: "A pixel." }) }, { type: "input_image", image_url: PIXEL }];
    const { turn_id, output_text } = await run([{ role: "user", content }]);
    assert.equal(output_text, "A pixel.");
    const images = (await firstWith(next)).input.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === "input_image");
    assert.deepEqual(images.map(({ image_url }) => image_url), [PIXEL]);
    const items = await all(sessions.turns.items.list(turn_id, { session_id: session.id, order: "asc" }));
    assert.deepEqual(items[0].content, content);
  });

  test("images that are none are refused by name", async () => {
    for (const image_url of ["", "file:///etc/passwd", "data:text/html,hi", "javascript:1", "/x.png"]) {
      const content = [{ type: "input_image", image_url }];
      const events = [{ type: "agent.session.input.message", input: [{ role: "user", content }] }];
      await assert.rejects(sessions.events.create(session.id, { events }), (error) => error.status === 400 && error.param === "events[0].input[0].content[0].image_url", image_url);
    }
  });

  test("several messages at once are one turn", async () => {
    const next = unique("several");
    const user = (text) => ({ role: "user", content: [{ type: "input_text", text }] });
    const { turn_id } = await run([user(`${next} one`), user(script("two", { say: "Both." }))]);
    const items = await all(sessions.turns.items.list(turn_id, { session_id: session.id, order: "asc" }));
    const said = items.filter(({ role }) => role === "user").flatMap(({ content }) => content.map(({ text }) => text)).join("\n");
    assert.ok(said.includes(`${next} one`) && said.includes("two"));
    assert.ok(JSON.stringify(await firstWith(next)).includes("Both."));
  });

  test("sessions.stream parses an answer, or says that it cannot", async () => {
    const parsed = await run(script("Count.", { say: '{"sum": 3}' }), { outputFormat: format });
    assert.deepEqual(parsed.output_parsed, { sum: 3 });
    const failed = await run(script("Count.", { say: "three" }), { outputFormat: format }).catch((error) => error);
    assert.ok(failed instanceof AgentOutputParseError, failed);
    assert.equal(failed.raw_result.output_text, "three");
  });
});

test("a schema for the answer reaches the model, and the SDK parses what comes", async () => {
  const tag = unique("schema");
  const stream = await sessions.create({ agent: { ...agent, text: { format } }, environment: none, input: script(tag, { say: '{"sum": 5}' }), stream: true });
  const final = await stream.finalResult();
  try {
    assert.deepEqual(final.output_parsed, { sum: 5 });
    assert.equal(final.output_text, '{"sum": 5}');
    const asked = (await firstWith(tag)).text.format;
    assert.equal(asked.type, "json_schema");
    assert.deepEqual(asked.schema, SCHEMA);
    const session = await sessions.retrieve(final.session_id);
    assert.deepEqual(session.agent.text, { format: { type: "json_schema", schema: SCHEMA }, verbosity: "medium" });
  } finally {
    await settled(final.session_id);
    await sessions.delete(final.session_id);
  }
});

test("a format of a standard schema, with a saved agent's instructions", async () => {
  const standard = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: { total: value.sum } }) } };
  const saved = await agents.create({ ...agent, instructions: "Count like an abacus." });
  const tag = unique("standard");
  const text = { format: standardAgentTextFormat(standard, SCHEMA) };
  const stream = await sessions.create({ agent_id: saved.id, agent: { text }, environment: none, input: script(tag, { say: '{"sum": 7}' }), stream: true });
  const final = await stream.finalResult();
  assert.deepEqual(final.output_parsed, { total: 7 });
  assert.ok(JSON.stringify(await firstWith(tag)).includes("Count like an abacus."));
  assert.equal(final.turn.agent_id, saved.id);
  await settled(final.session_id);
  await sessions.delete(final.session_id);
  await agents.delete(saved.id);
});

test("a schema that is no object's is refused by name", async () => {
  for (const schema of [{ type: "array" }, {}, [], "object", null]) {
    const body = JSON.stringify({ agent: { ...agent, text: { format: { type: "json_schema", schema } } }, environment: none, input: "hi" });
    const answer = await raw("POST", "/agents/sessions", { body });
    assert.equal(answer.status, 400, body);
    assert.ok(answer.json.error.param.startsWith("agent.text.format.schema"), answer.json.error.param);
  }
});
