#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the list of verbs in docs/README.md names the verbs of the command, all and no other.

    tests/check_verbs.py XYLEM docs/README.md
"""
import json
import re
import subprocess
import sys
from pathlib import Path


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    said = subprocess.run([sys.argv[1], "help", "--json"], capture_output=True, check=True).stdout
    verbs = {verb["name"] for verb in json.loads(said)["verbs"]}
    page = Path(sys.argv[2]).read_text(encoding="utf-8")
    listed = set(re.findall(r"`xylem ([a-z+]+)", page.partition("## The verbs")[2]))
    for verb in sorted(verbs - listed):
        print(f"docs/README.md: its table of verbs leaves out `xylem {verb}`")
    for verb in sorted(listed - verbs):
        print(f"docs/README.md: `xylem {verb}` is in its table of verbs, but not in the command")
    return 0 if verbs == listed else 1


if __name__ == "__main__":
    sys.exit(main())
