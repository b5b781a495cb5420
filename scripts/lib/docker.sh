# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # shares variables with the files sourced beside it
# The container engine, the base image, and our three images.

dockerd_pid=$setup_dir/dockerd.pid
dockerd_log=$setup_dir/dockerd.log
base_image=cloister/base:$DEBIAN_SUITE

engine_answers() { command -v docker >/dev/null && docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# Is the engine that setup started still the process of that id?
our_engine() { [ -f "$dockerd_pid" ] && [ "$(cat "/proc/$(cat "$dockerd_pid")/comm" 2>/dev/null)" = dockerd ]; }

# Only root starts an engine; others need one that is running and that they may use.
may_start_engine() {
  [ "$EUID" -ne 0 ] || return 0
  fail "no container engine answers this user." \
    "install and start one (Debian: apt-get install docker.io, systemctl start docker) and join the group that may use it (usually docker)"
}

# A bridge address given at start, because Docker 20.10 reports no gateway for one it chose itself. The engine
# outlives this script.
start_engine() {
  : >"$dockerd_log"
  setsid dockerd --bip 172.17.0.1/16 --pidfile "$dockerd_pid" >>"$dockerd_log" 2>&1 </dev/null &
  local tries
  for tries in {1..120}; do
    ! engine_answers || return 0
    # It may well be slow; it has failed if it is gone.
    if ((tries > 4)) && ! kill -0 $! 2>/dev/null; then break; fi
    sleep 0.5
  done
  tail -n 20 "$dockerd_log"
  return 1
}

# workerd listens on the bridge's gateway for what containers send.
check_gateway() {
  local gateway
  gateway=$(docker network inspect bridge --format '{{with index .IPAM.Config 0}}{{.Gateway}}{{end}}' 2>/dev/null || true)
  [[ $gateway =~ ^[0-9.]+$ ]] && return
  fail "the engine reports no gateway address for its network 'bridge', so containers could not be reached." \
    "start the engine with a bridge address (dockerd --bip 172.17.0.1/16, or \"bip\" in /etc/docker/daemon.json), or restart it once"
}

image_id() { docker image inspect --format '{{.Id}}' "$1" 2>/dev/null; }

pull_base() { timeout 120 docker pull --quiet "debian:$DEBIAN_SUITE-slim" && docker tag "debian:$DEBIAN_SUITE-slim" "$base_image"; }

# The suite's entries among this machine's own package sources: "URI release component", one a line.
debian_sources() {
  # shellcheck disable=SC2016  # apt's variables
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' 'Origin: Debian' 2>/dev/null |
    awk -v suite="$DEBIAN_SUITE" '$2 ~ "^" suite "(-updates|-security)?$" && $3 == "main"' | sort -u
}

# A base from Debian's packages. The image keeps this machine's package sources, so that Dockerfiles can install more.
bootstrap_base() {
  local tree mirror
  mirror=$(debian_sources | awk -v suite="$DEBIAN_SUITE" '$2 == suite { print $1; exit }')
  tree=$(mktemp -d "$setup_dir/base.XXXXXX")
  # Without a mirror debootstrap takes its own default.
  as_root debootstrap --variant=minbase --include=ca-certificates "$DEBIAN_SUITE" "$tree" ${mirror:+"$mirror"}
  debian_sources | sed 's/^/deb /' >"$setup_dir/sources.list"
  [ ! -s "$setup_dir/sources.list" ] || as_root cp "$setup_dir/sources.list" "$tree/etc/apt/sources.list"
  as_root rm -rf "$tree"/var/cache/apt/archives/*.deb "$tree"/var/lib/apt/lists/*
  as_root tar -C "$tree" -c . | docker import --change 'CMD ["bash"]' - "$base_image"
  as_root rm -rf "$tree"
}

need_base() {
  if image_id "$base_image" >/dev/null; then
    done_line "base image $base_image"
    return
  fi
  printf '        asking the image registry for debian:%s-slim\n' "$DEBIAN_SUITE"
  if pull_base >"$logs/pull.log" 2>&1; then
    done_line "base image $base_image, pulled"
  else
    command -v debootstrap >/dev/null || fail "the image registry does not answer, and debootstrap is not installed." \
      "install debootstrap, or make an image of Debian $DEBIAN_SUITE known as $base_image (docker tag)"
    step "base image $base_image, from Debian's packages" \
      "see the log; a full disk and an unreachable package mirror are the usual causes" bootstrap_base
  fi
}

# stage FILE AS: puts a program where the build of an image finds it.
stage() {
  mkdir -p "$(dirname "$2")"
  cmp -s "$1" "$2" || install -m 755 "$1" "$2"
}

# build_image NAME CONTEXT INPUTS [BASE]. Builds made on the host's network reach the package mirrors that the host
# reaches, through its proxy if it has one.
build_image() {
  local name=$1 context=$2 inputs=$3 args=() each
  [ $# -lt 4 ] || args+=(--build-arg "BASE=$4")
  for each in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [ -z "${!each:-}" ] || args+=(--build-arg "$each")
  done
  DOCKER_BUILDKIT=0 docker build --network host "${args[@]}" --label "cloister.inputs=$inputs" --tag "cloister/$name:local" \
    --file "containers/$name/Dockerfile" "$context"
}

# need_image NAME CONTEXT [BASE]: builds unless the image was made from the same files.
need_image() {
  local name=$1 inputs
  inputs=$(fingerprint "containers/$name" "$2" -- "${3:+$(image_id "$3")}")
  if [ "$(docker image inspect --format '{{index .Config.Labels "cloister.inputs"}}' "cloister/$name:local" 2>/dev/null)" = "$inputs" ]; then
    done_line "image cloister/$name:local: unchanged"
  else
    step "image cloister/$name:local" "see the log: a failing RUN line names the package or file that is missing" \
      build_image "$name" "$2" "$inputs" "${@:3}"
  fi
}
