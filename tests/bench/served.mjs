// What the benchmarks start: programs that say "ready URL" and end when their standard input closes.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

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
    const log = openSync(join(folder, "stderr"), "w");
    runner.child = spawn(process.execPath, ["runner/run.mjs", "--state", runner.state, "--sql", join(folder, "start.sql"), ...argv], {
      stdio: ["pipe", "pipe", log],
      env: { ...process.env, ...env },
    });
    closeSync(log);
    for await (const line of createInterface({ input: runner.child.stdout })) {
      if (!line.startsWith("ready ")) continue;
      runner.url = line.slice("ready ".length);
      runner.child.stdout.resume();
      return runner;
    }
    throw new Error(`the runner ended before it was ready: ${readFileSync(join(folder, "stderr"), "utf8")}`);
  }

  /** Its containers go with it. */
  async stop() {
    const ended = once(this.child, "exit");
    this.child.stdin.end();
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Bytes of memory that workerd holds. */
  memory() {
    const { pid } = this.child;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    const workerd = children.find((child) => readFileSync(`/proc/${child}/comm`, "utf8") === "workerd\n");
    return Number(readFileSync(`/proc/${workerd}/status`, "utf8").match(/^VmRSS:\s+(\d+) kB$/m)[1]) * 1024;
  }

  get headers() {
    return { authorization: `Bearer ${this.key}`, "openai-beta": "agents=v1" };
  }
}

/** Secret of the provider behind the gateway, which the upstream knows the gateway's requests by. */
export const MODEL_KEY = "sk-bench";

/** The Worker, with `model` as its provider. */
export function startGateway(model, { sql, harness = process.env.CLOISTER_HARNESS_IMAGE } = {}) {
  const { CLOISTER_BUILD: build, CLOISTER_SANDBOX_IMAGE: sandbox, CLOISTER_INTERCEPTOR_IMAGE: interceptor } = process.env;
  const argv = [
    "--build", build, "--reach", `${new URL(model).hostname}/32`,
    "--image", `harness=${harness}`, "--image", `sandbox=${sandbox}`, "--interceptor", interceptor,
    "--var", `MODEL_BASE_URL=${model}`, "--var", "MODEL_NAME=bench",
    "--secret", "MODEL_API_KEY", "--secret", "CLOISTER_SECRET",
  ];
  return Runner.start(argv, { sql, env: { MODEL_API_KEY: MODEL_KEY, CLOISTER_SECRET: randomBytes(32).toString("hex") } });
}
