// What these tests share. They need a gateway with a scripted model; from the environment:
//   CLOISTER_BASE_URL    the gateway's, with /v1
//   CLOISTER_API_KEY     a key of it
//   CLOISTER_OTHER_KEY   a key of another tenant
//   CLOISTER_MODEL_URL   the scripted model's (tests/support/model.mjs)
// Every answer is checked against tests/schemas/ on its way (contract.mjs).
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { afterEach } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { checkedFetch } from "./contract.mjs";

function setting(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run these tests through ./dev test`);
  return value;
}

export const baseURL = setting("CLOISTER_BASE_URL");
export const apiKey = setting("CLOISTER_API_KEY");
export const otherKey = setting("CLOISTER_OTHER_KEY");
const modelURL = setting("CLOISTER_MODEL_URL");

/** A client as an application makes it; what it sends can be counted. */
export function newClient(options = {}) {
  const sent = [];
  const counting = (url, init) => {
    sent.push(`${init.method.toUpperCase()} ${new URL(url).pathname}`);
    return checkedFetch(url, init);
  };
  return { sent, client: new OpenAI({ baseURL, apiKey, fetch: counting, ...options }) };
}

export const { client } = newClient();
export const { sessions } = client.beta.agents;
export const { agents } = client.beta;
export const agent = { model: "codex" };
/** With a sandbox. */
export const environment = { type: "openai_hosted" };
/** Without one: a conversation, which starts faster. */
export const none = { type: "none" };

// Streams do not outlive the test that opened them, whichever way it ends.
const opened = [];
afterEach(() => opened.splice(0).forEach((close) => close()));

const HEADERS = { authorization: `Bearer ${apiKey}`, "openai-beta": "agents=v1" };

/** A request without an SDK: status, headers and JSON. */
export async function raw(method, path, { body, headers } = {}) {
  const response = await checkedFetch(baseURL + path, { method, body, headers: { ...HEADERS, "content-type": "application/json", ...headers } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text ? JSON.parse(text) : null };
}

/** A file without an SDK: the answer, whose body is to be read. */
export const rawFile = (method, path, headers = {}) => checkedFetch(baseURL + path, { method, headers: { ...HEADERS, ...headers } });

/** The text of a stream without an SDK, piece by piece, and what came before it. */
export async function rawStream(path, init = {}) {
  const controller = new AbortController();
  const response = await checkedFetch(baseURL + path, { ...init, headers: { ...HEADERS, ...init.headers }, signal: controller.signal });
  const close = () => controller.abort();
  opened.push(close);
  return { response, pieces: response.body.pipeThrough(new TextDecoderStream()), close };
}

export const unique = (prefix) => `${prefix}-${randomBytes(6).toString("hex")}`;

/** A message for the scripted model: each step is one of its answers. */
export const script = (words, ...steps) => [words, ...steps.map((step) => `@@${JSON.stringify(step)}`)].join("\n");
export const message = (text) => ({ type: "agent.session.input.message", input: [{ role: "user", content: [{ type: "input_text", text }] }] });

export const result = (call, fields) => ({ type: "agent.session.input.tool_result", turn_id: call.turn_id, call_id: call.call_id, ...fields });
export const CANCEL = { type: "agent.session.input.cancel" };

/** The requests that the model got and that contain a text, oldest first. */
export const requestsWith = async (text) => (await fetch(`${modelURL}/requests?with=${encodeURIComponent(text)}`)).json();

/** What the model was given as results of calls since it was told a text, in the newest request with it. */
export async function outputsIn(text) {
  const { input } = (await requestsWith(text)).at(-1);
  const later = input.slice(input.findLastIndex((item) => item.role === "user" && JSON.stringify(item).includes(text)));
  return later.filter(({ type }) => type.endsWith("_output")).map(({ output }) => (typeof output === "string" ? output : JSON.stringify(output)));
}

/** Lets a held answer of the model go on, as soon as it is held. */
export async function release(name) {
  await until(`the model to hold ${name}`, async () => (await fetch(`${modelURL}/release/${name}`, { method: "POST" })).status === 204);
}

/** Lets held answers of a name go on until something has come about: the harness may have asked more than once. */
export async function releaseWhile(name, pending) {
  let over = false;
  const watched = pending.finally(() => (over = true));
  watched.catch(() => {});
  while (!over) {
    await fetch(`${modelURL}/release/${name}`, { method: "POST" });
    await sleep(100);
  }
  return watched;
}

export async function until(what, probe, limit = 30_000) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await probe();
    if (found) return found;
    assert.ok(Date.now() < end, `waited ${limit} ms in vain for ${what}`);
    await sleep(50);
  }
}

/** Reads a stream in the background, to its end or the test's. */
export function follow(stream) {
  const events = [];
  const close = () => stream.controller.abort();
  opened.push(close);
  let over = false;
  const done = (async () => {
    for await (const event of stream) events.push(event);
  })().finally(() => (over = true));
  done.catch(() => {});
  return {
    events,
    done,
    types: () => events.map(({ type }) => type),
    close,
    /** The first event from `start` on for which `probe` holds, and all before it are in `events`. */
    next: (probe, start = 0, what = "an event") =>
      until(`${what} (there are ${events.length})`, () => {
        const found = events.slice(start).find(probe);
        assert.ok(found || !over, `the stream ended after ${events.map(({ type }) => type)}`);
        return found;
      }),
  };
}

/** Follows a session until a turn has come to its end and the session to rest. */
export async function upToRest(followed, start = 0) {
  let ended = false;
  await followed.next(({ type }) => {
    ended ||= /turn\.(completed|failed|cancelled)$/.test(type);
    return ended && type === "agent.session.idle";
  }, start, "rest");
  return followed.events.slice(start);
}

/** The item of the first event of a kind, among events. */
export const itemOf = (events, kind, type = "agent.session.turn.item.added") => events.find((event) => event.type === type && event.item.type === kind)?.item;

/** The session, once nothing runs in it. */
export const settled = (id) =>
  until(`${id} to be idle`, async () => {
    const session = await sessions.retrieve(id);
    return session.status === "idle" && session;
  });

export async function all(pages) {
  const found = [];
  for await (const one of pages) found.push(one);
  return found;
}

export const textOf = (item) => item.content.map((part) => part.text).join("");
