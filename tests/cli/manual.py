# SPDX-License-Identifier: BSD-3-Clause
"""Compare the options of man pages with those of --help-all: manual.py XYLEM PAGES.

Every command and verb is looked at, the benchmarks of 'xylem bench' in its page. Each option of a page is marked as stable or
experimental, as in 'xylem help --json', and has its default and its environment variable.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

IMPLIED = {"--help", "--help-all"}
problems = []


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def of_help(*command):
    """The options that --help-all lists, by the name in front."""
    lines = output(*command, "--help-all").splitlines()
    found = [re.match(r"  +(?:-\w, )?(--?[\w:+-]+)", line) for line in lines if not line.startswith(" " * 7)]
    return {match[1] for match in found if match}


def of_page(text):
    """{name: (all names, text)} of the options of a page or section."""
    found = {}
    plain = re.sub(r"\\f[BIR]", "", text).replace("\\-", "-").replace("\\(aq", "'")
    for entry in re.split(r"^\.TP.*\n", plain, flags=re.M)[1:]:
        names, _, rest = entry.partition("\n")
        names = re.findall(r"(?:^|, )(--?[\w:+-]+)", names)
        if names:
            first = next((name for name in names if len(name) > 2), names[0])
            found[first] = (names, re.split(r"^\.S[HS]", rest, flags=re.M)[0])
    return found


def compare(title, page, helped, table):
    """`helped` are names of --help-all, `table` the options of 'xylem help --json'."""
    listed = {name for names, _ in page.values() for name in names}
    for name in sorted(helped - listed):
        problems.append(f"{title}: the page lacks {name} of --help-all")
    known = helped | IMPLIED | {f"-{option['letter']}" for option in table if option["letter"]}
    for first, (names, _) in page.items():
        if not known & set(names):
            problems.append(f"{title}: --help-all lacks {first} of the page")
    for option in table:
        entry = next((text for names, text in page.values() if option["name"] in [name.lstrip("-").split("=")[0] for name in names]
                      or option["name"].split("=")[0] in [name.lstrip("-") for name in names]), None)
        if entry is None:
            problems.append(f"{title}: the page lacks {option['name']}")
            continue
        mark = "Experimental." if option["level"] == "experimental" else "Stable."
        if mark not in entry.splitlines():
            problems.append(f"{title}: {option['name']} is not marked as '{mark}'")
        for alias in option["aliases"]:
            if not any(name.lstrip("-") == alias for name in listed):
                problems.append(f"{title}: the page lacks {alias}, another name of {option['name']}")
        if option["environment"] and option["environment"] not in entry:
            problems.append(f"{title}: {option['name']} does not name {option['environment']}")


def section(text, heading):
    """The part of a page below a heading."""
    found = re.search(rf"^\.SH {re.escape(heading)}\n(.*?)(?=^\.SH |\Z)", text, re.M | re.S)
    return found[1] if found else ""


def main(xylem, pages):
    verbs = json.loads(output(xylem, "help", "--json"))["verbs"]
    compared = 0
    for verb in verbs:
        text = Path(pages, f"xylem-{verb['name']}.1").read_text(encoding="utf-8")
        table = json.loads(output(xylem, "help", verb["name"], "--json"))["verbs"][0]
        compare(f"xylem-{verb['name']}.1", of_page(section(text, "OPTIONS")), of_help(xylem, verb["name"]), table["options"])
        compared += len(table["options"])
        for bench in table.get("verbs", []):
            page = of_page(section(text, f"XYLEM {verb['name'].upper()} {bench['name'].upper()}"))
            compare(f"xylem-{verb['name']}.1, {bench['name']}", page, of_help(xylem, verb["name"], bench["name"]), bench["options"])
            compared += len(bench["options"])
    text = Path(pages, "mpiexec.1").read_text(encoding="utf-8")
    run = json.loads(output(xylem, "help", "run", "--json"))["verbs"][0]["options"]
    compare("mpiexec.1", of_page(section(text, "OPTIONS")), of_help(str(Path(xylem).parent / "mpiexec")), run)
    for command, verb in (("mpicc", "cc"), ("mpicxx", "c++")):
        text = Path(pages, f"{command}.1").read_text(encoding="utf-8")
        table = json.loads(output(xylem, "help", verb, "--json"))["verbs"][0]["options"]
        compare(f"{command}.1", of_page(section(text, "OPTIONS")), of_help(xylem, verb), table)
    if compared < 100:
        problems.append(f"only {compared} options were compared")
    print("\n".join(problems) or f"{compared} options of {len(verbs)} verbs agree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
