#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests call no program that a machine may lack, unless they skip without it.

    tests/check_tools.py SOURCE

A program in a script below tests/ must come with every Debian, with a package under [build] or [test] of
packages.txt, or with one that these depend on. Other programs need a guard in the same script or in one that
it sources: `needs TOOL` of tests/cli/lib.sh, `command -v TOOL`, or shutil.which("TOOL"). The packages are
those of this machine; exit code 77 where it has no dpkg. A test that skips says why.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# A word in front of a command that the shell calls, and one that itself calls a command.
BEFORE = (r"(?:^|[|;&({]|&&|\|\||\$\(|\b(?:then|do|else|if|while|until|exec|time|nice|env|expect \S+|timeout \S+|"
          r"within \S+|unshare(?: --\w+)+|nsenter .*? --\w+)\b|!)")
WORD = re.compile(BEFORE + r"\s*(?:\w+=[^\s(]*\s+)*([a-z][\w.+-]*)(?=[\s;|&)]|$)", re.M)
LIST = re.compile(r"(?<![A-Z] = )(?<![\w\])\"'])\[\s*\"([a-z][\w.+-]*)\",")
GUARD = re.compile(r"(?:\bneeds ((?:[\w.+-]+ ?)+)|\bcommand -v ([\w.+-]+)|which\(\"([\w.+-]+)\"\))")
OWN = {"mpicc", "mpicxx", "mpifort", "mpiexec", "mpirun"}  # of the built tree
# Words of the shell.
SHELL = set("alias bg bind break builtin caller case cd command continue declare do done echo elif else esac eval exec "
            "exit export false fg fi for function getopts hash help history if in jobs kill let local logout mapfile "
            "popd printf pushd pwd read readarray readonly return set shift shopt source suspend test then time "
            "times trap true type typeset ulimit umask unalias unset until wait while".split())


def query(*arguments):
    return subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=False).stdout


def installed():
    """Of each installed package: whether every Debian has it, and the names that it depends on."""
    table, provided = {}, {}
    form = "${Package}\t${Essential}\t${Priority}\t${Pre-Depends}, ${Depends}\t${Provides}\n"
    for line in query("-W", "-f", form).splitlines():
        name, essential, priority, depends, provides = line.split("\t")
        names = re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9.+-]+)", depends)
        table[name] = (essential == "yes" or priority == "required", names)
        for virtual in re.findall(r"(?:^|,)\s*([a-z0-9][a-z0-9.+-]+)", provides):
            provided.setdefault(virtual, name)
    return table, provided


def listed(source):
    """The packages under [build] and [test] of packages.txt."""
    section, names = "", []
    for line in (source / "packages.txt").read_text(encoding="utf-8").splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            section = line
        elif line and section in ("[build]", "[test]"):
            names += [name.strip() for name in line.split("|")]
    return names


def allowed(source):
    """Packages that are on every machine that has run `make test`."""
    table, provided = installed()
    todo = [name for name, (is_base, _) in table.items() if is_base] + listed(source)
    found = set()
    while todo:
        name = todo.pop()
        name = name if name in table else provided.get(name)
        if name in table and name not in found:
            found.add(name)
            todo += table[name][1]
    return found


def packages_of(programs):
    """{program: package} of the programs that this machine has."""
    places, found = {}, {}
    for program in programs:
        path = shutil.which(program, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        for place in (path, path.replace("/usr/", "/", 1), os.path.realpath(path)) if path else ():
            places.setdefault(place, program)
    for line in query("-S", *places).splitlines():
        owner, _, place = line.partition(": ")
        if not owner.startswith("diversion"):
            found[places[place]] = owner.split(":")[0]
    return found


def without_text(text):
    """A script without comments, here-documents, quoted text and patterns of `case`, in which words are no commands."""
    text = re.sub(r"<<-?\s*['\"]?(\w+)['\"]?(.*?)\n.*?\n\s*\1$", r"\2", text, flags=re.S | re.M)
    text = re.sub(r"(^|\s)#.*", r"\1", text)
    text = re.sub(r"'[^']*'", "''", text)
    text = re.sub(r"^\s*[\w.*+-]+(?: \| [\w.*+-]+)*\)", "", text, flags=re.M)
    return re.sub(r'"(?:[^"\\$]|\\.|\$(?!\())*"', '""', text)


def sourced(path, source, seen):
    """The script and those that it sources, as text."""
    if path in seen or not path.is_file():
        return ""
    seen.add(path)
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"^\s*\. \"?\$XYLEM_SOURCE_DIR/([\w/.-]+)", text, re.M):
        text += sourced(source / name, source, seen)
    return text


def calls(path, source):
    """The programs that a script may call without looking for them."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        words = set() if re.search(r"which\([a-z]", text) else set(LIST.findall(text))
    else:
        functions = set(re.findall(r"^\s*(?:function )?([\w-]+)\(\)", text, re.M))
        words = set(WORD.findall(without_text(text))) - SHELL - functions
    return words - OWN - {word for match in GUARD.findall(sourced(path, source, set()))
                          for part in match for word in part.split()}


def foreign_modules(path, own):
    """Python modules that are neither Python's nor the project's."""
    names = re.findall(r"^(?:import|from) (\w+)", path.read_text(encoding="utf-8"), re.M)
    return [name for name in names if name not in sys.stdlib_module_names and name not in own]


def main():
    source = Path(sys.argv[1]).resolve()
    if not shutil.which("dpkg-query"):
        print("skipped: no dpkg-query, which knows the packages of this machine")
        return 77
    paths = sorted([*source.glob("tests/**/*.sh"), *source.glob("tests/**/*.py")])
    called = {path: calls(path, source) for path in paths}
    package = packages_of(sorted(set().union(*called.values())))
    good = allowed(source)
    own = {path.stem for path in [*paths, *source.glob("src/**/*.py")]} | {"mpi4py"}  # a test builds it
    bad = [f"{path.relative_to(source)}: calls {program} of the package {package[program]}, which is not under [build] "
           f"or [test] of packages.txt; skip the test without it: `needs {program}`"
           for path in paths for program in sorted(called[path] & package.keys()) if package[program] not in good]
    bad += [f"{path.relative_to(source)}: imports {name}, which Python does not bring"
            for path in paths if path.suffix == ".py" for name in foreign_modules(path, own)]
    bad += [f"{path.relative_to(source)}: skips without a reason; write `skip REASON`"
            for path in paths if re.search(r"(\|\||&&) exit 77", path.read_text(encoding="utf-8"))]
    print("\n".join(bad) or f"{len(paths)} scripts call {len(package)} programs")
    return 1 if bad or len(package) < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
