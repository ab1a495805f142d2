#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write docs/options.md from the option table of mpiexec.

    scripts/options_page.py XYLEM           print the page
    scripts/options_page.py XYLEM --check   compare docs/options.md with it

XYLEM is the built command; 'xylem help run --json' has the table.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs/options.md"
HEAD = """# Options of mpiexec

`scripts/options_page.py build/dev/bin/xylem >docs/options.md` writes this page from the option table.

`mpiexec --help` prints the common options, in **bold** here. `mpiexec --help-all` and mpiexec(1) describe all of them in detail.
Long names take one dash or two: `-np 4` and `--np=4` are the same. A stable option keeps its name and meaning until the next major
version; an *experimental* one may change in any version.
"""
GROUPS = {
    "run": "[running.md](running.md), libraries and global variables: [private.md](private.md)",
    "place": "[place.md](place.md), [balance.md](balance.md)",
    "overlap": "[overlap.md](overlap.md), [adapt.md](adapt.md)",
    "check": "[checking.md](checking.md), [debugging.md](debugging.md)",
    "observe": "[view.md](view.md), [place.md](place.md)",
    "predict": "[virtual-time.md](virtual-time.md)",
    "hosts": "[nodes.md](nodes.md)",
}


def cell(text):
    """Text of a cell of a Markdown table."""
    return re.sub(r"([|<>*_])", r"\\\1", text)


def names(option):
    """All names, the first with its argument."""
    written = [f"{'-' if len(name) == 1 else '--'}{name}" for name in [option["name"], *option["aliases"]]]
    argument = option["argument"] or ""
    written[0] += argument if argument.startswith("[=") else " " + argument if argument else ""
    return ", ".join(f"`{name}`".replace("|", "\\|") for name in written)


def first_clause(text):
    """A help text up to its first ';' or full stop outside of parentheses and quotes."""
    depth, quoted = 0, False
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "'" and (quoted or not text[at - 1:at].isalnum()):  # an apostrophe opens no quotation
            quoted = not quoted
        if not depth and not quoted and (char == ";" or text[at:at + 2] == ". "):
            return text[:at]
    return text


def row(option):
    help_text = first_clause(option["help"][0].upper() + option["help"][1:])
    facts = [f"one of {', '.join(option['choices'])}"] if not all(c in option["help"] for c in option["choices"]) else []
    facts += [f"default {option['default']}"] if option["default"] else []
    facts += [f"`{option['environment']}`"] if option["environment"] else []
    facts += ["*experimental*"] if option["level"] == "experimental" else []
    text = names(option)
    text = f"**{text}**" if option["level"] == "common" else text
    return f"| {text} | {cell(help_text)} | {'; '.join(facts)} |".replace("|  |", "| |")


def page(xylem):
    told = json.loads(subprocess.run([xylem, "help", "run", "--json"], capture_output=True, check=True).stdout)
    options = told["verbs"][0]["options"]
    lines = [HEAD]
    for group, pages in GROUPS.items():
        lines += [f"## {group.capitalize()}\n", f"Guide: {pages}.\n", "| option | effect | default, variable, mark |",
                  "|---|---|---|", *(row(o) for o in options if o["group"] == group), ""]
    return "\n".join(lines).rstrip() + "\n"


def main():
    if len(sys.argv) == 3 and sys.argv[2] == "--check":
        if PAGE.read_text(encoding="utf-8") == page(sys.argv[1]):
            return 0
        print("docs/options.md differs from the option table; run scripts/options_page.py XYLEM >docs/options.md")
        return 1
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    print(page(sys.argv[1]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
