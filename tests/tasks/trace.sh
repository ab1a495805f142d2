#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The trace of a real run of the product: each task once, one at a time on a worker, and none before
# those that wrote its tile.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

program=$XYLEM_BUILD_DIR/tests/tasks/example_product_tasks
[ -e "$program" ] || skip "no $program in this build"
export XYLEM_MACHINES=$XYLEM_SOURCE_DIR/machines
expect 0 "$program" page.html run.xyt
expect 0 "$XYLEM" view run.xyt --chrome run.json
[ -z "$err" ] || die "the trace is not whole: $err"
python3 - <<'PY'
import json
from collections import Counter, defaultdict

TILES = 12
events = json.load(open("run.json", encoding="utf-8"))["traceEvents"]
tasks = [e for e in events if e["ph"] == "X" and e["name"] == "task"]
names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert Counter(e["args"]["id"] for e in tasks) == Counter(range(TILES * TILES * (TILES + 1)))
of_worker = defaultdict(list)
begin, end = {}, {}
for e in tasks:
    assert names[e["tid"]].startswith("worker "), names[e["tid"]]
    begin[e["args"]["id"]], end[e["args"]["id"]] = e["ts"], e["ts"] + e["dur"]
    of_worker[e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
for spans in of_worker.values():
    spans.sort()
    for (_, before), (after, _) in zip(spans, spans[1:]):
        assert after >= before - 1e-3, (before, after)  # written in microseconds, to the nanosecond
# The tasks of a tile of the result are 13 in a row, each after the one before it.
for i in range(TILES * TILES * (TILES + 1)):
    if i % (TILES + 1):
        assert begin[i] >= end[i - 1] - 1e-3, i
PY
