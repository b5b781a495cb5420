// How many requests a second a server answers.
import { Agent } from "node:http";
import { median } from "./stats.mjs";
import { monotonic } from "./upstream.mjs";

export const CONNECTIONS = 8;
const ALONE = 50;
const MS = 2000;

/** Answers per second to `ask(agent)` on several connections, and how long one takes alone (ms, median). */
export async function rate(ask) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const times = [];
  for (let n = 0; n < ALONE; n++) {
    const started = monotonic();
    await ask(agent);
    times.push(monotonic() - started);
  }
  const started = monotonic();
  let count = 0;
  const connection = async () => {
    for (; monotonic() < started + MS; count++) await ask(agent);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  const answered = (count * 1000) / (monotonic() - started);
  agent.destroy();
  return { rate: answered, alone: median(times) };
}

/** A row of the table for rounds of `measured` and `baseline`. */
export function rateRow(row, measured, baseline) {
  const rates = (rounds) => median(rounds.map((round) => round.rate));
  const alone = (rounds) => median(rounds.map((round) => round.alone)).toFixed(2);
  return {
    ...row, unit: "requests/s", measured: rates(measured), baseline: rates(baseline),
    note: `${CONNECTIONS} connections; alone ${alone(measured)} against ${alone(baseline)} ms`, samples: { measured, baseline },
  };
}
