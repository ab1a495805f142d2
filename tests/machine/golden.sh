#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Machines are data: each source of tests/data/machine/*.source, and each shipped machine, prints
# the text beside it. XYLEM_UPDATE=1 writes what is printed now.
# shellcheck disable=SC2154 # out is set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

data=$XYLEM_SOURCE_DIR/tests/data/machine
cd "$XYLEM_SOURCE_DIR"

# golden NAME SOURCE [OPTION...]
golden() {
    local name=$1
    shift
    expect 0 "$XYLEM" machine "$@"
    [ -z "${XYLEM_UPDATE:-}" ] || cp "$WORK/.out" "$data/$name.txt"
    diff -u "$data/$name.txt" "$WORK/.out" || die "$name: 'xylem machine $*' prints otherwise"
    # What is written reads back as the same.
    expect 0 "$XYLEM" machine "$@" --xml "$WORK/$name.xml"
    expect 0 "$XYLEM" machine "$WORK/$name.xml" --xml "$WORK/$name.again.xml"
    cmp "$WORK/$name.xml" "$WORK/$name.again.xml" || die "$name: changes when read and written"
}

for machine in attila fattree1024 grid5000 grid5000-fox haswell32 haswell8x32 knl64 skylake48; do
    golden "$machine" "$machine"
done
golden asymmetric tests/data/machine/asymmetric.xml
golden asymmetric-usable tests/data/machine/asymmetric.xml --usable
golden string 'cluster:2(latency=20us) node:3(latency=1us bandwidth=12.5GB/s) package:2 [numa(memory=16GiB)] l3:1(size=20MiB) core:8 pu:2'
golden fat-tree 'switch:3(links=8 latency=1us bandwidth=100Gb/s) switch:4(links=4 latency=1us bandwidth=100Gb/s) node:4(latency=1us bandwidth=100Gb/s) core:8'
golden torus 'torus:5x3x3(latency=1us bandwidth=10GB/s) package:2 core:4'
golden torus-part tests/data/machine/torus-part.xml
golden arities 4x2x8
golden only haswell32 --only package:1
if "$XYLEM" machine "$data/hwloc-2numa.xml" >/dev/null 2>&1; then
    golden hwloc-2numa "$data/hwloc-2numa.xml"
    golden hwloc-2memories "$data/hwloc-2memories.xml"
fi
