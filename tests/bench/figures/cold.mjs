// From the creation of a session with input to the harness's first event, with both containers started on the way;
// against `docker run` of the same two images until their programs answer.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { deleteSession, send, startTurn, until } from "../client.mjs";
import { containersOf, docker, engine } from "../docker.mjs";
import { interleave, median } from "../stats.mjs";
import { monotonic } from "../upstream.mjs";

/** Between two tries to reach a starting program, as in the Worker. */
const PROBE_INTERVAL = 20;
const PATIENCE = 60_000;
/** Of the containers that are run by hand. */
const LABEL = "cloister.bench";
const TARGET = 1.5;

export async function cold({ rounds, gateway }) {
  // A run that was interrupted leaves its own.
  const left = await docker("ps", "--all", "--quiet", "--filter", `label=${LABEL}`);
  if (left !== "") await docker("rm", "--force", ...left.split("\n"));
  const samples = await interleave(rounds, { session: () => session(gateway), plain });
  const phases = {};
  for (const name of Object.keys(samples.session[0].phases)) phases[name] = median(samples.session.map((sample) => sample.phases[name]));
  const note = `ms after POST: ${Object.entries(phases).map(([name, ms]) => `${name} ${ms.toFixed(0)}`).join(", ")}`;
  return [{
    name: "session POST to first harness event", unit: "ms",
    measured: median(samples.session.map((sample) => sample.took)), baseline: median(samples.plain.map((sample) => sample.took)),
    against: "docker run of both images until both answer", target: { what: "ratio", atMost: TARGET }, note, samples,
  }];
}

async function session(gateway) {
  const posted = Date.now();
  const started = monotonic();
  const stream = await startTurn(gateway, "Say hello.");
  const { session } = await until(stream, "agent.session.created");
  const created = monotonic() - started;
  await until(stream, "agent.session.turn.in_progress");
  const took = monotonic() - started;
  const phases = { "session created": created };
  const { harnessProxy, harness, sandboxProxy, sandbox } = await containersOf(gateway.state);
  phases["proxies created"] = later(harnessProxy.Created, sandboxProxy.Created) - posted;
  phases["proxies up"] = later(harnessProxy.State.StartedAt, sandboxProxy.State.StartedAt) - posted;
  phases["containers created"] = later(harness.Created, sandbox.Created) - posted;
  phases["containers up"] = later(harness.State.StartedAt, sandbox.State.StartedAt) - posted;
  phases["turn in progress"] = took;
  await until(stream, "agent.session.idle");
  await deleteSession(gateway, session.id);
  return { took, phases };
}

const later = (...times) => Math.max(...times.map(Date.parse));

/** Both images, side by side, by hand. */
async function plain() {
  const { CLOISTER_HARNESS_IMAGE: harness, CLOISTER_SANDBOX_IMAGE: sandbox } = process.env;
  const started = monotonic();
  const [first, second] = await Promise.all([timed(harness, ["--env", "CLOISTER_EPOCH=1"], attach), timed(sandbox, [], ready)]);
  return { took: Math.max(first, second) - started, harness: first - started, sandbox: second - started };
}

/** Runs a container until its program answers, and gives the time of the answer. */
async function timed(image, options, answers) {
  const name = `cloister-bench-${randomBytes(8).toString("hex")}`;
  const running = docker("run", "--detach", "--name", name, "--label", LABEL, ...options, image);
  try {
    const end = monotonic() + PATIENCE;
    while (monotonic() < end) {
      const container = await engine(`/containers/${name}/json`);
      const address = container?.NetworkSettings.IPAddress;
      if (address && (await answers(address).catch(() => false))) return monotonic();
      if (container?.State.Status === "exited") throw new Error(`${image} ended with exit code ${container.State.ExitCode}`);
      await sleep(PROBE_INTERVAL);
    }
    throw new Error(`${image} does not answer`);
  } finally {
    await running.catch(() => {});
    await docker("rm", "--force", name);
  }
}

/** The exec server answers. */
async function ready(address) {
  const response = await send(`http://${address}:8300/readyz`);
  response.resume();
  return response.statusCode === 200;
}

/** The supervisor takes the link and says that its harness is ready. */
function attach(address) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${address}:8700/link`);
    socket.onerror = () => reject(new Error("not yet"));
    socket.onclose = () => reject(new Error("closed"));
    socket.onopen = () => socket.send(JSON.stringify({ type: "attach", epoch: 1, acknowledged: 0 }));
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.type !== "event" || frame.event.type !== "ready") return;
      resolve(true);
      socket.close();
    };
  });
}
