// The main job, shown: one real Codex session in both containers, through the official SDK, streamed to the terminal.
//
//   node tests/demo.mjs --base-url URL --docker-label LABEL --harness-image TAG --sandbox-image TAG [--model-url URL]
//
// With --model-url the model is the scripted one; without it, the provider behind the gateway answers, and the steps that
// need a script are left out. The API key comes from CLOISTER_API_KEY. Exits 0 only if everything it claims was seen.
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import OpenAI from "openai";

const { values: args } = parseArgs({ options: {
  "base-url": { type: "string" }, "docker-label": { type: "string" }, "model-url": { type: "string" },
  "harness-image": { type: "string" }, "sandbox-image": { type: "string" },
} });
const client = new OpenAI({ baseURL: `${args["base-url"]}/v1`, apiKey: process.env.CLOISTER_API_KEY });
const sessions = client.beta.agents.sessions;
const scripted = args["model-url"] !== undefined;
const nonce = randomBytes(8).toString("hex");

const docker = (...argv) => execFileSync("docker", argv, { encoding: "utf8", maxBuffer: 1 << 26 });
const containers = (image) => docker("ps", "-q", "--filter", `label=${args["docker-label"]}`, "--filter", `ancestor=${image}`).split("\n").filter(Boolean);
const title = (text) => console.log(`\n\x1b[1m${text}\x1b[0m`);
const check = (what, holds) => {
  console.log(`${holds ? "✓" : "✗"} ${what}`);
  if (!holds) throw new Error(`not so: ${what}`);
};
const script = (words, steps) => scripted ? [words, ...steps.map((step) => `@@${JSON.stringify(step)}`)].join("\n") : words;
const release = (name) => fetch(`${args["model-url"]}/release/${name}`, { method: "POST" });

/** Prints a stream as it comes and returns its finished items and the turn's status. */
async function show(stream, onItem = async () => {}) {
  const seen = { items: [], status: null, session: null };
  for await (const event of stream) {
    switch (event.type) {
      case "agent.session.created": seen.session = event.session.id; console.log(`session ${seen.session}`); break;
      case "agent.session.turn.reasoning_summary_text.delta":
      case "agent.session.turn.output_text.delta":
      case "agent.output.command_execution_output.delta": process.stdout.write(event.delta); break;
      case "agent.session.turn.item.done":
        seen.items.push(event.item);
        if (event.item.type === "command_execution") console.log(`  $ ${event.item.command}   → ${event.item.status}, exit code ${event.item.exit_code}`);
        else process.stdout.write("\n");
        await onItem(event.item);
        break;
      case "agent.session.turn.completed":
      case "agent.session.turn.failed":
      case "agent.session.turn.cancelled": seen.status = event.turn.status; console.log(`turn ${event.turn.id} ${event.turn.status}`); break;
      case "agent.session.idle": if (seen.status) return seen; break;
    }
  }
  return seen;
}

/** Sends a message to a session and shows the turn. */
async function turn(session, text, onItem) {
  const stream = await sessions.events.stream(session);
  await sessions.events.create(session, { events: [{ type: "agent.session.input.message", input: [{ role: "user", content: [{ type: "input_text", text }] }] }] });
  return show(stream, onItem);
}

title("A turn: a command and an edit, in a sandbox without network");
const patch = `*** Begin Patch\n*** Add File: edited.txt\n+${nonce}\n*** End Patch\n`;
const first = await show(await sessions.create({
  agent: { model: "codex" },
  environment: { type: "openai_hosted" },
  stream: true,
  input: script(`In /workspace, write the line ${nonce} to nonce.txt with a shell command, then add edited.txt with the same line with apply_patch.`, [
    { think: "One command, then one patch.", shell: `echo ${nonce} | tee nonce.txt; hostname` },
    { patch },
    { say: "Both files are written." },
  ]),
}));
check("the turn completed", first.status === "completed");
const [harness] = containers(args["harness-image"]);
const [sandbox] = containers(args["sandbox-image"]);
console.log(`harness container ${harness}\nsandbox container ${sandbox}`);

title("Where the files are");
for (const file of ["nonce.txt", "edited.txt"]) {
  const command = ["exec", sandbox, "cat", `/workspace/${file}`];
  const content = docker(...command).trim();
  console.log(`docker ${command.join(" ")}\n${content}`);
  check(`${file} is in the sandbox`, content === nonce);
}
const exported = spawn("docker", ["export", harness], { stdio: ["ignore", "pipe", "inherit"] });
const listing = await new Promise((resolve) => {
  const tar = spawn("tar", ["-t"], { stdio: [exported.stdout, "pipe", "inherit"] });
  let names = "";
  tar.stdout.on("data", (chunk) => (names += chunk)).on("end", () => resolve(names.split("\n")));
});
console.log(`docker export ${harness} | tar -t   → ${listing.length} entries`);
check("neither file is in the harness", !listing.some((name) => /(^|\/)(nonce|edited)\.txt$/.test(name)));

if (scripted) {
  title("The sandbox is killed in the middle of a turn");
  const killed = await turn(first.session, script("Run two commands.", [
    { shell: "echo before" },
    { wait: "killed", shell: "echo after" },
    { say: "The second command could not run." },
  ]), async (item) => {
    if (item.type !== "command_execution" || !item.output?.includes("before")) return;
    console.log(`docker kill ${sandbox}   (the harness now tries to reach it for about 45 s)`);
    docker("kill", sandbox);
    await release("killed");
  });
  const commands = killed.items.filter((item) => item.type === "command_execution");
  check("the next command failed as a tool error", !commands.some((item) => item.output?.includes("after") && item.exit_code === 0));
  check("and the turn went on", killed.status === "completed");
}

title("A second turn in the same session");
const second = await turn(first.session, script("Say where you are.", [{ shell: "pwd; echo again" }, { say: "In /workspace, again." }]));
check("it completed", second.status === "completed");
if (scripted) check("its command ran in a sandbox", second.items.some((item) => item.type === "command_execution" && item.output?.includes("again")));
console.log(`harness container ${containers(args["harness-image"])[0]}\nsandbox container ${containers(args["sandbox-image"])[0]}`);

await sessions.delete(first.session);
check("the deleted session has no containers left", containers(args["harness-image"]).length + containers(args["sandbox-image"]).length === 0);
title("Done.");
