// The table, and the file with everything that was measured.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { dirname } from "node:path";

const BOUNDS = { measured: (bound, unit) => `${bound} ${unit}`, ratio: (bound) => `${bound}×`, added: (bound, unit) => `added ${bound} ${unit}` };

/** A target in words; it is either `atMost` or `atLeast` something. */
function words({ what, atMost, atLeast }, unit) {
  return BOUNDS[what](atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`, unit);
}

/** A row with what follows from its numbers: ratio, difference, and whether the target is met. */
export function judge(row) {
  const judged = { ...row };
  if (row.baseline !== undefined) {
    judged.ratio = row.measured / row.baseline;
    judged.added = row.measured - row.baseline;
  }
  if (row.target) {
    const { what, atMost = Infinity, atLeast = -Infinity } = row.target;
    judged.met = judged[what] <= atMost && judged[what] >= atLeast;
  }
  return judged;
}

const number = (value) => value === undefined ? "" : value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);

export function table(rows) {
  const lines = [["figure", "measured", "baseline", "", "ratio", "added", "target", ""]];
  for (const row of rows) {
    const target = row.target ? words(row.target, row.unit) : "";
    const rate = row.unit.endsWith("/s");
    lines.push([
      row.name, number(row.measured), number(row.baseline), row.unit, row.ratio === undefined ? "" : `${row.ratio.toFixed(2)}×`,
      rate ? "" : number(row.added), target, row.met === undefined ? "" : row.met ? "met" : "MISSED",
    ]);
  }
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const left = [0, 3, 6, 7];
  const text = lines.map((line) => line.map((cell, column) => left.includes(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column])).join("  ").trimEnd());
  text.splice(1, 0, "─".repeat(Math.max(...text.map((line) => line.length))));
  const notes = rows.filter((row) => row.against || row.note).map((row) => `${row.name}: ${[row.against && `against ${row.against}`, row.note].filter(Boolean).join("; ")}`);
  return [...text, "", ...notes].join("\n");
}

export function save(file, rows, rounds) {
  mkdirSync(dirname(file), { recursive: true });
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, load: loadavg() };
  const short = (_, value) => typeof value === "number" ? Math.round(value * 1000) / 1000 : value;
  writeFileSync(file, `${JSON.stringify({ at: new Date().toISOString(), rounds, machine, rows }, short)}\n`);
}
