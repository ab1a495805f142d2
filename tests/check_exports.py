#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that every function that a source exports is used outside of it.

    tests/check_exports.py BUILD [ROOT]   check the objects of the build tree BUILD
    tests/check_exports.py --self-test    compile small trees, and see each break caught

A function or variable of a library that no object but its own and those of tests and benchmarks
refers to should be static, or go. `nm` tells; compile_commands.json says which object belongs to
which source. What include/ declares is for programs, and what process/libc puts in front of the
C library has the C library's callers: neither is looked at, and nor are Fortran's names for MPI
functions (mpi_send_, MPI_SEND), the names of other MPIs and those that the dynamic linker asks an auditor for.
ROOT/tests/exports.txt lists the others that stay, one `name: reason` per line; a line that is not needed any more is a
complaint, too.

A build without one of the optional libraries lacks callers. There a name counts as used, too, where the text of another
source has it.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "mutants"))
import check_symbols
from source import without_comments

ALLOWED = "tests/exports.txt"
TEST = re.compile(r"_(test|fuzz)\.c$")
FORTRAN = re.compile(r"^(p?mpi|xylem)_\w+_$")
UPPER_CASE = re.compile(r"^P?MPI_[A-Z0-9_]+$") # a compiler's other ways to write Fortran's names
OF_OTHERS = re.compile(r"^(OMPI_C_MPI|OMPI_Affinity|P?MPIX|MPII|MPIR)_\w+$|^ompi_\w+$|^mpi(priv|fcmb)\w_$|^la_(version|objsearch)$")


def read_allowed(root):
    """({name: reason}, complaints)."""
    allowed, problems = {}, []
    path = root / ALLOWED
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"(\w+): +(\S.*)", line)
        if not match:
            problems.append(f"{ALLOWED}:{number}: not of the form 'name: reason'")
        elif match[1] in allowed:
            problems.append(f"{ALLOWED}:{number}: {match[1]} is there twice")
        else:
            allowed[match[1]] = match[2]
    return allowed, problems


def public_names(root, build):
    """All words of the headers for programs, written ones and generated ones."""
    headers = [*(root / "include").rglob("*.h"), *(build / "include").rglob("*.h")]
    return set(re.findall(r"\w+", " ".join(h.read_text(encoding="utf-8") for h in headers)))


def all_objects(build):
    """{object: source} of everything that was built."""
    objects = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        output = check_symbols.output_of(entry)
        if output is not None and output.exists():
            objects[output] = Path(entry["file"])
    return objects


def missing_libraries(build):
    """Optional libraries that this build does without."""
    commands = (build / "compile_commands.json").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"-DXYLEM_HAVE_(\w+)=0", commands)))


def is_library_source(path, root):
    """Is it one whose exports count? Generated sources and commands are none."""
    if root / "src" not in path.parents or TEST.search(path.name):
        return False
    return check_symbols.IN_FRONT not in path.parent.as_posix() and path.suffix == ".c"


def is_user(path, root):
    """Does a reference from there count?"""
    below = {path.relative_to(root).parts[0]} if root in path.parents else set()
    return not TEST.search(path.name) and not below & {"tests", "bench"}


def named_in_text(root):
    """{word: sources} of all sources that count as users."""
    named = {}
    for path in (path for folder in ("src", "tools", "examples") for path in (root / folder).rglob("*.c")):
        if is_user(path, root):
            for word in set(re.findall(r"\w+", without_comments(path.read_text(encoding="utf-8")))):
                named.setdefault(word, set()).add(path)
    return named


def check(build, root):
    """All complaints, as lines; and how many exports were looked at."""
    allowed, problems = read_allowed(root)
    objects = all_objects(build)
    if not objects:
        return [f"{build}: no objects; build it first"], 0
    public = public_names(root, build)
    defined, undefined = check_symbols.read_symbols(sorted(objects))
    is_partial = bool(missing_libraries(build))
    users = named_in_text(root) if is_partial else {}
    for path, name in undefined:
        users.setdefault(name, set()).add(objects[path])
    homes, all_names = {}, {name for _, name in defined}
    for path, name in defined:
        is_fortran = FORTRAN.match(name) or (UPPER_CASE.match(name.upper()) and name.upper() in all_names)
        is_called = name in public or is_fortran or OF_OTHERS.match(name) or name == "main"
        if is_library_source(objects[path], root) and not is_called:
            homes.setdefault(name, set()).add(objects[path])
    unused = {name for name, sources in homes.items()
              if not any(is_user(user, root) for user in users.get(name, set()) - sources)}
    for name in sorted(unused - allowed.keys()):
        source = min(homes[name]).relative_to(root).as_posix()
        who = "only tests use it" if users.get(name, set()) - homes[name] else "nothing else uses it"
        problems.append(f"{source}: {name} is exported, but {who}: make it static or remove it "
                        f"(or say in {ALLOWED} why not)")
    for name in () if is_partial else sorted(allowed.keys() - unused):
        problems.append(f"{ALLOWED}: {name} is no unused export: remove the line")
    return problems, len(homes)


