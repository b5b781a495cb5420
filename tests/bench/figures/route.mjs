// The list of sessions in Rust and in plain JavaScript (plain/): the same answers from the same rows, in the same runner.
import { createHash, randomBytes } from "node:crypto";
import { send, text } from "../client.mjs";
import { rate, rateRow } from "../rate.mjs";
import { Runner } from "../served.mjs";
import { interleave } from "../stats.mjs";

const ROWS = 20;

/** Two tenants of both Workers: one without sessions, one with a page of them. */
const tenants = ["empty", "full"].map((name) => ({ name, key: `clk_${randomBytes(32).toString("base64url")}` }));

/** Statements that make the tenants and their rows. */
export function tenantsSql() {
  const sha = (text) => createHash("sha256").update(text).digest("hex");
  const keys = tenants.map(({ name, key }) => `INSERT INTO api_keys (hash, tenant, created_at) VALUES ('${sha(key)}', '${name}', 0);\n`);
  const owner = sha("cloister/tenant/1\0full").slice(0, 32);
  const rows = Array.from({ length: ROWS }, (_, n) => {
    const id = `asess_${String(n).padStart(32, "0")}`;
    return `INSERT INTO sessions (tenant, id, created_at, version, snapshot) VALUES ('${owner}', '${id}', ${n}, 1, '${JSON.stringify(snapshot(id))}');\n`;
  });
  return keys.concat(rows).join("");
}

function snapshot(id) {
  return {
    id, object: "agent.session", created_at: 1, last_active_at: 1, status: "idle", error: null,
    agent: {
      id: id.replace("asess", "agent"), name: null, model: "codex", instructions: "Answer briefly, and say what was done.", reasoning: { effort: "medium", summary: null },
      text: { verbosity: "medium" }, service_tier: "auto", multi_agent: { enabled: false }, tools: [],
    },
    environment: {
      id: id.replace("asess", "env"), type: "openai_hosted", capability_directories: [], files: [], network: { access: "disabled", allowed_domains: [] },
      packages: { apt: [], npm: [], pip: [] }, plugins: [], skills: [],
    },
    metadata: { project: "bench", owner: "nobody" }, required_actions: [], usage: null, vault_ids: [], prompt_cache_options: null,
  };
}

export async function route({ rounds, gateway }) {
  const plain = await Runner.start(["--config", "tests/bench/plain/wrangler.toml", "--build", "tests/bench/plain/worker"], { sql: tenantsSql() });
  const results = [];
  try {
    for (const { name, key } of tenants) {
      const [expected, answered] = [await list(gateway, key), await list(plain, key)];
      if (expected !== answered) throw new Error(`the two Workers differ:\n${expected}\n${answered}`);
      const samples = await interleave(rounds, {
        rust: () => rate((agent) => list(gateway, key, agent)),
        plain: () => rate((agent) => list(plain, key, agent)),
      });
      const row = { name: `GET sessions, ${name === "full" ? `${ROWS} rows` : name}`, against: "plain JavaScript", target: { what: "ratio", atLeast: 0.5 } };
      results.push(rateRow(row, samples.rust, samples.plain));
    }
  } finally {
    await plain.stop();
  }
  return results;
}

async function list(server, key, agent) {
  const headers = { authorization: `Bearer ${key}`, "openai-beta": "agents=v1" };
  const response = await send(`${server.url}/v1/agents/sessions?limit=${ROWS}`, { headers, agent });
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`list of sessions: ${response.statusCode} ${body}`);
  return body;
}
