// The Worker of the baselines. `GET /v1/agents/sessions` as one would write it in JavaScript: the same checks, statements and answer as the Worker's.
import { files } from "./files.js";
import { objects } from "./object.js";

export { PlainDO } from "./object.js";

const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
const sha256 = async (text) => hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

const refuse = (status, code, message) => Response.json({ error: { message, type: "invalid_request_error", param: null, code } }, { status });

/** The tenant of the caller's key, or none. */
async function authenticate(headers, env) {
  const key = headers.get("authorization")?.match(/^Bearer (clk_[A-Za-z0-9_-]{43})$/)?.[1];
  if (!key) return null;
  return env.DB.prepare("SELECT tenant FROM api_keys WHERE hash = ?1 AND revoked_at IS NULL").bind(await sha256(key)).first("tenant");
}

async function answer(request, env) {
  if (env.ALLOWED_HOSTS !== "" && !env.ALLOWED_HOSTS.split(",").includes(request.headers.get("host"))) return refuse(403, "forbidden", "Not under this name.");
  if (request.headers.get("openai-beta") !== "agents=v1") return refuse(400, "invalid_beta", "The beta header is missing.");
  const tenant = await authenticate(request.headers, env);
  if (!tenant) return refuse(401, "invalid_api_key", "This key is not known.");
  const url = new URL(request.url);
  if (request.method !== "GET" || url.pathname !== "/v1/agents/sessions") return refuse(404, "not_found", "No such route.");
  const limit = Number(url.searchParams.get("limit") ?? "20");
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) return refuse(400, "invalid_value", "'limit' is out of range.");
  const owner = (await sha256(`cloister/tenant/1\0${tenant}`)).slice(0, 32);
  const select = "SELECT id, snapshot FROM sessions WHERE tenant = ?1 AND deleted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT ?2";
  const { results } = await env.DB.prepare(select).bind(owner, limit + 1).all();
  const rows = results.slice(0, limit);
  return Response.json({
    object: "list",
    data: rows.map((row) => JSON.parse(row.snapshot)),
    first_id: rows[0]?.id ?? null,
    last_id: rows.at(-1)?.id ?? null,
    has_more: results.length > limit,
  });
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const stored = objects(url, request, env) ?? files(url, request, env);
    if (stored) return stored;
    const response = await answer(request, env);
    response.headers.set("x-request-id", `req_${hex(crypto.getRandomValues(new Uint8Array(16)))}`);
    response.headers.set("openai-version", "2020-10-01");
    return response;
  },
};
