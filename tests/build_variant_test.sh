#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Configure the tree in another way, build its libraries and commands, and run a few of them.
#
#   tests/build_variant_test.sh without-options SOURCE BUILD   no optional dependency
#   tests/build_variant_test.sh aarch64 SOURCE BUILD           cross-compiled, the command run through qemu
#
# Exit code 77: the compiler is not here.
set -euo pipefail

[ $# -eq 3 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0"; exit 2; }
variant=$1
source=$2
build=$3/variants/$variant
options=(-G Ninja -DCMAKE_BUILD_TYPE=Debug -DXYLEM_WERROR=ON)

case $variant in
without-options)
    options+=(-DXYLEM_WITH_HWLOC=OFF -DXYLEM_WITH_LIBXML2=OFF -DXYLEM_WITH_SCOTCH=OFF -DXYLEM_WITH_METIS=OFF)
    ;;
aarch64)
    if ! command -v aarch64-linux-gnu-gcc >/dev/null; then
        echo "no aarch64-linux-gnu-gcc here (package gcc-aarch64-linux-gnu); left out"
        exit 77
    fi
    options+=(--toolchain "$source/cmake/toolchains/aarch64-linux-gnu.cmake")
    ;;
*)
    echo "unknown variant $variant" >&2
    exit 2
    ;;
esac

mkdir -p "$build"
if ! cmake -S "$source" -B "$build" "${options[@]}" >"$build.log" 2>&1; then
    cat "$build.log"
    exit 1
fi
# What is missing is listed at configure time, with what it disables.
if [ "$variant" = without-options ] && ! grep -q '^  hwloc: the live machine' "$build.log"; then
    echo "the configure step does not list hwloc as missing:"
    cat "$build.log"
    exit 1
fi
# What reads the machine and its files has other code there; the rest is the same everywhere.
targets=(xylem mpiexec libxylem)
if [ "$variant" = without-options ]; then
    mapfile -t tests < <(ninja -C "$build" -t targets all | sed -nE 's/^(test_(machine|cost|place)_[^:]*): phony$/\1/p')
    targets+=("${tests[@]}")
fi
ninja -C "$build" "${targets[@]}"
if [ "$variant" = without-options ]; then
    ctest --test-dir "$build" -R '^(machine|cost|place)\.' --output-on-failure --no-tests=error
    "$build/bin/xylem" machine "node:2 core:4"
fi
if [ "$variant" = aarch64 ] && command -v qemu-aarch64 >/dev/null; then
    xylem=$build/bin/xylem
    qemu-aarch64 -L /usr/aarch64-linux-gnu "$xylem" --version
    qemu-aarch64 -L /usr/aarch64-linux-gnu "$xylem" machine "node:2 core:4"
fi
