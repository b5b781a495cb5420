// Turns of the stand-in for Codex (tests/load), and what a client sees of them.
import { events, send, text } from "./client.mjs";
import { monotonic } from "./upstream.mjs";

const DELTA = "agent.session.turn.output_text.delta";

/** A session whose turns the stand-in answers. Its containers run already. */
export class LoadSession {
  static async start(gateway) {
    const session = new LoadSession();
    session.gateway = gateway;
    const body = JSON.stringify({ agent: { model: "codex" }, environment: { type: "openai_hosted" } });
    const response = await session.#send("/v1/agents/sessions", "POST", body);
    const answer = await text(response);
    if (response.statusCode !== 201) throw new Error(`creation of a session: ${response.statusCode} ${answer}`);
    session.id = JSON.parse(answer).id;
    session.path = `/v1/agents/sessions/${session.id}`;
    await session.turn(100, 100);
    return session;
  }

  async stop() {
    const response = await this.#send(this.path, "DELETE");
    if (response.statusCode !== 200) throw new Error(`deletion of a session: ${response.statusCode} ${await text(response)}`);
    response.resume();
  }

  #send(path, method, body) {
    const headers = { ...this.gateway.headers, "content-type": "application/json" };
    return send(this.gateway.url + path, { method, headers, body });
  }

  /** The response with the session's events: those from now on, or those after the given one. */
  async listen(after) {
    const response = await this.#send(`${this.path}/events${after === undefined ? "" : `?after=${after}`}`, "GET");
    if (response.statusCode !== 200) throw new Error(`event stream: ${response.statusCode} ${await text(response)}`);
    return response;
  }

  /**
   * A turn of `count` deltas, `rate` of them a second or as fast as they are taken. Gives when each was sent and when it
   * was here (ms), and the ids of all events of the turn. No delta may be missing, and none out of order.
   */
  async turn(count, rate) {
    const stream = events(await this.listen());
    const input = [{ type: "message", role: "user", content: [{ type: "input_text", text: `count=${count}${rate ? ` rate=${rate}` : ""}` }] }];
    const body = JSON.stringify({ events: [{ type: "agent.session.input.message", input }] });
    const posted = await this.#send(`${this.path}/events`, "POST", body);
    if (posted.statusCode !== 202) throw new Error(`input: ${posted.statusCode} ${await text(posted)}`);
    posted.resume();
    const seen = { sent: new Float64Array(count), here: new Float64Array(count), ids: [] };
    let next = 0;
    for await (const event of stream) {
      const now = monotonic();
      seen.ids.push(event.event_id);
      if (event.type === DELTA) {
        const [number, time] = event.delta.split(" ");
        if (Number(number) !== next || next === count) throw new Error(`delta ${number} came after ${next} deltas`);
        seen.sent[next] = Number(time) / 1000;
        seen.here[next++] = now;
      } else if (event.type === "agent.session.turn.failed") {
        throw new Error(`the turn failed: ${JSON.stringify(event.turn.error)}`);
      } else if (event.type === "agent.session.idle") {
        break;
      }
    }
    if (next !== count) throw new Error(`${next} of ${count} deltas came`);
    return seen;
  }
}
