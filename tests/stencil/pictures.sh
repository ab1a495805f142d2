#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Pictures are data: those of small runs are compared with tests/data/film/, words and structure
# exactly, numbers within a tenth of a pixel. XYLEM_UPDATE=1 writes what is drawn now.
# Policies that never change their mind are used, so that the pictures show the drawing.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

data=$XYLEM_SOURCE_DIR/tests/data/film
cat >compare.py <<'PY'
# The style, with the colours, is tested in src/draw and is not compared.
import re
import sys

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
wanted, drawn = (re.sub("<style>.*?</style>\n", "", open(path, encoding="utf-8").read(), flags=re.S) for path in sys.argv[1:3])
if NUMBER.sub("#", wanted) != NUMBER.sub("#", drawn):
    sys.exit(f"{sys.argv[2]}: other marks or words than in {sys.argv[1]}")
for a, b in zip(NUMBER.findall(wanted), NUMBER.findall(drawn)):
    if abs(float(a) - float(b)) > 0.101:
        sys.exit(f"{sys.argv[2]}: {b} instead of {a}")
PY

# golden NAME PICTURES OPTION...
golden() {
    local name=$1 pictures=$2 picture
    shift 2
    expect 0 "$XYLEM" stencil "$@" --svg "$name"
    for picture in $pictures; do
        [ -z "${XYLEM_UPDATE:-}" ] || sed '/^<style>/,/<\/style>$/d' "$name-$picture.svg" >"$data/$name-$picture.svg"
        python3 compare.py "$data/$name-$picture.svg" "$name-$picture.svg"
    done
    [ "$(echo "$name"-*.svg | wc -w)" = "$(echo "$pictures" | wc -w)" ] || die "$name: other pictures"
}

golden line "time iteration memory links" --blocks 12 --iterations 8 --memory 15MiB --policy prio
golden two-gpus "time iteration memory links" --blocks 14 --iterations 6 --memory 18MiB \
    --gpus 2 --graph natural --policy cache-oblivious
golden plane "time iteration slices memory links" --blocks 6x5 --iterations 4 --memory 30MiB --policy prio
golden space "time iteration slices memory links" --blocks 4x4x4 --iterations 3 --memory 60MiB --policy eager
# The page shows the same pictures and the slider, and says where there is nothing to draw.
expect 0 "$XYLEM" stencil --blocks 6x5 --iterations 4 --memory 30MiB --policy prio -o page.html
[ "$(grep -c '<svg' page.html)" = 5 ] || die "page.html has other pictures"
grep -q "id='when' type='range'" page.html || die "no slider"
