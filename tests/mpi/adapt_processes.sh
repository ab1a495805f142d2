#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec --adapt for jobs in several processes: adapt_processes.sh MPIEXEC PROGRAM
#
# Real runs have no exact times, so times are written into the history by hand: what it says must be done,
# in all processes, whatever carries their messages.
set -euo pipefail
mpiexec=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XYLEM_HISTORY=$work/history XYLEM_COSTS=$work/costs.xml
unset XYLEM_ADAPT SLURM_JOB_NODELIST SLURM_JOB_ID PBS_NODEFILE
printf '#!/bin/sh\nshift\nexec "$@"\n' >"$work/agent" # a launcher to hosts that are all here
chmod +x "$work/agent"
fail() {
    echo "adapt_processes: $*" >&2
    [ ! -s "$work/out" ] || cat "$work/out" >&2
    exit 1
}
said() {
    grep -q "$1" "$work/out" || fail "'$1' was not printed"
}
stored() {
    local n=0
    [ ! -e "$XYLEM_HISTORY" ] || n=$(wc -l <"$XYLEM_HISTORY")
    [ "$n" = "$1" ] || fail "$n runs were stored, not $1: $(cat "$XYLEM_HISTORY")"
}
# six OPTION...: a job of six ranks in three processes.
six() {
    timeout 240 "$mpiexec" -n 6 "${where[@]}" "$@" </dev/null 2>"$work/out" || fail "exit code $?"
}
# pretend PLAN: an earlier run by it took half as long as the default.
pretend() {
    local one time host problem ranks rest
    read -r one time host problem ranks rest <"$XYLEM_HISTORY"
    printf '%s\n' "$one $time $host $problem $ranks default 1 1 0" \
        "$one $time $host $problem $ranks $1 1 0.5 0" >"$XYLEM_HISTORY"
    : "$rest"
}
# Of collectives; six are those of MPI_Finalize.
messages() {
    awk -F, 'NR > 1 && /^[0-9]/ { n += $4 } END { print n + 0 }' "$1/collectives.csv"
}

