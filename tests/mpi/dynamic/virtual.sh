#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Spawned ranks in virtual time: PROGRAM MPIEXEC. Two runs print the same bits; new ranks
# are placed as those of the job are; starting takes what --spawn-time says.
set -e
program=$1
mpiexec=$2
machine='node:2(latency=1us bandwidth=10GB/s) core:4'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run PLACE MICROSECONDS OPTION...
run() {
    local place=$1 start=$2
    shift 2
    timeout 240 "$mpiexec" --virtual "$machine" --compute none --place "$place" -n 2 "$@" \
        "$program" "$start" "$place"
}

fail() {
    echo "$1"
    exit 1
}

# is_at RANK CORE: where the rank was spawned first
is_at() {
    grep -m1 "rank $1 is spawned: .*" "$work/said" | grep -q " on core $2 of" ||
        fail "rank $1 is not on core $2: $(cat "$work/said")"
}

run packed 30 --json "$work/first.json" >"$work/first"
run packed 30 --json "$work/second.json" >"$work/second"
cmp "$work/first" "$work/second" || fail "two runs differ"
cmp "$work/first.json" "$work/second.json" || fail "what two runs took differs"
grep -q '"ranks": 8' "$work/first.json" || fail "--json does not know the spawned ranks"

run packed 30 -v --trace "$work/trace" --monitor "$work/monitor" >"$work/traced" 2>"$work/said"
[ -s "$work/trace" ] || fail "there is no trace"
is_at 2 2
is_at 3 3
is_at 4 4

# Ranks 0 and 1 are on cores 0 and 4, and the new ones spread over what is left.
run scatter 5000 --spawn-time 5ms -v >"$work/scattered" 2>"$work/said"
is_at 2 1
is_at 3 3
is_at 4 6

# On two cores ranks share them, or are refused.
for option in --oversubscribe --quiet; do
    code=0
    timeout 240 "$mpiexec" --virtual core:2 $option --compute none -n 2 "$program" 1 few >"$work/few" 2>&1 ||
        code=$?
    case $option in
    --oversubscribe) [ $code -eq 0 ] || fail "$option: $(cat "$work/few")" ;;
    *) grep -q '3 more ranks on .*, where 0 of 2 cores are free; give --oversubscribe' "$work/few" ||
        fail "it is not refused: $(cat "$work/few")" ;;
    esac
done
