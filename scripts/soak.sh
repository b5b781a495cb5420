#!/usr/bin/env bash
# Runs the long tests, after setup: many kills, much history, many objects, slow readers, large workspaces.
#
# Usage: ./dev soak [--yes] [TEST NAME…]
#
# These are the tests of tests/soak.rs, one after another, and a million steps of random walks through the session's state
# machine; about an hour on two cores. With a TEST NAME only those whose name contains it. They print what they measure. A
# failed run of kills says how to repeat it with ./dev test.
#
# f7, the workspace of 5 GiB, needs 20 GiB of disk for containers and TMPDIR. CLOISTER_SOAK_GIB=N makes it smaller.
#
#   --yes   do not ask before setup changes the system; CI=true means the same
set -euo pipefail
source scripts/lib/common.sh
source scripts/lib/env.sh
source scripts/lib/rust.sh

names=()
while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=yes ;;
    -*) wrong_usage soak "unknown option '$1'" ;;
    *) names+=("$1") ;;
  esac
  shift
done

bash scripts/setup.sh ${yes:+--yes}
export_environment
need_worker worker-faults "Worker that breaks on purpose, for tests" .setup/build-faults --features test-faults

walks=random_walks_break_no_promise
step "long tests" "correct what the compiler reports above" cargo test --locked --test soak --no-run
soak=(cargo test --locked --test soak -- --ignored)
# asked TEST: whether it is among the tests that are asked for
asked() {
  local name
  [ ${#names[@]} -gt 0 ] || return 0
  for name in "${names[@]}"; do [[ $1 != *"$name"* ]] || return 0; done
  return 1
}
found=$("${soak[@]}" --list "${names[@]}" 2>/dev/null | grep -c ': test$' || true)
# Otherwise a name that fits nothing would pass.
[ "$found" -gt 0 ] || asked $walks ||
  fail "there is no long test whose name contains '${names[*]}'." "see them all: cargo test --test soak -- --list"

large=f7_a_workspace_of_5_gib_is_byte_identical
room=$((4 * ${CLOISTER_SOAK_GIB:-5}))
# need_room FOLDER
need_room() {
  [ "$(df --output=avail --block-size=1G "$1" | tail -n 1)" -ge $room ] ||
    fail "$large needs $room GiB in $1, and there is less." "make room, or let it be smaller: CLOISTER_SOAK_GIB=1 ./dev soak"
}
if asked $large; then
  need_room "${TMPDIR:-/tmp}"
  need_room "$(docker info --format '{{.DockerRootDir}}')"
fi

say "Soaking."
started=$SECONDS
if asked $walks; then
  CLOISTER_MODEL_STEPS=1000000 cargo test --locked --release --lib $walks -- --nocapture ||
    fail "a walk broke a promise, see above." "shorter walks: ./dev test $walks"
fi
if [ "$found" -gt 0 ]; then
  "${soak[@]}" --test-threads 1 --nocapture "${names[@]}" ||
    fail "a long test failed, see above." "one alone: ./dev soak NAME"
fi
say "All passed, $((SECONDS - started)) s without setup."
