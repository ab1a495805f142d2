#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec --adapt by its real command: adapt.sh MPIEXEC PROGRAM LARGE-PROGRAM
#
# Virtual runs have exact times: on a machine where another algorithm than the default is the best, a
# series of runs ends with it, and never takes more than 2 % longer than as many runs by default.
set -euo pipefail
mpiexec=$1 program=$2 large=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XYLEM_HISTORY=$work/history XYLEM_COSTS=$work/costs.xml
unset XYLEM_ADAPT
fail() {
    echo "adapt: $*" >&2
    [ ! -s "$work/out" ] || cat "$work/out" >&2
    exit 1
}
# virtual ARGUMENT...: a job of 16 ranks on 4 nodes.
virtual() {
    timeout 240 "$mpiexec" --virtual 'node:4(latency=5us bandwidth=1GB/s) core:4' --compute none -n 16 "$@"
}
said() {
    grep -q "$1" "$work/out" || fail "'$1' was not printed"
}
# series N DEFAULT: the history has N runs, and each beginning of it is within 2 % of the default.
series() {
    [ "$(wc -l <"$XYLEM_HISTORY")" = "$1" ] || fail "$(wc -l <"$XYLEM_HISTORY") runs were stored, not $1"
    awk -v usual="$2" '{ sum += $8; if (sum > 1.02 * NR * usual) exit 1 }' "$XYLEM_HISTORY" ||
        fail "a series of $1 runs takes too long: $(cat "$XYLEM_HISTORY")"
}
seconds() {
    sed -n 's/.*"time": *\([0-9.e+-]*\).*/\1/p' "$1"
}

# Off, which is the default, does nothing.
sum=(10 100 allreduce 40000)
virtual --json "$work/usual" "$program" "${sum[@]}"
virtual --adapt off --json "$work/off" -v "$program" "${sum[@]}" 2>"$work/out"
! grep -q adapt: "$work/out" || fail "off adapts"
cmp -s "$work/usual" "$work/off" || fail "off is not what runs without the option"
for f in "$XYLEM_HISTORY" "$XYLEM_HISTORY.profiles"; do
    [ ! -e "$f" ] || fail "off writes $f"
done
usual=$(seconds "$work/usual")

# On knows nothing yet, and writes nothing.
virtual --adapt on -v "$program" "${sum[@]}" 2>"$work/out"
said "adapt: default; no earlier run of this program was stored"
[ ! -e "$XYLEM_HISTORY" ] || fail "on writes the history"

# What is chosen is said once, also where mpiexec starts itself again.
virtual --adapt on -v "$large" "${sum[@]}" 2>"$work/out"
[ "$(grep -c "adapt: default" "$work/out")" = 1 ] || fail "the choice is not said once"

# Learn: the first run is the default and is counted; then what may be better is tried.
virtual --adapt learn -v "$program" "${sum[@]}" 2>"$work/out"
said "calls and messages are counted"
for _ in 2 3 4 5; do
    virtual --adapt learn -v "$program" "${sum[@]}" 2>"$work/out"
done
said "adapt: allreduce/16/32768:rabenseifner-halves.*by default"
series 5 "$usual"

# On uses what was learned, and neither explores nor writes.
cp "$XYLEM_HISTORY" "$work/before"
virtual --adapt on -v --json "$work/on" "$program" "${sum[@]}" 2>"$work/out"
said "rabenseifner-halves, the best of what was measured"
cmp -s "$XYLEM_HISTORY" "$work/before" || fail "on writes the history"
awk -v on="$(seconds "$work/on")" -v off="$usual" 'BEGIN { exit !(on < 0.97 * off) }' ||
    fail "what was learned takes $(seconds "$work/on") s, by default $usual s"

# Other arguments are another problem.
virtual --adapt on -v "$program" 9 100 allreduce 40000 2>"$work/out"
said "no earlier run of this program was stored"

# Jobs at the same time.
for _ in 1 2 3; do
    virtual --adapt learn "$program" "${sum[@]}" &
done
wait
series 8 "$usual"

# What is no line of a history: one message, and all runs are still there.
printf 'nonsense\n1 2 3' >>"$XYLEM_HISTORY"
virtual --adapt learn -v "$program" "${sum[@]}" 2>"$work/out"
# (A launcher that starts again, as for sanitizers, prints it again.)
[ "$(grep 'not a line of a history' "$work/out" | sort -u | wc -l)" = 1 ] || fail "bad lines are not reported once"
said "rabenseifner-halves, the best"
[ "$(grep -c '^1 [0-9]* virtual mpiexec:' "$XYLEM_HISTORY")" = 9 ] || fail "runs were lost"
grep -q nonsense "$XYLEM_HISTORY" || fail "what the file had is gone"

# A history that cannot be read: one message, and the job runs.
mkdir "$work/directory"
XYLEM_HISTORY=$work/directory virtual --adapt learn "$program" "${sum[@]}" 2>"$work/out" ||
    fail "a history that cannot be read ends the job"
