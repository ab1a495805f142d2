#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the parts of error messages fit together, and that texts and comments have no phrases that read badly.

    tests/check_messages.py [ROOT]        check the sources below ROOT
    tests/check_messages.py --self-test   see that a wrong one is noticed

    xy_fail_memory(WHILE)               "out of memory while WHILE": reading, making, ...
    xy_fail_errno(err, WHAT, ACTION)    "WHAT: cannot ACTION: reason": open, create a file in it, ...

The phrases are those of check_docs.py: all of them in texts, the private words and passives of saying in comments. A
comment begins with a noun or a verb, not with a relative clause in its place: 'What a rank sends', 'Those of a node'.
"""
import re
import sys
from pathlib import Path

from check_docs import PHRASES, SAYING

TEXT = r'"((?:[^"\\\n]|\\.)*)"'
MEMORY = re.compile(r"\bxy_fail_memory\(\s*" + TEXT)
ERRNO = re.compile(r"\bxy_fail_errno\([^;]*?,\s*" + TEXT + r"\s*\)")
OPENING = re.compile(r"/\*[\s*]*((?:what(?:ever)?|who(?:ever|se)?|which|those (?:of|that|who|in|on|with|to)|that of|all that|"
                     r"the ones? that)\b[^.?:]*)(\??)", re.I)
UNFINISHED = ("of", "for", "in", "with")
STRING = r'"(?:[^"\\\n]|\\.)*"'
TOKEN = re.compile(rf"({STRING}(?:\s*{STRING})*)|'(?:[^'\\\n]|\\.)*'|/\*.*?\*/|//[^\n]*", re.S)


def problems_of(text):
    """[(offset, sentence)] for the calls that would print nonsense."""
    found = [(m.start(), f"'out of memory while {m[1]}'") for m in MEMORY.finditer(text)
             if not re.match(r"\w+ing\b", m[1])]
    for m in ERRNO.finditer(text):
        words = m[1].split()
        if words[:1] == ["cannot"] or words[-1:] and words[-1] in UNFINISHED:
            found.append((m.start(), f"'cannot {m[1]}:'"))
    return found


def phrases_of(text):
    """[(offset, phrase)] for the phrases in texts and comments that the style does not allow."""
    found = []
    for token in TOKEN.finditer(text):
        if token[1]:
            words = re.sub(r'"\s*"', "", token[1])
        else:
            words = re.sub(r"\s*\n\s*\*?\s*", " ", token[0])
            opening = OPENING.match(words)
            if opening and not opening[2]:
                found.append((token.start(), opening[1][:40].strip(" */")))
        found += [(token.start(), m[0]) for phrase in (PHRASES if token[1] else SAYING) for m in re.finditer(phrase, words)]
    return found


def check(root):
    found = []
    for path in sorted([*root.glob("src/**/*.[ch]"), *root.glob("tools/**/*.[ch]"), *root.glob("include/*.h")]):
        text = path.read_text(encoding="utf-8")
        where = [(at, f"{sentence} is not a sentence") for at, sentence in problems_of(text)]
        if not path.stem.endswith("_test"):
            where += [(at, f"do not write '{phrase}'") for at, phrase in phrases_of(text)]
        found += [f"{path.relative_to(root)}:{text.count(chr(10), 0, at) + 1}: {problem}" for at, problem in where]
    return found


def self_test():
    cases = [('xy_fail_memory("reading a file")', 0), ('xy_fail_memory("a node")', 1), ("xy_fail_memory(what)", 0),
             ('xy_fail_errno(errno, path, "open")', 0), ('xy_fail_errno(errno, path, "cannot open")', 1),
             ('xy_fail_errno(e, "a thread", "start")', 0), ('xy_fail_errno(e, "it",\n   "start a thread for")', 1)]
    bad = [text for text, wanted in cases if len(problems_of(text)) != wanted]
    phrases = [('/* The run is\n * over. */', 1), ('"the rank " "goes on"', 1), ('goes_on(); "a/*b"; is over', 0), ("/* The output says so. */", 0),
               ('"says so"', 1), ("/* What a rank sends. */", 1), ("int a; /* those of a node */", 1), ("/* Which rank is it? */", 0),
               ("/*\n * Whose data\n * comes? */", 0), ("/* Whether it is. */", 0), ("/* The data of a node that it has. */", 0)]
    bad += [text for text, wanted in phrases if len(phrases_of(text)) != wanted]
    print(f"self-test: {len(cases) + len(phrases)} cases, {len(bad)} misjudged {bad or ''}")
    return 1 if bad else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    found = check(Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
