// What the way through HarnessEgress adds to a model call, and to the words of an answer.
//
// Both need a turn that runs, since only then may a harness reach its model: one is held at the provider meanwhile.
import { setTimeout as sleep } from "node:timers/promises";
import { deleteSession, events, send, startTurn, until } from "../client.mjs";
import { containersOf } from "../docker.mjs";
import { ContainerClient } from "../container_client.mjs";
import { interleave, median, quantile } from "../stats.mjs";
import { HOLD, monotonic } from "../upstream.mjs";

const TARGET = 1.5;
/** Calls in one go of one kind. */
const CALLS = 50;
/** Size of a request some way into a conversation. */
const BODY_BYTES = 56 << 10;
const WORDS = 40;
/** Between two words, ms: long enough that each travels alone. */
const PAUSE = 50;

export async function model({ rounds, gateway, upstream }) {
  const stream = await startTurn(gateway, `Say hello. ${HOLD}`);
  const { session } = await until(stream, "agent.session.created");
  await until(stream, "agent.session.turn.in_progress");
  while (upstream.held === null) await sleep(20);
  const held = upstream.held;

  const calls = await measureCalls(2 * rounds, gateway, upstream, held);
  const through = await words(stream, upstream);
  await until(stream, "agent.session.idle");
  await deleteSession(gateway, session.id);
  const straight = await directWords(upstream, held);
  return [
    ...callRows(calls),
    {
      name: "provider's word to API client, p50", unit: "ms", measured: median(through), baseline: median(straight),
      against: "the same client at the provider", samples: { through, straight },
    },
  ];
}

/** What the harness sends, but not to be held, and with a conversation before it. */
function conversation(held) {
  const body = JSON.parse(held.replaceAll(HOLD, "bench-call"));
  const message = (role, type, text) => ({ type: "message", role, content: [{ type, text }] });
  const before = [];
  for (let bytes = held.length; bytes < BODY_BYTES; ) {
    const pair = [
      message("user", "input_text", `What does "step ${before.length}" print?\n${"\tfor line in lines:\n".repeat(10)}`),
      message("assistant", "output_text", `It prints the words of each line, one after the other.\n${"- and says “done” at the end;\n".repeat(20)}`),
    ];
    bytes += JSON.stringify(pair).length;
    before.push(...pair);
  }
  body.input.unshift(...before);
  return JSON.stringify(body);
}

/**
 * Calls from where the harness is, the network of its proxy, and from a plain container at the provider; and requests
 * that the gateway ends on the way, which show what each part of the way costs.
 */
async function measureCalls(rounds, gateway, upstream, held) {
  const large = conversation(held);
  const small = held.replaceAll(HOLD, "bench-call");
  const { harnessProxy } = await containersOf(gateway.state);
  const inside = ContainerClient.start(`container:${harnessProxy.Id}`, "http://model.internal");
  const outside = ContainerClient.start("bridge", upstream.url);
  const call = (client, body, byGateway) => async () => {
    upstream.seen.length = 0;
    const sent = await client.call(CALLS, { body });
    const { seen } = upstream;
    if (seen.length !== CALLS || seen.some(({ gateway }) => gateway !== byGateway)) throw new Error("the provider did not see the calls it should");
    return sent.map(({ sent, last }, n) => ({ took: last - sent, request: seen[n].read - sent, answer: last - seen[n].answered }));
  };
  const ended = (request) => async () => (await inside.call(CALLS, request)).map(({ sent, last }) => ({ took: last - sent }));
  try {
    const samples = await interleave(rounds, {
      egress: call(inside, large, true),
      direct: call(outside, large, false),
      small: call(inside, small, true),
      smallDirect: call(outside, small, false),
      // Refused by its path, without a question to anyone.
      entered: ended({ path: "/v1/none", status: 404 }),
      // Refused for its encoding, after HarnessDO has said yes.
      authorized: ended({ headers: { "content-encoding": "none" }, status: 415 }),
    });
    return { samples, bytes: [large.length, small.length] };
  } finally {
    await Promise.all([inside.stop(), outside.stop()]);
  }
}

function callRows({ samples, bytes }) {
  // Medians of rounds: a burst of other work on the machine must not decide.
  const p50 = (kind, part = "took") => median(samples[kind].map((round) => median(round.map((call) => call[part]))));
  const p99 = (kind) => quantile(samples[kind].flat().map((call) => call.took), 0.99);
  const ms = (value) => `${value.toFixed(2)} ms`;
  const way = ["request", "answer"].map((part) => `${part} +${ms(p50("egress", part) - p50("direct", part))}`).join(", ");
  const hops = [
    `to the entrypoint and back ${ms(p50("entered"))}`,
    `HarnessDO's yes +${ms(p50("authorized") - p50("entered"))}`,
    `call with ${bytes[1]} bytes ${ms(p50("small"))}`,
  ].join(", ");
  const against = "the same client at the provider";
  return [
    { name: "model call, p50", unit: "ms", measured: p50("egress"), baseline: p50("direct"), against, target: { what: "added", atMost: TARGET }, note: `${bytes[0]} bytes; ${way}`, samples },
    { name: "model call, p99", unit: "ms", measured: p99("egress"), baseline: p99("direct"), against },
    { name: "smaller model call, p50", unit: "ms", measured: p50("small"), baseline: p50("smallDirect"), against, note: hops },
  ];
}

/** Ages of the words of the held answer when the API client has them. Each word is the time at which it was sent. */
async function words(stream, upstream) {
  const ages = [];
  upstream.release(WORDS, PAUSE);
  await until(stream, "agent.session.turn.completed", (event) => {
    if (event.type === "agent.session.turn.output_text.delta") ages.push(monotonic() - Number(event.delta.trim().split(" ")[0]));
  });
  return ages;
}

async function directWords(upstream, body) {
  const headers = { "content-type": "application/json" };
  const response = await send(`${upstream.url}/responses`, { method: "POST", headers, body });
  const ages = [];
  upstream.release(WORDS, PAUSE);
  for await (const event of events(response)) {
    if (event.type === "response.output_text.delta") ages.push(monotonic() - Number(event.delta));
  }
  return ages;
}
