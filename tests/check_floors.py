#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the rooms of the house keep to their floors.

    tests/check_floors.py [ROOT]        check the tree at ROOT (default: this one)
    tests/check_floors.py --self-test   break small trees in every way, and see each one caught

docs/architecture.md holds tables `| layer | component | ...`. A room may be a wing: its sub-rooms have
rows of their own (`| 7.2 | `src/mpi/datatype` |`), and the wing's own files, beside the sub-rooms, have
the row `src/wing` again or none (then they stand above all sub-rooms). For each file of a room:
  - it includes no room of its own floor or above;
  - of another room it includes only that room's own header, room/room.h (wing/part/part.h);
  - a room it includes is named in ROOMS of its CMakeLists.txt, directly or through another room
    (tests included), and ROOMS names no room of its own floor or above.
"""
import re
import sys
import tempfile
from pathlib import Path

ROW = re.compile(r"^\|\s*(\d+(?:\.\d+)*)\s*\|\s*`(?:src/)?([a-z0-9_/]+?)/?`\s*\|")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
ROOM_CALL = re.compile(r"xy_room\(\s*([a-z0-9_]+)(.*?)\)", re.S)
KEYWORDS = {"SOURCES", "ROOMS", "LIBS", "DEFINES", "TESTS", "FUZZ"}


def read_floors(root):
    """{room: floor} from the tables of the architecture page; a floor is a tuple, 7.2 is (7, 2)."""
    floors = {}
    for line in (root / "docs/architecture.md").read_text(encoding="utf-8").splitlines():
        row = ROW.match(line)
        if row:
            floors[row.group(2)] = tuple(int(part) for part in row.group(1).split("."))
    return floors


def show(floor):
    return ".".join(str(part) for part in floor)


def room_of(path, floors):
    """The room or sub-room that holds `path` (below src/): the longest row that is its folder."""
    folder = path.rpartition("/")[0]
    while folder and folder not in floors:
        folder = folder.rpartition("/")[0]
    return folder


def is_below(lower, upper, floors):
    """Whether room `upper` may use room `lower`."""
    low, high = floors[lower], floors[upper]
    if lower.split("/")[0] != upper.split("/")[0]:
        return low[0] < high[0] # other rooms see only the whole numbers
    depth = min(len(low), len(high))
    if low[:depth] == high[:depth]:
        return len(high) < len(low) # the files of a wing stand above its sub-rooms
    return low < high


def strip_cmake_comments(text):
    return re.sub(r"#.*", "", text)


def read_linked_rooms(directory):
    """The rooms that the CMakeLists.txt of a room links, or None where it makes no room."""
    path = directory / "CMakeLists.txt"
    if not path.exists():
        return None
    text = strip_cmake_comments(path.read_text(encoding="utf-8"))
    linked = None
    for call in ROOM_CALL.finditer(text):
        linked = linked or set()
        keyword = None
        for word in call.group(2).split():
            if word in KEYWORDS:
                keyword = word
            elif keyword == "ROOMS":
                linked.add(word)
    return linked


def closure(room, links):
    """All rooms that `room` links, through any number of others."""
    seen, todo = set(), [room]
    while todo:
        for lower in links.get(todo.pop()) or ():
            if lower not in seen:
                seen.add(lower)
                todo.append(lower)
    return seen


def room_directories(root, floors):
    directories = {path.name: path for path in sorted((root / "src").iterdir()) if path.is_dir()}
    if "tools" in floors and (root / "tools").is_dir():
        directories["tools"] = root / "tools"
    return directories


def check_include(room, where, target, floors, reachable):
    """The complaints about one include of `target` in a file of `room`."""
    other = room_of(target, floors)
    rest = target[len(other) + 1:]
    if not other or other == room:
        return []
    problems = []
    if not is_below(other, room, floors):
        problems.append(f"{where}: {room} (floor {show(floors[room])}) includes {target} of floor "
                        f"{show(floors[other])}; a room uses only rooms below it")
    # Tests may share the helpers of tests of a room below.
    shared = rest == "testing.h" and re.search(r"(_test\.c|testing\.h)\b", where)
    header = other.rpartition("/")[2] + ".h"
    if rest != header and not shared:
        problems.append(f"{where}: {target} is private to {other}; include {other}/{header}")
    top = other.split("/")[0]
    if reachable is not None and top != room.split("/")[0] and top not in reachable:
        problems.append(f"{where}: includes {top} but ROOMS in the CMakeLists.txt of "
                        f"{room.split('/')[0]} does not name it")
    return problems


def check(root):
    """All complaints about the tree at root, as lines."""
    floors = read_floors(root)
    if not floors:
        return ["docs/architecture.md: no floors table found"]
    directories = room_directories(root, floors)
    links = {room: read_linked_rooms(path) for room, path in directories.items()}
    problems = []
    for room, directory in directories.items():
        if room not in floors:
            problems.append(f"src/{room}: not in the floors table of docs/architecture.md")
            continue
        for lower in sorted(links[room] or ()):
            if lower not in floors or not is_below(lower, room, floors):
                problems.append(f"{directory.relative_to(root)}/CMakeLists.txt: ROOMS names "
                                f"{lower}, which is not below {room}")
        reachable = None if links[room] is None else closure(room, links)
        for path in sorted(directory.rglob("*.[ch]")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                include = INCLUDE.match(line)
                if include:
                    where = f"{path.relative_to(root)}:{number}"
                    inside = f"{room}/{path.relative_to(directory).as_posix()}"
                    problems += check_include(room_of(inside, floors), where, include.group(1),
                                              floors, reachable)
    return problems


GOOD = {
    "docs/architecture.md": "| floor | room | what |\n|---|---|---|\n| 1 | `src/low` | x |\n"
                            "| 2 | `src/mid` | x |\n| 2 | `src/side` | x |\n| 3 | `src/wing` | x |\n"
                            "| 4 | `tools/` | x |\n| 3.1 | `src/wing/a` | x |\n"
                            "| 3.2 | `src/wing/b/deep` | x |\n| 3.3 | `src/wing/b` | x |\n",
    "src/low/CMakeLists.txt": "xy_room(low SOURCES low.c)\n",
    "src/low/low.h": "",
    "src/low/low.c": '#include "low/low.h"\n#include "low/inner.h"\n#include <stdio.h>\n',
    "src/mid/CMakeLists.txt": "xy_room(mid\n  SOURCES mid.c\n  ROOMS low # lower\n  TESTS a.c)\n",
    "src/mid/mid.c": '#include "low/low.h"\n',
    "src/side/CMakeLists.txt": "xy_room(side SOURCES side.c ROOMS low)\n",
    "src/side/side.c": '#include "low/low.h"\n',
    "src/wing/CMakeLists.txt": "xy_room(wing SOURCES a/a.c b/b.c wing.c ROOMS low mid)\n",
    "src/wing/a/a.c": '#include "low/low.h"\n#include "wing/a/inner.h"\n',
    "src/wing/b/b.c": '#include "wing/a/a.h"\n#include "mid/mid.h"\n',
    "src/wing/wing.c": '#include "wing/b/b.h"\n#include "wing/wing.h"\n',
    "src/wing/b/deep/x.c": '#include "wing/a/a.h"\n',
    "tools/main.c": '#include "mid/mid.h"\n#include "side/side.h"\n#include "wing/b/b.h"\n',
}

# What is changed in the good tree, and a word that the complaint must hold.
BROKEN = [
    ({"src/low/low.c": '#include "mid/mid.h"\n'}, "includes mid/mid.h of floor 2"),
    ({"src/mid/mid.c": '#include "side/side.h"\n'}, "includes side/side.h of floor 2"),
    ({"src/mid/mid.c": '# include "low/inner.h"\n'}, "private to low"),
    ({"src/mid/mid_test.c": '#include "low/inner.h"\n'}, "private to low"),
    ({"tools/main.c": '#include "mid/inner.h"\n'}, "private to mid"),
    ({"src/mid/CMakeLists.txt": "xy_room(mid SOURCES mid.c)\n"}, "does not name it"),
    ({"src/low/CMakeLists.txt": "xy_room(low SOURCES low.c ROOMS mid)\n"}, "not below low"),
    ({"src/shed/shed.c": ""}, "src/shed: not in the floors table"),
    ({"src/wing/a/a.c": '#include "wing/b/b.h"\n'}, "wing/a (floor 3.1) includes wing/b/b.h"),
    ({"src/wing/a/a.c": '#include "wing/wing.h"\n'}, "wing/a (floor 3.1) includes wing/wing.h"),
    ({"src/wing/b/b.c": '#include "wing/a/inner.h"\n'}, "private to wing/a"),
    ({"src/wing/b/deep/x.c": '#include "wing/b/b.h"\n'}, "includes wing/b/b.h of floor 3.3"),
    ({"tools/main.c": '#include "wing/b/inner.h"\n'}, "private to wing/b"),
    ({"src/mid/mid.c": '#include "wing/a/a.h"\n'}, "includes wing/a/a.h of floor 3.1"),
    ({"docs/architecture.md": "no table\n"}, "no floors table"),
]


def check_changed(change):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for path, text in {**GOOD, **change}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        return check(root)


def self_test():
    failures = 0
    if check_changed({}):
        print(f"the good tree is refused: {check_changed({})}")
        failures += 1
    for change, expected in BROKEN:
        problems = check_changed(change)
        if not any(expected in problem for problem in problems):
            print(f"{change}: expected '{expected}', got {problems}")
            failures += 1
    print(f"self-test: {len(BROKEN) + 1} trees, {failures} misjudged")
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        return 1 if self_test() else 0
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    problems = check(root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
