#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Generate small mistakes in lines that changed, and print those that no unit test of the component notices.

    tests/mutants/generate.py [--since REV]     lines that changed since REV (default: in the last 50 commits)
    tests/mutants/generate.py --file FILE...    all lines of these files
    tests/mutants/generate.py --one ID          repeat one mutant and print what the tests say
    tests/mutants/generate.py --self-test       check the operators on a small program

--seed SEED draws other mutants (printed; a new one by default), --seconds N (300) and --count N limit the run, --list
prints the mutants without running them, --build DIR names the build (build/dev). The operators take turns, so that
frequent ones do not crowd out the others. A survivor is printed as `survived ID: before => after` with the command
that repeats it: a line that needs a test, a promise that needs a mutant in the tables, or a change without any effect.
Survivors are no failure: the exit code is 2 for a wrong command, 1 where nothing could run, and 0 otherwise. Mistakes
may reach files outside of the tree, which is the only one protected.
"""
import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True # none in the source tree
from sandbox import ROOT, component, open_sandbox, read_programs, read_tests, run, unit_target
from source import without_literals

SECONDS = 20 # for the tests of one mutant, or four times what they take without it
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "*", "+=": "-=", "-=": "+=", "&&": "||", "||": "&&"}
NO_CALLS = {"if", "while", "for", "switch", "return", "sizeof", "defined", "_Alignof", "offsetof"}
STATEMENT = re.compile(r"^[ \t]+(?:\*?[\w.>\[\]-]+ (?:[-+*/%&|^]|<<|>>)?= [^;]*|[\w.>\[\]-]+\([^;]*\));[ \t]*$", re.M)


class Mutation:
    """One change of one file: characters from start to end become new."""

    def __init__(self, path, text, kind, span, new):
        self.path, self.kind, self.new = path, kind, new
        self.start, self.end = span
        self.before = text[self.start:self.end]
        self.line = text.count("\n", 0, self.start) + 1
        self.column = self.start - (text.rfind("\n", 0, self.start) + 1) + 1
        self.variant = 0

    def name(self):
        return f"{self.path}:{self.line}:{self.column}:{self.kind}:{self.variant}"

    def apply(self, text):
        return text[:self.start] + self.new + text[self.end:]

    def describe(self):
        return " ".join(self.before.split()) + " => " + " ".join(self.new.split())


def closing(plain, start):
    """The place of the bracket that closes the one at start, or -1."""
    depth = 0
    for place in range(start, min(len(plain), start + 2000)):
        depth += (plain[place] in "([{") - (plain[place] in ")]}")
        if depth == 0:
            return place
    return -1


def change_operators(plain, table):
    """Binary operators, which clang-format sets between blanks."""
    words = "|".join(re.escape(word) for word in sorted(table, key=len, reverse=True))
    for found in re.finditer(rf"(?<=[\w)\]] )({words})(?= )", plain):
        yield found.span(1), table[found[1]]


def relational(_, plain):
    yield from change_operators(plain, RELATIONS)


def arithmetic(_, plain):
    yield from change_operators(plain, ARITHMETIC)


def boundary(_, plain):
    for found in re.finditer(r" (?:<|<=|>|>=) (\w+)(?= *(?:[;)?]|&&|\|\|))", plain):
        for step in (" + 1", " - 1"):
            yield found.span(1), found[1] + step


def negated(text, plain):
    for found in re.finditer(r"\b(?:if|while) \(", plain):
        end = closing(plain, found.end() - 1)
        if end > 0:
            yield (found.end(), end), f"!({text[found.end():end]})"


def removed(text, plain):
    for found in STATEMENT.finditer(plain):
        code = found[0].strip()
        start = plain.index(code, found.start())
        before = plain[:start].rstrip()[-1:]
        if code.count("(") == code.count(")") and before in ";{})" and not code.startswith("return"):
            yield (start, start + len(code)), "(void)0;"


def swapped(text, plain):
    for found in re.finditer(r"^[ \t]+", plain, re.M): # functions are defined without indentation
        yield from swapped_on_line(text, plain, found.start())


def swapped_on_line(text, plain, start):
    """Calls that begin on one indented line: two arguments side by side change places."""
    stop = plain.find("\n", start)
    for call in re.finditer(r"(\w+)\(", plain[start:stop if stop > 0 else len(plain)]):
        first, last = start + call.end(), closing(plain, start + call.end() - 1)
        if call[1] in NO_CALLS or last < 0:
            continue
        spans = arguments_of(plain, first, last)
        for (a, b), (c, d) in zip(spans, spans[1:]):
            if text[a:b] != text[c:d]:
                yield (a, d), text[c:d] + text[b:c] + text[a:b]


def arguments_of(plain, first, last):
    """The spans of the arguments between two brackets, without the blanks around them."""
    cuts, depth = [first - 1], 0
    for place in range(first, last):
        depth += (plain[place] in "([{") - (plain[place] in ")]}")
        if plain[place] == "," and depth == 0:
            cuts.append(place)
    spans = []
    for a, b in zip(cuts, cuts[1:] + [last]):
        word = plain[a + 1:b]
        spans.append((a + 1 + len(word) - len(word.lstrip()), a + 1 + len(word.rstrip())))
    return spans


def constant(_, plain):
    for found in re.finditer(r"(?<![\w.])\d+(?![\w.])", plain):
        declared = re.search(r"\w[ *]+\w+\[$", plain[:found.start()][-80:]) # the size of an array
        if not declared and not found[0].startswith("00") and int(found[0], 10) < 2**31 - 1:
            yield found.span(), str(int(found[0]) + 1)
            if int(found[0]) > 1:
                yield found.span(), "0"


OPERATORS = {"relational": relational, "arithmetic": arithmetic, "boundary": boundary, "negated": negated,
             "removed": removed, "swapped": swapped, "constant": constant}


def mutations_of(path, text, lines=None):
    """All mutations that begin on the lines (None: on any)."""
    plain = without_literals(text)
    found = []
    for kind, operator in OPERATORS.items():
        places = Counter()
        for span, new in operator(text, plain):
            mutation = Mutation(path, text, kind, span, new)
            mutation.variant = places[span[0]]
            places[span[0]] += 1
            if (lines is None or mutation.line in lines) and new.split() != mutation.before.split():
                found.append(mutation)
    return found


def draw(mutations, seed):
    """The mutations in the order of a seed: the operators take turns."""
    chance = random.Random(seed)
    groups = [[m for m in mutations if m.kind == kind] for kind in OPERATORS]
    for group in groups:
        chance.shuffle(group)
    drawn = []
    while any(groups):
        order = [group for group in groups if group]
        chance.shuffle(order)
        drawn += [group.pop() for group in order]
    return drawn


def is_source(path):
    is_product = path.startswith(("src/", "tools/")) and path.endswith((".c", ".h"))
    return is_product and not path.endswith(("_test.c", "_fuzz.c"))


def changed_lines(since):
    """{file: lines} that were added or changed since a commit, up to the files as they are now."""
    known = run(["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", since + "^{commit}"])
    if known.returncode != 0:
        raise ValueError(f"git knows no commit '{since}'; name another one with --since")
    text = run(["git", "-C", str(ROOT), "diff", "-U0", "--no-renames", since, "--", "src", "tools"]).stdout
    changed, path = {}, None
    for line in text.split("\n"):
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else None
        hunk = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if hunk and path and is_source(path):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            changed.setdefault(path, set()).update(range(first, first + count))
    return changed


def unit_tests(build):
    """{component: its unit tests}: those whose source lies in the directory of the component."""
    units = {Path(output).name: Path(output).parent for output, is_unit in read_programs(build).items() if is_unit}
    tests = {}
    for test in read_tests(build):
        directory, stem = units.get(unit_target(test)), test.split(".", 1)[-1]
        for path in (ROOT / directory).rglob(f"{stem}_test.c") if directory else []:
            tests.setdefault(component(str(path.relative_to(ROOT))), []).append(test)
    return tests


def stages_of(path, tests):
    """The tests of a file: the nearest by name (scan of scan_call.c), then the others of its component."""
    stem = Path(path).stem
    near = [test for test in tests if (stem + "_").startswith(test.split(".", 1)[-1] + "_")]
    return [stage for stage in (near, [test for test in tests if test not in near]) if stage]


class Judge:
    """Runs mutants against the unit tests of their components."""

    def __init__(self, sandbox, tests):
        self.sandbox, self.tests = sandbox, tests
        self.limits = {} # tests: seconds for them with a mutant, 0 where they fail without one

    def limit(self, stage):
        """Seconds for tests with a mutant; 0 where they fail without one, and so notice nothing."""
        key = tuple(stage)
        if key not in self.limits:
            begin = time.monotonic()
            word, log = self.sandbox.attempt({}, stage, seconds=10 * SECONDS)
            self.limits[key] = max(SECONDS, 4 * (time.monotonic() - begin)) if word == "survived" else 0
            if word != "survived":
                print(f"left out: {' '.join(stage)} without a mutant: {word}\n{log}", flush=True)
        return self.limits[key]

    def try_one(self, mutation):
        """(word, log) of one mutant; the first stage that notices it is the last one."""
        edits = {mutation.path: mutation.apply(read(mutation.path))}
        word, log = "untested", ""
        for stage in stages_of(mutation.path, self.tests[component(mutation.path)]):
            if self.limit(stage) > 0:
                result, log = self.sandbox.attempt(edits, stage, seconds=self.limit(stage))
                result = "killed" if result == "endless" else result # the limit is four times the usual time
                word = word if word == "survived" and result == "unreached" else result
                if word in ("killed", "unbuilt"):
                    break
        return word, log


def run_drawn(judge, drawn, options):
    """Run mutants until the limits; survivors are printed."""
    begin, words = time.monotonic(), Counter()
    for mutation in drawn:
        if time.monotonic() - begin > options.seconds or (options.count and sum(words.values()) >= options.count):
            break
        if component(mutation.path) in judge.tests:
            word, _ = judge.try_one(mutation)
            words[word] += 1
            if word == "survived":
                print(f"survived {mutation.name()}: {mutation.describe()}\n"
                      f"    tests/mutants/generate.py --one {mutation.name()}", flush=True)
    without = Counter(component(m.path) for m in drawn if component(m.path) not in judge.tests)
    for name, count in sorted(without.items()):
        print(f"left out: {count} mutants of {name}, which has no unit test")
    print(f"{sum(words.values())} of {len(drawn)} mutants: {words['killed']} killed, {words['survived']} survived, "
          f"{words['unbuilt']} did not compile, {words['unreached'] + words['untested']} in no unit test")


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def run_one(judge, name):
    """Repeat one mutant, with all that the tests say."""
    path = name.split(":")[0]
    if not (ROOT / path).is_file():
        raise ValueError(f"there is no file '{path}' for --one")
    found = [m for m in mutations_of(path, read(path)) if m.name() == name]
    if not found:
        raise ValueError(f"'{name}' is no mutant; has {path} changed since it was printed?")
    if component(path) not in judge.tests:
        raise ValueError(f"{component(path)} has no unit test")
    word, log = judge.try_one(found[0])
    print(f"{log}\n{word} {name}: {found[0].describe()}")


EXAMPLE = r'''#define LIMIT (1 + 2 < 3)
/* if (a < b) x = 1 + 2; */
int size(int from, int to); // from < to + 1
int table[16];
int sum(int n, int m)
{
    int total = 0;
    const char *word = "a < b + 1, if (x)", letter = '<';

    if (n < m && letter)
        total = n + 7;
    total += size(n, m);
    size(m, m); /* 4 < 5 */
    return word ? total : size(n,
                               m);
}
'''
EXPECTED = {
    "relational": {"10: < => <="},
    "arithmetic": {"10: && => ||", "11: + => -", "12: += => -="},
    "boundary": {"10: m => m + 1", "10: m => m - 1"},
    "negated": {"10: n < m && letter => !(n < m && letter)"},
    "removed": {"11: total = n + 7; => (void)0;", "12: total += size(n, m); => (void)0;",
                "13: size(m, m); => (void)0;"},
    "swapped": {"12: n, m => m, n", "14: n, m => m, n"},
    "constant": {"7: 0 => 1", "11: 7 => 8", "11: 7 => 0"},
}


def self_test():
    """The operators do what their names say, and touch no comment, string, macro or size of an array."""
    found = mutations_of("src/a/x.c", EXAMPLE)
    for kind, expected in EXPECTED.items():
        have = {f"{m.line}: {m.describe()}" for m in found if m.kind == kind}
        assert have == expected, (kind, have ^ expected)
    assert len({m.name() for m in found}) == len(found), "two mutants have one name"
    texts = {m.apply(EXAMPLE) for m in found}
    assert len(texts) == len(found) and EXAMPLE not in texts, "a mutant is the original, or another mutant"
    for text in texts:
        with tempfile.NamedTemporaryFile("w", suffix=".c", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            made = run(["cc", "-fsyntax-only", file.name])
            assert made.returncode == 0, (text, made.stdout)
    order = [[m.name() for m in draw(found, seed)] for seed in ("a", "a", "b")]
    assert order[0] == order[1] != order[2] and sorted(order[0]) == sorted(order[2]), order
    kinds = {m.kind for m in draw(found, "a")[:len(OPERATORS)]}
    assert kinds == OPERATORS.keys(), f"the first turn has only {kinds}"
    assert {m.line for m in mutations_of("src/a/x.c", EXAMPLE, {11})} == {11}
    assert stages_of("src/a/scan_call.c", ["a.scan", "a.sca", "a.b"]) == [["a.scan"], ["a.sca", "a.b"]]

    class Fake:
        """Test a.fails always fails, a.blind notices nothing, a.sees notices every edit."""
        def attempt(self, edits, tests, **_):
            return ("killed" if "a.fails" in tests or (edits and "a.sees" in tests) else "survived"), ""
    for tests, word in ((["a.fails"], "untested"), (["a.blind"], "survived"), (["a.sees"], "killed")):
        judge = Judge(Fake(), {"tests": tests})
        mutation = Mutation("tests/mutants/source.py", "text", "constant", (0, 1), "x")
        assert judge.try_one(mutation)[0] == word, (tests, word)
    assert not is_source("src/a/x_test.c") and is_source("src/a/x.h")
    print("self-test: ok")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--since", metavar="REV")
    which.add_argument("--file", nargs="+", metavar="FILE")
    which.add_argument("--one", metavar="ID")
    which.add_argument("--self-test", action="store_true")
    parser.add_argument("--seed")
    parser.add_argument("--seconds", type=float, metavar="N")
    parser.add_argument("--count", type=int, metavar="N")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev", metavar="DIR")
    options = parser.parse_args()
    if (options.one or options.self_test) and (options.seed or options.seconds or options.count or options.list):
        parser.error("--one and --self-test go without --seed, --seconds, --count and --list")
    options.seed = options.seed or str(time.time_ns() % 10**9)
    options.seconds = 300 if options.seconds is None else options.seconds
    return options


def last_commits(count):
    """The commit so many before the last one, or the first of a short history."""
    listed = subprocess.run(["git", "-C", str(ROOT), "rev-list", f"--max-count={count + 1}", "--first-parent", "HEAD"],
                            text=True, stdout=subprocess.PIPE, check=False).stdout.split()
    if not listed:
        raise ValueError("no history of git here; name files with --file")
    return listed[-1]


def main():
    options = parse()
    if options.self_test:
        self_test()
        return
    build = options.build.resolve()
    if options.one:
        run_one(Judge(open_sandbox(build), unit_tests(build)), options.one)
        return
    if options.file:
        outside = [name for name in options.file if ROOT not in Path(name).resolve().parents]
        if outside:
            raise ValueError(f"'{outside[0]}' is not below {ROOT}")
        lines = {str(Path(name).resolve().relative_to(ROOT)): None for name in options.file}
    else:
        options.since = options.since or last_commits(50)
        lines = changed_lines(options.since)
    mutations = [m for path in sorted(lines) for m in mutations_of(path, read(path), lines[path])]
    drawn = draw(mutations, options.seed)
    print(f"seed {options.seed}, {f'since {options.since[:12]}' if options.since else ' '.join(lines)}: "
          f"{len(drawn)} mutants", flush=True)
    if options.list:
        for mutation in drawn[:options.count]:
            print(f"{mutation.name()}: {mutation.describe()}")
    else:
        run_drawn(Judge(open_sandbox(build), unit_tests(build)), drawn, options)


if __name__ == "__main__":
    try:
        main()
    except (ValueError, OSError) as mistake:
        print(f"mutants: {mistake}", file=sys.stderr)
        sys.exit(2)
    except RuntimeError as mistake:
        sys.exit(f"mutants: {mistake}")
