#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare the results of a test run with those of the run before, and store them (scripts/nightly.sh).

    scripts/compare.py BEFORE NOW
    scripts/compare.py --self-test

Both are files of lines `stage,name,result,seconds`. BEFORE is replaced by NOW; a test that NOW does not have keeps
its line. Exit code 1: a test failed.
"""
import csv
import os
import sys
import tempfile
from pathlib import Path

FIELDS = ["stage", "name", "result", "seconds"]
GOOD = {"passed", "killed", "ok", "skipped"}


def read(path):
    """{(stage, name): (result, seconds)}; nothing for a file that is not there."""
    if not path.exists():
        return {}
    with open(path, encoding="utf-8", newline="") as file:
        return {(row["stage"], row["name"]): (row["result"], float(row["seconds"] or 0)) for row in csv.DictReader(file)}


def write(path, results):
    scratch = path.with_name(path.name + ".new")
    with open(scratch, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(FIELDS)
        rows.writerows([*key, *value] for key, value in sorted(results.items()))
    os.replace(scratch, path)


def compare(before, now):
    """Lines about what is new."""
    for (stage, name), (result, seconds) in sorted(now.items()):
        old = before.get((stage, name))
        if result not in GOOD:
            kind = "new test fails" if old is None else "new failure" if old[0] in GOOD else "still fails"
            yield f"{kind}: {stage} {name} ({result})"
        elif old is not None and old[0] not in GOOD:
            yield f"fixed: {stage} {name}"
        elif old is not None and seconds > 2 * old[1] and seconds > old[1] + 1:
            yield f"slower: {stage} {name} ({old[1]:g} s, now {seconds:g} s)"
    missed = len(before.keys() - now.keys())
    yield f"{len(now)} results, {sum(r not in GOOD for r, _ in now.values())} failures; {missed} kept from earlier runs"


def self_test():
    before = {("dev", "a"): ("passed", 1.0), ("dev", "b"): ("failed", 1.0), ("dev", "c"): ("passed", 1.0),
              ("dev", "d"): ("failed", 1.0), ("mutants", "m"): ("killed", 3.0)}
    now = {("dev", "a"): ("failed", 1.0), ("dev", "b"): ("passed", 1.0), ("dev", "c"): ("passed", 2.5),
           ("dev", "d"): ("timeout", 1.0), ("dev", "e"): ("failed", 0.0)}
    assert list(compare(before, now)) == [
        "new failure: dev a (failed)", "fixed: dev b", "slower: dev c (1 s, now 2.5 s)", "still fails: dev d (timeout)",
        "new test fails: dev e (failed)", "5 results, 3 failures; 1 kept from earlier runs"], list(compare(before, now))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "results.csv")
        assert read(path) == {}
        write(path, before)
        assert read(path) == before
    print("self-test: ok")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    path = Path(sys.argv[1])
    before, now = read(path), read(Path(sys.argv[2]))
    print("\n".join(compare(before, now)))
    write(path, before | now)
    return int(any(result not in GOOD for result, _ in now.values()))


if __name__ == "__main__":
    sys.exit(main())
