#!/usr/bin/env bash
# Removes what the other commands made, and stops what setup started.
#
# Usage: ./dev clean [--yes]
#
# Containers of this folder's runners, the images cloister/*:local and the base image, the container engine if setup started it, and the folders
# .state (sessions and keys), .setup, build, dist and target, and containers/*/.stage. Containers and images of others are not touched.
#
# It leaves what belongs to the system: Debian packages, Rust's std for Wasm, rustup's toolchain "debian"; also
# node_modules.
#
#   --yes   do not ask; CI=true means the same
set -euo pipefail
source scripts/lib/common.sh
source scripts/lib/env.sh
source scripts/lib/docker.sh

while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=yes ;;
    *) wrong_usage clean "unknown argument '$1'" ;;
  esac
  shift
done

consent "Sessions, keys, builds and images of this folder will be removed" "./dev clean"

for note in "$setup_dir"/sessions/*; do
  [ -e "$note" ] || continue
  pid=$(cut -d' ' -f1 "$(cat "$note")/runner.pid" 2>/dev/null || true)
  ! grep -qs 'runner/run.mjs' "/proc/${pid:-none}/cmdline" ||
    fail "a runner (process $pid) still serves $(cat "$note")." "stop it (kill $pid), then run ./dev clean again"
done

left=''
if engine_answers; then
  for note in "$setup_dir"/sessions/*; do
    [ -e "$note" ] || continue
    docker ps -aq --filter "label=dev.workerd.session=$(basename "$note")" | xargs -r docker rm -f >/dev/null
  done
  # Not by force: an image that any container still uses stays.
  for image in cloister/harness-load:local cloister/harness:local cloister/sandbox:local cloister/interceptor:local "$base_image"; do
    ! image_id "$image" >/dev/null || docker rmi "$image" >>"$logs/clean.log" 2>&1 || left=yes
  done
  [ -z "$left" ] || say "  some images are in use and were left: see docker ps -a"
  done_line "containers and images"
fi

if our_engine; then
  pid=$(cat "$dockerd_pid")
  kill "$pid"
  for _ in {1..100}; do our_engine || break; sleep 0.2; done
  ! our_engine || fail "the container engine (process $pid) does not end." "see .setup/dockerd.log"
  done_line "container engine stopped"
fi

rm -rf .state .setup build dist target containers/*/.stage
done_line "folders"
