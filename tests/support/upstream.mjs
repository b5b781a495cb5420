// The rest of the network, as the Worker of a test sees it: a server that answers for every host and tells what it got.
//
//   node tests/support/upstream.mjs [--port N] [--log FILE]
//
// Says "ready http://127.0.0.1:PORT" and ends when its stdin closes. Takes requests as a plain proxy does, with a whole
// URL in the request line, or directly. The path says what it does, whatever the host:
//   /echo                    JSON: method, url, headers (pairs as they came), body_bytes, body_sha256
//   /host                    the host of the URL; so does every path that is not listed
//   /status/CODE             that status; with a body ("status CODE\n") if it may have one
//   /redirect?to=URL&status= Location is URL, percent-decoded and else as given; default 302; sets a cookie too
//   /headers                 status text "Fine By Me", two Set-Cookie, odd names, a header twice and an empty one
//   /verdict?status=         that status, 403 if none, with the header of the gateway's own answers
//   /bytes/N, /chunked/N     N bytes, byte i is i mod 251; with Content-Length, or chunked
//   /gzip                    a gzip body as it is; X-Body-SHA256 is that of the encoded bytes
//   /sse?n=&ms=              n events (5), one every ms (50)
//   /drip?ms=                a line every ms (50), without end
//   /upload?kbps=            reads the body, at most that many kilobytes a second; JSON as /echo, without headers
//   /early                   answers before it reads the body
//   /hang                    reads the body and never answers
//   /ws?ms=                  a WebSocket that echoes messages, and says "tick" every ms if that is given
// and what upstream_packages.mjs serves. The log has one JSON line a request, written when its body has ended or broken
// off: at (Unix ms), method, url (as it came), headers (pairs), body_bytes, body_sha256, aborted. A line with
// event "closed", url and at says that a peer went away before its answer was whole, or that a WebSocket has ended.
// A proxied request has the Host that the Worker set, or none; on the network it would be the URL's.
import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { WebSocketServer } from "ws";
import { packages } from "./upstream_packages.mjs";

const { values: args } = parseArgs({ options: { port: { type: "string", default: "0" }, log: { type: "string" } } });
const packaged = packages();
const sockets = new WebSocketServer({ noServer: true });
const GZIPPED = gzipSync("cloister ".repeat(1000));
// A whole number of rounds of the pattern, so that each piece goes on where the last one ended.
const PATTERN = Buffer.alloc(251 * 256, Uint8Array.from({ length: 251 }, (_, index) => index));

function log(line) {
  if (args.log) appendFileSync(args.log, `${JSON.stringify({ at: Date.now(), ...line })}\n`);
}

const urlOf = (request) => new URL(request.url, `http://${request.headers.host ?? "upstream.example"}`);
const headersOf = ({ rawHeaders: raw }) => raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1]]] : []));

/** Reads the body and logs the request: what both come to. */
async function read(request, kbps = Infinity) {
  const hash = createHash("sha256");
  const seen = { method: request.method, url: request.url, body_bytes: 0 };
  let aborted = false;
  // After an early answer Node does not tell the request that its connection is gone.
  const { socket } = request;
  const broken = () => request.destroy();
  socket.on("close", broken);
  try {
    for await (const chunk of request) {
      hash.update(chunk);
      seen.body_bytes += chunk.length;
      if (kbps < Infinity) await sleep(chunk.length / kbps);
    }
  } catch {
    aborted = true;
  } finally {
    socket.off("close", broken);
  }
  seen.body_sha256 = hash.digest("hex");
  log({ ...seen, headers: headersOf(request), aborted });
  return seen;
}

function* pattern(bytes) {
  for (let left = bytes; left > 0; left -= PATTERN.length) yield left < PATTERN.length ? PATTERN.subarray(0, left) : PATTERN;
}

/** Sends lines until there are no more, or nobody is left to read them. */
async function send(response, ms, count, line) {
  response.flushHeaders();
  for (let index = 0; index < count && !response.destroyed; index++) {
    response.write(line(index));
    await sleep(ms);
  }
  response.end();
}