# Counted once, then stored once per run; the plan of the history is that of all processes.
algorithms() {
    local sum=("$program" 2 0 allreduce 80000)
    rm -rf "$XYLEM_HISTORY"* "$work"/m.*
    six --adapt on -v "${sum[@]}"
    said "adapt: default; no earlier run of this program was stored"
    [ ! -e "$XYLEM_HISTORY.profiles" ] || fail "on writes a profile"
    six --adapt learn -v --monitor "$work/m.counted" "${sum[@]}"
    [ "$(grep -c "calls and messages are counted" "$work/out")" = 1 ] || fail "the choice is not said once"
    stored 0
    grep -q "^call allreduce 6 3 80000 2 0 0 ring " "$XYLEM_HISTORY".profiles/*[0-9a-f]@* ||
        fail "calls: $(cat "$XYLEM_HISTORY".profiles/*)"
    grep -q "^way recursive-doubling " "$XYLEM_HISTORY".profiles/*[0-9a-f]@* || fail "one algorithm only"
    six --adapt learn --monitor "$work/m.counted" "${sum[@]}"
    stored 1
    [ "$(messages "$work/m.counted")" = 30 ] || fail "$(messages "$work/m.counted") messages of two rings"
    pretend allreduce/6/65536:recursive-doubling
    six --adapt on -v --monitor "$work/m.counted" "${sum[@]}"
    said "adapt: allreduce/6/65536:recursive-doubling, the best of what was measured"
    [ "$(messages "$work/m.counted")" = 14 ] || fail "$(messages "$work/m.counted") messages, doubling"
    stored 2
    # One that is named needs no history.
    six --algorithm allreduce=recursive-doubling --monitor "$work/m.named" "${sum[@]}"
    [ "$(messages "$work/m.named")" = 14 ] || fail "$(messages "$work/m.named") messages, doubling by name"
    six --algorithm allreduce=ring --monitor "$work/m.named" "${sum[@]}"
    [ "$(messages "$work/m.named")" = 30 ] || fail "$(messages "$work/m.named") messages, ring by name"
}

# Ranks that talk to each other come to one process, by the matrix of the first run.
placement() {
    local far=("$program" 2 0 none 80000 far)
    rm -rf "$XYLEM_HISTORY"*
    six --adapt learn "${far[@]}"
    six --adapt learn -v "${far[@]}"
    said "rank 0 runs .* in process 0"
    said "rank 3 runs .* in process 1"
    pretend place:matrix
    six --adapt on -v "${far[@]}"
    said "adapt: place:matrix, the best of what was measured"
    for r in 0 1 2; do
        [ "$(sed -n "s/.*rank $r runs.*in process //p" "$work/out")" = \
            "$(sed -n "s/.*rank $((r + 3)) runs.*in process //p" "$work/out")" ] || fail "rank $r is far from its peer"
    done
}

where=(--processes 3 --net tcp)
algorithms
placement

# Nonblocking collectives between processes are measured, for --comm-cores auto as well; cores for communication are kept
# in each process, and splitting holds there.
rm -rf "$XYLEM_HISTORY"*
if [ "$(nproc)" -gt 1 ]; then
    where=(--hosts 'alpha:2,beta:2,gamma:2' --launcher "$work/agent" --net tcp)
fi
six --comm-cores auto "$program" 2 0 iallreduce 80000
six --adapt learn "$program" 2 0 iallreduce 80000
grep -q "^call allreduce 6 3 80000 2 0 1 ring " "$XYLEM_HISTORY".profiles/*[0-9a-f]@* ||
    fail "calls: $(cat "$XYLEM_HISTORY".profiles/*)"
if [ "$(nproc)" -gt 1 ]; then
    six --adapt learn "$program" 2 0 iallreduce 80000
    pretend split:auto+comm-cores:1
    six --adapt on -v "$program" 2 0 iallreduce 80000
    said "adapt: split:auto+comm-cores:1, the best of what was measured"
    [ "$(grep -c "rank [0-9] runs .* on core 0 of" "$work/out")" = 6 ] || fail "no core is kept for communication"
fi
where=(--processes 3 --net tcp)

# Other processes are another problem; so is another network of theirs.
for other in "--processes 2 --net tcp" "--processes 3"; do
    # shellcheck disable=SC2086
    timeout 240 "$mpiexec" -n 6 $other --adapt on -v "$program" 2 0 none 80000 far </dev/null 2>"$work/out"
    said "no earlier run of this program was stored"
done

# A run that fails is not stored, nor is its profile.
rm -rf "$XYLEM_HISTORY"*
fails() {
    local code=0
    ADAPTED_FAILS=1 timeout 240 "$mpiexec" -n 6 "${where[@]}" --adapt learn "$program" 1 0 none 8 2>"$work/out" || code=$?
    [ $code = 3 ] || fail "a job that fails ends with $code"
    stored 0
}
fails
[ ! -e "$XYLEM_HISTORY.profiles" ] || fail "a run that failed has a profile"
six --adapt learn "$program" 1 0 none 8
fails
six --adapt learn "$program" 1 0 none 8
stored 1

# A history that cannot be read: one message, and the job runs.
mkdir "$work/directory"
XYLEM_HISTORY=$work/directory six --adapt learn "$program" 2 0 allreduce 80000
[ "$(wc -l <"$work/out")" = 1 ] || fail "not one message"

# On hosts, where the choice waits until all have come.
where=(--hosts 'alpha:2,beta:2,gamma:2' --launcher "$work/agent" --net tcp)
algorithms
[ -n "${XYLEM_SOAK:-}" ] || exit 0
placement

# Over shared memory, and an installed MPI.
where=(--processes 3 --net shm)
algorithms
if command -v mpiexec.hydra >/dev/null && ldconfig -p 2>/dev/null | grep -q libmpich.so.12; then
    where=(--processes 3 --net mpi-only --launcher mpiexec.hydra)
    algorithms
fi
