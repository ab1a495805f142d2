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

Reports of `--check` end with the class in brackets; `mpiexec -n 2 --check ./bugs NAME wrong` prints that of an example of
[tests/bugs](../tests/bugs). The guide is [checking.md](checking.md).
"""


def bugs():
    """{name: file} of tests/bugs."""
    return {name: path.name for path in sorted((ROOT / "tests/bugs").glob("*.c"))
            for name in re.findall(r"^BUG\((\w+)\)$", path.read_text(encoding="utf-8"), re.M)}


def example(found, name):
    return f"[{name}](../tests/bugs/{found[name]})"


def section(found, kind):
    shown = f" Example: {example(found, kind['example'])}." if kind["example"] else ""
    limits = f"*Limits:* {kind['limits']}\n\n" if kind["limits"] else ""
    return f"## {kind['class']}\n\n{kind['rule']}{shown}\n\n*Cure:* {kind['cure']}\n\n{limits}"


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
