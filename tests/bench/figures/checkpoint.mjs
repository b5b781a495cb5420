// What it takes to store a workspace at the end of a turn, and to have it back when both containers are gone; against one
// object in R2 that plain JavaScript (plain/) stores and gives as a stream, of the same bytes, in the same runner.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { send } from "../client.mjs";
import { removeContainers } from "../docker.mjs";
import { ScriptedModel, ScriptedSession } from "../scripted.mjs";
import { Runner, startGateway } from "../served.mjs";
import { interleave, median } from "../stats.mjs";
import { monotonic } from "../upstream.mjs";

/** One command makes this much. */
const SHARE_MIB = 64;
const TARGET = 1.5;
const WASM_MIB = 16;

const PROGRAM = readFileSync(new URL("../workspace.py", import.meta.url), "utf8");
const program = (...argv) => `python3 -c '${PROGRAM}' ${argv.join(" ")}`;
const LOOK = program("look");
const LOOKED = /^\d+ \d+ [0-9a-f]{64}\n$/;
const mib = (bytes) => bytes / 2 ** 20;

export async function checkpoint({ rounds, workspace }) {
  const folder = mkdtempSync(join(tmpdir(), "cloister-bench-"));
  const model = await ScriptedModel.start();
  const gateway = await startGateway(model.url);
  const plain = await Runner.start(["--config", "tests/bench/plain/wrangler.toml", "--build", "tests/bench/plain/worker"]);
  try {
    return rows(workspace, await measure({ rounds, workspace, model, gateway, plain, archive: join(folder, "archive") }));
  } finally {
    await plain.stop();
    await gateway.stop();
    await model.stop();
    rmSync(folder, { recursive: true });
  }
}

async function measure({ rounds, workspace, model, gateway, plain, archive }) {
  const small = await ScriptedSession.create(gateway, model);
  await small.turn("echo hello > file");
  const stored = blobs(gateway);
  await small.turn("rm file");
  await packed({ mib: 1, files: 2 }, archive);
  await stream(plain, archive);

  const streamed = await packed(workspace, archive);
  const before = { gateway: gateway.memory(), wasm: gateway.wasm(), plain: plain.memory() };
  gateway.forgetPeak();
  plain.forgetPeak();
  const large = await ScriptedSession.create(gateway, model);
  const { output: made } = await large.turn(...makes(workspace), LOOK);
  if (!LOOKED.test(made)) throw new Error(`the workspace was not looked at in time: ${made}`);
  const restored = async () => {
    await removeContainers(gateway.state);
    const turn = await large.turn(LOOK);
    if (turn.output !== made) throw new Error(`the workspace was ${made}and came back as ${turn.output}`);
    return turn;
  };
  const empty = async () => {
    await removeContainers(gateway.state);
    return small.turn(LOOK);
  };
  const samples = await interleave(rounds, { restored, empty, stream: () => stream(plain, archive) });
  const grown = { gateway: gateway.peak() - before.gateway, wasm: gateway.wasm() - before.wasm, plain: plain.peak() - before.plain };
  return { samples, streamed, stored, before, grown };
}

function rows(workspace, { samples, streamed, stored, before, grown }) {
  const middle = (kind, field) => median(samples[kind].map((sample) => sample[field]));
  const what = `${workspace.mib} MiB in ${workspace.files} files`;
  const against = `${mib(streamed).toFixed(0)} MiB as one stream`;
  const target = { what: "ratio", atMost: TARGET };
  return [
    {
      name: `backup of ${what}`, unit: "ms", measured: middle("restored", "ended"), baseline: middle("stream", "put"), against, target,
      note: "from the last item to the end of the turn", samples,
    },
    {
      name: `restore of ${what}`, unit: "ms", measured: middle("restored", "asked") - middle("empty", "asked"), baseline: middle("stream", "got"), against, target,
      note: `from the message to the model, ${middle("restored", "asked").toFixed(0)} ms; less the same with an empty workspace, ${middle("empty", "asked").toFixed(0)} ms; each time all was there`,
    },
    { name: "turn's end with an empty workspace", unit: "ms", measured: middle("empty", "ended"), note: "from the last item to the end of the turn" },
    {
      name: "Wasm memory, grown by backup and restore", unit: "MiB", measured: mib(grown.wasm), target: { what: "measured", atMost: WASM_MIB },
      note: `${mib(before.wasm).toFixed(1)} MiB before`,
    },
    {
      name: "workerd's memory, grown likewise", unit: "MiB", measured: mib(grown.gateway), baseline: mib(grown.plain), against,
      note: "at most, of the whole process with its R2",
    },
    {
      name: "checkpoint of one small file", unit: "KiB", measured: stored.reduce((sum, size) => sum + size, 0) / 1024,
      note: `${stored.length} objects`,
    },
  ];
}

/** Commands that make a workspace. */
function makes({ mib, files }) {
  const shares = Math.ceil(mib / SHARE_MIB);
  return Array.from({ length: shares }, (_, share) => program("make", mib, files, share, shares));
}

/** The same workspace as an archive in a file; its size. */
async function packed(workspace, archive) {
  const line = ["mkdir -p /workspace", "cd /workspace", ...makes(workspace), "tar -cf - ."].join(" && ");
  const child = spawn("docker", ["run", "--rm", process.env.CLOISTER_SANDBOX_IMAGE, "sh", "-c", line], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await pipeline(child.stdout, createWriteStream(archive));
  const [code] = await ended;
  if (code !== 0) throw new Error(`the archive was not made: exit code ${code}`);
  return statSync(archive).size;
}

/** Stores the archive as one object and reads it back: ms that each took. */
async function stream(plain, archive) {
  const url = `${plain.url}/files/archive`;
  const { size } = statSync(archive);
  const started = monotonic();
  const sent = request(url, { method: "PUT", headers: { "content-length": size } });
  const answered = once(sent, "response");
  await pipeline(createReadStream(archive), sent);
  const [response] = await answered;
  response.resume();
  const put = monotonic();
  if (response.statusCode !== 201) throw new Error(`PUT of the archive: ${response.statusCode}`);
  let read = 0;
  for await (const chunk of await send(url)) read += chunk.length;
  if (read !== size) throw new Error(`${read} of ${size} bytes came back`);
  return { put: put - started, got: monotonic() - put };
}

/** Sizes of what is stored in the gateway's bucket. */
function blobs(gateway) {
  const folder = join(gateway.state, "r2/cloister/blobs");
  return readdirSync(folder).map((name) => statSync(join(folder, name)).size);
}
