// The main job, shown: one Codex session in its two containers, through the official SDK, streamed to the terminal.
//
//   node tests/demo.mjs --base-url URL --docker-label LABEL --harness-image TAG --sandbox-image TAG
//                       [--model-url URL --model-log FILE]
//
// With --model-url the model is the scripted one; without it, the provider behind the gateway answers, and the steps that
// need a script are left out. From the environment: CLOISTER_API_KEY, and MODEL_API_KEY, which must have been seen by the
// scripted model and by no container. Each line that begins with a tick was checked; the first that does not hold ends the
// program with status 1.
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import OpenAI from "openai";

const { values: args } = parseArgs({
  options: {
    "base-url": { type: "string" },
    "docker-label": { type: "string" },
    "harness-image": { type: "string" },
    "sandbox-image": { type: "string" },
    "model-url": { type: "string" },
    "model-log": { type: "string" },
  },
});
const scripted = args["model-url"] !== undefined;
const client = new OpenAI({ baseURL: `${args["base-url"]}/v1`, apiKey: process.env.CLOISTER_API_KEY });
const sessions = client.beta.agents.sessions;

// === What is printed ===

const terminal = process.stdout.isTTY;
const style = (code, text) => (terminal ? `\x1b[${code}m${text}\x1b[0m` : text);
const title = (text) => say(`\n${style(1, text)}`);
const note = (text) => say(style(2, `  ${text}`));

class NotSo extends Error {}
function check(claim, holds, found) {
  if (!holds) throw new NotSo(found === undefined ? claim : `${claim}\n    found: ${JSON.stringify(found)}`);
  say(`  ${style(32, "✓")} ${claim}`);
}

// Streamed text may leave the cursor in the middle of a line.
let midLine = false;
let stopClock = () => {};
function say(line) {
  stopClock();
  process.stdout.write(`${midLine ? "\n" : ""}${line}\n`);
  midLine = false;
}
function trickle(text) {
  stopClock();
  // Indented like the rest; the stream may break anywhere, so only line breaks inside this piece are seen.
  const indented = (midLine ? "" : "  ") + text.replace(/\n(?!$)/g, "\n  ");
  process.stdout.write(indented);
  midLine = !text.endsWith("\n");
}
/** Shows the seconds that pass until something else is printed. */
function clock(what) {
  const start = Date.now();
  const seconds = () => Math.round((Date.now() - start) / 1000);
  const tick = () => process.stdout.write(terminal ? `\r  … ${what}: ${seconds()} s\x1b[K` : `  … ${what}: ${seconds()} s\n`);
  const timer = setInterval(tick, terminal ? 1000 : 15_000);
  stopClock = () => {
    clearInterval(timer);
    if (terminal) process.stdout.write("\r\x1b[K");
    stopClock = () => {};
  };
}

// === Containers ===

const docker = (...argv) => execFileSync("docker", argv, { encoding: "utf8", maxBuffer: 1 << 26, stdio: ["ignore", "pipe", "pipe"] });
const running = (image) =>
  docker("ps", "-q", "--filter", `label=${args["docker-label"]}`, "--filter", `ancestor=${image}`).split("\n").filter(Boolean);
function containers() {
  const [harness, sandbox] = [running(args["harness-image"]), running(args["sandbox-image"])];
  check("one harness container and one sandbox container are running", harness.length === 1 && sandbox.length === 1, { harness, sandbox });
  note(`harness container ${harness[0]}`);
  note(`sandbox container ${sandbox[0]}`);
  return { harness: harness[0], sandbox: sandbox[0] };
}

/** Reads a container's whole file system: the names of its entries, and for each of `words` the files that hold it. */
async function exported(container, words) {
  // tar gives each file to this command. The words go through the environment: arguments can be read by every user.
  const search = `grep -aoF -f /dev/fd/3 3<<WORDS | sort -u | while read -r word; do printf '%s\\t%s\\n' "$word" "$TAR_FILENAME"; done
$WORDS
WORDS`;
  const source = spawn("docker", ["export", container], { stdio: ["ignore", "pipe", "inherit"] });
  const env = { ...process.env, WORDS: words.join("\n") };
  const tar = spawn("tar", ["-xv", "--to-command", search], { stdio: [source.stdout, "pipe", "inherit"], env });
  const [lines, ...codes] = await Promise.all([tar.stdout.setEncoding("utf8").toArray(), ...[source, tar].map((child) => once(child, "exit"))]);
  check(`docker export ${container} was read to its end`, codes.every(([code]) => code === 0), codes);
  const names = [];
  const holders = new Map(words.map((word) => [word, []]));
  for (const line of lines.join("").split("\n").filter(Boolean)) {
    const [first, name] = line.split("\t");
    if (holders.has(first)) holders.get(first).push(name);
    else names.push(line);
  }
  return { names, holders };
}

