// From the start of workerd to the first answer: the Worker, against a Worker of a few lines that answers the same.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import workerd from "workerd";
import { unstable_readConfig } from "wrangler";
import { send } from "../client.mjs";
import { interleave, median } from "../stats.mjs";
import { monotonic } from "../upstream.mjs";

const TINY = `export default { fetch: () => Response.json({ error: { message: "no" } }, { status: 400 }) };`;

export async function start({ rounds }) {
  const folder = mkdtempSync(join(tmpdir(), "cloister-bench-"));
  const build = process.env.CLOISTER_BUILD;
  copyFileSync("src/entry.js", join(folder, "entry.js"));
  copyFileSync(join(build, "index.js"), join(folder, "index.js"));
  copyFileSync(join(build, "index_bg.wasm"), join(folder, "index_bg.wasm"));
  writeFileSync(join(folder, "tiny.js"), TINY);
  const worker = config(folder, "worker.capnp", [
    `(name = "src/entry.js", esModule = embed "entry.js")`,
    `(name = "build/index.js", esModule = embed "index.js")`,
    `(name = "build/index_bg.wasm", wasm = embed "index_bg.wasm")`,
  ]);
  const tiny = config(folder, "tiny.capnp", [`(name = "tiny.js", esModule = embed "tiny.js")`]);
  const samples = await interleave(2 * rounds + 1, { worker: () => firstAnswer(worker), tiny: () => firstAnswer(tiny) });
  rmSync(folder, { recursive: true });
  return [{
    name: "workerd start to first answer", measured: median(samples.worker), baseline: median(samples.tiny), unit: "ms",
    against: "a Worker of one line", samples,
  }];
}

/** Writes a configuration for workerd; its path. The Worker gets what a request without the beta header reads. */
function config(folder, name, modules) {
  const { compatibility_date: date, compatibility_flags: flags } = unstable_readConfig({ config: "wrangler.toml" }, { hideWarnings: true });
  writeFileSync(join(folder, name), `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [${modules.join(", ")}],
    compatibilityDate = "${date}",
    compatibilityFlags = [${flags.map((flag) => `"${flag}"`).join(", ")}],
    bindings = [(name = "ALLOWED_HOSTS", text = "")],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`);
  return join(folder, name);
}

async function firstAnswer(file) {
  const started = monotonic();
  const child = spawn(workerd.default, ["serve", "--control-fd=3", file], { stdio: ["ignore", "ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  for await (const line of createInterface({ input: child.stdio[3] })) {
    const { event, socket, port } = JSON.parse(line);
    if (event !== "listen" || socket !== "http") continue;
    const response = await send(`http://127.0.0.1:${port}/v1/agents/sessions`);
    const took = monotonic() - started;
    response.resume();
    child.kill();
    await once(child, "exit");
    if (response.statusCode !== 400) throw new Error(`the Worker answers ${response.statusCode} instead of 400`);
    return took;
  }
  throw new Error(`workerd ended: ${errors}`);
}
