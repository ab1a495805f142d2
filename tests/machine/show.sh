#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The other ways to show a machine, and where sources are found.
# shellcheck disable=SC2154 # out is set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

# The live machine agrees with what the kernel lets us use.
expect 0 "$XYLEM" machine --json
printf '%s\n' "$out" >live.json
usable=$(python3 -c 'import json; print(json.load(open("live.json"))["usable"])')
[ "$usable" = "$(nproc --all)" ] || [ "$usable" = "$(nproc)" ] || die "$usable usable, nproc $(nproc)"

first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
expect 0 taskset -c "$first" "$XYLEM" machine --json
printf '%s\n' "$out" >one.json
[ "$(python3 -c 'import json; print(json.load(open("one.json"))["usable"])')" = 1 ] ||
    die "bound to one PU, more is usable"

# JSON is complete: parents come first, counts add up.
expect 0 "$XYLEM" machine attila --json
printf '%s\n' "$out" | python3 -c '
import json, sys
m = json.load(sys.stdin)
assert m["counts"] == {"node": 1, "package": 2, "core": 12, "gpu": 2}, m["counts"]
assert all(o.get("parent", -1) < o["id"] for o in m["objects"])
assert m["gpu_groups"][0]["shared"]["bandwidth"] == 6527e6
assert len(m["gpu_groups"][0]["gpus"]) == 2
'
# SVG is XML, holds every PU of a small machine, and folds a large one.
expect 0 "$XYLEM" machine haswell32 --svg small.svg
[ -z "$out" ] || die "--svg prints too: $out"
expect 0 "$XYLEM" machine "cluster:3 switch:4 node:500 package:2 core:8" --svg large.svg
python3 - <<'PY'
import xml.etree.ElementTree as tree
ns = "{http://www.w3.org/2000/svg}"
small, large = tree.parse("small.svg").getroot(), tree.parse("large.svg").getroot()
pus = [r for r in small.iter(ns + "rect") if r.get("class") == "pu"]
assert len(pus) == 64, len(pus)
words = {t.text for t in small.iter(ns + "text")}
assert {"PU 63", "core 31", "NUMA node 3 32 GiB", "L3 20 MiB"} <= words, words
assert len(list(large.iter(ns + "rect"))) < 2000
assert "x 500" in {t.text for t in large.iter(ns + "text")}
# Boxes stay inside the page.
for root in small, large:
    for r in root.iter(ns + "rect"):
        if r.get("class") == "ground":
            continue
        assert float(r.get("x")) + float(r.get("width")) <= float(root.get("width")), r.attrib
        assert float(r.get("y")) + float(r.get("height")) <= float(root.get("height")), r.attrib
PY

# By name from a directory of one's own; from standard input; in a file without an ending.
mkdir mine
sed 's/knl64/mine/' "$XYLEM_SOURCE_DIR/machines/knl64.xml" >mine/tiny.xml
expect 0 env XYLEM_MACHINES=/nonexistent:"$PWD/mine" "$XYLEM" machine tiny
says "$out" "mine: 1 node"
expect 0 env XYLEM_MACHINES="$PWD/mine" "$XYLEM" machine --list
says "$out" tiny
expect 0 "$XYLEM" machine - <mine/tiny.xml
says "$out" "64 cores"
cp mine/tiny.xml plain
expect 0 "$XYLEM" machine plain
# A full disk is said.
if [ -e /dev/full ]; then
    "$XYLEM" machine knl64 >/dev/full 2>full.err && die "a full disk is no error"
    one_line "$(cat full.err)"
fi
