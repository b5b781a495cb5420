#!/usr/bin/env bash
# Shows the main job, after setup: one Codex session in its two containers, streamed by the official SDK.
#
# Usage: ./dev demo [--yes]
#
# The model is scripted, and everything that the demo claims is checked; a claim that does not hold ends it with status 1.
# With a provider key in the environment, that provider's model answers instead, and what needs a script is left out:
#
#   MODEL_API_KEY    the model provider's key; OPENAI_API_KEY is taken if it is not set
#   MODEL_BASE_URL   another provider than the one in wrangler.toml
#   MODEL_NAME       another model than the one in wrangler.toml
#
#   --yes    do not ask before setup changes the system; CI=true means the same
#
# The gateway's state, its API key and its containers are this run's own and are removed at the end. The gateway's log
# stays in .setup/logs/demo-gateway.log.
set -euo pipefail
source scripts/lib/common.sh
source scripts/lib/env.sh

while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=yes ;;
    *) wrong_usage demo "unknown argument '$1'" ;;
  esac
  shift
done

bash scripts/setup.sh ${yes:+--yes}

node=$(node_bin)
state=$root/.state/demo-$$
label=dev.workerd.session=$(printf %s "$state/gateway" | sha256sum | cut -c1-16)
gateway_log=$logs/demo-gateway.log
served=() demo=''

# The gateway and the model end when this script, and so the only writer of their standard input, does: even after kill -9.
# shellcheck disable=SC2329  # invoked by the trap
finish() {
  stop_step
  [ -z "$demo" ] || kill -TERM "$demo" 2>/dev/null || true
  exec 8>&-
  local pid
  for pid in "${served[@]}"; do
    for _ in {1..150}; do kill -0 "$pid" 2>/dev/null || continue 2; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null || true
  done
  docker ps -aq --filter "label=$label" 2>/dev/null | xargs -r docker rm -f >/dev/null 2>&1 || true
  rm -rf "$state"
}
trap finish EXIT

# serve LOG COMMAND…: starts what will say "ready URL".
serve() {
  local log=$1
  shift
  "$@" <"$state/alive" >"$log" 2>&1 8>&- &
  served+=($!)
}
ready_url() { sed -n 's/^ready //p' "$1"; }
# await LOG PID
# shellcheck disable=SC2329  # invoked by `step`
await() {
  while kill -0 "$2" 2>/dev/null; do
    [ -z "$(ready_url "$1")" ] || return 0
    sleep 0.1
  done
  cat "$1"
  return 1
}
# hex BYTES: random ones.
hex() { head -c "$1" /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }

say
say "Starting a gateway."
(umask 077 && mkdir -p "$state")
mkfifo "$state/alive"
exec 8<>"$state/alive"

# Secrets go through the environment: arguments can be read by every user of the machine.
client=()
options=(--secret CLOISTER_SECRET --secret MODEL_API_KEY)
MODEL_API_KEY=${MODEL_API_KEY:-${OPENAI_API_KEY:-}}
if [ -n "$MODEL_API_KEY" ]; then
  done_line "model: the provider's, with the key from the environment"
  [ -z "${MODEL_BASE_URL:-}" ] || options+=(--var MODEL_BASE_URL)
  [ -z "${MODEL_NAME:-}" ] || options+=(--var MODEL_NAME)
else
  MODEL_API_KEY=sk-demo-$(hex 12)
  serve "$state/model.log" "$node" tests/support/model.mjs --log "$state/model.jsonl"
  step "model: scripted, since there is no provider key in the environment" "see the lines above" await "$state/model.log" "${served[-1]}"
  model=$(ready_url "$state/model.log")
  options+=(--var "MODEL_BASE_URL=$model/v1" --var MODEL_NAME=scripted --reach 127.0.0.0/8)
  client+=(--model-url "$model" --model-log "$state/model.jsonl")
fi
CLOISTER_SECRET=$(hex 32)
CLOISTER_API_KEY=clk_$(head -c 32 /dev/urandom | base64 -w 0 | tr '+/' '-_' | tr -d =)
export MODEL_API_KEY CLOISTER_SECRET CLOISTER_API_KEY

# The gateway knows the key's hash only.
hash=$(printf %s "$CLOISTER_API_KEY" | sha256sum | cut -d' ' -f1)
printf "INSERT INTO api_keys (hash, tenant, created_at) VALUES ('%s', 'demo', unixepoch() * 1000);\n" "$hash" >"$state/key.sql"
serve "$gateway_log" "$node" runner/run.mjs --state "$state/gateway" --sql "$state/key.sql" "${runner_images[@]}" "${options[@]}"
step "gateway" "see .setup/logs/demo-gateway.log" await "$gateway_log" "${served[-1]}"

# In the background, because a signal is handled only after a command in the foreground has ended.
"$node" tests/demo.mjs --base-url "$(ready_url "$gateway_log")" --docker-label "$label" \
  --harness-image cloister/harness:local --sandbox-image cloister/sandbox:local "${client[@]}" 8>&- &
demo=$!
status=0
wait "$demo" || status=$?
demo=''
[ $status -eq 0 ] || say "The demo failed (status $status). The gateway's log: .setup/logs/demo-gateway.log" >&2
exit $status
