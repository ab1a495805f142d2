#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Build and run the tests of a change: `make check`.

    scripts/check.py                  what changed since the branch left main, or in the last commit of main;
                                      uncommitted and new files always count
    scripts/check.py COMPONENT...     the unit tests of these components (coll, mpi/coll)
    scripts/check.py --since COMMIT   what changed since this commit
    scripts/check.py --list ...       print the tests and run none
    scripts/check.py --self-test

A file of a component (src/NAME, src/mpi/PART) selects the unit tests of the component and of the components that
include its headers; a file of tools/ the whole-program tests that call its verb; a page, a script or a
program the tests that run it (12 at most). C files are checked with clang-format and clang-tidy, scripts with shellcheck. Unit
tests of other components that took more than 5 seconds are left to make test. The last line is `N passed, N failed`.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/dev"
LOG = ROOT / "build/logs/check.log"
PARTED = ("mpi", "process", "tasks") # components with parts, which count as components here
SLOW = 5 # seconds
MOST = 12 # tests of a file that many of them read


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT,
                          check=False, **options)


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, text=True, capture_output=True, check=False)
    return done.stdout.split("\0" if "-z" in words else None) if done.returncode == 0 else []


def base_commit():
    """The commit to compare with, and its name."""
    head = git("rev-parse", "HEAD")
    for name in ("@{upstream}", "origin/main", "main"):
        base = git("merge-base", "HEAD", name)
        if base and base != head:
            return base[0], name
    if git("status", "--porcelain"):
        return "HEAD", "the last commit"
    return "HEAD~1", "the commit before"


def changed_files(since):
    changed = git("diff", "--name-only", "-z", since) + git("ls-files", "-z", "-o", "--exclude-standard")
    return sorted(set(filter(None, changed)))


def component_of(path):
    """mpi/coll of src/mpi/coll/start.c, monitor of tools/monitor/schedule.c, or None."""
    parts = Path(path).parts
    if len(parts) < 3 or parts[0] not in ("src", "tools"):
        return None
    if parts[1] not in PARTED or len(parts) == 3:
        return parts[1]
    return "/".join(parts[1:-1])


def included_by(path):
    return re.findall(r'^#include "([\w/]+\.h)"', path.read_text(encoding="utf-8"), re.M)


def components():
    """{component: (components whose headers it includes, its unit tests as sources)}."""
    found = {}
    for path in sorted([*(ROOT / "src").rglob("*.[ch]"), *(ROOT / "tools").glob("*/*.[ch]")]):
        name = component_of(path.relative_to(ROOT))
        if name is None:
            continue
        used, tests = found.setdefault(name, (set(), []))
        included = included_by(path)
        if path.name.endswith("_test.c"):
            tests.append(path)
            shared = [ROOT / "tests" / header for header in included if header.startswith("testing/")]
            included = [header for path in shared for header in included_by(path)]
        used.update(filter(None, (component_of("src/" + header) for header in included)))
    return found


class Suite:
    """The tests of the build tree."""

    def __init__(self):
        listed = subprocess.run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1"], text=True,
                                capture_output=True, check=True)
        tests = json.loads(listed.stdout)["tests"]
        self.commands = {test["name"]: test.get("command", []) for test in tests}
        self.labels = {test["name"]: label_of(test) for test in tests}
        self.costs = read_costs(BUILD / "Testing/Temporary/CTestCostData.txt")

    def unit_tests(self, sources):
        for source in sources:
            stem = source.name[:-len("_test.c")]
            names = [f"{part}.{stem}" for part in source.relative_to(ROOT).parent.parts[1:]]
            yield from [name for name in names if "unit" in self.labels.get(name, [])][:1]

    def with_word(self, is_wanted):
        """The tests of make test with a wanted word in their command."""
        return [name for name, command in self.commands.items()
                if not {"soak", "bench"} & set(self.labels[name]) and any(is_wanted(word) for word in command)]

    def that_mention(self, pattern):
        """The tests with a script that has the pattern in its text."""
        pattern = re.compile(pattern)
        texts = {}

        def is_wanted(word):
            if word not in texts:
                is_script = word.startswith(str(ROOT / "tests")) and word.endswith((".sh", ".py"))
                texts[word] = Path(word).read_text(encoding="utf-8") if is_script else ""
            return pattern.search(texts[word]) is not None
        return self.with_word(is_wanted)


def label_of(test):
    return next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])


def read_costs(path):
    """Seconds of the tests in earlier runs: lines `name runs seconds`."""
    if not path.exists():
        return {}
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    return {row[0]: float(row[2]) for row in rows if len(row) == 3}


def programs_of(path):
    """The names of the programs that a C file is compiled into."""
    entries = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    return {name for entry in entries if entry["file"] == str(ROOT / path)
            for name in re.findall(r"/CMakeFiles/([\w.]+)\.dir/", entry["command"])}


