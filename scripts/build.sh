#!/usr/bin/env bash
# Builds the Worker into build/, as wrangler and the runner load it.
#
# Usage: ./dev build
#
# wrangler.toml names this as its build command. It needs what ./dev setup installs, and does nothing if no source
# has changed.
set -euo pipefail
source scripts/lib/common.sh
source scripts/lib/env.sh
source scripts/lib/rust.sh

[ $# -eq 0 ] || wrong_usage build "unknown argument '$1'"
[ -f "$setup_dir/compiler" ] || fail "nothing is set up yet." "run ./dev setup"
need_worker worker "Worker" build
