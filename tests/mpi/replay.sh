#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A recorded run is replayed on another machine, to its end, with all that it sent:
# replay.sh MPIEXEC XYLEM PROGRAM...
set -euo pipefail
mpiexec=$1 xylem=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "replay: $*" >&2
    exit 1
}

for program; do
    name=$(basename "$program")
    "$mpiexec" -n 4 --trace "$work/t.xyt" --monitor "$work/m" "$program" >/dev/null
    "$xylem" place "$work/t.xyt" -m haswell8x32 --predict --write "$work/t.csv" >"$work/said" ||
        fail "$name: $(cat "$work/said")"
    grep -Eq '^the run: .* instead of .* by scatter_numa, .* times as fast$' "$work/said" ||
        fail "$name: $(cat "$work/said")"
    # The messages of the program are those that the monitor has counted; collectives come on top.
    awk -F, 'FNR == NR { if (/^[0-9]/) { bytes[$1 "," $2] = $3; count[$1 "," $2] = $4 } next }
             /^[0-9]/ && (bytes[$1 "," $2] < $3 || count[$1 "," $2] < $4) { print; bad = 1 }
             END { exit bad }' "$work/t.csv" "$work/m/program.csv" ||
        fail "$name: the trace has fewer messages than the monitor counted"
    # Collectives are replayed by their algorithms, which send other messages than the direct ones that were
    # counted; none of them sends half as much.
    awk -F, '/^[0-9]/ { if (FNR == NR) replayed += $3; else counted += $3 }
             END { exit 2 * replayed < counted }' "$work/t.csv" "$work/m/all.csv" ||
        fail "$name: the trace has less than half of what the monitor counted"
done

# A run in virtual time has its calls and messages, too.
"$mpiexec" --virtual haswell8x32 --compute none -n 4 --trace "$work/v.xyt" "$1" >/dev/null
"$xylem" place "$work/v.xyt" -m haswell8x32 --predict >"$work/said" || fail "a virtual run was not replayed"
grep -q '^communication alone: ' "$work/said" || fail "$(cat "$work/said")"