def tests_of(path, suite):
    """The tests that belong to a file outside of src."""
    where = Path(path)
    found = suite.with_word(lambda word: word == str(ROOT / path))
    if where.suffix in (".c", ".cc") and where.parts[0] != "tools":
        made = programs_of(path)
        found += suite.with_word(lambda word: Path(word).name in made)
    if where.parts[0] == "tools":
        verb = re.sub(r"^verb_", "", where.stem if len(where.parts) == 2 else where.parts[1]).split("_")[0]
        found += suite.that_mention(rf'(\$XYLEM"|xylem"?) {verb}\b') or ["program.help", "program.output"]
        found += ["check.verbs"]
    elif path.startswith("tests/mutants/"):
        found += ["check.mutants", "check.mutants_self", "check.mutants_generate"]
    elif path.startswith("tests/testing/"):
        found += suite.unit_tests(test for test in sorted((ROOT / "src").rglob("*_test.c"))
                                  if f'"testing/{where.name}"' in test.read_text(encoding="utf-8"))
    elif where.parts[0] == "include":
        found += ["check.headers", "check.exports", "mpi.header", "mpi.symbols"]
    elif where.parts[0] == "examples":
        found += suite.with_word(lambda word: word == where.stem)
    elif where.parts[0] == "machines":
        found += suite.that_mention(rf"\b{re.escape(where.stem)}\b")
    elif where.parts[0] == "tests" and not found and where.suffix != ".cmake" and where.name != "CMakeLists.txt":
        found += suite.that_mention(rf"\b{re.escape(where.name)}\b")
        found += [] if found else suite.with_word(lambda word: Path(word).parent == (ROOT / path).parent)
    word = re.sub(r"^verb_", "", where.stem) # tests of that name first, then the fastest
    found = [name for name in dict.fromkeys(found) if name in suite.commands]
    return sorted(found, key=lambda name: (word not in name, suite.costs.get(name, 0)))[:MOST]


def select(changed, suite):
    """[(reason, tests)] for the changed files, and the files without a test."""
    groups, unknown = [], []
    known = components()
    own = {name for name in map(component_of, changed) if name in known}
    near = {name for name, (used, _) in known.items() if used & own} - own
    for name in sorted(own):
        groups.append((name, list(suite.unit_tests(known[name][1]))))
    if near:
        tests = [test for name in sorted(near) for test in suite.unit_tests(known[name][1])
                 if suite.costs.get(test, 0) <= SLOW]
        groups.append((f"uses of {', '.join(sorted(own))} in {', '.join(sorted(near))}", tests))
    if own:
        groups.append(("source tree", ["check.layers", "check.sizes", "check.messages", "check.paths", "check.seeds",
                                       "check.mutants"]))
    for path in changed:
        if component_of(path) in own:
            continue
        tests = tests_of(path, suite)
        if tests:
            groups.append((path, tests))
        elif not path.endswith((".sh", ".py", ".cmake", "CMakeLists.txt")):
            unknown.append(path)
    return groups, unknown


def build_for(tests, suite):
    """Build the programs of the tests; whole-program tests need all that is installed."""
    targets = {str(Path(word).relative_to(BUILD)) for name in tests for word in suite.commands[name]
               if word.startswith(f"{BUILD}/") and Path(word).suffix != ".txt"}
    listed = run(["ninja", "-C", str(BUILD), "-t", "targets", "all"]).stdout
    known = set(re.findall(r"^([^:\n]+): ", listed, re.M))
    if not all("unit" in suite.labels[name] for name in tests):
        targets |= {target for target in known if re.match(r"(bin|lib|include|share)/", target)}
    targets = sorted(targets & known)
    if not targets:
        return True, 0
    done = run(["cmake", "--build", str(BUILD), "--target", *targets])
    if done.returncode != 0:
        print(done.stdout[-4000:])
    return done.returncode == 0, len(targets)


def lint(changed):
    """(part, what is wrong or None) for each part of lint that concerns the files."""
    there = [path for path in changed if (ROOT / path).is_file()]
    sources = [path for path in there if path.endswith((".c", ".h"))]
    parts = {"format": sources, "tidy": [p for p in sources if p.endswith(".c")],
             "shell": [p for p in there if is_shell(ROOT / p)], "sizes": sources,
             "cmake": [p for p in there if p.endswith((".cmake", "CMakeLists.txt"))]}
    for part, files in parts.items():
        if files:
            done = run(["scripts/lint.sh", part, "--", *files], env={**os.environ, "XYLEM_TIDY_FAST": "1"})
            yield part, len(files), None if done.returncode == 0 else done.stdout


def is_shell(path):
    with open(path, "rb") as file:
        return path.suffix == ".sh" or re.match(rb"#!.*\b(ba)?sh$", file.readline().strip()) is not None


