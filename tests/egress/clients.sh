#!/bin/bash
# Real programs ask a host over HTTPS, each with nothing but what the sandbox tells it of whom to trust.
#
#   bash clients.sh HOST PROGRAM...
#
# Prints a line a program: its name, a colon, and what it got; of a host that is refused, all that it said. A program "bare-"
# something is started without any variable. None may take longer than 60 seconds. `bin`, `npm` and `python` are beside this
# file.
set -u
here=$(dirname "$0")
host=$1
shift
PATH=$here/bin:$PATH
cd "$(mktemp -d)" || exit

URLLIB='
import sys, urllib.error, urllib.request
try:
    print(urllib.request.urlopen(sys.argv[1]).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
'
REQUESTS='import requests, sys; print(requests.get(sys.argv[1]).text)'
FETCH='fetch(process.argv[1]).then((answer) => answer.text()).then(console.log)'

curl() { timeout 60 "$@" curl -sS "https://$host/host"; }
git() { timeout 60 "$@" git clone -q "https://$host/git/repo.git" cloned && cat cloned/README.md && rm -r cloned; }
urllib() { timeout 60 "$@" python3 -c "$URLLIB" "https://$host/host"; }
bare-curl() { curl env -i; }
bare-git() { git env -i; }
bare-urllib() { urllib env -i; }
requests() { PYTHONPATH=$here/python timeout 60 python3 -c "$REQUESTS" "https://$host/host"; }
fetch() { timeout 60 node -e "$FETCH" "https://$host/host"; }
pip() {
  PYTHONPATH=$here/python timeout 60 python3 -m pip -vv --disable-pip-version-check --no-cache-dir install \
    --target wheels --index-url "https://$host/simple" cloister_probe >pip.log 2>&1 || { cat pip.log; return; }
  PYTHONPATH=wheels python3 -c 'import cloister_probe; print(cloister_probe.VERSION)'
}
npm() {
  timeout 60 node "$here/npm/bin/npm-cli.js" install cloister-probe --no-audit --no-fund --cache "$PWD/cache" \
    --registry "https://$host/npm/" >npm.log 2>&1 || { cat npm.log; return; }
  node -p 'require("cloister-probe").version'
}

for program; do
  echo "$program: $("$program" 2>&1 </dev/null | tr '\n' ' ')"
done
