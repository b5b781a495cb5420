// One SQLite statement in a Durable Object: `POST /objects/NAME` inserts the body, `GET /objects/NAME` gives the newest.
import { DurableObject } from "cloudflare:workers";

export class PlainDO extends DurableObject {
  constructor(state, env) {
    super(state, env);
    state.storage.sql.exec("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, json TEXT NOT NULL)");
  }

  async fetch(request) {
    const { sql } = this.ctx.storage;
    if (request.method === "POST") {
      sql.exec("INSERT INTO rows (json) VALUES (?)", await request.text());
      return new Response(null, { status: 201 });
    }
    const { json } = sql.exec("SELECT json FROM rows ORDER BY id DESC LIMIT 1").one();
    return new Response(json, { headers: { "content-type": "application/json" } });
  }
}

/** The answer of the object that the path names; none for other paths. */
export function objects(url, request, env) {
  const name = url.pathname.match(/^\/objects\/(\w+)$/)?.[1];
  return name && env.OBJECT.getByName(name).fetch(request);
}
