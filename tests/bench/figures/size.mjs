// What `wrangler deploy` would upload, and what counts for the platform's limit: its gzip.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { unstable_readConfig } from "wrangler";

const TARGET = 450;

export async function size() {
  // The entry alone: bindings are no part of the upload's size, and the Worker is built already.
  const config = unstable_readConfig({ config: "wrangler.toml" }, { hideWarnings: true });
  const folder = mkdtempSync(join(tmpdir(), "cloister-bench-"));
  writeFileSync(join(folder, "wrangler.json"), JSON.stringify({
    name: config.name, main: resolve(config.main),
    compatibility_date: config.compatibility_date, compatibility_flags: config.compatibility_flags,
  }));
  const argv = ["node_modules/wrangler/bin/wrangler.js", "deploy", "--dry-run", "--config", join(folder, "wrangler.json"), "--outdir", join(folder, "out"), "--containers-rollout=none"];
  const env = { ...process.env, CI: "1", WRANGLER_SEND_METRICS: "false", NO_COLOR: "1" };
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env });
  rmSync(folder, { recursive: true });
  const [, whole, gzip] = stdout.match(/Total Upload: ([\d.]+) KiB \/ gzip: ([\d.]+) KiB/) ?? [];
  if (!gzip) throw new Error(`wrangler names no size:\n${stdout}`);
  return [{
    name: "Worker, gzip", measured: Number(gzip), unit: "KiB",
    target: { what: "measured", atMost: TARGET }, note: `${whole} KiB before gzip`,
  }];
}
