#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What --trace records, however a job ends: trace.sh MPIEXEC PROGRAM XYLEM
set -euo pipefail
mpiexec=$1 program=$2 xylem=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "trace: $*" >&2
    exit 1
}
ulimit -c 0

# record CODE ENDING [OPTION]...: a trace of a job that ends so is there, whole and readable.
record() {
    local code=$1 ending=$2 got=0
    shift 2
    rm -f "$work"/t.*
    "$mpiexec" -n 4 --trace "$work/t.xyt" "$@" "$program" "$ending" >"$work/said" 2>&1 || got=$?
    [ "$got" = "$code" ] || fail "$ending: exit code $got instead of $code: $(cat "$work/said")"
    [ -f "$work/t.xyt" ] || fail "$ending: no trace"
    [ ! -e "$work/t.xyt.part" ] || fail "$ending: the file beside is still there"
    "$xylem" view "$work/t.xyt" --json >"$work/t.json" 2>"$work/warned"
    [ ! -s "$work/warned" ] || fail "$ending: $(cat "$work/warned")"
    for kind in compute MPI progress; do
        grep -q "\"$kind\"" "$work/t.json" || fail "$ending: no state of kind $kind"
    done
}

record 0 well
"$xylem" view "$work/t.xyt" --paje "$work/t.paje"
if command -v pj_dump >/dev/null; then
    pj_dump "$work/t.paje" >"$work/dump"
    for kind in compute MPI progress; do
        grep -q "^State.*$kind" "$work/dump" || fail "pj_dump sees no $kind"
    done
fi
if command -v vite >/dev/null; then
    (cd "$work" && QT_QPA_PLATFORM=offscreen timeout 240 vite t.paje -e vite.svg >vite.log 2>&1) ||
        fail "ViTE: $(cat "$work/vite.log")"
    grep -q '</svg>' "$work/vite.svg" || fail "ViTE drew nothing"
fi
if [ "$(nproc)" -gt 1 ]; then
    record 0 well --comm-cores 1
    grep -q '"core [0-9]*, communication"' "$work/t.json" || fail "no communication core"
    grep -q '"messages": 3,' "$work/t.json" || fail "not three collectives: $(cat "$work/t.json")"
fi
record 5 abort
record 1 deadlock
record 139 fault
# On a busy machine ranks may not have come to MPI within the limit.
for seconds in 1 5 30; do
    if (record 124 hang --timeout $seconds) 2>"$work/why"; then break; fi
    [ $seconds != 30 ] || fail "$(cat "$work/why")"
done

# A place that cannot be written is said before anything runs.
if "$mpiexec" -n 2 --trace "$work/none/t.xyt" "$program" 2>"$work/said"; then
    fail "an impossible file was taken"
fi
grep -q 'none/t.xyt' "$work/said" || fail "the file is not named: $(cat "$work/said")"

# Files of others that links lead to stay as they are.
echo 'of another' >"$work/victim"
ln -s victim "$work/linked.xyt"
ln -s victim "$work/linked.xyt.part"
"$mpiexec" -n 2 --trace "$work/linked.xyt" "$program" well >/dev/null
[ "$(cat "$work/victim")" = 'of another' ] || fail "written through a link"
"$xylem" view "$work/linked.xyt" >/dev/null || fail "no trace in place of the link"

# A fault while all workers wait for the reader of the trace: the job ends within its limit of 10 s.
mkfifo "$work/fifo"
exec 7<>"$work/fifo"
"$mpiexec" -n 4 --trace "$work/fifo" "$program" poll >/dev/null 2>"$work/said" &
pid=$!
sleep 0.5
kill -SEGV $pid
timeout 120 tail --pid=$pid -f /dev/null || kill -KILL $pid
code=0
wait $pid || code=$?
[ $code = 139 ] || fail "exit code $code after SIGSEGV: $(cat "$work/said")"
exec 7>&-
