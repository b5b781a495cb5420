// Many clients that read the whole log of one session at the same time, and what that does to the memory of workerd.
import { events } from "../client.mjs";
import { LoadSession } from "../load.mjs";
import { monotonic } from "../upstream.mjs";

const LISTENERS = 64;
const EVENTS = 100_000;
/** Events of a listener of the warm-up, which then leaves. */
const WARM_UP = 10_000;
/** How long a listener reads at most, ms. */
const PATIENCE = 300_000;
/** How much more memory may be held after the measurement than after the warm-up. */
const FLAT = 1.25;
/** Between two looks at the memory, ms. */
const LOOK = 250;
/** Begins the data of each event. */
const DATA = Buffer.from("\ndata: ");

export async function replay({ load }) {
  const session = await LoadSession.start(load);
  const { ids } = await session.turn(EVENTS);
  const listeners = (last) => Promise.all(Array.from({ length: LISTENERS }, () => counted(session, ids[0], last)));
  // The log after its first event, which names the place: once with a look at every event.
  await inOrder(session, ids);
  await listeners(WARM_UP);
  const before = load.memory();
  let most = before;
  const looking = setInterval(() => (most = Math.max(most, load.memory())), LOOK);
  const started = monotonic();
  const counts = await listeners(ids.length);
  const took = monotonic() - started;
  clearInterval(looking);
  const after = load.memory();
  await session.stop();
  const total = counts.reduce((sum, count) => sum + count);
  const note = `${LISTENERS} listeners of ${ids.length - 1} events; ${total} in ${(took / 1000).toFixed(0)} s`;
  const mib = (bytes) => bytes / 2 ** 20;
  return [
    { name: "replayed events", unit: "events/s", measured: (total * 1000) / took, target: { what: "measured", atLeast: 30_000 }, note },
    {
      name: "workerd's memory after replay", unit: "MiB", measured: mib(after), baseline: mib(before), against: "after a warm-up",
      target: { what: "ratio", atMost: FLAT }, note: `at most ${mib(most).toFixed(0)} MiB meanwhile`,
    },
  ];
}

/** Reads the log after its first event, and compares. */
async function inOrder(session, ids) {
  let next = 1;
  for await (const event of events(await session.listen(ids[0]))) {
    if (event.event_id !== ids[next]) throw new Error(`replay gives ${event.event_id} in the place of ${ids[next]}`);
    if (++next === ids.length) return;
  }
  throw new Error(`replay ends after ${next} of ${ids.length} events`);
}

/**
 * Reads the log after the event `first`, number 1, up to number `last` or until patience ends, without a look at the
 * events. Gives how many were read.
 */
async function counted(session, first, last) {
  const end = monotonic() + PATIENCE;
  let count = 1;
  let rest = Buffer.alloc(0);
  for await (const chunk of await session.listen(first)) {
    const bytes = Buffer.concat([rest, chunk]);
    for (let at = bytes.indexOf(DATA); at >= 0; at = bytes.indexOf(DATA, at + DATA.length)) count++;
    rest = bytes.subarray(1 - DATA.length);
    if (count >= last || monotonic() > end) return count - 1;
  }
  throw new Error(`replay ends after ${count} of ${last} events`);
}
