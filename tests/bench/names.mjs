// What requests to names reach in place of the network: an HTTP server that is asked as a proxy is. GET of /N gives N
// bytes; a POST is read whole.
import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const PIECE = Buffer.alloc(1 << 16);

function* zeros(bytes) {
  for (let left = bytes; left > 0; left -= PIECE.length) yield left < PIECE.length ? PIECE.subarray(0, left) : PIECE;
}

async function answer(request, response) {
  let bytes = 0;
  for await (const chunk of request) bytes += chunk.length;
  if (request.method === "POST") return response.end(String(bytes));
  const wanted = Number(new URL(request.url).pathname.slice(1));
  response.setHeader("content-length", wanted);
  await pipeline(Readable.from(zeros(wanted)), response);
}

export class Names {
  static async start() {
    const names = new Names();
    // A request in the style of a proxy need not say its host twice.
    names.server = createServer({ requireHostHeader: false }, (request, response) => answer(request, response).catch(() => response.destroy()));
    names.server.keepAliveTimeout = 0;
    names.server.listen(0, "127.0.0.1");
    await once(names.server, "listening");
    names.address = `127.0.0.1:${names.server.address().port}`;
    return names;
  }

  stop() {
    this.server.close();
    this.server.closeAllConnections();
  }
}
