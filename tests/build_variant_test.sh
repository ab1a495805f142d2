#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Configure the tree in another way, build its libraries and commands, and run a few of them.
#
#   tests/build_variant_test.sh without-options SOURCE BUILD   no optional dependency
#   tests/build_variant_test.sh without-cmocka SOURCE BUILD    refused where unit tests are required
#   tests/build_variant_test.sh aarch64 SOURCE BUILD           cross-compiled, the command run through qemu
#   tests/build_variant_test.sh x86_64 SOURCE BUILD            likewise
#
# Exit code 77: the compiler is not here.
set -euo pipefail

[ $# -eq 3 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2; }
variant=$1
source=$2
build=$3/variants/$variant
options=(-G Ninja -DXYLEM_WERROR=ON)

case $variant in
without-options)
    options+=(-DXYLEM_WITH_HWLOC=OFF -DXYLEM_WITH_LIBXML2=OFF -DXYLEM_WITH_METIS=OFF
        -DXYLEM_WITH_LIBCLANG=OFF)
    # Only a few files know of these libraries: the objects of all others are those of BUILD.
    if grep -rn XYLEM_HAVE_ "$source/src" "$source/include" --include='*.h'; then
        echo "a header that depends on options: keep them in the source that needs them"
        exit 1
    fi
    for name in CMAKE_C_COMPILER CMAKE_BUILD_TYPE CMAKE_C_FLAGS CMAKE_C_FLAGS_RELWITHDEBINFO XYLEM_WERROR; do
        options+=("-D$name=$(sed -n "s/^$name:[A-Z]*=//p" "$3/CMakeCache.txt")")
    done
    options+=("-DCMAKE_C_COMPILER_LAUNCHER=$source/tests/reuse_object.sh;$3")
    ;;
without-cmocka)
    # pkg-config finds nothing: as on a machine where the package is missing.
    if text=$(PKG_CONFIG_LIBDIR=/nonexistent cmake -S "$source" -B "$build" "${options[@]}" -DXYLEM_REQUIRE_TESTS=ON 2>&1); then
        echo "configured without cmocka although tests are required"
        exit 1
    fi
    grep -q libcmocka-dev <<<"$text" || { echo "$text"; exit 1; }
    exit 0
    ;;
aarch64 | x86_64)
    if ! command -v "$variant-linux-gnu-gcc" >/dev/null; then
        echo "no $variant-linux-gnu-gcc here (package gcc-${variant/_/-}-linux-gnu); left out"
        exit 77
    fi
    options+=(--toolchain "$source/cmake/toolchains/$variant-linux-gnu.cmake"
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0)
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
targets=(xylem mpiexec libxylem xylem_abi_openmpi xylem_abi_mpich)
if [ "$variant" = without-options ]; then
    mapfile -t tests < <(ninja -C "$build" -t targets all |
        sed -nE 's/^(test_(machine|place)_[^:]*): phony$/\1/p' | grep -v _eco)
    targets+=("${tests[@]}")
fi
ninja -C "$build" "${targets[@]}"
if [ "$variant" = without-options ]; then
    ctest --test-dir "$build" -R '^(machine|place)\.' -E 'eco|auto' --output-on-failure --no-tests=error
    "$build/bin/xylem" machine "node:2 core:4"
    if text=$("$build/bin/xylem" scan "$source/examples/ring.c" 2>&1) || ! grep -q 'install libclang-19-dev' <<<"$text"; then
        echo "xylem scan without libclang says: $text"
        exit 1
    fi
fi
if [[ $variant = *64 ]] && command -v "qemu-$variant" >/dev/null; then
    emulated=("qemu-$variant" -L "/usr/$variant-linux-gnu")
    "${emulated[@]}" "$build/bin/xylem" --version
    "${emulated[@]}" "$build/bin/xylem" machine "node:2 core:4"
    compiler=("$variant-linux-gnu-gcc" -std=gnu11 -I"$build/include" -I"$source/include")
    links=(-fPIE -pie -L"$build/lib" -lmpi_abi "-Wl,-rpath,$build/lib:\$ORIGIN")
    # Ranks: images, fibers and messages have code of their own for each processor.
    "${compiler[@]}" "$source/examples/ring.c" "${links[@]}" -o "$build/ring"
    timeout 240 "${emulated[@]}" "$build/bin/mpiexec" -n 6 --workers 2 "$build/ring"
    "${compiler[@]}" "$source/tests/mpi/float_environment.c" "${links[@]}" -lm -o "$build/float_environment"
    timeout 240 "${emulated[@]}" "$build/bin/mpiexec" -n 5 --workers 1 "$build/float_environment"
    # A private library; on x86_64 the program has copies of its variables.
    "${compiler[@]}" -shared -fPIC "$source/tests/launch/own.c" -o "$build/libown.so"
    "${compiler[@]}" -DLEVEL "$source/tests/launch/libraries.c" -L"$build" -lown "${links[@]}" -o "$build/libraries"
    text=$(timeout 240 "${emulated[@]}" "$build/bin/mpiexec" -n 3 "$build/libraries" | sort)
    if [ "$text" != $'0 level 3 3 3\n1 level 4 4 4\n2 level 5 5 5' ]; then
        echo "a private library: $text"
        exit 1
    fi
    # Programs for other MPIs; those for Open MPI have copies of its predefined objects on x86_64.
    for library in openmpi/libmpi.so.40 mpich/libmpich.so.12; do
        abi=${library%/*}
        python3 "$source/tests/abi/header.py" "$abi" "$build/$abi.include/mpi.h"
        "$variant-linux-gnu-gcc" -std=gnu11 -D_GNU_SOURCE -DXYLEM_SANITIZED=0 -w -I"$build/$abi.include" -I"$build/include" \
            -I"$source/tests/mpi" "$source/tests/mpi/topology.c" -fPIE -pie "$build/lib/xylem/$library" -Wl,--allow-shlib-undefined -lm -o "$build/$abi"
        if [ "$variant$abi" = x86_64openmpi ] && ! readelf -rW "$build/$abi" | grep -q 'COPY.*ompi_mpi_comm_world'; then
            echo "the program for Open MPI has no copy relocations"
            exit 1
        fi
        timeout 240 "${emulated[@]}" "$build/bin/mpiexec" -n 4 --workers 2 "$build/$abi"
    done
fi
