// What a sandbox may reach: given with a session, read and replaced. None of these starts a container.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { agent, environment, none, raw, script, sessions, settled } from "./support.mjs";

const made = [];
after(() => Promise.all(made.map((id) => sessions.delete(id))));
const create = async (more = {}) => {
  const session = await sessions.create({ agent, environment: { ...environment, ...more } });
  made.push(session.id);
  return session;
};
const refused = (more) => sessions.create({ agent, environment: { ...environment, ...more } }).then(assert.fail, (error) => error);
const network = (id, more = "") => raw("GET", `/agents/sessions/${id}/network${more}`).then(({ status, json }) => ({ status, ...json }));
const replace = (id, body) => raw("POST", `/agents/sessions/${id}/network`, { body: JSON.stringify(body) });
const RULES = [{ host: "api.example.com", methods: ["GET"], path_prefixes: ["/v1"] }];

test("a session shows its network, and neither what is blocked nor its rules", async () => {
  for (const [given, shown] of [
    [null, { access: "disabled", allowed_domains: [] }],
    [{ access: "enabled" }, { access: "enabled", allowed_domains: [] }],
    [{ access: "restricted", blocked_domains: ["example.com"] }, { access: "restricted", allowed_domains: [] }],
    [{ access: "restricted", allowed_domains: ["API.example.com"], rules: RULES }, { access: "restricted", allowed_domains: ["api.example.com"] }],
  ]) {
    const session = await create({ network: given });
    assert.deepEqual(session.environment.network, shown);
    assert.deepEqual((await sessions.retrieve(session.id)).environment.network, shown);
  }
});

test("variables and commands are taken, and never shown", async () => {
  const session = await create({ env: { TOKEN: "canary-value" }, setup_commands: [{ command: "echo canary-command" }] });
  const answers = [session, await sessions.retrieve(session.id), await network(session.id), (await sessions.list({ limit: 100 })).data];
  assert.doesNotMatch(JSON.stringify(answers), /canary|TOKEN/);
});

test("the policy is read whole", async () => {
  const { id, environment: made } = await create({ network: { access: "restricted", allowed_domains: ["api.example.com"], rules: RULES } });
  const { epoch, updated_at, ...rest } = await network(id);
  assert.deepEqual(rest, {
    status: 200,
    object: "agent.session.network",
    session_id: id,
    environment_id: made.id,
    access: "restricted",
    allowed_domains: ["api.example.com"],
    blocked_domains: [],
    rules: RULES,
    description: "Reachable: only api.example.com (http, https; GET; below /v1).",
  });
  assert.ok(Math.abs(updated_at - Date.now() / 1000) < 60, `${updated_at}`);
  assert.ok(Number.isInteger(epoch));
});

test("another policy replaces it, and the session and its list show that", async () => {
  const { id } = await create();
  const before = await network(id);
  const { status, json } = await replace(id, { access: "restricted", allowed_domains: ["example.com"] });
  assert.deepEqual([status, json.access, json.allowed_domains], [200, "restricted", ["example.com"]]);
  assert.ok(json.epoch > before.epoch, `${before.epoch}, ${json.epoch}`);
  assert.deepEqual(await network(id), { status: 200, ...json });
  const shown = { access: "restricted", allowed_domains: ["example.com"] };
  assert.deepEqual((await sessions.retrieve(id)).environment.network, shown);
  const deadline = Date.now() + 10_000;
  for (;;) {
    const listed = (await sessions.list({ limit: 100 })).data.find((each) => each.id === id);
    if (listed.environment.network.access === "restricted") break;
    assert.ok(Date.now() < deadline, "the list never showed it");
  }
});

test("a policy with one bad entry changes nothing", async () => {
  const { id } = await create();
  const before = await network(id);
  for (const [body, param] of [
    [{ access: "restricted", allowed_domains: ["example.com", "*.com"] }, "allowed_domains[1]"],
    [{ access: "enabled", allowed_domains: ["example.com"] }, "allowed_domains"],
    [{ allowed_domains: ["example.com"] }, "access"],
    [{ access: "enabled", surprise: 1 }, "surprise"],
  ]) {
    const { status, json } = await replace(id, body);
    assert.deepEqual([status, json.error.param], [400, param]);
  }
  assert.deepEqual(await network(id), before);
  assert.deepEqual((await sessions.retrieve(id)).environment.network, { access: "disabled", allowed_domains: [] });
});

test("what was decided so far: nothing", async () => {
  const { id } = await create();
  assert.deepEqual(await network(id, "/audit"), { status: 200, object: "list", data: [], first_id: null, last_id: null, has_more: false });
});

test("a conversation has no network", async () => {
  const { id } = await sessions.create({ agent, environment: none, input: script("Hello.", { say: "Hi." }) });
  const answers = [await raw("GET", `/agents/sessions/${id}/network`), await replace(id, { access: "disabled" }), await raw("GET", `/agents/sessions/${id}/network/audit`)];
  for (const { status, json } of answers) {
    assert.equal(status, 404);
    assert.match(json.error.message, /has no environment/);
  }
  await settled(id);
  made.push(id);
});

test("what cannot be an environment is refused by its place", async () => {
  for (const [more, param] of [
    [{ network: { access: "restricted", allowed_domains: ["*.com"] } }, "environment.network.allowed_domains[0]"],
    [{ network: { access: "restricted", allowed_domains: ["127.0.0.1"] } }, "environment.network.allowed_domains[0]"],
    [{ network: { access: "restricted", blocked_domains: ["*.example.com"] } }, "environment.network.blocked_domains[0]"],
    [{ env: { PATH: "/canary" } }, "environment.env.PATH"],
    [{ env: { A: ["canary"] } }, "environment.env.A"],
    [{ setup_commands: [{ command: "true", cwd: "canary" }] }, "environment.setup_commands[0].cwd"],
  ]) {
    const error = await refused(more);
    assert.deepEqual([error.status, error.param], [400, param]);
    assert.doesNotMatch(error.message, /canary/);
  }
});
