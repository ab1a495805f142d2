#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write docs/findings.md from the classes of findings and the programs of tests/bugs.

    scripts/findings_page.py XYLEM           print the page
    scripts/findings_page.py XYLEM --check   compare docs/findings.md with it

XYLEM is the built command; 'xylem explain finding --json' has the classes. The test bugs.reports runs the programs and
compares the reports.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/findings.md"
HEAD = """# Findings

`scripts/findings_page.py build/dev/bin/xylem >docs/findings.md` writes this page. `xylem explain finding CLASS` prints a
section of it.

Reports of `--check` end with the class in brackets. The guide is [checking.md](checking.md). Each example is a program of
[tests/bugs](../tests/bugs) with its report; `*` is any text.
"""


def bugs():
    """{name: (file, {field: [values]}, body)} of tests/bugs."""
    found = {}
    for path in sorted((ROOT / "tests/bugs").glob("*.c")):
        text = path.read_text(encoding="utf-8")
        for comment, name, body in re.findall(r"/\*((?:(?!\*/).)*)\*/\nBUG\((\w+)\)\n\{\n(.*?)\n\}\n", text, re.S):
            fields, last = {}, None
            for line in (re.sub(r"^ ?\* ?", "", line).rstrip() for line in comment.strip().splitlines()):
                field = re.match(r"(ranks|code|options|says): (.*)", line)
                if field:
                    last = fields.setdefault(field[1], [])
                    last.append(field[2])
                elif last and line:
                    last[-1] += " " + line.strip()
            found[name] = (path.name, fields, body)
    return found


def indented(text):
    """Text as a block of code, with the least indentation removed."""
    lines = text.splitlines()
    least = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[least:].replace(" // @here", "") for line in lines)


def example(found, name):
    file, fields, body = found[name]
    command = " ".join(["mpiexec", *fields.get("options", []), "-n", *fields.get("ranks", ["2"]), "./bugs", name, "wrong"])
    report = "\n".join(re.sub(r"@\w+", f"{file}:*", line) for line in fields["says"])
    return f"```c\n{indented(body)}\n```\n\n```console norun\n$ {command}\n{report}\n```\n\n"


def section(found, kind):
    shown = example(found, kind["example"]) if kind["example"] else ""
    limits = f"*Limits:* {kind['limits']}\n\n" if kind["limits"] else ""
    return (f"## {kind['class']}\n\n*{kind['summary'][0].upper()}{kind['summary'][1:]}: {kind['severity']}.*\n\n"
            f"{kind['rule']}\n\n{shown}*Cure:* {kind['cure']}\n\n{limits}")


def page(xylem):
    said = subprocess.run([xylem, "explain", "finding", "--json"], check=True, capture_output=True, text=True)
    kinds, found = json.loads(said.stdout), bugs()
    rows = "".join(f"| [{k['class']}](#{k['class']}) | {k['summary']} | {k['severity']} |\n" for k in kinds)
    table = f"| class | what happened | severity |\n|---|---|---|\n{rows}"
    return f"{HEAD}\n{table}\n{''.join(section(found, kind) for kind in kinds)}".rstrip() + "\n"


def main():
    text = page(sys.argv[1])
    if sys.argv[2:] != ["--check"]:
        sys.stdout.write(text)
    elif PAGE.read_text(encoding="utf-8") != text:
        sys.exit("docs/findings.md is not what scripts/findings_page.py writes; run it again")


if __name__ == "__main__":
    main()
