// Another Worker of the account, and hostile: calls whatever it can name, with props of its own.
const attempt = async (what) => {
  try {
    const result = await what();
    return result instanceof Response ? { status: result.status, body: await result.text() } : { returned: String(result) };
  } catch (error) {
    return { refused: String(error) };
  }
};
const METHODS = ["backupGateway", "harnessEgress", "sandboxEgress", "fetchHandler", "setPanicHook", "memory", "initSync", "__wbg_reset_state", "SessionDO", "HarnessDO", "SandboxDO"];
// SHA-256 of "hello".
const HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

export default {
  async fetch(_request, env) {
    const called = {};
    for (const name of METHODS) called[name] = await attempt(() => env.GATEWAY[name](new Request("http://model.internal/v1/responses", { method: "POST", body: "{}" }), {}, {}));
    const model = () => new Request("http://model.internal/v1/responses", { method: "POST", body: '{"input":[]}' });
    const store = (method, body) => new Request(`http://backup.internal/${"0".repeat(32)}`, { method, body, headers: { "x-cloister-sha256": HELLO } });
    const part = () => store("PUT", "hello");
    return Response.json({
      called,
      forgedHarness: await attempt(() => env.FORGED_HARNESS.fetch(model())),
      emptyHarness: await attempt(() => env.EMPTY_HARNESS.fetch(model())),
      forgedBackup: await attempt(() => env.FORGED_BACKUP.fetch(part())),
      emptyBackup: await attempt(() => env.EMPTY_BACKUP.fetch(part())),
      forgedAnnouncement: await attempt(() => env.FORGED_BACKUP.fetch(store("POST", '{"files":[]}'))),
      forgedFetch: await attempt(() => env.FORGED_BACKUP.fetch(store("GET"))),
      forgedSandbox: await attempt(() => env.FORGED_SANDBOX.fetch("http://example.com/")),
      withoutKey: await attempt(() => env.GATEWAY.fetch("http://gateway/v1/agents/sessions", { headers: { "openai-beta": "agents=v1" } })),
    });
  },
};
