// container_client.py in a container of the sandbox's image.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export class ContainerClient {
  /** Starts one in a network of the container engine, with a connection to `url`. */
  static start(network, url) {
    const { hostname, port } = new URL(url);
    const program = readFileSync(new URL("container_client.py", import.meta.url), "utf8");
    const argv = ["run", "--rm", "--interactive", "--network", network, process.env.CLOISTER_SANDBOX_IMAGE, "python3", "-c", program, hostname, port || "80"];
    const client = new ContainerClient();
    client.child = spawn("docker", argv, { stdio: ["pipe", "pipe", "inherit"] });
    client.lines = createInterface({ input: client.child.stdout })[Symbol.asyncIterator]();
    return client;
  }

  /** Sends requests one after the other: when each was sent, when its answer began and when it ended. */
  async run(count, { method, path, headers = {}, body = "", bodyBytes = 0, status = 200 }) {
    this.child.stdin.write(`${JSON.stringify({ count, method, path, headers, body, body_bytes: bodyBytes, status })}\n`);
    const { value, done } = await this.lines.next();
    if (done) throw new Error("the client in the container ended");
    return JSON.parse(value).map(([sent, first, last]) => ({ sent, first, last }));
  }

  /** Sends model calls, likewise. */
  call(count, { path = "/v1/responses", headers = {}, body = "{}", status }) {
    const usual = { accept: "text/event-stream", "content-type": "application/json" };
    return this.run(count, { method: "POST", path, headers: { ...usual, ...headers }, body, status });
  }

  async stop() {
    const ended = once(this.child, "exit");
    this.child.stdin.end();
    await ended;
  }
}
