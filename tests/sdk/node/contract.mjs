// Checks all that the gateway answers against tests/schemas/, and notes what was seen. A violation fails the test during
// which it came. From the environment, optional:
//   CLOISTER_SEEN   a file to which each process adds what it saw, one a line: endpoints with their statuses, kinds of
//                   events, items and inputs
import assert from "node:assert/strict";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { after, afterEach } from "node:test";
import Ajv from "ajv/dist/2020.js";

const FOLDER = new URL("../../schemas/", import.meta.url);
const load = (name) => JSON.parse(readFileSync(new URL(name, FOLDER)));
const names = readdirSync(FOLDER).filter((name) => name.endsWith(".json") && name !== "routes.json");
const ajv = new Ajv({ schemas: names.map(load), strictTypes: false, allErrors: true });

/** Paths as patterns, literal ones first, with the schema that each method has for each status; null for what is no JSON. */
const ROUTES = Object.entries(load("routes.json")).map(([path, methods]) => ({
  path,
  methods,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
}));

const problems = [];
const seen = new Set();

/** Fails the test that is running with what was wrong since the last time. */
export function noProblems() {
  assert.deepEqual(problems.splice(0), []);
}
afterEach(noProblems);
after(noProblems);
process.on("exit", () => {
  if (process.env.CLOISTER_SEEN) appendFileSync(process.env.CLOISTER_SEEN, [...seen].map((line) => `${line}\n`).join(""));
});

function check(schema, value, where) {
  const validate = ajv.getSchema(schema);
  if (validate === undefined) {
    problems.push(`${where}: there is no schema ${schema}`);
  } else if (!validate(value)) {
    const errors = validate.errors.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
    problems.push(`${where}: ${errors.slice(0, 12).join("; ")}; in ${JSON.stringify(value).slice(0, 2000)}`);
  }
}

const kindOf = (item) => (item.type === "message" ? `${item.role}_message` : item.type);

/** One event, as it came. */
function checkEvent(event, where) {
  // By its own branch, so that what is reported is about that kind alone.
  check(`event.json#/$defs/${event.type}`, event, where);
  seen.add(`event ${event.type}`);
  if (event.item) seen.add(`item ${kindOf(event.item)}`);
}

function checkBody(method, route, status, text, where) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    return problems.push(`${where}: no JSON: ${text.slice(0, 200)}`);
  }
  if (status >= 400) return check("error.json", body, where);
  const schema = route?.methods[method]?.[status];
  if (!schema) return problems.push(`${where}: no such answer is known: ${text.slice(0, 200)}`);
  for (const item of schema.endsWith("/items") ? (body.data ?? []) : []) seen.add(`item ${kindOf(item)}`);
  return check(schema, body, where);
}

/** Takes a stream's text apart as it comes: comments, or frames of exactly one event and one data line. */
export function frameReader(onEvent, onComment = () => {}, where = "stream") {
  let rest = "";
  const ids = new Set();
  return (text) => {
    const frames = (rest + text).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      if (frame.startsWith(":") && !frame.includes("\n")) {
        onComment(frame);
        continue;
      }
      const [, kind, data] = /^event: (\S+)\ndata: (.*)$/.exec(frame) ?? [];
      if (kind === undefined || frame.includes("\r")) {
        problems.push(`${where}: no frame: ${JSON.stringify(frame.slice(0, 400))}`);
        continue;
      }
      const event = JSON.parse(data);
      if (event.type !== kind) problems.push(`${where}: event ${kind} carries ${event.type}`);
      if (ids.has(event.event_id)) problems.push(`${where}: ${event.event_id} came twice`);
      ids.add(event.event_id);
      onEvent(event);
    }
  };
}

/** `fetch`, but what comes is checked on the way. */
export async function checkedFetch(url, init = {}) {
  const response = await fetch(url, init);
  const method = (init.method ?? "GET").toUpperCase();
  const path = new URL(url).pathname.replace(/^\/v1/, "");
  const route = ROUTES.find(({ pattern }) => pattern.test(path));
  const where = `${method} ${path} ${response.status}`;
  const type = response.headers.get("content-type") ?? "";
  const shape = method === "HEAD" ? "GET" : method;
  if (route?.methods[shape]) seen.add(`${method} ${route.path} ${response.status}`);
  if (!/^req_\w+$/.test(response.headers.get("x-request-id") ?? "")) problems.push(`${where}: no request id`);
  if (response.ok && method === "POST" && path.endsWith("/events")) {
    for (const { type } of JSON.parse(init.body).events ?? []) seen.add(`input ${type}`);
  }

  if (response.ok && type.startsWith("text/event-stream")) {
    if (method === "HEAD") return response;
    if (method === "POST") seen.add(`${method} ${route?.path} stream`);
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const read = frameReader((event) => checkEvent(event, where), undefined, where);
    const watch = new TransformStream({
      transform(chunk, controller) {
        read(decoder.decode(chunk, { stream: true }));
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(watch), response);
  }
  // A file: bytes that say nothing of themselves.
  if (method !== "HEAD" && response.status !== 202 && route?.methods[method]?.[response.status] === null) {
    if (type !== "application/octet-stream") problems.push(`${where}: content type ${type}`);
    return response;
  }
  const text = await response.clone().text();
  if (method === "HEAD" || response.status === 202) {
    if (text !== "") problems.push(`${where}: a body: ${text.slice(0, 200)}`);
  } else {
    if (!type.startsWith("application/json")) problems.push(`${where}: content type ${type}`);
    checkBody(method, route, response.status, text, where);
  }
  return response;
}
