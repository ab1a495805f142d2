# SPDX-License-Identifier: BSD-3-Clause
"""check_files.py JSON SARIF PATH: what mpiexec --check wrote about check.c, which is PATH in the files."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    sarif = json.load(file)

assert report["ranks"] == 3 and report["program"].endswith("check"), report
assert report["program_exit_code"] == 0 and report["errors"] == 0 and report["warnings"] == 1, report
found = {f["message"].split(" ")[1]: f for f in report["findings"]}
assert set(found) == {"communicator", "info"}, found
comm, info = found["communicator"], found["info"]
assert comm["class"] == "never-freed" and comm["severity"] == "warning", comm
assert comm["ranks"] == [0, 1, 2] and comm["count"] == 3 and not comm["suppressed"], comm
assert info["ranks"] == [0] and info["suppressed"], info
assert comm["places"][0]["file"] == sys.argv[3] and comm["places"][0]["line"] > 10, comm

# What SARIF 2.1.0 requires: sarifLog (version, runs), run (tool), toolComponent (name),
# reportingDescriptor (id), result (message), suppression (kind).
assert sarif["version"] == "2.1.0" and "sarif" in sarif["$schema"], sarif
assert len(sarif["runs"]) == 1
run = sarif["runs"][0]
driver = run["tool"]["driver"]
assert driver["name"] == "Xylem" and isinstance(driver["rules"], list), driver
for rule in driver["rules"]:
    assert rule["id"] and all(rule[k]["text"] for k in ("shortDescription", "fullDescription", "help")), rule
assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"])
assert len(run["results"]) == 2
for result in run["results"]:
    assert result["message"]["text"] and result["level"] in ("none", "note", "warning", "error"), result
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "never-freed", result
    where = result["locations"][0]["physicalLocation"]
    uri = sys.argv[3] if not sys.argv[3].startswith("/") else "file://" + sys.argv[3]
    assert where["artifactLocation"]["uri"] == uri and where["region"]["startLine"] > 10, where
    for suppression in result.get("suppressions", []):
        assert suppression["kind"] in ("inSource", "external"), suppression
assert sum("suppressions" in result for result in run["results"]) == 1
