#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_clocks.py RUN.json RUN.chrome SECONDS...

A trace of hosts whose clocks are SECONDS ahead is one run of seconds: each offset was measured within the error
that is stated, and no message arrives before it was sent by more than these errors or 100 us."""
import json
import sys

run = json.load(open(sys.argv[1]))
ahead = [float(text) for text in sys.argv[3:]]
assert 0 <= run["begin"] < run["end"] < 600, (run["begin"], run["end"])
assert len(run["processes"]) == len(ahead), run["processes"]
for process, seconds in zip(run["processes"], ahead):
    wrong = abs(process["clock_offset"] + seconds)
    assert wrong <= process["clock_error"] + 1e-6, f"{process}: {seconds} s ahead, wrong by {wrong} s"

events = json.load(open(sys.argv[2]))
events = events["traceEvents"] if isinstance(events, dict) else events
errors = sorted(process["clock_error"] * 1e6 for process in run["processes"])
allowed = max(100, errors[-1] + errors[-2])
sent = {(e["cat"], e["id"]): e for e in events if e["ph"] == "s"}
links = [(sent[e["cat"], e["id"]], e) for e in events if e["ph"] == "f"]
between = [(a, b) for a, b in links if a["pid"] != b["pid"]]
assert between, "no message between processes"
early = min(b["ts"] - a["ts"] for a, b in between)
assert early >= -allowed, f"a message arrives {-early:.1f} us before it was sent; allowed: {allowed:.1f} us"
print(f"{len(between)} messages between hosts, the fastest in {early:.1f} us; errors up to {errors[-1]:.1f} us")
