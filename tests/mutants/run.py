#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Break one promise at a time and see a test fail.

    tests/mutants/run.py NAME...             run these mutants
    tests/mutants/run.py --quick             run a fixed dozen, as make test does
    tests/mutants/run.py --component NAME    run those of one component (`mpi` stands for all of its parts)
    tests/mutants/run.py --all               run all
    tests/mutants/run.py --list              print names, tests and promises of the mutants chosen as above
    tests/mutants/run.py --check             check that all apply and that their tests exist
    tests/mutants/run.py --self-test         check that survivors and bad tables are noticed

--until EPOCH begins no mutant after this time in seconds since 1970. --before CSV first runs mutants without a line in
the results of an earlier run (columns stage and name; the stage is mutants). --build DIR names the build whose objects
and tests are used (build/dev). README.md describes the tables and which promises have a mutant; sandbox.py protects
the tree. The exit code is 1 when a mutant survives, hangs its tests, does not apply, or does not build, and 2 for a
wrong command.
"""
import argparse
import csv
import re
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True # none in the source tree
from sandbox import ROOT, component, open_sandbox, read_tests
from source import without_comments

HERE = Path(__file__).resolve().parent
FIELDS = re.compile(r"(promise|test|quick|file): +(\S.*)")


class Mutant:
    """One entry of a table."""

    def __init__(self, name, table):
        self.name, self.table = name, table
        self.promise, self.quick = "", False
        self.tests, self.cases = [], []
        self.hunks = [] # [file, [line of the table]]

    def add(self, line):
        """Take one line of the table; ValueError says what is wrong with it."""
        field = FIELDS.fullmatch(line)
        if field and field[1] == "file":
            self.hunks.append([field[2], []])
        elif field and field[1] == "test":
            for word in field[2].split():
                test, _, case = word.partition("/")
                self.tests += [test] if test not in self.tests else []
                self.cases += [case] if case else []
        elif field and field[1] == "quick":
            self.quick = field[2] == "yes"
        elif field:
            self.promise = field[2]
        elif line == "@@" and self.hunks and self.hunks[-1][1]:
            self.hunks.append([self.hunks[-1][0], []])
        elif self.hunks and re.match(r"\+$|[-+ ] ", line):
            self.hunks[-1][1].append(line)
        else:
            raise ValueError(f"unexpected line '{line}'")

    def complain(self):
        """What is missing, or None."""
        for value, what in ((self.promise, "promise:"), (self.tests, "test:"), (self.hunks, "file:")):
            if not value:
                return f"no line '{what}'"
        for name, lines in self.hunks:
            if all(line[0] == "+" for line in lines) or all(line[0] == " " for line in lines):
                return f"no lines to find in {name}, or none to change"
            if component(name) != self.table:
                return f"{name} belongs into the table {component(name)}.txt"
        return None

    def edits(self, root=ROOT):
        """{file: its text with the mistake}; ValueError where a place is missing or not the only one."""
        texts = {}
        for name, lines in self.hunks:
            if name not in texts and not (root / name).is_file():
                raise ValueError(f"there is no {name}")
            text = texts.get(name) or (root / name).read_text(encoding="utf-8")
            texts[name] = replace(text, lines, name)
        return texts


def squeeze(line):
    return " ".join(line.split())


def replace(text, lines, name):
    """The text with one hunk applied. Blanks, comments and empty lines do not matter for its place."""
    have = text.split("\n")
    plain = (without_comments(text) if name.endswith((".c", ".h", ".inc")) else text).split("\n")
    code = [squeeze(line) for line in plain]
    old = [line for line in lines if line[0] != "+"]
    wanted = [squeeze(line[2:]) for line in old]
    used = [i for i, line in enumerate(code) if line] # lines with code
    words = [code[i] for i in used]
    found = [used[k] for k in range(len(used)) if words[k:k + len(wanted)] == wanted]
    if len(found) != 1:
        where = f" (lines {', '.join(str(i + 1) for i in found)})" if found else ""
        raise ValueError(f"'{wanted[0]}' is {len(found)} times in {name}{where}, not once")
    at, new = found[0], have[:found[0]]
    shift = indent(have[at]) - indent(old[0][2:])
    for place, line in enumerate(lines):
        while at < len(code) and not code[at] and (place or line[0] != "+"): # its comments stay
            new.append(have[at])
            at += 1
        if line[0] == "+":
            new.append((" " * max(0, shift + indent(line[2:])) + line[2:].strip()).rstrip())
            continue
        kept = have[at] if line[0] == " " else comment_of(have[at], plain[at])
        new += [kept] if kept else [] # an empty line would end a macro
        at += 1
    return "\n".join(new + have[at:])


def comment_of(line, plain):
    """What is left of a line when its code is removed."""
    return "".join(c for c, p in zip(line, plain) if p == " ").strip()


def indent(line):
    return len(line) - len(line.lstrip(" "))


def read_table(text, table):
    """(mutants, complaints) of one table."""
    mutants, problems = [], []
    for number, line in enumerate(text.split("\n"), 1):
        head = re.fullmatch(r"\[([a-z0-9][a-z0-9-]*)\]", line)
        try:
            if head:
                mutants.append(Mutant(head[1], table))
            elif line and mutants:
                mutants[-1].add(line)
            elif line and not line.startswith("# "):
                raise ValueError(f"unexpected line '{line}' before the first [name]")
        except ValueError as error:
            problems.append(f"{table}.txt:{number}: {error}")
    problems += [f"{table}.txt: {mutant.name}: {mutant.complain()}" for mutant in mutants if mutant.complain()]
    return mutants, problems


def read_all(directory=HERE):
    """({name: mutant}, complaints) of all tables."""
    mutants, problems = {}, []
    for path in sorted(directory.glob("*.txt")):
        entries, wrong = read_table(path.read_text(encoding="utf-8"), path.stem)
        problems += wrong
        for mutant in entries:
            if mutant.name in mutants:
                problems.append(f"{path.name}: {mutant.name} is also in {mutants[mutant.name].table}.txt")
            mutants[mutant.name] = mutant
    return mutants, problems


def check(build, mutants):
    """Complaints about mutants that do not apply, change nothing, or name tests that do not exist."""
    problems = []
    tests = read_tests(build)
    cases = {case for path in (ROOT / "tests/bugs").glob("*.c*") for case in
             re.findall(r"\bBUG\((\w+)\)", path.read_text(encoding="utf-8"))}
    for mutant in mutants.values():
        try:
            if any(text == (ROOT / name).read_text(encoding="utf-8") for name, text in mutant.edits().items()):
                problems.append(f"{mutant.name}: changes nothing")
        except ValueError as error:
            problems.append(f"{mutant.name}: {error}")
        problems += [f"{mutant.name}: ctest knows no test {test}" for test in mutant.tests if test not in tests]
        problems += [f"{mutant.name}: no BUG({case}) in tests/bugs" for case in mutant.cases if case not in cases]
    return problems


def run_all(sandbox, mutants, until=float("inf")):
    """Run mutants and print one line for each; the exit code."""
    passed = bad = 0
    for mutant in mutants:
        if time.time() > until:
            print(f"left out for lack of time: {len(mutants) - passed - bad} mutants")
            break
        begin = time.monotonic()
        try:
            word, log = sandbox.attempt(mutant.edits(), mutant.tests, mutant.cases, is_thorough=True)
        except ValueError as error:
            word, log = "unapplied", str(error)
        print(f"{word:9} {mutant.name} ({time.monotonic() - begin:.0f} s): {mutant.promise}", flush=True)
        passed, bad = passed + (word == "killed"), bad + (word != "killed")
        if word not in ("killed", "survived"):
            print(log)
    print(f"{passed} passed, {bad} failed")
    return 1 if bad else 0


def choose(mutants, options):
    """The mutants that the options name, in their order."""
    unknown = [name for name in options.names if name not in mutants]
    if unknown:
        raise ValueError(f"no mutant is called '{unknown[0]}' (run.py --all --list)")
    chosen = [mutants[name] for name in options.names]
    if options.component:
        chosen = [m for m in mutants.values() if re.fullmatch(rf"{re.escape(options.component)}(_.*)?", m.table)]
    if options.quick or options.all:
        chosen = [m for m in mutants.values() if m.quick or options.all]
    if options.component and not chosen:
        raise ValueError(f"no mutant belongs to the component '{options.component}'")
    tried = read_results(options.before)
    return sorted(chosen, key=lambda mutant: mutant.name in tried)


def read_results(path):
    """The mutants in the results of an earlier run, if there was one."""
    if path is None or not path.exists():
        return set()
    with open(path, encoding="utf-8", newline="") as file:
        return {row["name"] for row in csv.DictReader(file) if row["stage"] == "mutants"}


EXAMPLE = """# A table.
[less]
promise: p
test: a.b bugs.reports/c
file: src/a/x.c
- if (i < n)
+ if (i <= n)
+     i++;
  go();
