# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # shares variables with the files sourced beside it
# A Rust compiler whose std for wasm32 unwinds on panic, the Cargo programs, and the two kinds of builds.
#
# rustup's own std for this target aborts, and an abort ends every request of the isolate. So std is built here, in one
# of two ways:
#   debian   Debian's rustc-web with its rust-web-src: std is built once and put into that compiler's sysroot
#   nightly  rustup's nightly with rust-src: cargo builds std as a part of every build folder (-Zbuild-std)

rust_packages=(rustc-web cargo-web rust-web-src rust-web-clippy "lld-$DEBIAN_LLD")
debian_rustc=${CLOISTER_RUSTC:-/usr/bin/rustc}
std_dir=${CLOISTER_WASM_STD:-/var/lib/cloister/wasm-std}

# Does that compiler make unwinding Wasm? Asked of the compiler itself, so that it does not matter who built std.
debian_std_works() {
  [ -x "$debian_rustc" ] &&
    echo 'pub fn probe() { drop(std::panic::catch_unwind(|| ())); }' |
    "$debian_rustc" --edition 2021 --crate-type cdylib --crate-name probe --target "$wasm_target" -Cpanic=unwind \
      -o "$setup_dir/probe.wasm" - 2>/dev/null
}

# Is Debian's way open? Yes, if its compiler is here or can be installed; undecided lists of packages count as yes.
debian_way() {
  command -v apt-get >/dev/null || return 1
  [ ! -x "$debian_rustc" ] || dpkg-query -S "$debian_rustc" 2>/dev/null | grep -q '^rustc-web:' || return 1
  local policy
  policy=$(apt-cache policy rustc-web 2>/dev/null)
  if [ -n "$policy" ]; then
    ! grep -q 'Candidate: (none)' <<<"$policy"
  else
    grep -q '^ID=debian$' /etc/os-release
  fi
}

compiler_way() { if debian_std_works || debian_way; then echo debian; else echo nightly; fi; }

# rustup's proxies on PATH, and so worker-build, find Debian's compiler under the name `debian`.
debian_linked() {
  ! command -v rustup >/dev/null || [ "$(rustup run debian rustc --print sysroot 2>/dev/null)" = "$("$debian_rustc" --print sysroot)" ]
}
link_debian() { rustup toolchain link debian "$("$debian_rustc" --print sysroot)"; }

build_debian_std() {
  local sysroot host work lib
  sysroot=$("$debian_rustc" --print sysroot)
  host=$("$debian_rustc" -vV | sed -n 's/^host: //p')
  lib=$std_dir/$("$debian_rustc" -vV | sha256sum | cut -c1-12)

  # The target's linker, under the name and at the place where the compiler looks for it.
  as_root install -d "$sysroot/lib/rustlib/$host/bin"
  as_root ln -sfn "$(command -v "lld-$DEBIAN_LLD")" "$sysroot/lib/rustlib/$host/bin/rust-lld"

  if [ ! -e "$lib" ]; then
    work=$(mktemp -d)
    mkdir "$work/src"
    : >"$work/src/lib.rs"
    printf '[package]\nname = "seed"\nedition = "2021"\n[profile.release]\ncodegen-units = 1\n[workspace]\n' >"$work/Cargo.toml"
    # Outside this repository, whose own flags are for the Worker. Bitcode lets a build with lto take std along.
    (
      cd "$work" || exit
      env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS -u RUSTUP_TOOLCHAIN RUSTC_BOOTSTRAP=1 RUSTC="$debian_rustc" \
        CARGO_TARGET_DIR="$work/target" CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-Cembed-bitcode=yes -Cpanic=unwind" \
        "$(dirname "$debian_rustc")/cargo" build --release --target "$wasm_target" -Zbuild-std=std,panic_unwind,test
    )
    as_root rm -rf "$lib.part"
    as_root install -d "$lib.part"
    find "$work/target/$wasm_target/release/deps" -name '*.rlib' ! -name 'libseed-*' -print0 |
      as_root xargs -0 cp -t "$lib.part"
    as_root mv "$lib.part" "$lib"
    rm -rf "$work"
  fi
  as_root install -d "$sysroot/lib/rustlib/$wasm_target"
  as_root ln -sfnT "$lib" "$sysroot/lib/rustlib/$wasm_target/lib"

  # Cargo does not notice that std is another one.
  rm -rf "$root/target/$wasm_target" "$setup_dir/stamps"/worker-*
}

