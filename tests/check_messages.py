#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the parts that error messages are made of fit together.

    tests/check_messages.py [ROOT]        check the sources below ROOT
    tests/check_messages.py --self-test   see that a wrong one is noticed

    xy_fail_memory(WHILE)               "out of memory while WHILE": reading, making, ...
    xy_fail_errno(err, WHAT, ACTION)    "WHAT: cannot ACTION: reason": open, create a file in it, ...
"""
import re
import sys
from pathlib import Path

TEXT = r'"((?:[^"\\\n]|\\.)*)"'
MEMORY = re.compile(r"\bxy_fail_memory\(\s*" + TEXT)
ERRNO = re.compile(r"\bxy_fail_errno\([^;]*?,\s*" + TEXT + r"\s*\)")
UNFINISHED = ("of", "for", "in", "with")


def problems_of(text):
    """[(offset, sentence)] for the calls that would print nonsense."""
    found = [(m.start(), f"'out of memory while {m[1]}'") for m in MEMORY.finditer(text)
             if not re.match(r"\w+ing\b", m[1])]
    for m in ERRNO.finditer(text):
        words = m[1].split()
        if words[:1] == ["cannot"] or words[-1:] and words[-1] in UNFINISHED:
            found.append((m.start(), f"'cannot {m[1]}:'"))
    return found


def check(root):
    found = []
    for path in sorted([*root.glob("src/**/*.c"), *root.glob("tools/**/*.c")]):
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(root)}:{text.count(chr(10), 0, at) + 1}: {sentence} is not a sentence"
                  for at, sentence in problems_of(text)]
    return found


def self_test():
    cases = [('xy_fail_memory("reading a file")', 0), ('xy_fail_memory("a node")', 1), ("xy_fail_memory(what)", 0),
             ('xy_fail_errno(errno, path, "open")', 0), ('xy_fail_errno(errno, path, "cannot open")', 1),
             ('xy_fail_errno(e, "a thread", "start")', 0), ('xy_fail_errno(e, "it",\n   "start a thread for")', 1)]
    bad = [text for text, wanted in cases if len(problems_of(text)) != wanted]
    print(f"self-test: {len(cases)} cases, {len(bad)} misjudged {bad or ''}")
    return 1 if bad else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    found = check(Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
