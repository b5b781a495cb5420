// Another Worker of the account, and hostile: calls whatever it can name, with props of its own.
const attempt = async (what) => {
  try {
    const result = await what();
    return result instanceof Response ? { status: result.status, body: await result.text() } : { returned: String(result) };
  } catch (error) {
    return { refused: String(error) };
  }
};
const METHODS = ["harnessEgress", "sandboxEgress", "fetchHandler", "setPanicHook", "memory", "initSync", "__wbg_reset_state", "SessionDO", "HarnessDO", "SandboxDO"];

export default {
  async fetch(_request, env) {
    const called = {};
    for (const name of METHODS) called[name] = await attempt(() => env.GATEWAY[name](new Request("http://model.internal/v1/responses", { method: "POST", body: "{}" }), {}, {}));
    const model = () => new Request("http://model.internal/v1/responses", { method: "POST", body: '{"input":[]}' });
    return Response.json({
      called,
      forgedHarness: await attempt(() => env.FORGED_HARNESS.fetch(model())),
      emptyHarness: await attempt(() => env.EMPTY_HARNESS.fetch(model())),
      forgedSandbox: await attempt(() => env.FORGED_SANDBOX.fetch("http://example.com/")),
      withoutKey: await attempt(() => env.GATEWAY.fetch("http://gateway/v1/agents/sessions", { headers: { "openai-beta": "agents=v1" } })),
    });
  },
};