[ "$(sort -u "$work/out" | wc -l)" = 1 ] || fail "not one message"

# Ranks that talk to each other come to one node, by the matrix of the first run.
rm -rf "$XYLEM_HISTORY"*
far=(10 1000 none 40000 far)
virtual --json "$work/usual" "$program" "${far[@]}"
for _ in 1 2 3; do
    virtual --adapt learn -v "$program" "${far[@]}" 2>"$work/out"
done
said "adapt: place:matrix"
series 3 "$(seconds "$work/usual")"

# In a long run: nothing is tried while nothing changes. When the network becomes busy in the middle, other algorithms
# are, unless nothing is to be learned, and the best one stays.
long=(600 0 allreduce 270000)
for network in ${XYLEM_SOAK:+idle} busy; do
    words=("${long[@]}")
    [ "$network" = idle ] || words+=(busy)
    rm -rf "$XYLEM_HISTORY"*
    virtual --adapt learn "$program" "${words[@]}"
    read -r one time host problem ranks _ <"$XYLEM_HISTORY"
    {
        echo "$one $time $host $problem $ranks allreduce/16/262144:two-level 1 0.1 0"
        for other in default allreduce/16/262144:{ring,rabenseifner{,-halves},recursive-doubling,reduce-bcast}; do
            echo "$one $time $host $problem $ranks $other 1 1 0"
        done
    } >"$XYLEM_HISTORY"
    for mode in on learn; do
        virtual --adapt $mode -v --json "$work/$mode" "$program" "${words[@]}" 2>"$work/out"
        said "adapt: allreduce/16/262144:two-level, the best of what was measured"
        if [ "$network" = busy ] && [ $mode = learn ]; then
            [ "$(grep -c "adapt: from now on" "$work/out")" = 1 ] || fail "the algorithm does not change once"
            said "adapt: from now on allreduce/16/262144:rabenseifner, which takes"
        else
            ! grep -q "adapt: from now on" "$work/out" || fail "the algorithm changes"
        fi
    done
    if [ "$network" = idle ]; then
        cmp -s "$work/on" "$work/learn" || fail "something is tried in a run in which nothing changes"
    else
        awk -v on="$(seconds "$work/on")" -v learn="$(seconds "$work/learn")" 'BEGIN { exit !(learn < 0.85 * on) }' ||
            fail "with a change $(seconds "$work/learn") s, without $(seconds "$work/on") s"
    fi
done

# For real: what the history says is done. Messages are those of the algorithm when it is named.
rm -rf "$XYLEM_HISTORY"*
real=(2 0 iallreduce 80000)
timeout 240 "$mpiexec" -n 5 --monitor "$work/direct" --adapt learn "$program" "${real[@]}"
[ ! -e "$XYLEM_HISTORY" ] || fail "a run that was counted is taken for a usual one"
grep -q "^call iallreduce\|^call allreduce 5 1 80000 2 0 1 direct" "$work"/history.profiles/*[0-9a-f]@* ||
    fail "calls: $(cat "$work"/history.profiles/*)"
timeout 240 "$mpiexec" -n 5 --monitor "$work/direct" --adapt learn "$program" "${real[@]}"
read -r one time host problem ranks _ <"$XYLEM_HISTORY"
{
    echo "$one $time $host $problem $ranks default 1 1 0"
    echo "$one $time $host $problem $ranks allreduce/5/65536:linear 1 0.5 0"
} >"$XYLEM_HISTORY"
timeout 240 "$mpiexec" -n 5 --monitor "$work/picked" --adapt on -v "$program" "${real[@]}" 2>"$work/out"
said "adapt: allreduce/5/65536:linear, the best of what was measured"
timeout 240 "$mpiexec" -n 5 --monitor "$work/named" --algorithm allreduce=linear "$program" "${real[@]}"
cmp "$work/picked/collectives.csv" "$work/named/collectives.csv" || fail "another algorithm runs"
! cmp -s "$work/direct/collectives.csv" "$work/named/collectives.csv" || fail "messages tell nothing"
if [ "$(nproc)" -gt 1 ]; then
    echo "$one $time $host $problem $ranks split:auto+comm-cores:1 1 0.1 0" >>"$XYLEM_HISTORY"
    timeout 240 "$mpiexec" -n 5 --monitor "$work/split" --adapt on -v "$program" "${real[@]}" 2>"$work/out"
    said "adapt: split:auto+comm-cores:1"
    said "split-tree: allreduce with S"
fi

code=0
"$mpiexec" -n 2 --check --adapt on "$program" "${real[@]}" 2>"$work/out" || code=$?
[ $code = 2 ] || fail "--check with --adapt ends with $code"
code=0
"$mpiexec" -n 2 --adapt always "$program" "${real[@]}" 2>"$work/out" || code=$?
[ $code = 2 ] || fail "--adapt always ends with $code"