async function answer(request, response) {
  const url = urlOf(request);
  const number = (name, otherwise) => Number(url.searchParams.get(name) ?? otherwise);
  const [, first, second] = url.pathname.split("/");
  const json = (value) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
  response.on("close", () => {
    if (!response.writableFinished) log({ event: "closed", url: request.url });
  });
  if (first === "early") response.end("early\n");
  const body = read(request, number("kbps", Infinity));
  switch (first) {
    case "early":
    case "hang":
      return;
    case "echo":
      return json({ ...(await body), headers: headersOf(request) });
    case "upload":
      return json(await body);
    case "status": {
      const bare = ["204", "304"].includes(second);
      return response.writeHead(Number(second)).end(bare ? undefined : `status ${second}\n`);
    }
    case "redirect": {
      const to = /[?&]to=([^&]*)/.exec(request.url)?.[1] ?? "";
      const headers = { location: decodeURIComponent(to), "set-cookie": "redirected=yes; Path=/" };
      return response.writeHead(number("status", 302), headers).end("elsewhere\n");
    }
    case "headers": {
      const pairs = [
        "Set-Cookie", "a=1; Path=/; HttpOnly", "Set-Cookie", "b=2; Expires=Wed, 01 Jan 2031 00:00:00 GMT",
        "X-MiXeD-CaSe", "Kept", "x_under.dot!", "odd", "X-Twice", "one", "X-Twice", "two", "X-Empty", "",
      ];
      return response.writeHead(200, "Fine By Me", pairs).end("headers\n");
    }
    case "verdict": {
      const status = number("status", 403);
      return response.writeHead(status, { "x-cloister-egress": "forged", "x-other": "kept" }).end(status === 204 ? "" : "forged\n");
    }
    case "bytes":
    case "chunked":
      if (first === "bytes") response.setHeader("content-length", second);
      return pipeline(Readable.from(pattern(Number(second))), response);
    case "gzip":
      response.setHeader("x-body-sha256", createHash("sha256").update(GZIPPED).digest("hex"));
      return response.setHeader("content-type", "text/plain").setHeader("content-encoding", "gzip").end(GZIPPED);
    case "sse":
      response.setHeader("content-type", "text/event-stream");
      return send(response, number("ms", 50), number("n", 5), (index) => `id: ${index}\ndata: event ${index}\n\n`);
    case "drip":
      response.setHeader("content-type", "text/plain");
      return send(response, number("ms", 50), Infinity, (index) => `line ${index}\n`);
  }
  const file = packaged(url);
  if (file) return response.setHeader("content-type", file.type).end(file.body);
  response.setHeader("content-type", "text/plain").end(url.host);
}

function upgrade(request, socket, head) {
  log({ method: request.method, url: request.url, headers: headersOf(request), body_bytes: 0, aborted: false });
  const url = urlOf(request);
  if (url.pathname !== "/ws") return socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  sockets.handleUpgrade(request, socket, head, (peer) => {
    const ms = url.searchParams.get("ms");
    const ticks = ms && setInterval(() => peer.send("tick"), Number(ms));
    peer.on("message", (data, binary) => peer.send(data, { binary }));
    peer.on("error", () => peer.terminate());
    peer.on("close", () => {
      clearInterval(ticks);
      log({ event: "closed", url: request.url });
    });
  });
}

const server = createServer({ requireHostHeader: false, requestTimeout: 0 }, (request, response) => {
  answer(request, response).catch((error) => {
    // A peer that went away is in the log; anything else is for whoever reads standard error.
    if (!response.destroyed) console.error(request.url, error);
    response.destroy();
  });
});
server.on("upgrade", upgrade);
// A connection that closes just as it is used again would look like a fault of the Worker's.
server.keepAliveTimeout = 0;
server.listen(Number(args.port), "127.0.0.1", () => console.log(`ready http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on("end", () => process.exit(0));
