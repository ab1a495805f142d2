#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Break one promise at a time and see a test fail.

    tests/mutants/run.py [--build DIR] [NAME...]     run these mutants, or all
    tests/mutants/run.py --quick [--build DIR]       those of quick.txt, as make test does
    tests/mutants/run.py --until EPOCH [--before CSV]
                                                     all that begin before this time in seconds, first those without
                                                     a line in the results of an earlier run (scripts/nightly.sh)
    tests/mutants/run.py --check [--build DIR]       all patches apply, and their tests exist
    tests/mutants/run.py --self-test                 see that a survivor is noticed

A mutant is a file NAME.patch beside this script: lines `Promise:` (what is broken), `Test:` (the
tests of ctest that must fail, separated by blanks; one is enough), `Slow: yes` where the test fails
by waiting in vain (not for quick.txt), then a unified diff. The tests run their sample first, then all
cases (XYLEM_SOAK). Each is
applied to a copy of the tree that only this process sees (an overlay at the same path in a mount
namespace of its own), so that the build in DIR (build/dev) goes on from its objects and the tree
itself is never touched. The exit code is 1 when a mutant survives, does not apply, or does not build.
"""
import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECONDS = 120 # for the tests of one mutant: one that hangs is noticed, too


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)


def read(path):
    """{promise, tests} of one patch; a line that is missing is an error."""
    head = path.read_text(encoding="utf-8").split("\n--- ", 1)[0]
    fields = dict(re.findall(r"^(Promise|Test): *(\S.*)$", head, re.M))
    missing = {"Promise", "Test"} - fields.keys()
    if missing:
        raise ValueError(f"{path.name}: no line '{missing.pop()}:'")
    return {"promise": fields["Promise"], "tests": fields["Test"].split(),
            "slow": re.search(r"^Slow: yes$", head, re.M) is not None}


def all_mutants():
    return {path.stem: path for path in sorted(HERE.glob("*.patch"))}


def known_tests(build):
    listed = run(["ctest", "--test-dir", str(build), "-N"])
    return set(re.findall(r"^\s*Test\s+#\d+: (\S+)", listed.stdout, re.M))


def applies(patch):
    return run(["patch", "-p1", "--dry-run", "--force", "-i", str(patch)], cwd=ROOT)


def check(build):
    """Complaints about patches that do not apply or name tests that are not there."""
    problems = []
    tests = known_tests(build)
    for name, path in all_mutants().items():
        try:
            mutant = read(path)
        except ValueError as error:
            problems.append(str(error))
            continue
        tried = applies(path)
        if tried.returncode != 0:
            problems.append(f"{path.name} does not apply: {tried.stdout.strip().splitlines()[-1]}")
        for test in mutant["tests"]:
            if tests and test not in tests:
                problems.append(f"{path.name}: ctest knows no test {test}")
        if not name.replace("-", "").isalnum():
            problems.append(f"{path.name}: letters, digits and '-' make a name")
    for name in quick_mutants():
        path = all_mutants().get(name)
        if path is None or read(path)["slow"]:
            problems.append(f"quick.txt: {name} is {'slow' if path else 'no mutant'}")
    return problems


def quick_mutants():
    """The mutants of make test: one for each kind of promise, each killed within seconds."""
    return [line for line in (HERE / "quick.txt").read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#")]


def in_order(names, before):
    """First the mutants that an earlier run did not reach."""
    tried = set()
    if before and before.exists():
        with open(before, encoding="utf-8") as file:
            tried = {row["name"] for row in csv.DictReader(file) if row["stage"] == "mutants"}
    return sorted(names, key=lambda name: name in tried)


def inside(build, patch, tests):
    """In the namespace: mutate, build, test. Prints one word and the log."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", scratch], check=True)
        upper, work = Path(scratch, "upper"), Path(scratch, "work")
        upper.mkdir()
        work.mkdir()
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o",
                        f"lowerdir={ROOT},upperdir={upper},workdir={work}", str(ROOT)], check=True)
        os.chdir(ROOT) # the old directory is below the overlay
        word, log = mutate(build, patch, tests)
        os.chdir("/")
        subprocess.run(["umount", "-l", str(ROOT)], check=True)
        subprocess.run(["umount", "-l", scratch], check=True)
    print(word)
    print(log)


