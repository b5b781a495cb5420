// The way of an event: from the words of the harness, through supervisor, HarnessDO, SessionDO and Gateway, to a client's
// event stream. The harness is a stand-in (tests/load); everything else is the real thing.
import { LoadSession } from "../load.mjs";
import { median, quantile } from "../stats.mjs";

/** One event every 20 ms for a minute. */
const RATE = 50;
const SECONDS = 60;
/** Deltas sent as fast as they are taken. */
const FLOOD = 50_000;

export async function events({ rounds, load }) {
  const session = await LoadSession.start(load);
  const slow = await session.turn(RATE * SECONDS, RATE);
  const floods = [];
  for (let round = 0; round < rounds; round++) floods.push(rate(await session.turn(FLOOD)));
  await session.stop();

  const ages = Array.from(slow.here, (here, n) => here - slow.sent[n]);
  const gaps = Array.from(slow.here.subarray(1), (here, n) => here - slow.here[n]);
  const note = `${RATE} a second for ${SECONDS} s`;
  return [
    { name: "harness's event to API client, p50", unit: "ms", measured: median(ages), target: { what: "measured", atMost: 2 }, note, samples: ages },
    { name: "harness's event to API client, p99", unit: "ms", measured: quantile(ages, 0.99), target: { what: "measured", atMost: 5 } },
    {
      name: "largest gap between two events", unit: "ms", measured: Math.max(...gaps), target: { what: "measured", atMost: 100 },
      note: `the same events; sent with gaps of up to ${Math.max(...slow.sent.subarray(1).map((sent, n) => sent - slow.sent[n])).toFixed(1)} ms`,
    },
    { name: "sustained events", unit: "events/s", measured: median(floods), target: { what: "measured", atLeast: 5000 }, note: `${FLOOD} deltas, none lost, all in order`, samples: floods },
  ];
}

const rate = ({ sent, here }) => (here.length * 1000) / (here.at(-1) - sent[0]);
