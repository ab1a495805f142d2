#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Messages from rank to rank are in the trace of a real run, and in all that is made of it:
# arrows.sh MPIEXEC PROGRAM XYLEM
set -euo pipefail
mpiexec=$1 program=$2 xylem=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "arrows: $*" >&2
    exit 1
}

# record COUNT [OPTION]...: so many messages are recorded, and the file is whole.
record() {
    local count=$1
    shift
    "$mpiexec" -n 4 --trace "$work/t.xyt" "$@" "$program" || fail "does not run with '$*'"
    "$xylem" view "$work/t.xyt" --json >"$work/t.json" 2>"$work/warned"
    [ ! -s "$work/warned" ] || fail "$*: $(cat "$work/warned")"
    "$xylem" view "$work/t.xyt" --chrome "$work/t.chrome"
    python3 - "$work/t.chrome" "$work/t.json" "$count" "$@" <<'END' || fail "with '$*'"
import json, sys
events = json.load(open(sys.argv[1]))
events = events["traceEvents"] if isinstance(events, dict) else events
start = {e["id"]: e for e in events if e["ph"] == "s" and e["name"].startswith("MPI_")}
end = {e["id"]: e for e in events if e["ph"] == "f" and e["id"] in start}
assert len(start) == len(end) == int(sys.argv[3]), (len(start), len(end))
if "all" in sys.argv[4:]:
    assert json.load(open(sys.argv[2]))["messages_unreceived"] == 1
for i, e in start.items():
    assert e["ts"] <= end[i]["ts"] + 50, (e, end[i]) # clocks of cores differ by less
    assert e["name"] in {"MPI_Sendrecv", "MPI_Isend"}, e
    assert e["args"]["bytes"] in (8, 160000), e
END
}

# A ring of 4 ranks, ten rounds, and five large ones; the one that is not received is none.
record 45
record 45 --trace-messages all
record 45 --workers 1
record 0 --trace-messages none
record 5 --trace-messages 64K
record 25 --trace-messages ranks:3
record 45 --trace-messages ranks:0-3
XYLEM_TRACE_MESSAGES=64K record 5
if [ "$(nproc)" -gt 1 ]; then
    record 45 --comm-cores 1 --workers 2
fi
"$xylem" view "$work/t.xyt" --svg "$work/t.svg" --paje "$work/t.paje" -o "$work/t.html"
grep -q '</html>' "$work/t.html" || fail "no page"
# Readers of Pajé print names between commas: no name has one.
! grep -v '^%' "$work/t.paje" | grep , || fail "commas in names"
[ "$(grep -c '^10 ' "$work/t.paje")" -ge 45 ] || fail "Pajé has not all messages"
if command -v pj_dump >/dev/null; then
    pj_dump "$work/t.paje" >"$work/dump"
    [ "$(grep -c '^Link' "$work/dump")" -ge 45 ] || fail "pj_dump does not see all messages"
fi

# What is no filter is said before anything runs.
got=0
"$mpiexec" -n 2 --trace "$work/u.xyt" --trace-messages many "$program" 2>"$work/said" || got=$?
[ $got != 0 ] || fail "a filter that is none was taken"
grep -q "'many' is neither all, none, a size such as 64K, nor" "$work/said" || fail "$(cat "$work/said")"
got=0
"$mpiexec" -n 2 --trace "$work/u.xyt" --trace-messages ranks:7 "$program" 2>"$work/said" || got=$?
[ $got != 0 ] || fail "rank 7 of 2 was taken"
