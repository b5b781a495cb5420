#!/usr/bin/env bash
# Measures the gateway, each figure against its baseline in the same run, after setup.
#
# Usage: ./dev bench [--yes] [--only FIGURE,…] [--rounds N] [--workspace MIB,FILES]
#
# Prints one table and writes every sample to .setup/bench.json. The rounds of a figure and of its baseline alternate;
# medians of rounds are shown. Nothing else should run on the machine meanwhile. Figures:
#
#   size        gzip of what wrangler would upload
#   start       start of workerd to the first answer, against a Worker of one line
#   checkpoint  backup and restore of a workspace, against one stream of its bytes to R2 and back; memory meanwhile
#   egress      requests of a sandbox through SandboxEgress, against a Worker that sends them on as they are: time, rate, memory
#   cold        creation of a session to the harness's first event, against docker run of both images
#   model       a model call through HarnessEgress, and the way of a word back to the API client, against the provider alone
#   route       requests per second of a list, against the same route in JavaScript
#   requests    requests per second of creation and retrieval, against one statement in a Durable Object in JavaScript
#   events      the way of an event from the harness to an API client: time, rate, gaps
#   replay      64 clients that read a log of 100,000 events at the same time
#
# For the last two a stand-in for Codex (tests/load) is built into an image of its own. State is kept under TMPDIR, so what
# is stored on the way is stored at the speed of that file system.
#
#   --yes        do not ask before setup changes the system; CI=true means the same
#   --rounds     how many; default: 5
#   --workspace  of the checkpoints; default: 512,10000, which takes 4 GiB of disk meanwhile
#
# A missed target is shown in the table and is no failure.
set -euo pipefail
source scripts/lib/common.sh
source scripts/lib/env.sh
source scripts/lib/rust.sh
source scripts/lib/docker.sh

options=() only=''
while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=yes ;;
    --only | --rounds | --workspace)
      [ $# -ge 2 ] || wrong_usage bench "$1 needs a value"
      [ "$1" != --only ] || only=$2
      options+=("$1" "$2")
      shift
      ;;
    *) wrong_usage bench "unknown argument '$1'" ;;
  esac
  shift
done

bash scripts/setup.sh ${yes:+--yes}
export_environment
export CLOISTER_LOAD_IMAGE=cloister/harness-load:local

# build_load_image INPUTS
build_load_image() {
  DOCKER_BUILDKIT=0 docker build --build-arg "BASE=$CLOISTER_HARNESS_IMAGE" --label "cloister.inputs=$1" --tag "$CLOISTER_LOAD_IMAGE" \
    --file tests/load/Dockerfile "$setup_dir/load"
}

# The harness image with the stand-in, made anew if either has changed.
need_load_image() {
  local inputs
  programs=(cloister-load)
  step "stand-in for Codex" "correct the error that the compiler shows above, then run the command again" build_programs
  stage "$program_dir/cloister-load" "$setup_dir/load/codex"
  inputs=$(fingerprint tests/load/Dockerfile "$setup_dir/load" -- "$(image_id "$CLOISTER_HARNESS_IMAGE")")
  if [ "$(docker image inspect --format '{{index .Config.Labels "cloister.inputs"}}' "$CLOISTER_LOAD_IMAGE" 2>/dev/null)" = "$inputs" ]; then
    done_line "image $CLOISTER_LOAD_IMAGE: unchanged"
  else
    step "image $CLOISTER_LOAD_IMAGE" "see the log" build_load_image "$inputs"
  fi
}

case ",$only," in
  ,, | *,events,* | *,replay,*) need_load_image ;;
esac

say "Measuring."
exec "$CLOISTER_NODE" tests/bench/run.mjs "${options[@]}"
