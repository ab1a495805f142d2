# SPDX-License-Identifier: BSD-3-Clause
"""Check the options of mpiexec and of every verb: options.py XYLEM MPIEXEC.

Each has a group and a level; --help of a command has at most 35, in 80 columns, and mpiexec's a line for each.
Each refuses what it must.

The options come from the tables of the commands ('xylem help --json'), so that a new one is tried without a line here.
Refused means exit code 2, one line on standard error that names the option, and nothing on standard output.
"""
import json
import os
import re
import subprocess
import sys

NO_NUMBER = ["1x", "nan", "1e999"]
# What a kind of value is never: a text that is read later is not in the table.
WRONG = {
    "whole": NO_NUMBER + ["1.5", "99999999999999999999"],
    "number": NO_NUMBER,
    "size": NO_NUMBER + ["-1", "1Q", "99999999999999999999"],
    "time": NO_NUMBER + ["-1us", "-5", "1 day"],
    "choice": ["x"],
    "text": [],
    "list": [],
}

failures = []


def refused(command, name, dashes, *arguments, also=()):
    """The command refuses the arguments because of the option `name`."""
    run = subprocess.run([*command, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                         check=False)
    lines = run.stderr.splitlines()
    said = lines[0] if lines else ""
    if run.returncode != 2 or len(lines) != 1 or run.stdout or f"{dashes}{name}" not in said:
        failures.append(f"{' '.join([*command, *arguments])}: {run.returncode}, {run.stderr!r} {run.stdout[:80]!r}")
    for word in also:
        if word not in said:
            failures.append(f"{' '.join([*command, *arguments])}: no '{word}' in {said!r}")


def outside(option):
    """Values beyond the range of the option."""
    if "min" not in option:
        return []
    values = [option["min"] - 1, option["max"] * 2 + 1]
    if option["kind"] in ("size", "time"):
        values = [v for v in values if v >= 0]
    return [f"{v:.0f}" if option["kind"] != "number" else repr(float(v)) for v in values]


def a_value(option, command):
    """Some value that the option takes, to try it without the one that it needs."""
    if option["kind"] == "choice" and not option["default"]:
        return option["choices"][:1]
    if option["kind"] in ("flag", "ignored") or (option["argument"] or "").startswith("[="):
        return []
    if option["default"]:
        return [option["default"]]
    return {"whole": ["1"], "number": ["1"], "size": ["64K"], "time": ["1s"], "pairs": ["A", "1"]}.get(option["kind"], ["x"])


def operands(verb):
    """What a verb needs besides options."""
    return ["x"] if synopses[verb] and not synopses[verb].startswith("[") else []


def check(command, verb, option):
    name = option["name"]
    dashes = "-" if verb == "run" and len(name) == 1 else "--"
    given = f"{dashes}{name}"
    for value in WRONG.get(option["kind"], []) + outside(option):
        refused(command, name, dashes, f"--{name}={value}" if value.startswith("-") else given,
                *([] if value.startswith("-") else [value]))
    can_be = option["may_be_empty"] or (option["argument"] or "").startswith("[=")
    if option["kind"] not in ("flag", "ignored") and not can_be:
        refused(command, name, dashes, given, "", *(["x"] if option["kind"] == "pairs" else []), also=["empty"])
    if option["kind"] == "flag":
        refused(command, name, dashes, f"--{name}=maybe")
    if option["needs"]:
        words = [w for w in option["needs"].split() if w[0].islower()]
        refused(command, name, dashes, given, *a_value(option, command), *operands(verb), also=[f"--{w.replace('=', ' ')}" for w in words])
    told = re.match(r"with --([a-z-]+)", option["help"])
    if told and not option["needs"] and not re.search(r"otherwise|close or round", option["help"]):
        failures.append(f"{verb} --{name}: its help begins with '{told.group()}', but its table has no such need")
    for other in (option["excludes"] or "").split():
        both = next(o for o in tables[verb] if o["name"] == other)
        extra = [w for w in (both["needs"] or "").split() if w[0].islower() and "=" not in w][:1]
        more = [f"--{w}=x" for w in extra if w != name]
        refused(command, name, dashes, given, *a_value(option, command), f"--{other}", *a_value(both, command), *more, *operands(verb),
                also=[f"--{other}"] if not option["needs"] else [])


def check_help(command, options):
    """--help lists the common options under their groups, --help-all all of them."""
    call = " ".join([os.path.basename(command[0]), *command[1:]])
    groups = {option["group"] for option in options}
    for option in options:
        if not option["group"] or option["level"] not in ("common", "advanced", "experimental"):
            failures.append(f"{call} --{option['name']}: no group or no level")
    for way, levels in (("--help", ["common"]), ("--help-all", ["common", "advanced", "experimental"])):
        text = subprocess.run([*command, way], capture_output=True, text=True, check=True).stdout
        body = text[text.find("\n\n", 8):].split("\nExamples:\n")[0]
        found, group = {}, ""
        for line in body.splitlines():
            heading = re.fullmatch(r"([A-Z][a-z]+):", line)
            row = re.match(r"  (?:-\w, |    )?--?([a-z][\w:=A-Z-]*)", line)
            if heading and heading.group(1).lower() in groups | {"help"}:
                group = heading.group(1).lower()
            elif row and group:
                found[row.group(1)] = group
        wanted = {o["name"]: o["group"] for o in options if o["level"] in levels}
        if command[-1] not in ("cc", "c++"):
            wanted |= {"help": "help", "help-all": "help"}
        if found != wanted:
            failures.append(f"{call} {way} lists {sorted(found.items() ^ wanted.items())} differently from its table")
        if way == "--help" and len(found) > 35:
            failures.append(f"{call} --help shows {len(found)} options; at most 35 may be common")
        failures.extend(f"{call} {way}: more than 80 columns: {line}" for line in body.splitlines() if len(line) > 80)
        if command == [mpiexec] and way == "--help":
            failures.extend(f"mpiexec --help: not in one line: {line}" for line in body.splitlines()
                            if line.startswith("   ") or re.fullmatch(r"  -\S+( \S+)?", line))


xylem, mpiexec = sys.argv[1:]
for variable in [v for v in os.environ if v.startswith(("XYLEM_", "SLURM_", "PBS_", "MPIEXEC_"))]:
    del os.environ[variable]
told = json.loads(subprocess.run([xylem, "help", "--json"], capture_output=True, text=True, check=True).stdout)
synopses = {verb["name"]: verb["synopsis"] for verb in told["verbs"]}
tables = {verb["name"]: verb["options"] for verb in told["verbs"]}
check_help([mpiexec], tables["run"])
if list(dict.fromkeys(o["group"] for o in tables["run"])) != "run place overlap check observe predict hosts".split():
    failures.append("mpiexec has other groups")
for verb in told["verbs"]:
    check_help([xylem, verb["name"]], verb["options"])
    for sub in verb.get("verbs", []):
        check_help([xylem, verb["name"], sub["name"]], sub["options"])
tried = 0
for verb, options in tables.items():
    if verb in ("cc", "c++"):  # the compiler reads those
        continue
    for option in options:
        check([mpiexec] if verb == "run" else [xylem, verb], verb, option)
        tried += 1
if tried < 200:
    failures.append(f"only {tried} options were found")
print("\n".join(failures) or f"{tried} options refuse what they must")
sys.exit(1 if failures else 0)