def run_tests(tests, environment):
    pattern = "^(" + "|".join(re.escape(name) for name in tests) + ")$"
    done = run(["ctest", "--test-dir", str(BUILD), "-j", str(2 * (os.cpu_count() or 1)), "--output-on-failure", "-R", pattern],
               env=environment)
    LOG.write_text(done.stdout, encoding="utf-8")
    passed = len(re.findall(r" Passed +[0-9.]+ sec", done.stdout))
    left_out = len(re.findall(r"\*\*\*Skipped ", done.stdout))
    if done.returncode != 0:
        print("\n".join(line for line in done.stdout.splitlines()
                        if not re.search(r" Passed +[0-9.]+ sec$|^ +Start ", line)))
    return passed, len(tests) - passed - left_out


def configure():
    """The build tree, as make test makes it."""
    flags = [] if (BUILD / "CMakeCache.txt").exists() else ["-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG"]
    done = run(["cmake", "--preset", "dev", *flags])
    if done.returncode != 0:
        sys.exit(done.stdout + "check: CMake failed")


def choose_tests(options, suite):
    """What the command line selects: [(reason, tests)], the changed files, the files without a test."""
    if not options.components:
        since, name = (options.since,) * 2 if options.since else base_commit()
        changed = changed_files(since)
        print(f"{len(changed)} files changed since {since[:12]} ({name})")
        return *select(changed, suite), changed
    known = components()
    groups = []
    for word in options.components:
        word = word.removeprefix("src/").rstrip("/")
        parts = [name for name in known if name == word or name.startswith(word + "/")]
        parts = parts or [name for name in known if name.endswith("/" + word)]
        if not parts:
            sys.exit(f"check: no component '{word}'; there are: {' '.join(sorted(known))}")
        groups += [(name, list(suite.unit_tests(known[name][1]))) for name in parts]
    return groups, [], []


def self_test():
    assert component_of("src/coll/split.c") == "coll"
    assert component_of("src/mpi/coll/start.c") == "mpi/coll"
    assert component_of("src/process/image/x.c") == "process/image"
    assert component_of("src/mpi/mpi.h") == "mpi"
    assert component_of("src/coll/rules/x.csv") == "coll"
    assert component_of("tools/main.c") is None
    known = components()
    assert "coll" in known["exec"][0] and "exec" not in known["coll"][0], known["exec"][0]
    assert "mpi/p2p" in known["mpi/coll"][0]
    suite = Suite()
    suite.costs = {} # the selection depends on those of earlier runs
    reasons = dict(select(["src/coll/split.c", "docs/stencil.md", "tests/mpi/attribute.c", "tools/verb_view.c"], suite)[0])
    assert "coll.split" in reasons["coll"]
    assert any("exec.coll" in tests for reason, tests in reasons.items() if reason.startswith("uses of coll"))
    assert "docs.docs_stencil" in reasons["docs/stencil.md"]
    assert "mpi.attribute.4" in reasons["tests/mpi/attribute.c"]
    assert "program.scanned" in tests_of("tests/program/tasks.c", suite)
    assert "example.pi" in tests_of("examples/pi.c", suite)
    assert any(test.startswith("program.view") for test in reasons["tools/verb_view.c"])
    units = {name for name, labels in suite.labels.items() if "unit" in labels}
    reached = {test for _, sources in known.values() for test in suite.unit_tests(sources)}
    assert units == reached, units ^ reached # no unit test is out of reach
    assert select(["docs/nothing.md"], suite) == ([], ["docs/nothing.md"])
    print("self-test: ok")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=BUILD)
    parser.add_argument("--since", metavar="COMMIT")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("components", nargs="*")
    options = parser.parse_args()
    globals()["BUILD"] = options.build.resolve()
    if options.self_test:
        return self_test()
    begin = time.monotonic()
    LOG.parent.mkdir(parents=True, exist_ok=True)
    configure()
    suite = Suite()
    groups, unknown, changed = choose_tests(options, suite)
    for reason, tests in groups:
        print(f"{reason}: {' '.join(tests) or 'no unit tests'}")
    for path in unknown:
        print(f"{path}: no test belongs to it alone (make test)")
    tests = list(dict.fromkeys(test for _, group in groups for test in group))
    if options.list:
        return 0
    passed = failed = 0
    is_built, count = build_for(tests, suite)
    print(f"{time.monotonic() - begin:.0f} s: {count} targets built")
    if not is_built:
        print("0 passed, 1 failed")
        return 1
    if tests:
        passed, failed = run_tests(tests, {**os.environ, "XYLEM_SEED": os.environ.get("XYLEM_SEED", "xylem")})
        print(f"{time.monotonic() - begin:.0f} s: {passed} tests passed, {failed} failed (log: {LOG.relative_to(ROOT)})")
    for part, files, problem in lint(changed):
        passed, failed = passed + (problem is None), failed + (problem is not None)
        print(f"{time.monotonic() - begin:.0f} s: lint {part} of {files} files: {'ok' if problem is None else problem}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
