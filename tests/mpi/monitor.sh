#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What --monitor counts, against what programs send: monitor.sh MPIEXEC PROGRAM HOODS HOODS.csv
set -euo pipefail
mpiexec=$1 program=$2 hoods=$3 expected=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "monitor: $*" >&2
    exit 1
}
# has FILE LINE: exactly this line is in the file.
has() {
    grep -qxF "$2" "$work/m/$1" || fail "$1 lacks '$2': $(cat "$work/m/$1")"
}

"$mpiexec" -n 4 --monitor "$work/m" "$program"
for r in 0 1 2 3; do
    has program.csv "$r,$(((r + 1) % 4)),300,3"
    has program.csv "$r,$(((r + 3) % 4)),7,1"
    has phase-0.csv "$r,$(((r + 1) % 4)),300,3"
    if [ "$r" != 1 ]; then has collectives.csv "1,$r,1010,2"; fi
done
[ "$(grep -c '^[0-9]' "$work/m/program.csv")" = 8 ] || fail "program.csv has other pairs, too"
[ "$(grep -c '^[0-9]' "$work/m/phase-0.csv")" = 4 ] || fail "phase-0.csv has other pairs, too"
[ "$(grep -c '^[0-9]' "$work/m/collectives.csv")" = 3 ] || fail "collectives.csv has other pairs, too"
has all.csv "1,2,1310,5"
grep -q 'Messages between ranks' "$work/m/index.html" || fail "no page"
grep -Eq 'class="finding">[0-9]+ ranks sent .* in [0-9]+ messages' "$work/m/index.html" || fail "no finding"
[ ! -e "$work/m/slice-0.csv" ] || fail "time was cut, and nobody asked for it"
grep -lqxF "0,3,7,1" "$work"/m/communicator-*.csv || fail "no file of the second communicator"

# Blocks of neighbourhoods are messages.
"$mpiexec" -n 4 --monitor "$work/h" "$hoods"
cmp "$expected" "$work/h/collectives.csv" || fail "neighbours: $(cat "$work/h/collectives.csv")"

# Slices of time: together they are the whole.
"$mpiexec" -n 4 --monitor "$work/s" --monitor-slice 1ms "$program"
total() {
    cat "$@" | awk -F, '/^[0-9]/ { bytes += $3; n += $4 } END { print bytes, n }'
}
[ "$(total "$work"/s/slice-*.csv)" = "$(total "$work/s/all.csv")" ] || fail "slices are not the whole"

# A place that cannot be written is said, with a code.
if "$mpiexec" -n 2 --monitor /proc/nowhere "$program" 2>"$work/said"; then
    fail "an impossible directory was taken"
fi
grep -q '/proc/nowhere' "$work/said" || fail "the directory is not named: $(cat "$work/said")"

# Files of others that links lead to stay as they are.
echo 'of another' >"$work/victim"
mkdir "$work/l"
for name in all.csv program.csv index.html; do ln -s ../victim "$work/l/$name"; done
"$mpiexec" -n 4 --monitor "$work/l" "$program"
[ "$(cat "$work/victim")" = 'of another' ] || fail "written through a link"
cmp "$work/m/program.csv" "$work/l/program.csv" || fail "no matrix in place of the link"
