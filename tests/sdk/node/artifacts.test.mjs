// Files that turns publish. The tests share a session, because each session starts containers; its turns are in order.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { agent, all, CANCEL, environment, message, newClient, none, otherKey, rawFile, script, sessions, settled, unique, until } from "./support.mjs";

const { artifacts } = sessions;
const OUTPUTS = "/workspace/outputs";
const UNKNOWN = "artifact_00000000000000000000000000000000";

/** What is stored of a file apart from the rest. */
const PART = 16 << 20;
/** 20 MiB, of which each line says where it is. */
const LINES = (20 << 20) / 16;
const BIG = Buffer.from(Array.from({ length: LINES }, (_, n) => `${String(n).padStart(15, "0")}\n`).join(""));
const FILES = {
  [`${OUTPUTS}/big.txt`]: BIG,
  [`${OUTPUTS}/deep/er/größe €.txt`]: Buffer.from("wide\n"),
  [`${OUTPUTS}/empty`]: Buffer.alloc(0),
  [`${OUTPUTS}/hello.txt`]: Buffer.from("hello\n"),
};
const MAKE = [
  `mkdir -p ${OUTPUTS}/deep/er`,
  `cd ${OUTPUTS}`,
  "printf 'hello\\n' > hello.txt",
  "printf 'wide\\n' > 'deep/er/größe €.txt'",
  ": > empty",
  `seq -f %015.0f 0 ${LINES - 1} > big.txt`,
  "ln -s /etc/hostname link",
  "ln -s hello.txt link.txt",
  "ln -s deep folder",
  "printf no > /workspace/elsewhere.txt",
].join(" && ");

let session, first, made;
const run = (text) => sessions.stream(session.id, { input: text }).finalResult();
const of = () => ({ session_id: session.id });
const at = (name) => made.find(({ path }) => path === `${OUTPUTS}/${name}`);
const contentOf = async ({ id }) => Buffer.from(await (await artifacts.content(id, of())).arrayBuffer());
const pathOf = ({ id }) => `/agents/sessions/${session.id}/artifacts/${id}/content`;
const absent = (id) => (error) =>
  error instanceof OpenAI.NotFoundError && error.type === "not_found_error" && error.code === "not_found_error" && error.message.endsWith(`Session artifact ${id} was not found`);

before(async () => {
  session = await sessions.create({ agent, environment });
  first = await run(script("Make files.", { shell: MAKE }, { say: "Made." }));
  assert.equal(first.turn.status, "completed");
  made = await all(artifacts.list(session.id));
});
after(() => session && sessions.delete(session.id));

test("a completed turn has published each regular file below outputs, and no symlink", async () => {
  assert.deepEqual(made.map(({ path }) => path).sort(), Object.keys(FILES).sort());
  for (const artifact of made) {
    assert.equal(artifact.size_bytes, FILES[artifact.path].length);
    assert.deepEqual([artifact.session_id, artifact.turn_id, artifact.environment_id], [session.id, first.turn_id, session.environment.id]);
    assert.ok(artifact.created_at >= session.created_at);
  }
  assert.equal(new Set(made.map(({ id }) => id)).size, made.length);
});

test("retrieve gives what the list has", async () => {
  for (const artifact of made) {
    const { _request_id, ...retrieved } = await artifacts.retrieve(artifact.id, of());
    assert.deepEqual(retrieved, artifact);
  }
});

test("content is the file, byte for byte", async () => {
  for (const artifact of made) {
    const bytes = await contentOf(artifact);
    assert.ok(bytes.equals(FILES[artifact.path]), `${artifact.path}: ${bytes.length} bytes`);
  }
});

test("a result finds its own artifacts by their path", async () => {
  const found = artifacts.forResult(first);
  const path = `${OUTPUTS}/deep/er/größe €.txt`;
  assert.deepEqual((await found.retrieve(path)).id, at("deep/er/größe €.txt").id);
  assert.equal(await (await found.content(path)).text(), "wide\n");
  const chunks = [];
  const to = new WritableStream({ write: (chunk) => void chunks.push(chunk) });
  const downloaded = await found.download({ path: `${OUTPUTS}/big.txt`, to });
  assert.equal(downloaded.id, at("big.txt").id);
  assert.ok(Buffer.concat(chunks).equals(BIG));
  await assert.rejects(found.retrieve("/workspace/elsewhere.txt"), /No artifact matches/);
});

