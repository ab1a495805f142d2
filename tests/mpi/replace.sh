#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The example of xylem_replace: replace.sh MPIEXEC PROGRAM
set -euo pipefail
mpiexec=$1 program=$2
fail() {
    echo "replace: $*" >&2
    exit 1
}
for ranks in 1 2 3 8 64 200; do
    said=$("$mpiexec" -n $ranks "$program") || fail "exit code $?"
    [[ $said =~ ^"partners on one core: "[0-9]+" of $ranks ranks at first, "([0-9]+)" then"$ ]] ||
        fail "$said"
done
# Two cores, half of the ranks on each, partners on different ones: afterwards all are together.
cores=$("$mpiexec" -n 2 -v "$program" 2>&1 | grep -o 'core [0-9]*' | sort -u | wc -l)
if [ "$cores" -ge 2 ]; then
    [ "$("$mpiexec" --workers 2 --place packed -n 8 "$program")" = \
        "partners on one core: 0 of 8 ranks at first, 8 then" ] || fail "partners are not together"
fi
# With --monitor the first call knows already what was sent.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$mpiexec" -n 8 --monitor "$work/m" "$program" >"$work/said"
[ -s "$work/m/all.csv" ] || fail "nothing was written"
