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

# More ranks than cores: round-robin goes round, packed keeps neighbours together.
expect 0 "$XYLEM" place "$data/treematch8.mat" -m core:3 -s round-robin -o cores
[ "$out" = 0,1,2,0,1,2,0,1 ] || die "round-robin gives $out"
expect 0 "$XYLEM" place "$data/treematch8.mat" -m core:3 -s packed -o cores
[ "$out" = 0,0,0,1,1,1,2,2 ] || die "packed gives $out"
expect 0 "$XYLEM" place "$data/treematch8.mat" -m "numa:2 core:5" -s scatter_numa -o cores
[ "$out" = 0,1,2,3,5,6,7,8 ] || die "scatter_numa gives $out"

# For our own launcher the first hardware thread of each core is the core.
expect 0 "$XYLEM" place "$data/treematch8.mat" -m "numa:2 core:4 pu:2" -s packed -o xylem
[ "$(tr '\n' ' ' <<<"$out")" = "0 0 1 2 2 4 3 6 4 8 5 10 6 12 7 14 " ] || die "xylem: $out"

# No launcher gets two ranks on one core while others are free.
expect 0 "$XYLEM" place "$data/treematch8.mat" -m "numa:2 core:4 pu:2" -s packed -o rankfile
[ "$(cut -d= -f3 <<<"$out" | sort -nu | wc -l)" = 8 ] || die "rankfile: $out"
expect 0 "$XYLEM" place "$data/treematch8.mat" -m "numa:2 core:4 pu:2" -o cores
[ "$(tr , '\n' <<<"$out" | sort -n | tr '\n' ' ')" = "0 2 4 6 8 10 12 14 " ] || die "cores: $out"
expect 0 "$XYLEM" place "$data/treematch8.mat" -m "numa:2 core:2 pu:2" -o cores
[ "$(tr , '\n' <<<"$out" | sort -n | tr '\n' ' ')" = "0 1 2 3 4 5 6 7 " ] || die "threads: $out"

expect 0 "$XYLEM" place "$data/treematch8.mat" -m 2x2x2 -s treematch --json
says "$out" '"core_of":[0,2,4,6,1,3,5,7]'
says "$out" '"hop_bytes":22016,'
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 2x4 --compare
says "$out" "all strategies cost the same"
says "$out" multisection
says "$out" auto
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

# The gain in time: far pairs that talk come together.
printf 'source,target,bytes,messages\n0,2,1e8,100\n2,0,1e8,100\n1,3,1e8,100\n3,1,1e8,100\n' >far.csv
far='node:2(latency=1us bandwidth=1GB/s) core:2'
expect 0 "$XYLEM" place far.csv -m "$far" --predict --baseline packed
[[ $out =~ communication\ alone:.*\ instead\ of\ .*\ by\ packed,\ ([0-9]+)[.0-9]*\ times\ as\ fast ]] ||
    die "no gain: $out"
[ "${BASH_REMATCH[1]}" -ge 2 ] || die "a gain of ${BASH_REMATCH[1]}"
expect 0 "$XYLEM" place far.csv -m "$far" --predict --compare
says "$out" "predicted"
expect 0 "$XYLEM" place far.csv -m "$far" --predict --compare --json
python3 -c 'import json,sys
rows = {r["strategy"]: r["predicted"] for r in json.load(sys.stdin)}
assert 0 < rows["auto"] < rows["packed"] / 2, rows' <"$WORK/.out" || die "$out"
expect 0 "$XYLEM" place far.csv -m "$far" --json
[[ $out != *predicted* ]] || die "predicted without being asked: $out"
expect 2 "$XYLEM" place far.csv -m torus:2x2 --predict
says "$err" "has no latencies and bandwidths"

# Pictures and conversions.
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 2x2x2 --svg tree.svg --heatmap heat.svg --write lu.csv
says "$(cat tree.svg)" "cross these links"
expect 1 "$XYLEM" place "$data/lu.C.8.mat" -m "node:2 core:4" -o xylem
says "$err" "ranks 0 and"
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m "package:2 core:4" -o xylem
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 100x4 --svg large.svg
says "$(cat large.svg)" "that are not drawn"
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m torus:3x3x2 --svg torus.svg
says "$(cat torus.svg)" "travel 1 link<"
expect 0 "$XYLEM" place far.csv -m "torus:2x2(latency=1us bandwidth=1GB/s) core:2" --predict --svg torus.svg
says "$out" "communication alone"
says "$(cat torus.svg)" "travel 2 links<"
expect 1 "$XYLEM" place far.csv -m "cluster:2 torus:2x2 core:2"
says "$err" "a part of a larger network cannot be placed on"
says "$(cat heat.svg)" "from rank"
says "$(cat heat.svg)" "0 B to 305 KiB, on a logarithmic scale"
expect 0 "$XYLEM" place lu.csv -m 2x2x2 -o cores --write back.mat
cmp "$data/lu.C.8.mat" back.mat || die "the matrix changed on its way through CSV"

