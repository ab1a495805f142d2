#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write docs/findings.md from the classes of findings.

    scripts/findings_page.py XYLEM           print the page
    scripts/findings_page.py XYLEM --check   compare docs/findings.md with it

XYLEM is the built command; 'xylem explain finding --json' has the classes.
"""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/findings.md"
HEAD = """# Findings

Written by `scripts/findings_page.py`; `xylem explain finding CLASS` prints a section. Reports of `--check`
end with the class in brackets. The guide is [checking.md](checking.md); [tests/bugs](../tests/bugs) has examples.
"""


def section(kind):
    limits = f" *Limits:* {kind['limits']}" if kind["limits"] else ""
    return (f"## {kind['class']}\n\n*{kind['summary'][0].upper()}{kind['summary'][1:]}: {kind['severity']}.* {kind['rule']}\n\n"
            f"*Cure:* {kind['cure']}{limits}\n\n")


def page(xylem):
    said = subprocess.run([xylem, "explain", "finding", "--json"], check=True, capture_output=True, text=True)
    return f"{HEAD}\n{''.join(section(kind) for kind in json.loads(said.stdout))}".rstrip() + "\n"


def main():
    text = page(sys.argv[1])
    if sys.argv[2:] != ["--check"]:
        sys.stdout.write(text)
    elif PAGE.read_text(encoding="utf-8") != text:
        sys.exit("docs/findings.md is not what scripts/findings_page.py writes; run it again")


if __name__ == "__main__":
    main()
