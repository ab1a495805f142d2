#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What reordering brings on a machine of two nodes: reordered.sh MPIEXEC PROGRAM
set -euo pipefail
mpiexec=$1 program=$2
fail() {
    echo "reordered: $*" >&2
    exit 1
}
# A grid of 2 x 4 in rows: 4 of its edges leave a node, 2 when each node has a square. Partners at a
# distance of 4 are all in the other node, and none when numbers may change.
expected='cart: 8
graph: 8
distributed: 8
adjacent: 8
cart, reordered: 4
graph, reordered: 0
distributed, reordered: 0
adjacent, reordered: 0'
for workers in "--workers 1" ""; do
    # shellcheck disable=SC2086 # two words, or none
    found=$("$mpiexec" $workers -n 8 --machine 2x4 "$program" 4) || fail "exit code $?"
    [ "$found" = "$expected" ] || fail "$found"
done
# The same machine as a file, and one that ships with Xylem. Without libxml2 there are none.
file=$(mktemp --suffix=.xml)
trap 'rm -f "$file"' EXIT
node='<node><core/><core/><core/><core/></node>'
echo "<machine name=\"two\">$node$node</machine>" >"$file"
if found=$("$mpiexec" -n 8 --machine "$file" "$program" 4 2>&1); then
    [ "$found" = "$expected" ] || fail "from a file: $found"
    "$mpiexec" -n 24 --machine haswell32 "$program" || fail "wrong on haswell32"
else
    grep -q "libxml2" <<<"$found" || fail "$found"
fi
if found=$("$mpiexec" -n 2 --machine haswel32 "$program" 2>&1) ||
    ! grep -qE "did you mean 'haswell32'|libxml2|haswel32" <<<"$found"; then
    fail "no machine of this name: $found"
fi
# More ranks than cores, a machine with holes in no place, and a torus.
for machine in 3 2x2 5x7x3 torus:4x4; do
    "$mpiexec" -n 24 --machine $machine "$program" || fail "wrong on $machine"
done
# One core for all: nothing changes, and nothing is wrong.
"$mpiexec" --workers 1 -n 8 "$program" || fail "wrong on one core"
if "$mpiexec" -n 2 --machine 2y4 "$program" 2>/dev/null; then
    fail "an impossible machine was taken"
fi
