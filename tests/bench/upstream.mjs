// A model provider that answers at once, or when it is told to.
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { MODEL_KEY } from "./served.mjs";

/** A request whose text holds this word waits for `release`. */
export const HOLD = "bench-hold";

const USAGE = { input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 11 };

const event = (type, fields) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const message = (text, status) => ({
  type: "message", id: "msg_1", role: "assistant", status, content: text === "" ? [] : [{ type: "output_text", text, annotations: [] }],
});

/** The events before the text's first delta, each delta, and those after the last. */
const opening = () =>
  event("response.created", { response: { id: "resp_1", object: "response", status: "in_progress", output: [] } }) +
  event("response.output_item.added", { output_index: 0, item: message("", "in_progress") }) +
  event("response.content_part.added", { item_id: "msg_1", output_index: 0, content_index: 0, part: { type: "output_text", text: "", annotations: [] } });
const delta = (text) => event("response.output_text.delta", { item_id: "msg_1", output_index: 0, content_index: 0, delta: text });
const closing = (text) =>
  event("response.output_item.done", { output_index: 0, item: message(text, "completed") }) +
  event("response.completed", { response: { id: "resp_1", object: "response", status: "completed", output: [message(text, "completed")], usage: USAGE } });

const AT_ONCE = opening() + delta("done") + closing("done");

export class Upstream {
  /** Requests answered at once: when the last byte of each was there, when it was answered, and whether the gateway sent it. */
  seen = [];
  /** Newest request that was held, as text. */
  held = null;
  #waiting = null;

  static async start(host) {
    const upstream = new Upstream();
    upstream.server = createServer((request, response) => upstream.#answer(request, response));
    upstream.server.keepAliveTimeout = 0;
    upstream.server.listen(0, host);
    await once(upstream.server, "listening");
    upstream.url = `http://${host}:${upstream.server.address().port}/v1`;
    return upstream;
  }

  stop() {
    this.server.close();
    this.server.closeAllConnections();
  }

  async #answer(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const read = monotonic();
    const body = Buffer.concat(chunks);
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (!body.includes(HOLD)) {
      this.seen.push({ read, answered: monotonic(), gateway: request.headers.authorization === `Bearer ${MODEL_KEY}`, bytes: body.length });
      response.end(AT_ONCE);
      return;
    }
    this.held = body.toString();
    response.flushHeaders();
    response.write(opening());
    const { count, pause } = await new Promise((release) => (this.#waiting = release));
    let text = "";
    for (let n = 0; n < count; n++) {
      // Each word is the time at which it was sent.
      const word = `${monotonic().toFixed(3)} `;
      text += word;
      response.write(delta(word));
      await sleep(pause);
    }
    response.end(closing(text));
  }

  /** Lets the held answer go on: `count` words, `pause` ms apart. False if none is held. */
  release(count, pause) {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.({ count, pause });
    return waiting !== null;
  }
}

/** The clock that all processes of this machine share, in milliseconds. */
export const monotonic = () => Number(process.hrtime.bigint()) / 1e6;
