#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# xylem bench: nbc on simulated machines (files, lists, wrong usage) and here, smt here.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

expect 0 "$XYLEM" bench nbc --simulate knl64 -c reduce -c scan -n 8..16:4,32 -s 4K -s 1M \
    --csv points.csv --html page.html --svg curves.svg --json
printf '%s\n' "$out" >points.json
python3 - <<'PY'
import csv, json, xml.dom.minidom
points = json.load(open("points.json"))["points"]
rows = list(csv.DictReader(open("points.csv")))
assert len(points) == len(rows) == 2 * 2 * 4 * 3, len(points)
for p, r in zip(points, rows):
    assert abs(p["t_ovrl"] - float(r["t_ovrl"])) < 1e-8 * p["t_ovrl"]
    assert p["t_ovrl"] >= p["t_comp"] * 0.999999
    assert 0 <= p["overlap"] <= 100
    if p["progress"] == "tasks":
        assert p["bound"] <= p["t_ovrl"] * 1.000001
assert {p["ranks"] for p in points} == {8, 12, 16, 32}
xml.dom.minidom.parse("curves.svg")
PY
grep -q '<h2>Overlap over ranks and size' page.html || die "the page has no heat map"

# The same input gives the same output, and all 17 collectives run.
expect 0 "$XYLEM" bench nbc --simulate skylake48 -c all -n 40 -s 64K -p threads -p tasks
first=$out
expect 0 "$XYLEM" bench nbc --simulate skylake48 -c all -n 40 -s 64K -p threads -p tasks
[ "$first" = "$out" ] || die "two runs differ"
[ "$(printf '%s\n' "$out" | grep -c simulated)" = 17 ] || die "not 17 collectives"

expect 0 "$XYLEM" bench nbc --simulate core:8 -c bcast -n 6 -p threads --order round-robin --trace t.xyt
expect 0 "$XYLEM" view t.xyt

# Nothing to send takes no time, and that is a number; a computation of no time is no default.
expect 0 "$XYLEM" bench nbc --simulate knl64 -c reduce -s 0 -n 8 --html zero.html
expect 0 "$XYLEM" bench nbc --simulate knl64 -c reduce -s 0 -n 8
! grep -q 'nan %' zero.html || die "not a number on the page"
! grep -qi -- '-nan\|nan%' <<<"$out" || die "not a number: $out"
expect 2 "$XYLEM" bench nbc --simulate knl64 -c reduce -n 8 --compute 0
says "$err" "--compute must be above 0"
expect 2 "$XYLEM" bench nbc -c reduce -n 2 --compute 1s
says "$err" "--compute is for simulating; give --simulate MACHINE"
expect 2 "$XYLEM" bench nbc --simulate knl64 -c reduce -n 8 --factor 2
says "$err" "--factor is for measuring"
# A million messages that share links are refused after seconds; the same of a few ranks are not.
if is_chosen 1 2; then
    expect 1 "$XYLEM" bench nbc --simulate fattree1024 -c alltoall -n 1000 -s 1M -p none
    says "$err" "messages between nodes share links"
fi
expect 0 "$XYLEM" bench nbc --simulate fattree1024 -c alltoall -n 40 -s 1M -p none
expect 2 "$XYLEM" bench nbc --simulate knl64 -c reduce -n 8 --compute=-1s
one_line "$err"
# Long buffers are cut into longer pieces: this takes a second, not hours.
! is_chosen 0 2 || expect 0 timeout 120 "$XYLEM" bench nbc --simulate fattree1024 -c bcast -n 1000 -s 1T -p tasks
expect 0 timeout 120 "$XYLEM" bench nbc --simulate knl64 -c bcast -c allreduce -n 60 -s 1T -p tasks