// === Turns ===

const script = (words, steps) => (scripted ? [words, ...steps.map((step) => `@@${JSON.stringify(step)}`)].join("\n") : words);
const commands = (turn) => turn.items.filter((item) => item.type === "command_execution");

/** Prints a stream as it comes; returns what it showed. */
async function show(stream, onItem = async () => {}) {
  const seen = { items: [], session: null, turn: null, pieces: 0 };
  const printed = new Set();
  for await (const event of stream) {
    switch (event.type) {
      case "agent.session.created":
        seen.session = event.session.id;
        note(`session ${seen.session}`);
        break;
      case "agent.session.turn.created":
        note(`turn ${event.turn.id}`);
        break;
      case "agent.session.turn.item.added":
        if (event.item.type === "command_execution") say(style(36, `  $ ${event.item.command}`));
        break;
      case "agent.output.command_execution_output.delta":
        printed.add(event.item_id);
        trickle(event.delta);
        break;
      case "agent.session.turn.reasoning_summary_text.delta":
      case "agent.session.turn.output_text.delta":
        seen.pieces += 1;
        trickle(event.delta);
        break;
      case "agent.session.turn.item.done":
        seen.items.push(event.item);
        if (event.item.type === "command_execution") showResult(event.item, printed.has(event.item.id));
        if (midLine) trickle("\n");
        await onItem(event.item);
        break;
      case "agent.session.turn.completed":
      case "agent.session.turn.failed":
      case "agent.session.turn.cancelled":
        seen.turn = event.turn;
        note(`turn ${event.turn.status}`);
        break;
      case "agent.session.idle":
        if (seen.turn) return seen;
        break;
    }
  }
  return seen;
}

/** A short command's output comes with its end only. */
function showResult({ output, status, exit_code: code }, printed) {
  if (output && !printed) say(output.trimEnd().replace(/^/gm, "  "));
  note(code === null ? status : `${status}, exit code ${code}`);
}

/** Sends a message to a session and shows the turn. */
async function turn(session, text, onItem) {
  const stream = await sessions.events.stream(session);
  const input = [{ role: "user", content: [{ type: "input_text", text }] }];
  await sessions.events.create(session, { events: [{ type: "agent.session.input.message", input }] });
  return show(stream, onItem);
}

/** Lets the scripted model's held answer go on, as soon as it is asked for. */
async function release(name) {
  for (let tries = 0; tries < 200; tries += 1) {
    const { status } = await fetch(`${args["model-url"]}/release/${name}`, { method: "POST" });
    if (status === 204) return;
    await sleep(50);
  }
  throw new NotSo(`the model was asked for its answer '${name}'`);
}

// === The demo ===