test("artifacts are paged, in both orders", async () => {
  const { client, sent } = newClient();
  const list = (query) => all(client.beta.agents.sessions.artifacts.list(session.id, query));
  assert.deepEqual(await list({ limit: 3, order: "asc" }), made.toReversed());
  assert.equal(sent.length, 2);
  assert.deepEqual(await list({ after: made[1].id }), made.slice(2));
  assert.deepEqual(await list({ environment_id: session.environment.id, limit: 1 }), made);
  assert.deepEqual(await list({ environment_id: null }), made);
  assert.deepEqual(await list({ environment_id: "env_00000000000000000000000000000000" }), []);
  for (const query of [{ limit: 0 }, { limit: 101 }, { after: UNKNOWN }]) {
    await assert.rejects(list(query), (error) => error.status === 400 && error.param === Object.keys(query)[0]);
  }
});

test("the headers of a file let nobody keep it, guess its type or run it", async () => {
  const artifact = at("deep/er/größe €.txt");
  const response = await rawFile("GET", pathOf(artifact));
  assert.equal(await response.text(), "wide\n");
  for (const [name, value] of [
    ["content-type", "application/octet-stream"],
    ["content-length", "5"],
    ["content-disposition", "attachment; filename=\"gr__e _.txt\"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%E2%82%AC.txt"],
    ["x-content-type-options", "nosniff"],
    ["content-security-policy", "sandbox; default-src 'none'"],
    ["cache-control", "private, no-store"],
    ["accept-ranges", "bytes"],
  ]) {
    assert.equal(response.headers.get(name), value, name);
  }
  assert.match(response.headers.get("etag"), /^"[^"]+"$/);
});

test("HEAD has the same headers, whatever range it names, and no body", async () => {
  for (const artifact of made) {
    const head = await rawFile("HEAD", pathOf(artifact), { range: "bytes=0-0" });
    assert.equal(head.status, 200);
    assert.equal(await head.text(), "");
    const get = await rawFile("GET", pathOf(artifact));
    await get.body?.cancel();
    for (const name of ["content-length", "content-type", "content-disposition", "etag", "accept-ranges"]) {
      assert.equal(head.headers.get(name), get.headers.get(name), name);
    }
    assert.equal(head.headers.get("content-length"), String(artifact.size_bytes));
  }
});

test("a range is a part of the file, also across what is stored apart", async () => {
  const size = BIG.length;
  for (const [range, from, to] of [
    ["bytes=0-0", 0, 1],
    ["bytes=16-31", 16, 32],
    [`bytes=${PART - 8}-${PART + 7}`, PART - 8, PART + 8],
    [`bytes=${PART}-${PART}`, PART, PART + 1],
    [`bytes=${PART - 1}-${PART - 1}`, PART - 1, PART],
    [`bytes=1-${size - 2}`, 1, size - 1],
    [`bytes=${size - 3}-`, size - 3, size],
    [`bytes=${size - 3}-${2 * size}`, size - 3, size],
    ["bytes=-16", size - 16, size],
  ]) {
    const response = await rawFile("GET", pathOf(at("big.txt")), { range });
    assert.equal(response.status, 206, range);
    assert.equal(response.headers.get("content-range"), `bytes ${from}-${to - 1}/${size}`);
    assert.equal(response.headers.get("content-length"), String(to - from));
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(BIG.subarray(from, to)), range);
  }
});

test("a range of another version, several and none at all: the whole; one beyond the end: 416", async () => {
  const hello = pathOf(at("hello.txt"));
  const etag = (await rawFile("HEAD", hello)).headers.get("etag");
  const range = "bytes=0-1";
  assert.equal((await rawFile("GET", hello, { range, "if-range": etag })).status, 206);
  for (const headers of [
    { range, "if-range": '"other"' },
    { range, "if-range": `W/${etag}` },
    { range: "bytes=0-1,3-4" },
    { range: "bytes=4-1" },
    { range: "lines=0-1" },
  ]) {
    const response = await rawFile("GET", hello, headers);
    assert.equal(response.status, 200, JSON.stringify(headers));
    assert.equal(await response.text(), "hello\n");
  }
  for (const [name, beyond] of [["hello.txt", "bytes=6-"], ["empty", "bytes=0-"]]) {
    const response = await rawFile("GET", pathOf(at(name)), { range: beyond });
    assert.equal(response.status, 416);
    assert.equal(response.headers.get("content-range"), `bytes */${at(name).size_bytes}`);
  }
});

test("another tenant finds nothing of it", async () => {
  const foreign = newClient({ apiKey: otherKey }).client.beta.agents.sessions.artifacts;
  const { id } = at("hello.txt");
  for (const call of [
    () => foreign.list(session.id),
    () => foreign.retrieve(id, of()),
    () => foreign.content(id, of()),
    () => foreign.delete(id, of()),
  ]) {
    await assert.rejects(call(), OpenAI.NotFoundError);
  }
  assert.equal((await artifacts.retrieve(id, of())).id, id);
});

