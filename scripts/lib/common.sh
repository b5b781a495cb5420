# shellcheck shell=bash
# Sourced first by every command: where things are, what is printed, how long steps are run.

# shellcheck disable=SC2034  # used by the scripts that source this one
root=$PWD
setup_dir=$root/.setup
logs=$setup_dir/logs
mkdir -p "$logs"

# shellcheck source=versions.env
source "$root/versions.env"

say() { printf '%s\n' "$*"; }
done_line() { printf '  ok    %s\n' "$*"; }

# fail CAUSE [NEXT STEP]
fail() {
  printf '\n%s: %s\n' "./dev" "$1" >&2
  [ $# -lt 2 ] || printf 'Next: %s\n' "$2" >&2
  exit 1
}

# The usage text is at the head of the command's own script.
wrong_usage() {
  printf './dev %s: %s\nTry: ./dev %s --help\n' "$1" "$2" "$1" >&2
  exit 2
}

step_pid=''
# Set by a command that goes on after a failed step; what failed is then in `failed`.
keep_going=''
failed=()

# A step runs in its own process group, so that Ctrl-C ends all of it.
stop_step() {
  [ -z "$step_pid" ] || kill -TERM -- "-$step_pid" 2>/dev/null || true
  step_pid=''
}
trap stop_step EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# step TITLE NEXT COMMAND…: runs COMMAND with its output in a log. From two seconds on it shows the seconds that have
# passed. If COMMAND fails, so does the script: with the log's last lines, the log's name, and NEXT, the thing to do.
step() {
  local title=$1 next=$2 log start=$SECONDS shown=0 status=0 passed
  shift 2
  log=$logs/$(tr -cs 'a-zA-Z0-9' '-' <<<"${title,,}" | sed 's/^-//;s/-$//').log
  set -m
  ("$@") >"$log" 2>&1 </dev/null 9>&- &
  step_pid=$!
  set +m
  while kill -0 "$step_pid" 2>/dev/null; do
    sleep 0.1
    passed=$((SECONDS - start))
    ((passed >= 2 && passed > shown)) || continue
    if [ -t 1 ]; then
      printf '\r  …     %s: %s s\e[K' "$title" "$passed"
      shown=$passed
    else
      printf '  …     %s: %s s\n' "$title" "$passed"
      shown=$((passed + 14))
    fi
  done
  wait "$step_pid" || status=$?
  step_pid=''
  [ ! -t 1 ] || printf '\r\e[K'
  if [ $status -eq 0 ]; then
    done_line "$title ($((SECONDS - start)) s)"
    return
  fi
  printf '  FAIL  %s (exit status %s, %s s). The end of %s:\n' "$title" "$status" "$((SECONDS - start))" "${log#"$root"/}" >&2
  tail -n "${step_tail:-20}" "$log" | sed 's/^/        /' >&2
  [ -n "$keep_going" ] || fail "$title failed." "$next"
  failed+=("$title: $next")
}

as_root() {
  if [ "$EUID" -eq 0 ]; then "$@"; else sudo -- "$@"; fi
}

# One line for the content of the given files and folders and for the given words (after --).
fingerprint() {
  local paths=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    [ ! -e "$1" ] || paths+=("$1")
    shift
  done
  {
    printf '%s\n' "$@"
    [ ${#paths[@]} -eq 0 ] ||
      find "${paths[@]}" -name target -prune -o -name node_modules -prune -o -type f -print0 |
      LC_ALL=C sort -zu | xargs -0r sha256sum --
  } | sha256sum | cut -c1-32
}

# stamped NAME FINGERPRINT: was NAME last made from the same?  stamp NAME FINGERPRINT: now it is.
stamped() { [ "$(cat "$setup_dir/stamps/$1" 2>/dev/null)" = "$2" ]; }
stamp() {
  mkdir -p "$setup_dir/stamps"
  printf '%s\n' "$2" >"$setup_dir/stamps/$1"
}

# Version of a crate in Cargo.lock.
locked() {
  local version
  version=$(awk -v name="\"$1\"" '$1 == "name" { hit = $3 == name } hit && $1 == "version" { gsub(/"/, "", $3); print $3; exit }' "$root/Cargo.lock")
  [ -n "$version" ] || fail "Cargo.lock names no crate '$1'." "Restore Cargo.lock (git checkout Cargo.lock)."
  printf '%s\n' "$version"
}

# at_least VERSION MINIMUM
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

yes=''
[ "${CI:-}" != true ] || yes=yes

# consent WHAT COMMAND: --yes and CI=true agree to everything; otherwise a person does, or the script ends.
consent() {
  [ -z "$yes" ] || return 0
  [ -t 0 ] || fail "$1: that needs a yes, and there is no terminal to ask." "run $2 --yes"
  local answer
  read -r -p "$1. Go on? [y/N] " answer
  [[ $answer =~ ^[yY] ]] || fail "stopped, nothing was changed." "run $2 again when you agree, or see what it does: ./dev help"
}
