#!/usr/bin/env bash
# Serves the gateway on http://localhost:8787, after setup, until Ctrl-C.
#
# Usage: ./dev up [--yes] [--port PORT] [-- RUNNER OPTIONS]
#
# The first start makes an API key for the tenant "local", prints it and keeps it in .state/api-key. Sessions are kept in
# .state/up. From the environment:
#
#   MODEL_API_KEY    the model provider's key; OPENAI_API_KEY is taken if it is not set
#   MODEL_BASE_URL   another provider than the one in wrangler.toml
#   MODEL_NAME       another model than the one in wrangler.toml
#
# A provider on this machine or in its network must be opened: ./dev up -- --reach 127.0.0.0/8
# What else the runner can do: node runner/run.mjs --help
#
#   --yes    do not ask before setup changes the system; CI=true means the same
set -euo pipefail
source scripts/lib/common.sh
source scripts/lib/env.sh

port=8787
while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=yes ;;
    --port) [ $# -ge 2 ] || wrong_usage up "--port needs a value"; port=$2; shift ;;
    --) shift; break ;;
    *) wrong_usage up "unknown argument '$1'" ;;
  esac
  shift
done

bash scripts/setup.sh ${yes:+--yes}

# secret_file FILE COMMAND…: FILE, readable by its owner only, made by COMMAND if it is not there.
secret_file() {
  local file=$1
  shift
  [ -s "$file" ] || (umask 077 && "$@" >"$file.part" && mv "$file.part" "$file")
}
new_key() { printf 'clk_%s\n' "$(head -c 32 /dev/urandom | base64 -w 0 | tr '+/' '-_' | tr -d =)"; }
new_secret() { head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }

mkdir -p .state
first=''
[ -s .state/api-key ] || first=yes
secret_file .state/api-key new_key
secret_file .state/secret new_secret
hash=$(tr -d '\n' <.state/api-key | sha256sum | cut -d' ' -f1)
printf "INSERT OR IGNORE INTO api_keys (hash, tenant, created_at) VALUES ('%s', 'local', unixepoch() * 1000);\n" "$hash" >.state/up.sql

# Secrets go through the environment: arguments can be read by every user of the machine.
options=(--secret CLOISTER_SECRET --secret MODEL_API_KEY --var "ALLOWED_HOSTS=localhost:$port,127.0.0.1:$port")
CLOISTER_SECRET=$(cat .state/secret)
MODEL_API_KEY=${MODEL_API_KEY:-${OPENAI_API_KEY:-}}
export CLOISTER_SECRET MODEL_API_KEY
[ -z "${MODEL_BASE_URL:-}" ] || options+=(--var MODEL_BASE_URL)
[ -z "${MODEL_NAME:-}" ] || options+=(--var MODEL_NAME)

say
if [ -n "$first" ]; then say "API key, shown this once: $(cat .state/api-key)"; else say "API key: in .state/api-key"; fi
[ -n "$MODEL_API_KEY" ] || say "There is no MODEL_API_KEY in the environment: turns will fail at the model provider."
say "Ctrl-C ends the gateway."
exec "$(node_bin)" runner/run.mjs --state .state/up --port "$port" --sql .state/up.sql "${runner_images[@]}" "${options[@]}" "$@"
