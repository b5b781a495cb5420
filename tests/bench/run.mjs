// The benchmarks: each figure against a baseline of the same run, in rounds that alternate between the two.
//
//   node tests/bench/run.mjs [--only NAME,…] [--rounds N] [--workspace MIB,FILES] [--json FILE]
//
// Reads what scripts/lib/env.sh exports. A target that is missed is shown, and is no failure: a busy machine would fail
// them all.
import { parseArgs } from "node:util";
import { bridgeAddress } from "./docker.mjs";
import { checkpoint } from "./figures/checkpoint.mjs";
import { cold } from "./figures/cold.mjs";
import { egress } from "./figures/egress.mjs";
import { events } from "./figures/events.mjs";
import { model } from "./figures/model.mjs";
import { replay } from "./figures/replay.mjs";
import { requests } from "./figures/requests.mjs";
import { route, tenantsSql } from "./figures/route.mjs";
import { size } from "./figures/size.mjs";
import { start } from "./figures/start.mjs";
import { judge, save, table } from "./report.mjs";
import { startGateway } from "./served.mjs";
import { Upstream } from "./upstream.mjs";

/** Figures by name, and what each takes. */
const ALONE = { size, start, checkpoint, egress };
const WITH_GATEWAY = { cold, model, route, requests };
const WITH_LOAD = { events, replay };
const ALL = { ...ALONE, ...WITH_GATEWAY, ...WITH_LOAD };

const { values: args } = parseArgs({ options: {
  only: { type: "string" }, rounds: { type: "string", default: "5" },
  workspace: { type: "string", default: "512,10000" }, json: { type: "string", default: ".setup/bench.json" },
} });
const names = args.only?.split(",") ?? Object.keys(ALL);
const rounds = Number(args.rounds);
const [mib, files] = args.workspace.split(",").map(Number);
const isCount = (number) => Number.isInteger(number) && number > 0;
const unknown = names.find((name) => !(name in ALL));
if (unknown !== undefined) refuse(`there is no figure '${unknown}'`);
if (!isCount(rounds)) refuse(`--rounds ${args.rounds}: not a number`);
if (!isCount(mib) || !isCount(files / 2)) refuse(`--workspace ${args.workspace}: not MiB and an even number of files`);

function refuse(why) {
  console.error(why);
  process.exit(2);
}

const rows = [];
async function measure(figures, context) {
  for (const [name, figure] of Object.entries(figures)) {
    if (!names.includes(name)) continue;
    const started = Date.now();
    rows.push(...(await figure(context)).map(judge));
    console.log(`  ok    ${name} (${((Date.now() - started) / 1000).toFixed(0)} s)`);
  }
}

await measure(ALONE, { rounds, workspace: { mib, files } });
if (names.some((name) => name in WITH_GATEWAY)) {
  const upstream = await Upstream.start(await bridgeAddress());
  const gateway = await startGateway(upstream.url, { sql: tenantsSql() });
  try {
    await measure(WITH_GATEWAY, { rounds, upstream, gateway });
  } finally {
    await gateway.stop();
    upstream.stop();
  }
}
if (names.some((name) => name in WITH_LOAD)) {
  // The harness is a stand-in that asks no model.
  const load = await startGateway("http://127.0.0.1/v1", { harness: process.env.CLOISTER_LOAD_IMAGE });
  try {
    await measure(WITH_LOAD, { rounds, load });
  } finally {
    await load.stop();
  }
}
save(args.json, rows, rounds);
console.log(`\n${table(rows)}\n\nAll samples are in ${args.json}.`);
