#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Suppress every class of finding: each is reported without a rule and with a rule for another file, and omitted with its own.

  suppress.py MPIEXEC XYLEM PROGRAM SOURCE...

The classes are those of `xylem explain finding`; one of the first wrong programs
of the sources whose report has the class shows it. Rules
for classes that end every job must be refused.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import run # noqa: E402


def examples(sources):
    """{class: [(name, fields)]} of the programs that name the class with --check."""
    found = {}
    for path in sources:
        for name, fields in run.read(path) if path.endswith(".c") else ():
            options = fields.get("options", [""])[0]
            for kind in re.findall(r"\[([a-z-]+)\]", " ".join(fields["says"])):
                if options.startswith("--check"):
                    found.setdefault(kind, []).append((name, fields))
    return found


def report(command, example, rule, folder):
    """(exit code, what was said) of the wrong program with one rule, or none."""
    name, fields = example
    rules = Path(folder) / "rules"
    rules.write_text(f"{rule}\n", encoding="utf-8")
    full = [command[0], *fields.get("options", ["--check"])[0].split(), "--check-suppress", rules, "-n", fields.get("ranks", ["2"])[0],
            command[1], name, "wrong", *(["before"] if "before" in fields else [])]
    done = subprocess.run(full, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=run.SECONDS, check=False)
    return done.returncode, done.stderr


def judge(command, kind, example, folder):
    """What is wrong about one class that can be suppressed, shown by one program."""
    mark, name = f"[{kind}]", example[0]
    expected = int(example[1].get("code", ["1"])[0])
    wrong = []
    for rule in ("", f"{kind} nowhere.c:*"):
        code, said = report(command, example, rule, folder)
        if code != expected or mark not in said:
            wrong.append(f"{kind}: {name} with the rule '{rule}' ends with {code}, and says:\n{said}")
    code, said = report(command, example, f"{kind} *", folder)
    others = [line for line in said.splitlines() if not re.match(r"mpiexec: warning: .* \[[a-z-]+\]$", line)]
    if mark in said or others or code != (120 if said else 0):
        wrong.append(f"{kind}: {name} ends with {code} although it is suppressed, and says:\n{said}")
    return wrong


def judge_some(command, kind, some, folder):
    """The same of the first programs, as one that goes on may crash, or show another class."""
    wrong = []
    for example in some[:4]:
        wrong = judge(command, kind, example, folder)
        if not wrong:
            break
    return wrong


def main():
    mpiexec, xylem, program, *sources = sys.argv[1:]
    said = subprocess.run([xylem, "explain", "finding", "--json"], check=True, capture_output=True, text=True)
    found, wrong, shown, refused = examples(sources), [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in json.loads(said.stdout):
            name = kind["class"]
            if kind["severity"].endswith("ends every job"):
                code, text = report((mpiexec, program), ("recv_recv", {}), f"{name} *", folder)
                refused += 1
                if code in (0, 120, 121) or "cannot be suppressed" not in text:
                    wrong.append(f"{name}: the rule is not refused: {code}, {text}")
            elif name not in found:
                wrong.append(f"{name}: no program shows it")
            else:
                shown += 1
                wrong += judge_some((mpiexec, program), name, found[name], folder)
    print("\n".join([*wrong, f"{shown} classes suppressed, {refused} refused, {len(wrong)} failures"]))
    sys.exit(bool(wrong) or shown == 0 or refused == 0)


if __name__ == "__main__":
    main()
