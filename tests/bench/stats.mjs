// Numbers of a benchmark: quantiles, and rounds that alternate between what is measured and its baseline.

/** The value below which the share `q` of the samples lies, interpolated. */
export function quantile(samples, q) {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = Math.floor(at);
  return sorted[low] + (sorted[Math.ceil(at)] - sorted[low]) * (at - low);
}

export const median = (samples) => quantile(samples, 0.5);

/**
 * Runs each of `kinds` once a round, one after the other, and gives their results by kind. Every other round goes
 * backwards, so that whatever drifts on the machine falls on all of them alike. The first `warmup` rounds do not count.
 */
export async function interleave(rounds, kinds, warmup = 1) {
  const names = Object.keys(kinds);
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -warmup; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : [...names].reverse()) {
      const result = await kinds[name]();
      if (round >= 0) results[name].push(result);
    }
  }
  return results;
}
