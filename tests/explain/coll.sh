# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# xylem explain coll: every collective, the choice, what is forced, what is wrong.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

collectives="barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv
             alltoallw reduce allreduce reduce_scatter reduce_scatter_block scan exscan"
for c in $collectives; do
    for n in 1 2 13 64; do
        expect 0 "$XYLEM" explain coll "$c" -n "$n" -s 4K
        says "$out" "* chosen: "
        expect 0 "$XYLEM" explain coll "$c" -n "$n" -s 4K --json
        says "$out" "\"collective\": \"$c\""
        printf '%s,' "$out"
    done
done >all.json
python3 - <<'PY' || die "the JSON contradicts itself"
import json

with open("all.json", encoding="utf-8") as file:
    answers = json.loads("[" + file.read().rstrip(",") + "]")
assert len(answers) == 17 * 4
for d in answers:
    fit = [x for x in d["candidates"] if x["applicable"]]
    costs = [x["seconds"] for x in fit]
    scheduled = [x for x in fit if x["engine"] == "scheduled"]
    assert fit and costs == sorted(costs) and not d["forced"], d
    assert d["chosen"] == scheduled[0]["name"] and d["default"] == "direct", d
    assert [x["name"] for x in fit if x["engine"] == "direct"] == ["direct"], d
    assert [x["name"] for x in d["candidates"] if x["chosen"]] == [d["chosen"]], d
    assert all(x["needs"] for x in d["candidates"] if not x["applicable"]), d
PY

expect 0 "$XYLEM" explain coll allreduce -n 64 -s 8
says "$out" "* chosen: recursive-doubling"
expect 0 "$XYLEM" explain coll allreduce -n 64 -s 1M
says "$out" "* chosen: rabenseifner"
expect 0 "$XYLEM" explain coll allreduce -n 64 -s 1M --algorithm reduce-bcast
says "$out" "* forced: reduce-bcast"
expect 0 "$XYLEM" explain coll allreduce -n 64 -s 1M --algorithm direct
says "$out" "* forced: direct, as by default inside a node"
# Latency decides: with none, fewer bytes; with much, fewer rounds.
expect 0 "$XYLEM" explain coll bcast -n 64 -s 1M --latency 10ms
says "$out" "* chosen: binomial"
expect 0 "$XYLEM" explain coll bcast -n 64 -s 1M --latency 0
says "$out" "* chosen: chain"

# What is not given comes from the calibration of this machine, where there is one.
says "$out" "(as given)"
expect 0 "$XYLEM" explain coll bcast -n 64 -s 1M
says "$out" "(not calibrated)"
printf 'alpha 1e-2\nbeta 1e-10\ngamma 1e-10\ncopy 2e-10\n' >"$WORK/mine.xml.link"
expect 0 env XYLEM_COSTS="$WORK/mine.xml" "$XYLEM" explain coll bcast -n 64 -s 1M
says "$out" "a = 10 ms, 1/b = 10 GB/s, 1/c = 5 GB/s, 1/g = 10 GB/s (calibrated)"
says "$out" "* chosen: binomial"

# What libraries would choose: the rule and what it turns into, every algorithm beside it.
for c in $collectives; do
    for l in xylem openmpi mpich; do
        expect 0 "$XYLEM" explain coll "$c" -n 13 -s 4K --library "$l"
        expect 0 "$XYLEM" explain coll "$c" -n 12 -s 4K --library "$l" --nonblocking --ranks-per-node 4 --json
        says "$out" "\"name\": \"$l\""
    done
done
expect 0 "$XYLEM" explain coll bcast -n 20 -s 8K --library openmpi
says "$out" "* Open MPI 4.1: binomial-high, by line "
says "$out" "vector of 4096 to 1048575 bytes"
says "$out" "  knomial "
expect 0 "$XYLEM" explain coll allreduce -n 20 -s 32 --library openmpi
says "$out" "it turns into another: count<p -> recursive_doubling"
expect 0 "$XYLEM" explain coll bcast -n 16 -s 1K --library mpich --ranks-per-node 4
says "$out" "* MPICH 4.0: two-level, by line "
expect 0 "$XYLEM" explain coll bcast -n 16 -s 1K --library xylem --ranks-per-node 16
says "$out" "* Xylem: direct, as all ranks are on one node"
expect 0 "$XYLEM" explain coll reduce -n 2 -s 128K --library openmpi --nonblocking
says "$out" "in pieces of 8192 bytes"
# Only what Xylem itself may choose is listed otherwise, but any can be forced.
expect 0 "$XYLEM" explain coll bcast -n 20
[[ $out != *knomial* ]] || die "knomial is listed without --library: $out"
expect 0 "$XYLEM" explain coll bcast -n 20 --algorithm knomial
says "$out" "* forced: knomial"

# Pieces make a pipeline of a tree.
expect 0 "$XYLEM" explain coll bcast -n 16 -s 1M --algorithm knomial
says "$out" "* knomial                788 us"
expect 0 "$XYLEM" explain coll bcast -n 16 -s 1M --algorithm knomial --segment 64K --radix 2
says "$out" "* knomial                543 us"

wrong() {
    local code=$1 said=$2
    shift 2
    expect "$code" "$XYLEM" explain "$@"
    one_line "$err"
    says "$err" "$said"
}
wrong 2 "did you mean 'coll'?" col allreduce
wrong 2 "unknown topic" nonsense
wrong 2 "did you mean 'allreduce'?" coll allredce
wrong 2 "usage: xylem explain coll COLLECTIVE" coll
wrong 2 "usage: xylem explain coll COLLECTIVE" coll bcast gather
wrong 2 "not a whole number of elements" coll bcast -s 13
wrong 2 "not a whole number of elements" coll bcast --element 0
wrong 2 "above 0" coll bcast --bandwidth 0
wrong 1 "were not measured" coll bcast --costs "$XYLEM_SOURCE_DIR/tests/data/cost/costs.xml"
wrong 2 "-n" coll bcast -n 0
wrong 1 "did you mean 'ring'?" coll allreduce -a rign
wrong 2 "did you mean 'openmpi'?" coll allreduce --library opnmpi
wrong 2 "there are xylem, openmpi and mpich" coll allreduce --library lammmm
wrong 2 "exclude each other" coll allreduce --library mpich -a ring
wrong 1 "needs an operation that commutes" coll allreduce -a ring --ordered
wrong 1 "the total size is too large" coll allgather -s 8000000T -n 16384