"""


def self_test():
    """A survivor fails, a bad table is refused, a place that is not the only one is refused."""
    (mutant,), problems = read_table(EXAMPLE, "a")
    assert not problems and mutant.tests == ["a.b", "bugs.reports"] and mutant.cases == ["c"], problems
    text = "{\n        if (i < n) /* a\n                      b */\n\n        go(); /* c */\n    go();\n}\n"
    lines = mutant.hunks[0][1]
    changed = replace(text, lines, "x.c")
    assert without_comments(changed).split() == "{ if (i <= n) i++; go(); go(); }".split(), changed
    assert changed.count("/*") == 2 and "\n            i++;\n" in changed, changed
    for wrong in ("{\n}\n", text + text):
        try:
            replace(wrong, lines, "x.c")
        except ValueError as error:
            assert "not once" in str(error)
        else:
            raise AssertionError("a place that is missing or there twice is accepted")
    for old, new, what in (("promise: p\n", "", "no line 'promise:'"), ("test:", "tests:", "unexpected line"),
                           ("[less]\n", "", "before the first"), ("file: src/a/x.c\n", "", "unexpected line"),
                           ("- if", "+ if", "no lines to find")):
        _, problems = read_table(EXAMPLE.replace("  go();\n", "").replace(old, new), "a")
        assert problems and what in problems[0], (old, problems)
    assert read_table(EXAMPLE, "b")[1], "a file of another component is accepted"

    class Fake:
        """Answers as it is asked to."""
        def __init__(self, word):
            self.word = word

        def attempt(self, *_, **__):
            return self.word, ""
    mutant.edits = lambda: {}
    codes = {word: run_all(Fake(word), [mutant]) for word in ("killed", "survived", "endless", "untested", "unbuilt")}
    assert run_all(Fake("survived"), [mutant], until=0) == 0, "a mutant begins after its time"
    assert codes == {"killed": 0, "survived": 1, "endless": 1, "untested": 1, "unbuilt": 1}, codes
    print("self-test: ok")
    return 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group(required=True)
    for name in ("quick", "all", "check", "self-test"):
        which.add_argument(f"--{name}", action="store_true")
    which.add_argument("--component", metavar="NAME")
    which.add_argument("names", nargs="*", metavar="NAME", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev", metavar="DIR")
    parser.add_argument("--until", type=float, metavar="EPOCH")
    parser.add_argument("--before", type=Path, metavar="CSV")
    options = parser.parse_args()
    if (options.check or options.self_test) and (options.list or options.until or options.before):
        parser.error("--check and --self-test go without --list, --until and --before")
    return options


def main():
    options = parse()
    if options.self_test:
        return self_test()
    mutants, problems = read_all()
    build = options.build.resolve()
    if options.check:
        problems += check(build, mutants)
    if problems or options.check:
        print("\n".join(problems) or f"{len(mutants)} mutants apply")
        return 1 if problems else 0
    chosen = choose(mutants, options)
    if options.list:
        for mutant in chosen:
            print(f"{mutant.table}: {mutant.name} [{' '.join(mutant.tests)}] {mutant.promise}")
        return 0
    return run_all(open_sandbox(build), chosen, options.until or float("inf"))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ValueError as mistake:
        print(f"mutants: {mistake}", file=sys.stderr)
        sys.exit(2)
    except RuntimeError as mistake:
        sys.exit(f"mutants: {mistake}")