# The model of split-tree: the values that are known for 64 cores.
expect 0 "$XYLEM" explain split reduce -m knl64 -n 58 --svg split.svg
says "$out" "*   2         7      8.6207"
says "$out" "   52     7.385       1   8.3846  from here on"
says "$out" "   62     6.194       3   9.1935  from here on"
says "$out" "least T_ovrl: 7.5294 with 51 ranks"
python3 -c 'import re, xml.dom.minidom
xml.dom.minidom.parse("split.svg")
text = open("split.svg").read()
assert "F(N, i)" in text
# The strip of the best S for 32 to 63 ranks: 0 to 51, 1 to 57, 2 to 61, then 3.
strip = re.findall(r"class=.s(\d) thick. d=.M[0-9.]+ 272L[0-9.]+ 272", text)
assert strip == ["1"] * 20 + ["2"] * 6 + ["3"] * 4 + ["4"] * 2, strip'
expect 0 "$XYLEM" explain split gather -m skylake48 --json
python3 -c 'import json,sys
d = json.load(sys.stdin)
best = [r["best"] for r in d["ranks"]]
assert [2 + best.index(s) for s in (1, 2, 3)] == [44, 45, 46], best
assert sum(d["messages"]) == 41, d["messages"]
' <"$WORK/.out" || die "split: $out"
expect 2 "$XYLEM" explain split scan -m knl64
expect 2 "$XYLEM" explain split bcast -m knl64 -n 65

expect 2 "$XYLEM" bench
expect 2 "$XYLEM" bench nbx

# Measured here: all outputs, several ways, a sweep with curves and heat maps.
expect 0 "$XYLEM" bench nbc -c bcast -c scan -n 3 -s 4K -r 2 --csv r.csv --json
[ "$(grep -c '"right": true' <<<"$out")" = 2 ] || die "not two right results: $out"
[ "$(wc -l <r.csv)" = 3 ] || die "r.csv: $(cat r.csv)"
expect 0 "$XYLEM" bench nbc -c reduce -n 2,4 -s 4K -s 64K -r 1 --work 48 -p tasks -p none --html r.html
[ "$(grep -c '^reduce ' <<<"$out")" = 4 ] || die "not four points: $out"
grep -q equivalent-compute <<<"$out" || die "a sweep does not fix the work: $out"
[ "$(grep -c '<svg' r.html)" = 3 ] || die "r.html lacks heat maps"
grep -q 'class="finding">[a-z]* hides [0-9]* % of reduce, [a-z]* [0-9]* %' r.html || die "r.html has no finding"
expect 0 "$XYLEM" bench nbc -c all -n 2 -s 4K -r 1 --kernel addition
[ "$(grep -c '%' <<<"$out")" = 17 ] || die "not all collectives: $out"
mkdir bin && ln -s /usr/bin/* bin && rm -f bin/mpi*
expect 0 env PATH="$PWD/bin" "$XYLEM" bench nbc -c bcast -n 2 -s 64 -r 1 --against openmpi
says "$err" "openmpi is not installed"
expect 2 "$XYLEM" bench nbc --against lam
expect 2 "$XYLEM" bench nbc --trace x.xyt
expect 2 "$XYLEM" bench nbc --simulate knl64 -n 8..4
expect 2 "$XYLEM" bench nbc --simulate knl64 -c brodcast
expect 2 "$XYLEM" bench nbc --simulate knl64 -p task
expect 2 "$XYLEM" bench nbc --simulate knl64 -s 12x
expect 2 "$XYLEM" bench nbc --simulate knl64 --split some
expect 1 "$XYLEM" bench nbc --simulate knl64 -n 65
expect 1 "$XYLEM" bench nbc --simulate knl64 -p threads --threads smt -n 8

# The hyper-thread test runs here too, whatever the machine lacks, and says what that is.
expect 0 "$XYLEM" bench smt --size 64 --repetitions 1 --json
printf '%s\n' "$out" | python3 -c 'import json, sys; assert json.load(sys.stdin)[0]["place"] == "alone"'
expect 0 "$XYLEM" bench smt --size 64 --repetitions 1
for place in alone "other package" "other core" "same PU" sibling; do
    says "$out" "$place"
done