GOOD = {
    "src/low/low.c": "int xy_low(void) { return 1; }\nint xy_tested(void) { return 2; }\n"
                     "static int own(void) { return 3; }\nint (*xy_own)(void) = own;\n"
                     "int xy_public(void) { return 4; }\nint main(void) { return 0; }\n",
    "src/high/high.c": "int xy_low(void); extern int (*xy_own)(void);\n"
                       "int xylem_run(void) { return xy_low() + xy_own(); }\n",
    "src/low/low_test.c": "int xy_tested(void); int test(void) { return xy_tested(); }\n",
    "src/process/libc/c.c": "int getenv_like(void) { return 0; }\n",
    "include/x.h": "int xylem_run(void); int xy_public(void);\n",
    ALLOWED: "# why\nxy_tested: a way in for its test\n",
}

# What is changed in the good tree, and a word that the complaint must hold; "" for none.
CASES = [
    ({}, ""),
    ({ALLOWED: "\n"}, "src/low/low.c: xy_tested is exported, but only tests use it"),
    ({"src/low/low_test.c": "int test(void) { return 1; }\n", ALLOWED: ""}, "nothing else uses it"),
    ({"src/high/high.c": "extern int (*xy_own)(void); int xylem_run(void) { return xy_own(); }\n"},
     "xy_low is exported"),
    ({"src/high/high.c": "int xy_low(void); int xylem_run(void) { return xy_low(); }\n"},
     "xy_own is exported"),
    ({"include/x.h": "int xylem_run(void);\n"}, "xy_public is exported"),
    ({"bench/b.c": "int xy_tested(void); int run(void) { return xy_tested(); }\n"}, ""),
    ({"tests/t.c": "int xy_tested(void); int run(void) { return xy_tested(); }\n"}, ""),
    ({"tools/t.c": "int xy_tested(void); int run(void) { return xy_tested(); }\n"},
     "xy_tested is no unused export"),
    ({"missing": "", "src/high/high.c": "#if 0\nint xy_low(void);\n#endif\nextern int (*xy_own)(void);\n"
                                       "int xylem_run(void) { return xy_own(); }\n"}, ""),
    ({"missing": "", "src/high/high.c": "extern int (*xy_own)(void); int xylem_run(void) { return xy_own(); } // xy_low\n"},
     "xy_low is exported"),
    ({"src/low/fortran.c": "int mpi_idle(void) { return 1; }\nint MPI_IDLE(void) { return 1; }\n"}, ""),
    ({"src/low/fortran.c": "int mpi_idle(void) { return 1; }\n"}, "mpi_idle is exported"),
    ({ALLOWED: "xy_tested: x\nxy_gone: y\n"}, "xy_gone is no unused export"),
    ({ALLOWED: "xy_tested\n"}, "exports.txt:1: not of the form"),
    ({ALLOWED: "xy_tested: x\nxy_tested: y\n"}, "exports.txt:2: xy_tested is there twice"),
]


def check_changed(change):
    with tempfile.TemporaryDirectory() as name:
        root, build = Path(name) / "root", Path(name) / "build"
        build.mkdir()
        commands = []
        for source, text in {**GOOD, **change}.items():
            path, output = root / source, build / f"{source}.o"
            for folder in (path.parent, output.parent):
                folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            if path.suffix != ".c":
                continue
            command = [os.environ.get("CC", "cc"), "-c", str(path), "-o", str(output)]
            subprocess.run(command, check=True)
            commands.append({"directory": str(build), "arguments": command, "file": str(path)})
        if "missing" in change:
            commands.append({"directory": str(build), "command": "cc -DXYLEM_HAVE_X=0", "file": "x.c"})
        (build / "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
        return check(build, root)[0]


def self_test():
    failures = 0
    for change, expected in CASES:
        problems = check_changed(change)
        if bool(problems) != bool(expected) or (expected and expected not in "\n".join(problems)):
            print(f"{change}: expected '{expected}', got {problems}")
            failures += 1
    print(f"self-test: {len(CASES)} trees, {failures} misjudged")
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    if not arguments:
        print(__doc__)
        return 2
    root = Path(arguments[1]) if len(arguments) > 1 else Path(__file__).resolve().parent.parent
    build = Path(arguments[0]).resolve()
    problems, seen = check(build, root.resolve())
    for problem in problems:
        print(problem)
    print(f"{seen} exports of libraries, {len(problems)} complaints")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
