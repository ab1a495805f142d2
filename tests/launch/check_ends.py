# SPDX-License-Identifier: BSD-3-Clause
"""check_ends.py SOURCE CLASS CODE RANKS JSON SARIF: what --check wrote about a job that a mistake of this class
ended: it alone, with these ranks (0,1), and the line of the source that has the class as its mark."""
import json
import re
import sys

source, name, code, ranks = sys.argv[1:5]
with open(source, encoding="utf-8") as file:
    marked = [n for n, line in enumerate(file, 1) if line.rstrip().endswith("// " + name)]
with open(sys.argv[5], encoding="utf-8") as file:
    report = json.load(file)
with open(sys.argv[6], encoding="utf-8") as file:
    sarif = json.load(file)

assert report["exit_code"] == int(code) and report["errors"] == 1 and report["warnings"] == 0, report
own = name in ("crash", "aborted", "early-exit")
assert report["program_exit_code"] == (int(code) if own else None), report
assert len(report["findings"]) == 1, report
found = report["findings"][0]
assert found["class"] == name and found["severity"] == "error" and not found["suppressed"], found
assert found["ranks"] == [int(r) for r in ranks.split(",")], found
assert found["message"] and not re.match(r"rank \d+: ", found["message"]), found
lines = [place["line"] for place in found["places"] if place["file"] and place["file"].endswith("check.c")]
assert not marked or marked[0] in lines, (marked, found)

result, = sarif["runs"][0]["results"]
rules = sarif["runs"][0]["tool"]["driver"]["rules"]
assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == name and result["level"] == "error", result
assert found["message"] in result["message"]["text"], result
places = result["locations"] + result["relatedLocations"]
assert all(p["physicalLocation"]["artifactLocation"]["uri"].endswith("check.c") for p in places), result
assert not marked or marked[0] in [p["physicalLocation"]["region"]["startLine"] for p in places], result
if name in ("deadlock", "time-limit"):
    states = found["states"]
    assert sorted(r for s in states for r in s["ranks"]) == [0, 1, 2], states
    assert name == "time-limit" or states[0]["place"]["line"] == marked[0], states
    assert name == "time-limit" or "waits for a message with tag 7" in found["message"], found
