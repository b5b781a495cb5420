// What ties containers and files to one runner: a lock on the state folder, and a container session made from its path.
import crypto from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "./options.mjs";

/** Label that workerd gives to every container it starts; its value is the session. */
export const SESSION_LABEL = "dev.workerd.session";

/** Two runners on one folder would write the same SQLite files. */
export function lockState(state) {
  mkdirSync(state, { recursive: true });
  const file = join(state, "runner.pid");
  const holder = readIfThere(file).trim();
  if (holder && holder === identity(holder.split(" ")[0])) {
    throw new UsageError(`${state} is in use by process ${holder.split(" ")[0]}: stop that one, or give another --state`);
  }
  writeFileSync(file, identity(process.pid));
  return () => rmSync(file, { force: true });
}

/** Id and start time of a process: ids are used again. */
function identity(pid) {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return `${pid} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
}

function readIfThere(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/**
 * Runs `start`, in which Miniflare names its container session, so that the session is that of the state folder.
 *
 * Miniflare draws eight random bytes for it and offers no setting. With another name at every start, containers that
 * outlived a crash would never be found again. Should an upgrade draw in another way, the count says so.
 */
export async function withFixedSession(state, expected, start) {
  const session = crypto.createHash("sha256").update(state).digest().subarray(0, 8);
  const { randomBytes } = crypto;
  let drawn = 0;
  crypto.randomBytes = (size, ...rest) => {
    if (size !== 8) return randomBytes(size, ...rest);
    drawn += 1;
    return Buffer.from(session);
  };
  try {
    const result = await start();
    if (drawn !== expected) throw new Error(`this miniflare drew ${drawn} container sessions instead of ${expected}: its upgrade needs a new runner/session.mjs`);
    return result;
  } finally {
    crypto.randomBytes = randomBytes;
  }
}

/** A note of the session for `./dev clean`, which removes only containers of sessions it finds noted. */
export function noteSession(root, state) {
  const session = crypto.createHash("sha256").update(state).digest("hex").slice(0, 16);
  const file = join(root, ".setup", "sessions", session);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${state}\n`);
  return () => rmSync(file, { force: true });
}
