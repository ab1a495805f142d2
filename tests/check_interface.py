#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the installed headers of the C library still declare what tests/data/interface.txt lists.

    tests/check_interface.py INCLUDE ROOT           compare the headers in INCLUDE with the list in the tree ROOT
    tests/check_interface.py --write INCLUDE ROOT   write the list again: for a new version, or for additions
    tests/check_interface.py --self-test            see that each kind of change is noticed

The list has the declaration of every function, the size of every structure, the offset of every member and the value of every
enumerator, as the compiler sees them (64-bit systems agree). Programs that were compiled with an earlier release of the same
version rely on them: nothing may go or change. Additions must be listed, too.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEADERS = ["xylem.h", "xylem_factor.h", "xylem_matmul.h", "xylem_mpi.h", "xylem_plugin.h", "xylem_tasks_mpi.h"]
STORED = "tests/data/interface.txt"


def functions(text):
    """The declarations of functions, each on one line."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    for found in re.finditer(r"^(?:XYLEM_API\s+|__attribute__\(\(.*?\)\)\s+)?((?!typedef)\w[\w *]*\bxylem_\w+\([^;{]*\));", text, re.M):
        yield "function " + re.sub(r"\s*([(),*])\s*", r"\1", " ".join(found[1].split()))


def entries(dump):
    """(tag, offset, parent's offset, attributes) of each entry of readelf's dump of .debug_info."""
    above, entry = [], None
    for line in dump.splitlines():
        start = re.match(r"\s*<(\w+)><(\w+)>: Abbrev Number: \d+ \((\w+)\)", line)
        attribute = re.match(r"\s*<\w+>\s+(DW_AT_\w+)\s*:\s*(.*)", line)
        if start:
            depth = int(start[1], 16)
            above = above[:depth] + [start[2]]
            entry = (start[3], start[2], above[-2] if depth else None, {})
            yield entry
        elif attribute and entry:
            entry[3][attribute[1]] = attribute[2].strip()


def word(value):
    """A name or a number of an attribute: "(indirect string, offset: 0x1b): count" is count, "(data1) 8" is 8."""
    return re.sub(r"^(?:\([^)]*\):?\s*)+", "", value).strip()


def layouts(dump):
    """Sizes of structures, offsets of members, values of enumerators whose names are the library's."""
    found = list(entries(dump))
    names = {offset: word(attributes["DW_AT_name"]) for tag, offset, _, attributes in found
             if tag in ("DW_TAG_structure_type", "DW_TAG_union_type") and "DW_AT_name" in attributes}
    for tag, _, _, attributes in found:
        target = re.search(r"<0x(\w+)>", attributes.get("DW_AT_type", ""))
        if tag == "DW_TAG_typedef" and target:
            names.setdefault(target[1], word(attributes["DW_AT_name"]))
    for tag, offset, parent, attributes in found:
        if tag == "DW_TAG_structure_type" and "DW_AT_byte_size" in attributes and names.get(offset, "").startswith("xylem"):
            yield f"size {names[offset]} {word(attributes['DW_AT_byte_size'])}"
        elif tag == "DW_TAG_member" and names.get(parent, "").startswith("xylem"):
            yield f"offset {names[parent]}.{word(attributes.get('DW_AT_name', '?'))} {word(attributes['DW_AT_data_member_location'])}"
        elif tag == "DW_TAG_enumerator" and word(attributes["DW_AT_name"]).startswith("XYLEM_"):
            yield f"value {word(attributes['DW_AT_name'])} {word(attributes['DW_AT_const_value'])}"


def interface(include, headers):
    """The lines of the list for the headers of a directory."""
    lines = set()
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "all.c", Path(folder) / "all.o"
        source.write_text("".join(f'#include "{name}"\n' for name in headers))
        subprocess.run(["cc", "-c", "-g", "-gdwarf-4", "-fno-eliminate-unused-debug-types", "-I", str(include), str(source), "-o", str(made)],
                       check=True)
        dump = subprocess.run(["readelf", "--debug-dump=info", "--wide", str(made)], check=True, capture_output=True, text=True,
                              env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}).stdout
    lines.update(layouts(dump))
    for name in headers:
        lines.update(functions((include / name).read_text(encoding="utf-8")))
    return sorted(lines)


def differences(stored, now):
    for line in sorted(set(stored) - set(now)):
        yield f"'{line}' is gone or has changed: programs that are compiled already rely on it"
    for line in sorted(set(now) - set(stored)):
        yield f"'{line}' is new: list it with tests/check_interface.py --write"


def self_test():
    text = """#define XYLEM_API
enum { XYLEM_READ = 1 };
typedef struct { int a; long b; } xylem_pair;
typedef struct xylem_hidden xylem_hidden; /* XYLEM_API int no(void); */
XYLEM_API int xylem_f(const xylem_pair *p,
                      int n);
"""
    wanted = ["function int xylem_f(const xylem_pair*p,int n)", "offset xylem_pair.a 0", "offset xylem_pair.b 8", "size xylem_pair 16",
              "value XYLEM_READ 1"]
    changes = [("int a; long b;", "int a; int c; long b;", 1), ("int a; long b;", "long b; int a;", 4), ("READ = 1", "READ = 2", 2),
               ("int n);", "long n);", 2), ("XYLEM_API int xylem_f", "XYLEM_API int xylem_g", 2), ("long b;", "long b, c;", 3), ("int n);", "int   n);", 0)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        header = Path(folder) / "a.h"
        header.write_text(text)
        first = interface(Path(folder), ["a.h"])
        if first != wanted:
            print(f"read {first}")
            failed += 1
        for before, after, count in changes:
            header.write_text(text.replace(before, after))
            found = list(differences(first, interface(Path(folder), ["a.h"])))
            if len(found) != count:
                print(f"{before} -> {after}: {found}")
                failed += 1
    return failed != 0


def main():
    words = sys.argv[1:]
    if words == ["--self-test"]:
        return self_test()
    write = words[:1] == ["--write"]
    if len(words) != 2 + write:
        print(__doc__)
        return 2
    root = Path(words[-1])
    now = interface(Path(words[-2]), HEADERS)
    if write:
        (root / STORED).write_text("\n".join(now) + "\n")
        return 0
    problems = list(differences((root / STORED).read_text().splitlines(), now))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
