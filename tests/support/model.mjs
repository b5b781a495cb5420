// A scripted model: the provider's Responses API, played from a script that the user's message carries.
//
//   node tests/support/model.mjs [--port N] [--log FILE]
//
// Says "ready http://127.0.0.1:PORT" and ends when its stdin closes. Each line of the newest user message that begins
// with "@@" is one model call's answer, a JSON object or an array of them:
//   @@{"shell": "uname -a"}            a call of exec_command
//   @@{"patch": "*** Begin Patch…"}    a call of apply_patch
//   @@{"think": "…", "say": "…"}       a reasoning summary, an answer
//   @@{"call": "f", "arguments": {…}}  a call of a client's function; arguments that are a string are sent as they are
//   @@{"search": "…"}                  a search for tools that are not shown at once
//   @@{"spawn": "…"}                   a subagent, told this; then {"await": true}, {"tell": "…"} and {"dismiss": true} are
//                                      about the subagents of this thread: all, the newest, the newest
//   @@{"http": 429, "body": {…}}       an error; "$CREDENTIAL" in it becomes what the request was authorised with
// and may carry: "delay" ms before the first byte; "wait": NAME, which sends nothing before POST /release/NAME; "drip" ms
// between words; "bytes": true, which writes each byte by itself; "hold": NAME, which stops after the first word until POST /release/NAME; "cut": true, which drops the
// connection after the first word.
// Which answer is next follows from the tool outputs and answers that the request carries after that message. Without a script the
// answer is "done". The log has one JSON line a request: path, headers, body. GET /requests?with=TEXT gives the bodies of the
// newest requests that contain the text, oldest first.
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

const { values: args } = parseArgs({ options: { port: { type: "string", default: "0" }, log: { type: "string" } } });
const USAGE = {
  input_tokens: 1200, input_tokens_details: { cached_tokens: 1000 },
  output_tokens: 34, output_tokens_details: { reasoning_tokens: 10 }, total_tokens: 1234,
};
const CALLS = ["shell", "patch", "call", "search", "spawn", "await", "tell", "dismiss"];
const held = new Map();
// Bodies, newest last.
const requests = [];
let calls = 0;

const released = (name) => new Promise((release) => held.set(name, release));
const textOf = (content) => typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");
const isCall = (step) => CALLS.some((name) => name in step);

/** The answer that is due: the script's step after those whose outputs the request already holds. */
function due(input) {
  const isScript = (item) => item.role === "user" && textOf(item.content).split("\n").some((line) => line.startsWith("@@"));
  const at = input.findLastIndex(isScript);
  if (at < 0) return [{ say: "done" }];
  const steps = textOf(input[at].content).split("\n").filter((line) => line.startsWith("@@"))
    .map((line) => [JSON.parse(line.slice(2))].flat());
  const later = input.slice(at + 1);
  let outputs = later.filter((item) => item.type.endsWith("_output")).length;
  let words = later.filter((item) => item.role === "assistant").length;
  const next = steps.find((step) => {
    const expected = step.filter(isCall).length;
    const said = step.filter((part) => "say" in part).length;
    // An error leaves no trace in the next request, so it stays due.
    const done = expected > 0 ? outputs >= expected : said > 0 && words >= said;
    if (done) {
      outputs -= expected;
      words -= said;
    }
    return !done;
  });
  return next ?? [{ say: "done" }];
}

/** A function that the request offers, at once or as the result of a search, with the namespace it is in. */
function offered(body, name) {
  const found = (body.input ?? []).filter((item) => item.type === "tool_search_output").flatMap((item) => item.tools ?? []);
  for (const tool of [...(body.tools ?? []), ...found]) {
    if (tool.name === name && tool.type === "function") return { tool };
    const inner = (tool.tools ?? []).find((each) => each.name === name);
    if (inner) return { tool: inner, namespace: tool.name };
  }
  return {};
}

/** Ids of the subagents that this thread has, oldest first. */
function subagents(body) {
  const outputs = (body.input ?? []).filter((item) => item.type === "function_call_output");
  return outputs.flatMap((item) => {
    try { return JSON.parse(textOf(item.output)).agent_id ?? []; } catch { return []; }
  });
}

/** Name and arguments of the function that a step calls. */
function called(body, step) {
  if ("call" in step) return { name: step.call, input: step.arguments ?? {} };
  const newest = subagents(body).at(-1);
  if ("spawn" in step) return { name: "spawn_agent", input: { message: step.spawn, ...step.args } };
  if ("await" in step) return { name: "wait_agent", input: { targets: subagents(body), timeout_ms: 30_000 } };
  if ("tell" in step) return { name: "send_input", input: { target: newest, message: step.tell, ...step.args } };
  return { name: "close_agent", input: { target: newest } };
}

