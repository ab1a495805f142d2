#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every algorithm of every collective, those of other libraries included, runs when it is named and
# gives what the collective is defined to give, with 6 ranks or with 8; with XYLEM_SOAK, with both.
#
#   algorithms.sh MPIEXEC XYLEM COLLECTIVES
set -euo pipefail
. "$(dirname "$0")/../testing.sh"
mpiexec=$1 xylem=$2 program=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XYLEM_COSTS=$work/costs.xml

# Line k of the list has the k-th algorithm of each collective that has so many.
collectives="barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv
             alltoallw reduce allreduce reduce_scatter reduce_scatter_block scan exscan"
for c in $collectives; do
    echo "$c"
    "$xylem" explain coll "$c" --library openmpi --json
done >"$work/answers"
python3 - "$work/answers" >"$work/list" <<'PY'
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    answers = re.split(r"^(\w+)$", file.read(), flags=re.M)[1:]
names = {c: [x["name"] for x in json.loads(d)["candidates"]] for c, d in zip(answers[::2], answers[1::2])}
assert len(names) == 17 and sum(map(len, names.values())) > 90, names
for k in range(max(map(len, names.values()))):
    print(",".join(f"{c}={a[k]}" for c, a in names.items() if k < len(a)))
PY

number=0
while read -r algorithms; do
    number=$((number + 1))
    for n in 6 8; do
        is_chosen $((number + n / 2)) 2 || continue
        if ! timeout 240 "$mpiexec" -n $n --algorithm "$algorithms" "$program" >"$work/out" 2>&1; then
            echo "$n ranks, $algorithms:" >&2
            cat "$work/out" >&2
            exit 1
        fi
    done
done <"$work/list"
echo "$(wc -l <"$work/list") sets of algorithms"
