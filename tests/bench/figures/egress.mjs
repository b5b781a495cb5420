// What the way through SandboxEgress adds to a sandbox's requests: with lists of several lengths, against a Worker in plain
// JavaScript (pass/) that sends on what comes. The same interceptor, runner, client and upstream for all of them.
import { setTimeout as sleep } from "node:timers/promises";
import { send, startTurn, text, until } from "../client.mjs";
import { ContainerClient } from "../container_client.mjs";
import { sandboxProxies } from "../docker.mjs";
import { Names } from "../names.mjs";
import { Runner, startGateway } from "../served.mjs";
import { interleave, median, quantile } from "../stats.mjs";
import { HOLD, Upstream } from "../upstream.mjs";

/** Entries of the lists. */
const LISTS = [10, 1_000, 16_384];
/** Requests in one go: few, so that other work on the machine falls on all alike; and how many goes a round. */
const REQUESTS = 50;
const GOES = 10;
const SMALL = { method: "GET", path: "/100" };
const BYTES = 100_000_000;
const DOWN = { method: "GET", path: `/${BYTES}` };
const UP = { method: "POST", path: "/", bodyBytes: BYTES };
/** Added to a small request, ms. */
const ADDED = 0.15;
/** Of a long list to a short one. */
const FLAT = 1.05;
const RATE = 0.9;

/** A name that is in all lists; a list of 16,384 may have 16 bytes an entry. */
const name = (n) => `x${n.toString(36).padStart(3, "0")}.example`;
const list = (length) => Array.from({ length }, (_, n) => name(n));
const HOST = `http://${name(5)}`;
const mib = (bytes) => bytes / 2 ** 20;

export async function egress({ rounds }) {
  const names = await Names.start();
  // The turns of the sandboxes wait for it.
  const provider = await Upstream.start("127.0.0.1");
  const gateway = await startGateway(provider.url, { options: ["--upstream", names.address] });
  const pass = await startPass(names);
  try {
    return rows(await measure(rounds, provider, gateway, pass));
  } finally {
    await pass.stop();
    await gateway.stop();
    provider.stop();
    names.stop();
  }
}

function startPass(names) {
  const { CLOISTER_SANDBOX_IMAGE: sandbox, CLOISTER_INTERCEPTOR_IMAGE: interceptor } = process.env;
  return Runner.start([
    "--config", "tests/bench/pass/wrangler.toml", "--build", "tests/bench/pass/worker",
    "--image", `sandbox=${sandbox}`, "--interceptor", interceptor, "--upstream", names.address,
  ]);
}

async function measure(rounds, provider, gateway, pass) {
  const clients = {};
  const known = new Set();
  // In the network of the sandbox that is there now and was not before.
  const inside = async (runner) => {
    let id;
    while (!id) {
      await sleep(20);
      id = (await sandboxProxies(runner.state)).find((proxy) => !known.has(proxy));
    }
    known.add(id);
    return ContainerClient.start(`container:${id}`, HOST);
  };
  try {
    for (const length of LISTS) {
      const network = { access: "restricted", allowed_domains: list(length) };
      provider.held = null;
      const stream = await startTurn(gateway, `Say hello. ${HOLD}`, network);
      await until(stream, "agent.session.turn.in_progress");
      while (provider.held === null) await sleep(20);
      clients[length] = await inside(gateway);
    }
    await text(await send(pass.url));
    clients.pass = await inside(pass);
    return await exchange(rounds, gateway, pass, clients);
  } finally {
    await Promise.all(Object.values(clients).map((client) => client.stop()));
  }
}

async function exchange(rounds, gateway, pass, clients) {
  const each = (run) => Object.fromEntries(Object.entries(clients).map(([kind, client]) => [kind, () => run(client)]));
  const took = async (client, count, request) => (await client.run(count, request)).map(({ sent, last }) => last - sent);
  const small = await interleave(GOES * rounds, each((client) => took(client, REQUESTS, SMALL)));
  const before = { gateway: gateway.memory(), wasm: gateway.wasm(), pass: pass.memory() };
  gateway.forgetPeak();
  pass.forgetPeak();
  const rate = (client, request) => async () => BYTES / 1e3 / (await took(client, 1, request))[0];
  const ours = clients[LISTS[0]];
  const large = await interleave(3 * rounds, {
    down: rate(ours, DOWN), downPass: rate(clients.pass, DOWN), up: rate(ours, UP), upPass: rate(clients.pass, UP),
  });
  const grown = { gateway: gateway.peak() - before.gateway, wasm: gateway.wasm() - before.wasm, pass: pass.peak() - before.pass };
  return { small, large, before, grown };
}

function rows({ small, large, before, grown }) {
  // Medians of rounds: a burst of other work on the machine must not decide.
  const p50 = (kind) => median(small[kind].map(median));
  const p99 = (kind) => quantile(small[kind].flat(), 0.99);
  const against = "a Worker that sends on what comes";
  const entries = (length) => `${length.toLocaleString("en")} entries`;
  const [shortest, ...longer] = LISTS;
  return [
    ...LISTS.map((length) => ({
      name: `small request, ${entries(length)}, p50`, unit: "ms", measured: p50(length), baseline: p50("pass"), against,
      target: { what: "added", atMost: ADDED }, samples: small[length],
    })),
    ...longer.map((length) => ({
      name: `of ${entries(length)}, p50`, unit: "ms", measured: p50(length), baseline: p50(shortest), against: entries(shortest),
      target: { what: "ratio", atMost: FLAT },
    })),
    { name: `small request, ${entries(shortest)}, p99`, unit: "ms", measured: p99(shortest), baseline: p99("pass"), against },
    ...[["down", "100 MB to a sandbox"], ["up", "100 MB from a sandbox"]].map(([kind, name]) => ({
      name, unit: "MB/s", measured: median(large[kind]), baseline: median(large[`${kind}Pass`]), against,
      target: { what: "ratio", atLeast: RATE }, samples: large,
    })),
    { name: "Wasm memory, grown by these", unit: "MiB", measured: mib(grown.wasm), note: `${mib(before.wasm).toFixed(1)} MiB before, with ${LISTS.length} lists` },
    {
      name: "workerd's memory, grown by these", unit: "MiB", measured: mib(grown.gateway), baseline: mib(grown.pass), against,
      note: `at most, of the whole process; ${mib(before.gateway).toFixed(0)} MiB before`,
    },
  ];
}
