#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Break one promise at a time and see a test fail.

    tests/mutants/run.py [--build DIR] [NAME...]     run these mutants, or all
    tests/mutants/run.py --pick N [--build DIR]      N of them, chosen by the hash of the last commit
    tests/mutants/run.py --check [--build DIR]       all patches apply, and their tests exist
    tests/mutants/run.py --self-test                 see that a survivor is noticed

A mutant is a file NAME.patch beside this script: lines `Promise:` (what is broken), `Test:` (the
tests of ctest that must fail, separated by blanks; one is enough), `Slow: yes` where the test fails
by waiting in vain (--pick leaves it out), then a unified diff. Each is
applied to a copy of the tree that only this process sees (an overlay at the same path in a mount
namespace of its own), so that the build in DIR (build/dev) goes on from its objects and the tree
itself is never touched. The exit code is 1 when a mutant survives, does not apply, or does not build.
"""
import argparse
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
    return problems


def pick(names, count):
    """Some mutants, others with every commit."""
    commit = run(["git", "rev-parse", "HEAD"], cwd=ROOT).stdout.strip()
    number = int(commit[:8], 16) if re.fullmatch(r"[0-9a-f]{40}", commit) else 0
    step = max(1, len(names) // max(1, count))
    return sorted({names[(number + i * step) % len(names)] for i in range(count)}), commit[:12]


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


def mutate(build, patch, tests):
    applied = run(["patch", "-p1", "--force", "-i", str(patch)])
    if applied.returncode != 0:
        return "unapplied", applied.stdout
    made = run(["cmake", "--build", str(build)])
    if made.returncode != 0:
        return "unbuilt", made.stdout[-3000:]
    pattern = "^(" + "|".join(re.escape(test) for test in tests) + ")$"
    env = {k: v for k, v in os.environ.items() if k != "XYLEM_SEED"} # all cases, up to one that fails
    env["XYLEM_FIRST_FAILURE"] = "1"
    try:
        tested = run(["ctest", "--test-dir", str(build), "-R", pattern, "--output-on-failure"],
                     timeout=SECONDS, env=env)
    except subprocess.TimeoutExpired:
        return "killed", f"no end after {SECONDS} s"
    if "No tests were found" in tested.stdout or "***Skipped" in tested.stdout:
        return "untested", tested.stdout
    return ("killed" if tested.returncode != 0 else "survived"), tested.stdout


def run_one(build, path, mutant):
    # Processes of its own, too: what a broken program leaves running ends with them.
    unshare = ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        unshare.append("-r")
    result = run(unshare + [sys.executable, str(Path(__file__).resolve()), "--inside", "--build", str(build),
                            str(path), *mutant["tests"]])
    word, _, log = result.stdout.partition("\n")
    return (word, log) if result.returncode == 0 else ("unsupported", result.stdout)


def run_all(build, names):
    mutants = all_mutants()
    bad = []
    for name in names:
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
    first, _ = pick(["a", "b", "c", "d", "e", "f", "g"], 3)
    if len(first) != 3:
        print(f"three of seven are {first}")
        return 1
    print("self-test: ok")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev")
    parser.add_argument("--pick", type=int)
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
    names = options.names or list(all_mutants())
    if options.pick:
        names, commit = pick([name for name, path in all_mutants().items() if not read(path)["slow"]],
                             options.pick)
        print(f"chosen by commit {commit}: {' '.join(names)}")
    return run_all(build, names)


if __name__ == "__main__":
    sys.exit(main())
