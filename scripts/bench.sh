#!/usr/bin/env bash
# Measures the gateway, each figure against its baseline in the same run, after setup.
#
# Usage: ./dev bench [--yes] [--only FIGURE,…] [--rounds N]
#
# Prints one table and writes every sample to .setup/bench.json. The rounds of a figure and of its baseline alternate;
# medians of rounds are shown. Nothing else should run on the machine meanwhile. Figures:
#
#   size    gzip of what wrangler would upload
#   start   start of workerd to the first answer, against a Worker of one line
#   cold    creation of a session to the harness's first event, against docker run of both images
#   model   a model call through HarnessEgress, and the way of a word back to the API client, against the provider alone
#   route   requests per second of a list, against the same route in JavaScript
#
#   --yes      do not ask before setup changes the system; CI=true means the same
#   --rounds   how many; default: 5
#
# A missed target is shown in the table and is no failure.
set -euo pipefail
source scripts/lib/common.sh
source scripts/lib/env.sh

options=()
while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=yes ;;
    --only | --rounds) [ $# -ge 2 ] || wrong_usage bench "$1 needs a value"; options+=("$1" "$2"); shift ;;
    *) wrong_usage bench "unknown argument '$1'" ;;
  esac
  shift
done

bash scripts/setup.sh ${yes:+--yes}
export_environment
say "Measuring."
exec "$CLOISTER_NODE" tests/bench/run.mjs "${options[@]}"
