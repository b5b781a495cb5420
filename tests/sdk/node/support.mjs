// What these tests share. They need a gateway with a scripted model; from the environment:
//   CLOISTER_BASE_URL    the gateway's, with /v1
//   CLOISTER_API_KEY     a key of it
//   CLOISTER_MODEL_URL   the scripted model's (tests/support/model.mjs)
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";

function setting(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run these tests through ./dev test`);
  return value;
}

export const baseURL = setting("CLOISTER_BASE_URL");
export const apiKey = setting("CLOISTER_API_KEY");
const modelURL = setting("CLOISTER_MODEL_URL");

/** A client as an application makes it; what it sends can be counted. */
export function newClient(options = {}) {
  const sent = [];
  const counting = (url, init) => {
    sent.push(`${init.method.toUpperCase()} ${new URL(url).pathname}`);
    return fetch(url, init);
  };
  return { sent, client: new OpenAI({ baseURL, apiKey, fetch: counting, ...options }) };
}

export const { client } = newClient();
export const { sessions } = client.beta.agents;
export const agent = { model: "codex" };
export const environment = { type: "openai_hosted" };

/** A request without an SDK: status, headers and JSON. */
export async function raw(method, path, { body, headers } = {}) {
  const response = await fetch(baseURL + path, {
    method,
    body,
    headers: { authorization: `Bearer ${apiKey}`, "openai-beta": "agents=v1", "content-type": "application/json", ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text ? JSON.parse(text) : null };
}

export const unique = (prefix) => `${prefix}-${randomBytes(6).toString("hex")}`;

/** A message for the scripted model: each step is one of its answers. */
export const script = (words, ...steps) => [words, ...steps.map((step) => `@@${JSON.stringify(step)}`)].join("\n");
export const message = (text) => ({ type: "agent.session.input.message", input: [{ role: "user", content: [{ type: "input_text", text }] }] });

/** Lets a held answer of the model go on, as soon as it is held. */
export async function release(name) {
  await until(`the model to hold ${name}`, async () => (await fetch(`${modelURL}/release/${name}`, { method: "POST" })).status === 204);
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