test("ids that are none of the session's: 404", async () => {
  const other = await sessions.create({ agent, environment: none, input: script("Talk.", { say: "Talked." }) });
  await settled(other.id);
  assert.deepEqual(await all(artifacts.list(other.id)), []);
  const { id } = at("hello.txt");
  for (const [wrong, session_id] of [[UNKNOWN, session.id], ["artifact_1", session.id], [session.id, session.id], [id, other.id]]) {
    for (const call of ["retrieve", "content", "delete"]) {
      await assert.rejects(artifacts[call](wrong, { session_id }), absent(wrong), `${call} ${wrong}`);
    }
  }
  await sessions.delete(other.id);
});

test("a later turn publishes what is new or has changed, and the old stays as it was", async () => {
  const change = [
    `cd ${OUTPUTS}`,
    "printf 'changed\\n' > hello.txt",
    // The same bytes again are no change.
    "printf 'wide\\n' > 'deep/er/größe €.txt'",
    "touch empty",
    "printf 'new\\n' > new.txt",
    "rm big.txt",
  ].join(" && ");
  const second = await run(script("Change them.", { shell: change }, { say: "Changed." }));
  const now = await all(artifacts.list(session.id));
  const added = now.filter(({ turn_id }) => turn_id === second.turn_id);
  assert.deepEqual(added.map(({ path }) => path).sort(), [`${OUTPUTS}/hello.txt`, `${OUTPUTS}/new.txt`]);
  // Newest first.
  assert.deepEqual(now, [...added, ...made]);

  const changed = await artifacts.forResult(second).retrieve(`${OUTPUTS}/hello.txt`);
  assert.notEqual(changed.id, at("hello.txt").id);
  assert.equal((await contentOf(changed)).toString(), "changed\n");
  assert.equal((await contentOf(at("hello.txt"))).toString(), "hello\n");
  assert.ok((await contentOf(at("big.txt"))).equals(BIG));
});

test("a deleted artifact is gone, deleting it again says the same, and the sandbox keeps its file", async () => {
  const { id } = at("empty");
  for (let time = 0; time < 2; time += 1) {
    const { _request_id, ...deleted } = await artifacts.delete(id, of());
    assert.deepEqual(deleted, { id, object: "agent.session.artifact.deleted", deleted: true });
  }
  for (const call of ["retrieve", "content"]) await assert.rejects(artifacts[call](id, of()), absent(id));
  assert.equal((await rawFile("HEAD", pathOf(at("empty")))).status, 404);
  assert.ok((await all(artifacts.list(session.id))).every((artifact) => artifact.id !== id));
  assert.equal((await contentOf(at("hello.txt"))).toString(), "hello\n");

  const third = await run(script("Look.", { shell: `ls ${OUTPUTS}` }, { say: "Looked." }));
  const items = await all(sessions.turns.items.list(third.turn_id, of()));
  assert.ok(items.find(({ type }) => type === "command_execution").output.split("\n").includes("empty"));
  // It has not changed since it was published.
  assert.ok((await all(artifacts.list(session.id))).every(({ turn_id }) => turn_id !== third.turn_id));
});

test("a cancelled turn publishes nothing", async () => {
  const before = await all(artifacts.list(session.id));
  const shell = `printf 'cancelled\\n' > ${OUTPUTS}/cancelled.txt`;
  const text = script("Begin.", { shell }, { wait: unique("hold"), say: "Never said." });
  await sessions.events.create(session.id, { events: [message(text)] });
  const turn = await until("the turn to run", async () => (await sessions.turns.list(session.id)).data.find(({ status }) => status === "in_progress"));
  await until("the command to end", async () =>
    (await all(sessions.turns.items.list(turn.id, of()))).some(({ type, status }) => type === "command_execution" && status === "completed"),
  );
  await sessions.events.create(session.id, { events: [CANCEL] });
  await settled(session.id);
  assert.equal((await sessions.turns.retrieve(turn.id, of())).status, "cancelled");
  assert.deepEqual(await all(artifacts.list(session.id)), before);
});

test("with their session all artifacts are gone", async () => {
  const { id } = session;
  session = undefined;
  await sessions.delete(id);
  for (const call of ["retrieve", "content", "delete"]) {
    await assert.rejects(artifacts[call](at("hello.txt").id, { session_id: id }), OpenAI.NotFoundError);
  }
  await assert.rejects(artifacts.list(id), OpenAI.NotFoundError);
});