# Why: levels, pairs, other strategies; as text and as JSON.
expect 0 "$XYLEM" explain place "$data/treematch8.mat" -m 'package:2 l3:2 core:2'
says "$out" "one package             808   8.7 %         3232        17776  13.0 %"
says "$out" "ranks 1 and 2 on cores"
says "$out" "packed         13.1067"
expect 0 "$XYLEM" explain place "$data/treematch8.mat" packed -m 'package:2 l3:2 core:2' --json
python3 -c 'import json,sys
d = json.load(sys.stdin)
assert d["strategy"] == "packed" and len(d["pairs"]) == 5, d
assert abs(sum(l["weighted"] for l in d["levels"]) - d["weighted"]) < 1e-6 * d["weighted"], d
assert d["pairs"][0]["weighted"] >= d["pairs"][4]["weighted"], d' <"$WORK/.out" || die "why: $out"
expect 0 "$XYLEM" explain place "$data/lu.C.8.mat" treematch -m torus:2x2x2
says "$out" "1 link "
expect 1 "$XYLEM" explain place nothere.mat
one_line "$err"
printf '\357\273\2770 5\n5 0\n' >marked.mat
expect 0 "$XYLEM" place marked.mat -m 2 -o cores

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
bad '0 -1\n1 0\n' 'bad.mat:1:'
says "$err" negative
bad '0 inf\n1 0\n' 'bad.mat:1:'
bad '0 1\n1e999 0\n' 'bad.mat:2:'
bad '0 1\n1 x7\n' 'bad.mat:2:'
bad '0 1 2\n1 0 2\n' 'bad.mat' # not square: columns
bad '0 1\n1 0\n2 2\n' 'bad.mat:3:' # not square: rows

# The other formats, with the place of what is wrong.
worse() { # NAME TEXT EXPECTED
    printf '%b' "$2" >"$1"
    expect 1 "$XYLEM" place "$1" -m 4
    one_line "$err"
    says "$err" "$3"
}
market='%%MatrixMarket matrix coordinate real general\n'
worse huge.mtx "${market}10000000 10000000 1\n1 2 5\n" 'huge.mtx:2:'
worse wide.mtx "${market}3 4 1\n1 2 5\n" 'wide.mtx:2:'
worse far.mtx "${market}4 4 1\n1 5 5\n" 'far.mtx:3:'
worse nan.mtx "${market}4 4 1\n1 2 nan\n" 'nan.mtx:3:'
worse short.mtx "${market}4 4 2\n1 2 5\n" 'short.mtx:'
worse empty.mtx '' 'empty.mtx'
worse far.csv '# ranks 4\nsource,target,bytes\n0,4,5\n' 'far.csv:3:'
worse minus.csv 'source,target,bytes\n0,1,-5\n' 'minus.csv:2:'
worse infinite.csv 'source,target,bytes\n0,1,inf\n' 'infinite.csv:2:'
worse huge.csv 'source,target,bytes\n0,9999999,5\n' 'huge.csv:2:'
worse empty.csv '' 'empty.csv'
worse huge.graph '10000000 1\n2\n1\n' 'huge.graph:1:'
worse far.graph '2 1\n2\n3\n' 'far.graph:3:'
worse minus.graph '2 1 001\n2 -4\n1 -4\n' 'minus.graph:2:'
worse empty.graph '' 'empty.graph'
worse far.prof 'E\t0\tx\t5 bytes\t1 msgs sent\n' 'far.prof:1:'
worse empty.prof '' 'empty.prof'

# No newline behind the last line is no mistake.
printf '0 1\n1 0' >open.mat
expect 0 "$XYLEM" place open.mat -m 2 -o cores
[ -z "$err" ] || die "an open last line is blamed: $err"
# More processes than cores: placed, and said in one line.
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 3 -o cores
one_line "$err"
says "$err" '8 processes for 3 cores, which run up to 3 each'

# What launchers read, by the grammar of their manuals; several hosts.
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 'node:2 core:4' --json
cp "$WORK/.out" placed.json
for format in rankfile rankfile5 mpich mpich-hosts slurm; do
    expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 'node:2 core:4' -s packed -o $format
    cp "$WORK/.out" $format.out
done
expect 0 "$XYLEM" place "$data/lu.C.8.mat" -m 'node:2 core:4' -o rankfile5
cp "$WORK/.out" rankfile5.out
python3 - <<'EOF' || die "a launcher would not read this"
import json, re
core_of = json.load(open("placed.json"))["core_of"]
# Open MPI 5: rank N=HOST slot=CORE, every rank once; +nK is host K of the allocation
ranks = {}
for line in open("rankfile5.out"):
    rank, host, slot = re.fullmatch(r"rank (\d+)=\+n(\d+) slot=(\d+)\n", line).groups()
    assert int(rank) not in ranks
    ranks[int(rank)] = 4 * int(host) + int(slot)
assert [ranks[r] for r in range(8)] == core_of, (ranks, core_of)
# MPICH: -bind-to user:CORES -rankmap HOST of each rank
cores, hosts = re.fullmatch(r"-bind-to user:([\d,]+) -rankmap ([\d,]+)\n",
                            open("mpich.out").read()).groups()
assert cores == "0,1,2,3" and hosts == "0,0,0,0,1,1,1,1", (cores, hosts)
assert open("mpich-hosts.out").read() == "".join(f"node{i}:4 binding=user:0,1,2,3\n" for i in (0, 1))
assert open("slurm.out").read().split() == ["node0"] * 4 + ["node1"] * 4
EOF
expect 1 "$XYLEM" place missing.mat
one_line "$err"
expect 2 "$XYLEM" place "$data/lu.C.8.mat" -m 8 -s treematsh
says "$err" "did you mean 'treematch'"
expect 2 "$XYLEM" place "$data/lu.C.8.mat" -m 8 -w 1:x
one_line "$err"
printf '1\n2\n' >loads
expect 1 "$XYLEM" place "$data/lu.C.8.mat" -m 2 --load loads
says "$err" "2 loads for 8 processes"
