// Turns whose model is scripted (tests/support/model.mjs); harness and sandbox are the real ones.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { events, send, text } from "./client.mjs";
import { end, serve } from "./served.mjs";
import { monotonic } from "./upstream.mjs";

/** Between two looks at the model's log, ms. */
const LOOK = 2;
/** What a command may take before the model sees a part of its output, ms. */
const YIELD = 30_000;

export class ScriptedModel {
  static async start() {
    const model = new ScriptedModel();
    model.folder = mkdtempSync(join(tmpdir(), "cloister-bench-"));
    model.log = join(model.folder, "requests.jsonl");
    const { child, url } = await serve(["tests/support/model.mjs", "--log", model.log], join(model.folder, "stderr"));
    return Object.assign(model, { child, url: `${url}/v1` });
  }

  /** When the next request comes. */
  async asked() {
    const length = () => statSync(this.log, { throwIfNoEntry: false })?.size ?? 0;
    const before = length();
    while (length() === before && this.child.exitCode === null) await sleep(LOOK);
    return monotonic();
  }

  async stop() {
    await end(this.child);
    rmSync(this.folder, { recursive: true });
  }
}

export class ScriptedSession {
  static async create(gateway, model) {
    const session = new ScriptedSession();
    Object.assign(session, { gateway, model });
    const body = JSON.stringify({ agent: { model: "codex" }, environment: { type: "openai_hosted" } });
    const { id } = JSON.parse(await session.#ask("", 201, body));
    session.path = `/${id}`;
    return session;
  }

  #send(path, body) {
    const headers = { ...this.gateway.headers, "content-type": "application/json" };
    return send(`${this.gateway.url}/v1/agents/sessions${path}`, { method: body ? "POST" : "GET", headers, body });
  }

  async #ask(path, status, body) {
    const response = await this.#send(path, body);
    const answer = await text(response);
    if (response.statusCode !== status) throw new Error(`${path}: ${response.statusCode} ${answer}`);
    return answer;
  }

  /**
   * A turn of commands, one after the other: ms until the model is asked first, ms from the last item to the end of the
   * turn, and what the last command printed.
   */
  async turn(...commands) {
    const steps = [...commands.map((shell) => ({ shell, args: { yield_time_ms: YIELD } })), { say: "Done." }];
    const words = ["Go on.", ...steps.map((step) => `@@${JSON.stringify(step)}`)].join("\n");
    const input = [{ type: "message", role: "user", content: [{ type: "input_text", text: words }] }];
    const stream = events(await this.#send(`${this.path}/events`));
    const asked = this.model.asked();
    const posted = monotonic();
    await this.#ask(`${this.path}/events`, 202, JSON.stringify({ events: [{ type: "agent.session.input.message", input }] }));
    let last, ended, output;
    for await (const event of stream) {
      const now = monotonic();
      if (event.type === "agent.session.turn.item.done") {
        last = now;
        output = event.item.output ?? output;
      } else if (event.type === "agent.session.turn.completed") {
        ended = now - last;
      } else if (event.type === "agent.session.turn.failed") {
        throw new Error(`the turn failed: ${JSON.stringify(event.turn.error)}`);
      } else if (event.type === "agent.session.idle") {
        break;
      }
    }
    if (ended === undefined) throw new Error("the stream ended before the turn");
    return { asked: (await asked) - posted, ended, output };
  }
}