def targets_of(build, tests):
    """The programs of unit tests; other tests need all."""
    targets = ["test_" + test.replace(".", "_") for test in tests]
    known = (build / "build.ninja").read_text(encoding="utf-8")
    return targets if all(f"\nbuild {target}: phony" in known for target in targets) else ["all"]


def mutate(build, patch, tests):
    applied = run(["patch", "-p1", "--force", "-i", str(patch)])
    if applied.returncode != 0:
        return "unapplied", applied.stdout
    made = run(["cmake", "--build", str(build), "--target", *targets_of(build, tests)])
    if made.returncode != 0:
        return "unbuilt", made.stdout[-3000:]
    pattern = "^(" + "|".join(re.escape(test) for test in tests) + ")$"
    env = {k: v for k, v in os.environ.items() if k not in ("XYLEM_SEED", "XYLEM_SOAK")}
    env["XYLEM_FIRST_FAILURE"] = "1"
    for more in ({}, {"XYLEM_SOAK": "1"}):
        try:
            tested = run(["ctest", "--test-dir", str(build), "-R", pattern, "--output-on-failure"],
                         timeout=SECONDS, env=env | more)
        except subprocess.TimeoutExpired:
            # All cases may take longer than that without a mutant, too.
            return "survived" if more else "killed", f"no end after {SECONDS} s"
        if "No tests were found" in tested.stdout or "***Skipped" in tested.stdout:
            return "untested", tested.stdout
        if tested.returncode != 0:
            return "killed", tested.stdout
    return "survived", tested.stdout


def run_one(build, path, mutant):
    # Processes of its own, too: what a broken program leaves running ends with them.
    unshare = ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        unshare.append("-r")
    result = run(unshare + [sys.executable, str(Path(__file__).resolve()), "--inside", "--build", str(build),
                            str(path), *mutant["tests"]])
    word, _, log = result.stdout.partition("\n")
    return (word, log) if result.returncode == 0 else ("unsupported", result.stdout)


def run_all(build, names, until=float("inf")):
    mutants = all_mutants()
    bad = []
    for number, name in enumerate(names):
        if time.time() > until:
            print(f"left out for lack of time: {len(names) - number} mutants")
            names = names[:number]
            break
        if name not in mutants:
            print(f"{name}: no such mutant")
            bad.append(name)
            continue
        mutant = read(mutants[name])
        begin = time.monotonic()
        word, log = run_one(build, mutants[name], mutant)
        print(f"{word:9} {name} ({time.monotonic() - begin:.0f} s): {mutant['promise']}", flush=True)
        if word == "unsupported":
            print("mutants: this system allows no private mounts (unshare -m); nothing was tried")
            print(log)
            return 77
        if word != "killed":
            bad.append(name)
            if word != "survived":
                print(log)
    print(f"{len(names) - len(bad)} passed, {len(bad)} failed")
    return 1 if bad else 0


def self_test():
    """A patch that changes nothing must survive, a broken one must not count as killed."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "x.patch")
        path.write_text("Promise: none\n--- a/x\n", encoding="utf-8")
        try:
            read(path)
        except ValueError as error:
            assert "Test" in str(error)
        else:
            print("a patch without a test is accepted")
            return 1
        path.write_text("Promise: p\nTest: a b\n\n--- a/README.md\n+++ b/README.md\n@@ -1,1 +1,1 @@\n"
                        "-not there\n+x\n", encoding="utf-8")
        assert read(path) == {"promise": "p", "tests": ["a", "b"], "slow": False}
        if applies(path).returncode == 0:
            print("a patch that does not fit applies")
            return 1
        before = Path(name, "before.csv")
        before.write_text("stage,name,result,seconds\nmutants,a,killed,1\ndev,b,passed,1\n", encoding="utf-8")
        assert in_order(["a", "b", "c"], before) == ["b", "c", "a"]
    print("self-test: ok")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--until", type=float, default=float("inf"))
    parser.add_argument("--before", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    build = options.build.resolve()
    if options.self_test:
        return self_test()
    if options.inside:
        inside(build, options.names[0], options.names[1:])
        return 0
    if options.check:
        problems = check(build)
        print("\n".join(problems) or f"{len(all_mutants())} mutants apply")
        return 1 if problems else 0
    names = options.names or (quick_mutants() if options.quick else in_order(all_mutants(), options.before))
    return run_all(build, names, options.until)


if __name__ == "__main__":
    sys.exit(main())