async function main() {
  const nonce = randomBytes(8).toString("hex");

  title("A turn: the model runs a command and edits a file");
  const made = "od -An -N16 -tx1 /dev/urandom | tr -d ' \\n' > made-here.txt";
  const request =
    `In /workspace, run exactly this shell command: echo ${nonce} | tee nonce.txt; ${made}\n` +
    `Then add the file edited.txt, whose only line is ${nonce}, with apply_patch. Do not print made-here.txt.`;
  const first = await show(
    await sessions.create({
      agent: { model: "codex" },
      environment: { type: "openai_hosted" },
      stream: true,
      input: script(request, [
        { think: "One command, then one patch.", shell: `echo ${nonce} | tee nonce.txt; ${made}` },
        { patch: `*** Begin Patch\n*** Add File: edited.txt\n+${nonce}\n*** End Patch\n` },
        { say: "Both files are written." },
      ]),
    }),
  );
  check("the turn completed", first.turn?.status === "completed", first.turn);
  check(`its text came in pieces while it ran (${first.pieces})`, first.pieces > 1);
  check("the command printed the nonce", commands(first).some((item) => item.exit_code === 0 && item.output?.includes(nonce)), first.items);

  title("Where the files are");
  const before = containers();
  const read = (file) => docker("exec", before.sandbox, "cat", `/workspace/${file}`).trim();
  for (const [file, how] of [["nonce.txt", "the command"], ["edited.txt", "the patch"]]) {
    note(`docker exec ${before.sandbox} cat /workspace/${file}   → ${read(file)}`);
    check(`${file}, written by ${how}, is in the sandbox`, read(file) === nonce, read(file));
  }
  const secret = read("made-here.txt");
  check("made-here.txt is in the sandbox: bytes that the command drew there and did not print", /^[0-9a-f]{32}$/.test(secret), secret);
  const key = process.env.MODEL_API_KEY;
  const { names, holders } = await exported(before.harness, [nonce, secret, key]);
  const ours = names.filter((name) => /(^|\/)(nonce|edited|made-here)\.txt$|(^|\/)workspace(\/|$)/.test(name));
  check(`of its ${names.length} files and folders none is one of the three, and none is named workspace`, names.length > 0 && ours.length === 0, ours);
  check("the bytes of made-here.txt are in no file of the harness", holders.get(secret).length === 0, holders.get(secret));
  const history = holders.get(nonce);
  note(`The nonce itself is part of the conversation, which Codex records: ${history.map((name) => name.split("/").at(-1)).join(", ")}`);
  check("it is in no other file than these, all in Codex's own folder", history.every((name) => name.startsWith("home/harness/codex/")), history);
  check("the model provider's key is in no file of the harness", holders.get(key).length === 0, holders.get(key));
  const environment = docker("inspect", before.harness, before.sandbox);
  check("nor in either container's configuration", !environment.includes(key));

  if (scripted) {
    title("The sandbox is killed in the middle of a turn");
    const killed = await turn(
      first.session,
      script("Run two commands.", [
        { shell: "echo before" },
        { wait: "killed", shell: "echo reached-$((40 + 2))" },
        { say: "The second command could not run." },
      ]),
      async (item) => {
        if (item.type !== "command_execution" || !item.output?.includes("before")) return;
        docker("kill", before.sandbox);
        note(`docker kill ${before.sandbox}`);
        await release("killed");
        clock("the harness tries to reach the sandbox, which takes about 45 s");
      },
    );
    const [one, two] = commands(killed);
    check("the command before it ran", one?.exit_code === 0, one);
    check("the command after it failed", two?.status === "failed" && !two.output?.includes("reached-42"), two);
    const told = outputs().at(-1);
    note(`what the model was told: ${told}`);
    check("the model was told so, as the result of its tool call", told.includes("exec-server"), told);
    check("and the turn went on to its end", killed.turn?.status === "completed", killed.turn);
  }

  title("A second turn in the same session");
  const second = await turn(
    first.session,
    script("Run this shell command: pwd; echo again. Then say where you are.", [{ shell: "pwd; echo again" }, { say: "In /workspace, again." }]),
  );
  check("it completed", second.turn?.status === "completed", second.turn);
  check("its command ran", commands(second).some((item) => item.exit_code === 0 && item.output?.includes("again")), second.items);
  const after = containers();
  if (scripted) check("the sandbox is a new one", after.sandbox !== before.sandbox, { before, after });

  if (scripted) {
    title("The model provider's key");
    const requests = log();
    const keyed = requests.filter((request) => request.headers?.authorization === `Bearer ${key}`);
    note(`authorization: Bearer ${key.slice(0, 12)}…`);
    check(`the model saw it on each of its ${requests.length} requests`, requests.length > 0 && keyed.length === requests.length, keyed.length);
  }

  title("The end");
  await sessions.delete(first.session);
  const left = [...running(args["harness-image"]), ...running(args["sandbox-image"])];
  check("the deleted session has neither a harness nor a sandbox left", left.length === 0, left);
  note("(The local stand-ins for Cloudflare's network, one a container, stay until the gateway ends.)");
}

/** The requests that the scripted model has seen. */
function log() {
  return readFileSync(args["model-log"], "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
}
/** The results of tool calls in the newest request. */
function outputs() {
  const results = log().at(-1).body.input.filter((item) => item.type.endsWith("_output"));
  return results.map(({ output }) => (typeof output === "string" ? output : JSON.stringify(output)));
}

main().then(
  () => say(`\n${style(1, "Everything above was checked.")}`),
  (error) => {
    say(`  ${style(31, "✗")} ${error instanceof NotSo ? error.message : error.stack}`);
    process.exitCode = 1;
  },
).finally(() => process.exit());
