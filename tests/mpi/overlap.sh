#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Communication cores move data while ranks compute, and the trace says so:
# overlap.sh MPIEXEC PROGRAM XYLEM
set -euo pipefail
mpiexec=$1 program=$2 xylem=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "overlap: $*" >&2
    exit 1
}
[ "$(nproc)" -gt 1 ] || exit 0

for options in "" "--progress threads" "--algorithm allreduce=ring"; do
    # shellcheck disable=SC2086 # several words
    "$mpiexec" -n 4 --comm-cores 1 $options --trace "$work/t.xyt" "$program" || fail "not with '$options'"
    "$xylem" view "$work/t.xyt" --json >"$work/t.json"
    # The first "progress" after the name of the row is its time there.
    seconds=$(sed -n '/"core [0-9]*, communication"/,$s/.*"progress": \([^,]*\),*/\1/p' "$work/t.json" | head -n 1)
    case $seconds in
    "" | 0) fail "the communication core made no progress with '$options': $(cat "$work/t.json")" ;;
    esac
    # A persistent broadcast between groups, which no rank calls by that name.
    "$xylem" view "$work/t.xyt" --chrome "$work/t.chrome"
    grep -q '"MPI_Bcast"' "$work/t.chrome" || fail "no progress of a broadcast with '$options'"
done
