// What the benchmarks start: programs that say "ready URL" and end when their standard input closes.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Starts one with Node: the child and its URL. What it says on standard error goes to the file `log`. */
export async function serve(argv, log, env = {}) {
  const errors = openSync(log, "w");
  const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", errors], env: { ...process.env, ...env } });
  closeSync(errors);
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("ready ")) continue;
    child.stdout.resume();
    return { child, url: line.slice("ready ".length) };
  }
  throw new Error(`${argv[0]} ended before it was ready: ${readFileSync(log, "utf8")}`);
}

/** Ends what `serve` started. */
export async function end(child) {
  const ended = once(child, "exit");
  child.stdin.end();
  await ended;
}

/** A runner with a state folder of its own. */
export class Runner {
  static async start(argv, { env = {}, sql = "" } = {}) {
    const folder = mkdtempSync(join(tmpdir(), "cloister-bench-"));
    const runner = new Runner();
    runner.folder = folder;
    runner.state = join(folder, "state");
    runner.key = `clk_${randomBytes(32).toString("base64url")}`;
    const hash = createHash("sha256").update(runner.key).digest("hex");
    const keys = `INSERT INTO api_keys (hash, tenant, created_at) VALUES ('${hash}', 'bench', 0);\n`;
    writeFileSync(join(folder, "start.sql"), keys + sql);
    const program = ["runner/run.mjs", "--state", runner.state, "--sql", join(folder, "start.sql")];
    Object.assign(runner, await serve([...program, ...argv], join(folder, "stderr"), env));
    return runner;
  }

  /** Its containers go with it. */
  async stop() {
    await end(this.child);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Folder of the process that runs the Worker, below /proc. */
  get workerd() {
    const { pid } = this.child;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return `/proc/${children.find((child) => readFileSync(`/proc/${child}/comm`, "utf8") === "workerd\n")}`;
  }

  /** Bytes of memory that workerd holds. */
  memory() {
    return this.#status("VmRSS");
  }

  /** The most that it held since `forgetPeak`. */
  peak() {
    return this.#status("VmHWM");
  }

  forgetPeak() {
    writeFileSync(`${this.workerd}/clear_refs`, "5");
  }

  /** Bytes of the Worker's Wasm memory, which never shrinks. V8 reserves 4 GiB for it; the beginning of that can be used. */
  wasm() {
    const maps = readFileSync(`${this.workerd}/maps`, "utf8").matchAll(/^([0-9a-f]+)-([0-9a-f]+) (....)/gm);
    const areas = Array.from(maps, ([, from, to, mode]) => ({ from: parseInt(from, 16), to: parseInt(to, 16), mode }));
    const found = areas.filter(({ from, to, mode }, at) => {
      const rest = areas[at + 1];
      return mode === "rw-p" && rest?.mode === "---p" && rest.from === to && rest.to - from >= 2 ** 32;
    });
    if (found.length !== 1) throw new Error(`workerd has ${found.length} areas that look like the memory of a Wasm module`);
    return found[0].to - found[0].from;
  }

  #status(field) {
    return Number(readFileSync(`${this.workerd}/status`, "utf8").match(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m"))[1]) * 1024;
  }

  get headers() {
    return { authorization: `Bearer ${this.key}`, "openai-beta": "agents=v1" };
  }
}

/** Secret of the provider behind the gateway, which the upstream knows the gateway's requests by. */
export const MODEL_KEY = "sk-bench";

/** The Worker, with `model` as its provider. */
export function startGateway(model, { sql, harness = process.env.CLOISTER_HARNESS_IMAGE, options = [] } = {}) {
  const { CLOISTER_BUILD: build, CLOISTER_SANDBOX_IMAGE: sandbox, CLOISTER_INTERCEPTOR_IMAGE: interceptor } = process.env;
  const argv = [
    "--build", build, "--reach", `${new URL(model).hostname}/32`,
    "--image", `harness=${harness}`, "--image", `sandbox=${sandbox}`, "--interceptor", interceptor,
    "--var", `MODEL_BASE_URL=${model}`, "--var", "MODEL_NAME=bench",
    "--secret", "MODEL_API_KEY", "--secret", "CLOISTER_SECRET", ...options,
  ];
  return Runner.start(argv, { sql, env: { MODEL_API_KEY: MODEL_KEY, CLOISTER_SECRET: randomBytes(32).toString("hex") } });
}
