#!/usr/bin/env bash
# Runs every test, after setup.
#
# Usage: ./dev test [--yes] [TEST NAME…]
#
# Formatting, shell scripts, clippy for this machine and for Wasm, licences and sources of the crates, then all tests of
# the workspace: unit tests, tests of the container programs, and end to end with the runner, real containers and both
# official SDKs; and each fuzz target for a few seconds. With a TEST NAME only tests whose name contains it, without the checks before them.
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
    -*) wrong_usage test "unknown option '$1'" ;;
    *) names+=("$1") ;;
  esac
  shift
done

bash scripts/setup.sh ${yes:+--yes}
export_environment
started=$SECONDS

check_scripts() { "$setup_dir/python/bin/shellcheck" -x dev .ci/run scripts/*.sh && "$setup_dir/python/bin/shellcheck" runner/*.sh tests/egress/*.sh; }
check_native() { cargo clippy --workspace --all-targets --locked -- -D warnings; }
check_wasm() {
  # shellcheck disable=SC2046  # no flag, or one
  with_wasm cargo clippy -p cloister --target "$wasm_target" --locked --features test-faults $(wasm_cargo_flags) -- -D warnings
}
# Without `advisories`: that list comes from the network at every run.
check_crates() { "$tools/bin/cargo-deny" --locked check --hide-inclusion-graph licenses bans sources; }

keep_going=yes step_tail=60
if [ ${#names[@]} -eq 0 ]; then
  say "Checking."
  step "formatting" "run: cargo fmt --all" cargo fmt --all --check
  step "shell scripts" "correct what shellcheck reports above" check_scripts
  step "clippy" "correct what clippy reports above" check_native
  step "clippy for Wasm" "correct what clippy reports above" check_wasm
  need_cargo_tool cargo-deny "$CARGO_DENY" cargo-deny
  step "licences, bans and sources of crates" "see deny.toml, which says what is allowed" check_crates
fi

need_worker worker-faults "Worker that breaks on purpose, for tests" .setup/build-faults --features test-faults

say "Testing."
status=0
cargo test --workspace --locked --no-fail-fast -- "${names[@]}" || status=$?
[ $status -eq 0 ] || failed+=("tests: see the failures above; one alone: ./dev test NAME")

# A few seconds each: enough to find what is shallow. Longer: fuzz/run.sh TARGET SECONDS.
fuzz() { for target in fuzz/src/bin/*.rs; do sh fuzz/run.sh "$(basename "$target" .rs)" 5 || return; done; }
[ ${#names[@]} -gt 0 ] || step "fuzz targets" "what was found is in fuzz/artifacts; the log says which target" fuzz

if [ ${#failed[@]} -gt 0 ]; then
  printf '\nFailed:\n' >&2
  printf '  - %s\n' "${failed[@]}" >&2
  exit 1
fi
say "All passed, $((SECONDS - started)) s without setup."