install_nightly() {
  rustup toolchain install "$RUST_NIGHTLY" --profile minimal --component rust-src --component clippy --target "$wasm_target"
}

# install_cargo_tool NAME VERSION: into .setup/cargo, never into the user's own folder. Unoptimised code would make
# wasm-bindgen slow, full optimisation is not worth the minutes.
cargo_tool_present() { "$tools/bin/$1" --version 2>/dev/null | grep -qwF "$2"; }
install_cargo_tool() {
  env -u RUSTUP_TOOLCHAIN -u RUSTFLAGS CARGO_TARGET_DIR="$setup_dir/cargo-target" CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=0 \
    cargo install --locked --root "$tools" --version "=$2" "$1"
}
need_cargo_tool() {
  if cargo_tool_present "$3" "$2"; then
    done_line "$1 $2"
  else
    step "$1 $2, built from crates.io" "run the command again; it goes on where it stopped. Without a way to crates.io: cargo install --root .setup/cargo --version $2 $1" \
      install_cargo_tool "$1" "$2"
    rm -rf "$setup_dir/cargo-target"
  fi
}

# with_wasm COMMAND…: with the compiler and the programs that make the Worker. The flags are those of .cargo/config.toml,
# which flags from the environment would replace.
with_wasm() {
  local toolchain=debian
  [ "$(cat "$setup_dir/compiler")" = debian ] || toolchain=$RUST_NIGHTLY
  env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS RUSTUP_TOOLCHAIN="$toolchain" PATH="$(dirname "$(node_bin)"):$tools/bin:$PATH" \
    WASM_BINDGEN_BIN="$tools/bin/wasm-bindgen" WASM_OPT_BIN="$root/node_modules/.bin/wasm-opt" ESBUILD_BIN="$root/node_modules/esbuild/bin/esbuild" "$@"
}

# wasm_cargo_flags: what cargo needs beyond the ordinary for this target.
wasm_cargo_flags() { [ "$(cat "$setup_dir/compiler")" = debian ] || echo -Zbuild-std=std,panic_unwind; }

worker_inputs() {
  local with=$1
  shift
  fingerprint src containers/protocol Cargo.toml Cargo.lock .cargo package-lock.json \
    -- "$(cat "$setup_dir/compiler")" "$(with_wasm rustc -vV)" "$with" "$@"
}

# build_worker DIR [CARGO FLAG…]
build_worker() {
  local to=$1
  shift
  # shellcheck disable=SC2046  # no flag, or one
  with_wasm worker-build --release --out-dir "$to" $(wasm_cargo_flags) "$@" || return
  # worker-build keeps the names of functions, an eighth of what is uploaded. Panics still say file and line.
  "$root/node_modules/.bin/wasm-opt" --all-features --strip-debug -o "$to/stripped.wasm" "$to/index_bg.wasm" || return
  mv "$to/stripped.wasm" "$to/index_bg.wasm"
}

# need_worker STAMP TITLE DIR [CARGO FLAG…]: builds unless DIR was made from the same sources.
need_worker() {
  local name=$1 title=$2 to=$3 inputs
  shift 3
  inputs=$(worker_inputs "$to" "$@")
  if stamped "$name" "$inputs" && [ -f "$to/index.js" ] && [ -f "$to/index_bg.wasm" ]; then
    done_line "$title: unchanged"
    return
  fi
  step "$title" "correct the error that the compiler shows above, then run the command again" build_worker "$to" "$@"
  stamp "$name" "$inputs"
}

# Programs for containers run in any base image: everything is linked into them.
programs=(cloister-supervisor cloister-sandbox-init cloister-packer cloister-interceptor)
program_dir=$root/target/$native_target/release
build_programs() {
  local each packages=()
  for each in "${programs[@]}"; do packages+=(-p "$each"); done
  RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --locked --target "$native_target" "${packages[@]}"
}
