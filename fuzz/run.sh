#!/bin/sh
# Runs a fuzz target on the stable toolchain: fuzz/run.sh TARGET [SECONDS]
#
# Coverage is LLVM's own pass, which needs no unstable flag; sanitizers would, and there is no unsafe code to watch.
set -eu
cd "$(dirname "$0")"
target=${1:?target}
seconds=${2:-10}
triple=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
mkdir -p "corpus/$target" artifacts
cargo build --release --bin "$target" --locked --target "$triple"
built=${CARGO_TARGET_DIR:-target}/$triple/release
CORPUS="corpus/$target" "$built/$target" "corpus/$target" -artifact_prefix=artifacts/ -max_total_time="$seconds" -max_len=65536 -print_final_stats=1