async function answer(body, credential, response) {
  const call = ++calls;
  const parts = due(body.input ?? []);
  const first = parts[0];
  if (first.delay) await sleep(first.delay);
  if (first.wait) await released(first.wait);
  if (first.http) {
    response.writeHead(first.http, { "content-type": "application/json", ...first.headers });
    const text = JSON.stringify(first.body ?? { error: { message: "scripted", code: "server_error" } });
    return response.end(text.replaceAll("$CREDENTIAL", credential));
  }
  response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": `scripted-${call}` });
  const bytewise = parts.some((part) => part.bytes);
  const send = (type, fields) => {
    const frame = Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    if (!bytewise) return response.write(frame);
    for (let at = 0; at < frame.length; at += 1) response.write(frame.subarray(at, at + 1));
  };
  const id = `resp_${call}`;
  send("response.created", { response: { id, object: "response", status: "in_progress", model: body.model, output: [] } });
  const output = [];
  const item = (value) => {
    const index = output.push(value) - 1;
    send("response.output_item.done", { output_index: index, item: value });
  };
  for (const part of parts) {
    const key = `${call}_${output.length}`;
    if ("think" in part) {
      const where = { item_id: `rs_${key}`, output_index: output.length, summary_index: 0 };
      send("response.output_item.added", { output_index: output.length, item: { type: "reasoning", id: `rs_${key}`, summary: [] } });
      send("response.reasoning_summary_part.added", { ...where, part: { type: "summary_text", text: "" } });
      for (const delta of part.think.match(/\S+\s*/g) ?? []) send("response.reasoning_summary_text.delta", { ...where, delta });
      item({ type: "reasoning", id: `rs_${key}`, summary: [{ type: "summary_text", text: part.think }], encrypted_content: "ZW5jcnlwdGVk" });
    }
    if ("shell" in part) {
      const call_id = `call_${call}_${output.length}`;
      const input = JSON.stringify({ cmd: part.shell, ...part.args });
      send("response.output_item.added", { output_index: output.length, item: { type: "function_call", id: `fc_${key}`, call_id, name: "exec_command", arguments: "", status: "in_progress" } });
      item({ type: "function_call", id: `fc_${key}`, call_id, name: "exec_command", arguments: input, status: "completed" });
    }
    if ("patch" in part) {
      const call_id = `call_${call}_${output.length}`;
      send("response.output_item.added", { output_index: output.length, item: { type: "custom_tool_call", id: `ct_${key}`, call_id, name: "apply_patch", input: "" } });
      item({ type: "custom_tool_call", id: `ct_${key}`, call_id, name: "apply_patch", input: part.patch, status: "completed" });
    }
    if ("search" in part) {
      const call_id = `call_${call}_${output.length}`;
      item({ type: "tool_search_call", id: `ts_${key}`, call_id, execution: "client", arguments: { query: part.search, limit: 8 }, status: "completed" });
    }
    if (["call", "spawn", "await", "tell", "dismiss"].some((name) => name in part)) {
      const call_id = `call_${call}_${output.length}`;
      const { name, input } = called(body, part);
      const { namespace } = offered(body, name);
      const text = typeof input === "string" ? input : JSON.stringify(input);
      const fields = { type: "function_call", id: `fc_${key}`, call_id, name, ...(namespace && { namespace }) };
      send("response.output_item.added", { output_index: output.length, item: { ...fields, arguments: "", status: "in_progress" } });
      item({ ...fields, arguments: text, status: "completed" });
    }
    if ("say" in part) {
      const where = { item_id: `msg_${key}`, output_index: output.length, content_index: 0 };
      send("response.output_item.added", { output_index: output.length, item: { type: "message", id: `msg_${key}`, role: "assistant", status: "in_progress", content: [] } });
      send("response.content_part.added", { ...where, part: { type: "output_text", text: "", annotations: [] } });
      for (const [index, delta] of (part.say.match(/\S+\s*/g) ?? []).entries()) {
        if (index > 0 && part.drip) await sleep(part.drip);
        send("response.output_text.delta", { ...where, delta });
        if (index === 0 && part.cut) return response.destroy();
        if (index === 0 && part.hold) await released(part.hold);
      }
      item({ type: "message", id: `msg_${key}`, role: "assistant", status: "completed", content: [{ type: "output_text", text: part.say, annotations: [] }] });
    }
  }
  send("response.completed", { response: { id, object: "response", status: "completed", model: body.model, output, usage: USAGE } });
  response.end();
}

const server = createServer(async (request, response) => {
  const chunks = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    if (args.log) appendFileSync(args.log, JSON.stringify({ path: request.url, aborted: true }) + "\n");
    return;
  }
  const text = Buffer.concat(chunks).toString();
  if (request.url.startsWith("/release/")) {
    const name = request.url.slice("/release/".length);
    const release = held.get(name);
    held.delete(name);
    release?.();
    return response.writeHead(release ? 204 : 404).end();
  }
  if (request.url.startsWith("/requests")) {
    const wanted = new URL(request.url, "http://model").searchParams.get("with") ?? "";
    const found = requests.filter((each) => JSON.stringify(each).includes(wanted));
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found));
  }
  let body;
  try { body = JSON.parse(text); } catch { body = { malformed: text.slice(0, 200) }; }
  if (args.log) appendFileSync(args.log, JSON.stringify({ path: request.url, headers: request.headers, body }) + "\n");
  if (request.method !== "POST" || request.url !== "/v1/responses") {
    return response.writeHead(404, { "content-type": "application/json" }).end(JSON.stringify({ error: { message: "no such route", code: "not_found" } }));
  }
  requests.push(body);
  if (requests.length > 500) requests.shift();
  await answer(body, request.headers.authorization ?? "", response).catch(() => response.destroy());
});
server.listen(Number(args.port), "127.0.0.1", () => console.log(`ready http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on("end", () => process.exit(0));
