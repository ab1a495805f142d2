# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The verb: the worked example, every output, every kind of bad input.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
data=$XYLEM_SOURCE_DIR/tests/data/place
machine='package:2 l3:2 core:2(indexes=0,2,4,6,1,3,5,7)'

check() { # STRATEGY PHYSICAL
    expect 0 "$XYLEM" place "$data/treematch8.mat" -m "$machine" -s "$1" -o cores
    [ "$out" = "$2" ] || die "$1 gives $out instead of $2"
}
check treematch 0,4,1,5,2,6,3,7
check packed 0,2,4,6,1,3,5,7
check round-robin 0,1,2,3,4,5,6,7

expect 0 "$XYLEM" place "$data/treematch8.mat" -m 2x2x2 -s treematch --json
says "$out" '"core_of":[0,2,4,6,1,3,5,7]'
says "$out" '"hop_bytes":22016,'
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 2x4 --compare
says "$out" multisection
says "$out" packed
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m torus:2x2x2 --compare --json
python3 -c 'import json,sys
rows = json.load(sys.stdin)
assert all(sorted(r["core_of"]) == list(range(8)) for r in rows), rows
assert len(rows) >= 7' <"$WORK/.out" || die "not JSON of whole placements: $out"

# The same seed, the same answer; fewer and more processes than cores.
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 2x2x2 -o cores --seed 7
first=$out
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 2x2x2 -o cores --seed 7
[ "$out" = "$first" ] || die "the same seed gives $out after $first"
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 3 -o cores
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 5x7 -o cores

# Pictures and conversions.
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 2x2x2 --svg tree.svg --heatmap heat.svg --write lu.csv
says "$(cat tree.svg)" "cross level"
says "$(cat heat.svg)" "from rank"
expect 0 "$XYLEM" place lu.csv -m 2x2x2 -o cores --write back.mat
cmp "$data/lu.C.8.mat" back.mat || die "the matrix changed on its way through CSV"

# Loads.
printf '7\n1\n1\n1\n1\n1\n1\n1\n' >loads
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 2 --load loads -o cores
[ "$(tr -cd "${out%%,*}" <<<"$out" | wc -c)" = 1 ] || die "the heavy rank is not alone: $out"

bad() { # TEXT EXPECTED
    printf '%b' "$1" >bad.mat
    expect 1 "$XYLEM" place bad.mat -m 4
    one_line "$err"
    says "$err" "$2"
}
bad '' 'bad.mat: empty'
bad '0 1\n' 'bad.mat:1:'
bad '0 1\n2 nan\n' 'bad.mat:2:'
bad '0 1,5\n1 0\n' 'written with a point'
bad '0 -1\n1 0\n' 'negative'
expect 1 "$XYLEM" place missing.mat
one_line "$err"
expect 2 "$XYLEM" place "$data/lu.C.8.mat" -m 8 -s treematsh
says "$err" "did you mean 'treematch'"
expect 2 "$XYLEM" place "$data/lu.C.8.mat" -m 8 -w 1:x
one_line "$err"
printf '1\n2\n' >loads
expect 1 "$XYLEM" place "$data/lu.C.8.mat" -m 2 --load loads
says "$err" "2 loads for 8 processes"
