#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec --algorithm allreduce=./mine.so: the example in all kinds of calls, and algorithms that break a rule.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/plugins/lib.sh"
bin=$XYLEM_BUILD_DIR/bin

"$bin/mpicc" -O1 "$XYLEM_SOURCE_DIR/tests/plugins/allreduce.c" -o allreduce
plugin ternary.so examples/plugins/ternary.c
plugin first.so tests/plugins/faulty_algorithm.c
plugin FOR_LONG.so tests/plugins/faulty_algorithm.c -DFOR_LONG

# 16 results: blocking, nonblocking, in place and persistent, in four sizes.
for ranks in 2 5 16; do
    expect 0 "$bin/mpiexec" -n $ranks --algorithm allreduce=./ternary.so ./allreduce
    [ "$out" = "sums 16 first 0 other 0" ] || die "$ranks ranks: $out"
    expect 0 "$bin/mpiexec" -n $ranks --algorithm allreduce=./ternary.so --progress threads ./allreduce
    [ "$out" = "sums 16 first 0 other 0" ] || die "$ranks ranks with progress threads: $out"
done
expect 0 "$bin/mpiexec" -n 5 --algorithm allreduce=ring ./allreduce
[ "$out" = "sums 16 first 0 other 0" ] || die "ring: $out"
# One that gives a known other result: it is the plug-in that runs, in every kind of call.
expect 0 "$bin/mpiexec" -n 4 --algorithm allreduce=./first.so ./allreduce
[ "$out" = "sums 0 first 16 other 0" ] || die "not the plug-in: $out"
# Calls that it does not do run as without it.
expect 0 "$bin/mpiexec" -n 4 --algorithm allreduce=./FOR_LONG.so ./allreduce
[ "$out" = "sums 8 first 8 other 0" ] || die "not only long calls: $out"

refused() { # TEXT MESSAGE
    expect 2 "$bin/mpiexec" -n 4 --algorithm "$1" ./allreduce
    says "$err" "$2"
}
refused allreduce=./none.so "none.so"
refused bcast=./ternary.so "is for allreduce, not for bcast"
for fault in "UNKNOWN_COLLECTIVE is for 'allsum'" "NO_BUILD no function 'build'"; do
    plugin "${fault%% *}.so" tests/plugins/faulty_algorithm.c -Wno-unused-function "-D${fault%% *}"
    refused "allreduce=./${fault%% *}.so" "${fault#* }"
done
for fault in "READS_BEYOND reads outside" "WRITES_INPUT writes" "NO_SUCH_RANK writes outside" \
    "PART_OF_ELEMENT reduces a part of an element"; do
    plugin "${fault%% *}.so" tests/plugins/faulty_algorithm.c "-D${fault%% *}"
    expect 1 "$bin/mpiexec" -n 4 --algorithm "allreduce=./${fault%% *}.so" ./allreduce
    says "$err" "${fault#* }"
done
