# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # shares variables with the files sourced beside it
# Where the installed programs are, and the environment that builds and tests get.

case $(uname -m) in
  aarch64 | arm64) node_arch=arm64 native_target=aarch64-unknown-linux-gnu codex_target=aarch64-unknown-linux-musl ;;
  *) node_arch=x64 native_target=x86_64-unknown-linux-gnu codex_target=x86_64-unknown-linux-musl ;;
esac
tools=$setup_dir/cargo
wasm_target=wasm32-unknown-unknown

# The system's Node.js if it is new enough, else the one among the npm packages.
node_bin() {
  local system
  if system=$(command -v node) && at_least "$("$system" -p 'process.versions.node' 2>/dev/null)" "$NODE_MIN"; then
    printf '%s\n' "$system"
  else
    printf '%s\n' "$root/node_modules/node-linux-$node_arch/bin/node"
  fi
}

codex_bin() { printf '%s\n' "$root/node_modules/@openai/codex-linux-$node_arch/vendor/$codex_target/bin/codex"; }

# What tests, benchmarks and the demo read; every name begins with CLOISTER_.
export_environment() {
  CLOISTER_NODE=$(node_bin)
  CLOISTER_CODEX=$(codex_bin)
  export CLOISTER_NODE CLOISTER_CODEX
  export CLOISTER_PYTHON=$setup_dir/python/bin/python
  export CLOISTER_BUILD=$root/build
  export CLOISTER_FAULTS_BUILD=$setup_dir/build-faults
  export CLOISTER_BASE_IMAGE=cloister/base:$DEBIAN_SUITE
  export CLOISTER_HARNESS_IMAGE=cloister/harness:local
  export CLOISTER_SANDBOX_IMAGE=cloister/sandbox:local
  export CLOISTER_INTERCEPTOR_IMAGE=cloister/interceptor:local
}

# The runner is given these in every use.
runner_images=(--image harness=cloister/harness:local --image sandbox=cloister/sandbox:local --interceptor cloister/interceptor:local)
