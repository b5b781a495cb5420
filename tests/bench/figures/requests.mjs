// Creation and retrieval of a session, against one SQLite statement in a Durable Object behind plain JavaScript (plain/).
import { randomBytes } from "node:crypto";
import { send, text } from "../client.mjs";
import { rate, rateRow } from "../rate.mjs";
import { Runner } from "../served.mjs";
import { interleave } from "../stats.mjs";

const SESSION = JSON.stringify({ agent: { model: "codex" }, environment: { type: "openai_hosted" } });

export async function requests({ rounds, gateway }) {
  const plain = await Runner.start(["--config", "tests/bench/plain/wrangler.toml", "--build", "tests/bench/plain/worker"]);
  try {
    const { id } = JSON.parse(await ask(gateway, "POST", "/v1/agents/sessions", 201, SESSION));
    // As long as the session's own.
    const row = await ask(gateway, "GET", `/v1/agents/sessions/${id}`, 200);
    await ask(plain, "POST", "/objects/one", 201, row);
    const samples = await interleave(rounds, {
      create: () => rate((agent) => ask(gateway, "POST", "/v1/agents/sessions", 201, SESSION, agent)),
      // A new session is a new object, too.
      insertInNew: () => rate((agent) => ask(plain, "POST", `/objects/${randomBytes(16).toString("hex")}`, 201, row, agent)),
      insertInOne: () => rate((agent) => ask(plain, "POST", "/objects/one", 201, row, agent)),
      retrieve: () => rate((agent) => ask(gateway, "GET", `/v1/agents/sessions/${id}`, 200, undefined, agent)),
      select: () => rate((agent) => ask(plain, "GET", "/objects/one", 200, undefined, agent)),
    });
    return [
      rateRow({ name: "POST session", against: "an insert in a new Durable Object", target: { what: "ratio", atLeast: 0.3 } }, samples.create, samples.insertInNew),
      rateRow({ name: "POST session, again", against: "an insert in one and the same Durable Object" }, samples.create, samples.insertInOne),
      rateRow({ name: "GET session", against: "a select in a Durable Object", target: { what: "ratio", atLeast: 0.8 } }, samples.retrieve, samples.select),
    ];
  } finally {
    await plain.stop();
  }
}

async function ask(server, method, path, status, body, agent) {
  const headers = body === undefined ? server.headers : { ...server.headers, "content-type": "application/json" };
  const response = await send(server.url + path, { method, headers, body, agent });
  const answer = await text(response);
  if (response.statusCode !== status) throw new Error(`${method} ${path}: ${response.statusCode} ${answer}`);
  return answer;
}
