#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A program with threads in virtual time: it is right, and its times are the same in each run.
# turns.sh MPIEXEC PROGRAM
# shellcheck disable=SC2086
set -u
mpiexec="timeout 240 $1" program=$2
failed=0
here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT

fail() { echo "$*"; failed=1; }

check() {
    local first="" said
    for run in 1 2 3; do
        $mpiexec "$@" --json "$here/times" "$program" >"$here/said" 2>"$here/errors" ||
            fail "$*, run $run: ended with $?: $(cat "$here/said" "$here/errors")"
        said=$(cat "$here/said" "$here/times")
        [ -s "$here/times" ] || fail "$*: no times"
        [ "${first:=$said}" = "$said" ] || fail "$*: run $run differs: $first and $said"
    done
}

check -n 4 --virtual "node:2(latency=1us bandwidth=10GB/s) core:2" --compute none
check -n 5 --virtual core:2 --oversubscribe --compute none --progress threads
check -n 3 --virtual core:4 --comm-cores 1 --compute none

# Without the clock of the machine: threads that wait for one another end as in a real run.
$mpiexec -n 2 --virtual core:2 "$program" >"$here/said" 2>&1 || fail "timed: $(cat "$here/said")"

# Rows of a trace name the threads.
$mpiexec -n 2 --virtual core:2 --compute none --trace "$here/trace.xyt" "$program" >/dev/null || fail "trace"
grep -aq "rank 1 thread 2" "$here/trace.xyt" || fail "the trace names no thread"
exit $failed
