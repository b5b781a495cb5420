// A client of the gateway: plain HTTP, so that no SDK's time is measured.
import { once } from "node:events";
import { request } from "node:http";

/** Starts a request; the response, its body unread. */
export async function send(url, { method = "GET", headers = {}, body, agent } = {}) {
  const sent = request(url, { method, headers, agent });
  sent.end(body);
  const [response] = await once(sent, "response");
  return response;
}

export async function text(response) {
  let all = "";
  for await (const chunk of response.setEncoding("utf8")) all += chunk;
  return all;
}

/** The data of each event of an SSE response. */
export async function* events(response) {
  let rest = "";
  for await (const chunk of response.setEncoding("utf8")) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length));
  }
}

/** Creates a session with input, and streams its turn. */
export async function startTurn(gateway, input, network) {
  const body = JSON.stringify({ agent: { model: "codex" }, environment: { type: "openai_hosted", network }, stream: true, input });
  const headers = { ...gateway.headers, "content-type": "application/json" };
  const response = await send(`${gateway.url}/v1/agents/sessions`, { method: "POST", headers, body });
  if (response.statusCode !== 201) throw new Error(`creation of a session: ${response.statusCode} ${await text(response)}`);
  return events(response);
}

/** The next event of `type`; other events go to `onOther`. */
export async function until(stream, type, onOther = () => {}) {
  for (;;) {
    const { value, done } = await stream.next();
    if (done || value.type === "agent.session.turn.failed") throw new Error(`no ${type}: ${done ? "the stream ended" : JSON.stringify(value.turn.error)}`);
    if (value.type === type) return value;
    onOther(value);
  }
}

export async function deleteSession(gateway, id) {
  const response = await send(`${gateway.url}/v1/agents/sessions/${id}`, { method: "DELETE", headers: gateway.headers });
  if (response.statusCode !== 200) throw new Error(`deletion of a session: ${response.statusCode} ${await text(response)}`);
  response.resume();
}
