#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Build for release and run the benchmarks.
#
#   bench/run.sh [--quick] [--list] [NAME...]
#
# Each bench program prints one line per measurement, `NAME  VALUE  UNIT`, with --quick in a few
# seconds. Timings are measurements, never tests: nothing here passes or fails but by crashing.
# docs/performance.md keeps results with the command that made them.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

quick=() list=0 names=()
for argument in "$@"; do
    case $argument in
    --quick) quick=(--quick) ;;
    --list) list=1 ;;
    -h | --help)
        sed -n '3,9s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    -*)
        echo "bench: no option $argument (there are --quick and --list)" >&2
        exit 2
        ;;
    *) names+=("$argument") ;;
    esac
done

scripts/install-packages.sh build
mkdir -p build
log=build/bench-build.log
if ! { cmake --preset release && cmake --build --preset release; } >"$log" 2>&1; then
    tail -30 "$log"
    echo "bench: the build failed; the whole log is in $log" >&2
    exit 1
fi

programs=()
for program in build/release/bench/bench_*; do
    if [ -x "$program" ] && [ -f "$program" ]; then
        programs+=("$(basename "$program" | sed 's/^bench_//')")
    fi
done
# Whole MPI programs beside other MPI libraries, and with many libraries: scripts that get the built tree.
for script in bench/mpi/*.py; do
    programs+=("mpi_$(basename "$script" .py)")
done
programs+=(libraries)
if [ "$list" = 1 ]; then
    printf '%s\n' "${programs[@]}"
    exit 0
fi
[ ${#names[@]} -gt 0 ] || names=("${programs[@]}")

# What the numbers were measured on, and with.
echo "# xylem $(git describe --always --dirty 2>/dev/null || echo 'without git'), $(uname -sr), $(nproc) PUs," \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
for name in "${names[@]}"; do
    case $name in
    mpi_*) script=bench/mpi/${name#mpi_}.py ;;
    libraries) script=bench/libraries.sh ;;
    *) script= ;;
    esac
    if [ -x "$script" ]; then
        say_step "$name"
        "$script" build/release "${quick[@]}"
        continue
    fi
    if [ ! -x "build/release/bench/bench_$name" ]; then
        echo "bench: no bench program $name; bench/run.sh --list names them" >&2
        exit 2
    fi
    say_step "$name"
    "build/release/bench/bench_$name" "${quick[@]}"
done
