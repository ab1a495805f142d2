#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What --monitor, --trace and --virtual say of one-sided operations: watched.sh MPIEXEC PROGRAM XYLEM
set -euo pipefail
mpiexec=$1 program=$2 xylem=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "watched: $*" >&2
    exit 1
}

# Bytes of both directions, from the origin to the target; between processes, whichever way they go, the same.
for options in "" "--processes 2" "--processes 3 --eager 0"; do
    # shellcheck disable=SC2086 # several words
    "$mpiexec" -n 4 $options --monitor "$work/m" "$program" >/dev/null
    for line in 0,1,3000,3 0,2,1000,2 0,3,120,3; do
        grep -qxF "$line" "$work/m/program.csv" || fail "$options: no $line in $(cat "$work/m/program.csv")"
    done
    [ "$(grep -c '^[0-9]' "$work/m/program.csv")" = 3 ] || fail "$options: other pairs: $(cat "$work/m/program.csv")"
done

# Each direction is a message that lasts no longer than its call.
for options in "--workers 1" "--workers 2" "--processes 2" "--processes 2 --eager 0"; do
    # shellcheck disable=SC2086 # several words
    "$mpiexec" -n 4 $options --trace "$work/t.xyt" "$program" >/dev/null
    "$xylem" view "$work/t.xyt" --chrome "$work/t.chrome"
    # shellcheck disable=SC2086 # several words, or none
    python3 - "$work/t.chrome" ${options#--workers [12]} <<'END' || fail "the trace with $options"
import collections, json, sys
events = json.load(open(sys.argv[1]))
events = events["traceEvents"] if isinstance(events, dict) else events
sent = [e for e in events if e["ph"] == "s" and e["name"].startswith("MPI_")]
apart = len(sys.argv) > 2 # in processes: a target does not know which call fetches; there are messages of the library
kinds = collections.Counter((e["name"], e["args"]["bytes"]) for e in sent
                            if not (apart and e["name"] in ("MPI_Win_allocate", "MPI_Finalize", "MPI_Win_free")))
assert kinds == {("MPI_Put", 1000): 3, ("MPI_Get", 500): 2 if apart else 1, ("MPI_Accumulate", 80): 1,
                 ("MPI_Fetch_and_op", 8): 1 if apart else 2,
                 ("MPI_Compare_and_swap", 16): 1, ("MPI_Compare_and_swap", 8): 1,
                 **({("MPI_Get_accumulate", 8): 1} if apart else {("MPI_Rget", 500): 1})}, kinds
END
done

# On two nodes of two cores: rank 1 is near, ranks 2 and 3 are far. A way takes what a message takes:
# 0.1 us each to send and to receive, the copies at 8 GB/s, 0.1 us or 2 us and 10 GB/s between; a look
# at the clock 25 ns.
"$mpiexec" --virtual "node:2(latency=1us bandwidth=10GB/s) core:2" --compute none -n 4 "$program" >"$work/said"
python3 - "$work/said" <<'END' || fail "virtual times: $(cat "$work/said")"
import sys
near = lambda n: 0.2e-6 + 0.1e-6 + 2 * n / 8e9
far = lambda n: 0.2e-6 + 2e-6 + 2 * n / 8e9 + n / 10e9
wanted = {"put": near(1000), "get": far(0) + far(500), "rget": far(0) + far(500), "fetch": 2 * far(8),
          "add": far(80), "swap": far(16) + far(8)}
found = {what: float(seconds) for what, seconds in (line.split() for line in open(sys.argv[1]))}
assert wanted.keys() == found.keys()
for what, seconds in wanted.items():
    assert abs(found[what] - 25e-9 - seconds) < 1.5e-9, (what, found[what], seconds)
END
"$mpiexec" --virtual "node:2(latency=1us bandwidth=10GB/s) core:2" --compute none -n 4 --trace "$work/v.xyt" \
    --monitor "$work/v" "$program" >"$work/again"
cmp "$work/said" "$work/again" || fail "a trace changes virtual time"
"$xylem" view "$work/v.xyt" --json >/dev/null
grep -qxF 0,3,120,3 "$work/v/program.csv" || fail "virtual: $(cat "$work/v/program.csv")"
