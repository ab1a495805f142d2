#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the components keep to their layers.

    tests/check_layers.py [ROOT]        check the tree at ROOT (default: this one)
    tests/check_layers.py --self-test   break small trees in every way, and see each one caught

docs/architecture.md holds tables `| layer | component | ...`. A component may have parts: they have
rows of their own (`| 7.2 | `src/mpi/datatype` |`), and the files beside the parts have
the row `src/NAME` again or none (then they are above all parts). For each file of a component:
  - it includes no component of its own layer or above;
  - of another component it includes only that component's own header, NAME/NAME.h (NAME/PART/PART.h);
  - only tests include headers of tests/testing: testing/NAME_PART.h or testing/NAME_PART_*.h belongs to a component;
  - a component it includes is named in COMPONENTS of its CMakeLists.txt, directly or through another component
    (tests included), and COMPONENTS names no component of its own layer or above.
"""
import re
import sys
import tempfile
from pathlib import Path

ROW = re.compile(r"^\|\s*(\d+(?:\.\d+)*)\s*\|\s*`(?:src/)?([a-z0-9_/]+?)/?`\s*\|")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
COMPONENT_CALL = re.compile(r"xy_component\(\s*([a-z0-9_]+)(.*?)\)", re.S)
KEYWORDS = {"SOURCES", "COMPONENTS", "LIBS", "DEFINES", "TESTS", "FUZZ"}


def read_layers(root):
    """{component: layer} from the tables of the architecture page; a layer is a tuple, 7.2 is (7, 2)."""
    layers = {}
    for line in (root / "docs/architecture.md").read_text(encoding="utf-8").splitlines():
        row = ROW.match(line)
        if row:
            layers[row.group(2)] = tuple(int(part) for part in row.group(1).split("."))
    return layers


def show(layer):
    return ".".join(str(part) for part in layer)


def component_of(path, layers):
    """The component or part that holds `path` (below src/): the longest row that is its folder."""
    folder = path.rpartition("/")[0]
    while folder and folder not in layers:
        folder = folder.rpartition("/")[0]
    return folder


def component_of_testing(path, layers):
    """The component or part to which testing/NAME_PART_*.h belongs, or ""."""
    match = re.fullmatch(r"testing/(\w+)\.h", path)
    names = [c for c in layers if match and f"{match[1]}_".startswith(c.replace("/", "_") + "_")]
    return max(names, key=len, default="")


def is_below(lower, upper, layers):
    """Whether component `upper` may use component `lower`."""
    low, high = layers[lower], layers[upper]
    if lower.split("/")[0] != upper.split("/")[0]:
        return low[0] < high[0] # other components see only the whole numbers
    depth = min(len(low), len(high))
    if low[:depth] == high[:depth]:
        return len(high) < len(low) # files beside the parts are above them
    return low < high


def strip_cmake_comments(text):
    return re.sub(r"#.*", "", text)


def read_linked_components(directory):
    """The components that the CMakeLists.txt of a component links, or None where it makes no component."""
    path = directory / "CMakeLists.txt"
    if not path.exists():
        return None
    text = strip_cmake_comments(path.read_text(encoding="utf-8"))
    linked = None
    for call in COMPONENT_CALL.finditer(text):
        linked = linked or set()
        keyword = None
        for word in call.group(2).split():
            if word in KEYWORDS:
                keyword = word
            elif keyword == "COMPONENTS":
                linked.add(word)
    return linked


def closure(component, links):
    """All components that `component` links, through any number of others."""
    seen, todo = set(), [component]
    while todo:
        for lower in links.get(todo.pop()) or ():
            if lower not in seen:
                seen.add(lower)
                todo.append(lower)
    return seen


def component_directories(root, layers):
    directories = {path.name: path for path in sorted((root / "src").iterdir()) if path.is_dir()}
    if "tools" in layers and (root / "tools").is_dir():
        directories["tools"] = root / "tools"
    return directories


def check_include(component, where, target, layers, reachable):
    """The complaints about one include of `target` in a file of `component`."""
    other = component_of_testing(target, layers) or component_of(target, layers)
    rest = target[len(other) + 1:]
    problems = []
    shared = target.startswith("testing/")
    if shared and not re.search(r"(_test\.c|_fuzz\.c|^tests/testing/\w+\.h)\b", where):
        problems.append(f"{where}: {target} is for tests")
    if not other or other == component:
        return problems
    if not is_below(other, component, layers):
        problems.append(f"{where}: {component} (layer {show(layers[component])}) includes {target} of layer "
                        f"{show(layers[other])}; a component uses only components below it")
    header = other.rpartition("/")[2] + ".h"
    if rest != header and not shared:
        problems.append(f"{where}: {target} is private to {other}; include {other}/{header}")
    top = other.split("/")[0]
    if reachable is not None and top != component.split("/")[0] and top not in reachable:
        problems.append(f"{where}: includes {top} but COMPONENTS in the CMakeLists.txt of "
                        f"{component.split('/')[0]} does not name it")
    return problems


def includes_of(path, root):
    """(place, target) of each include of a file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        include = INCLUDE.match(line)
        if include:
            yield f"{path.relative_to(root)}:{number}", include.group(1)


def check(root):
    """All complaints about the tree at root, as lines."""
    layers = read_layers(root)
    if not layers:
        return ["docs/architecture.md: no layers table found"]
    directories = component_directories(root, layers)
    links = {component: read_linked_components(path) for component, path in directories.items()}
    problems = []
    for component, directory in directories.items():
        if component not in layers:
            problems.append(f"src/{component}: not in the layers table of docs/architecture.md")
            continue
        for lower in sorted(links[component] or ()):
            if lower not in layers or not is_below(lower, component, layers):
                problems.append(f"{directory.relative_to(root)}/CMakeLists.txt: COMPONENTS names "
                                f"{lower}, which is not below {component}")
        reachable = None if links[component] is None else closure(component, links)
        for path in sorted(directory.rglob("*.[ch]")):
            inside = component_of(f"{component}/{path.relative_to(directory).as_posix()}", layers)
            for where, target in includes_of(path, root):
                problems += check_include(inside, where, target, layers, reachable)
    for path in sorted((root / "tests/testing").glob("*.h")):
        component = component_of_testing(f"testing/{path.name}", layers)
        if not component:
            problems.append(f"tests/testing/{path.name}: named as no component of docs/architecture.md")
            continue
        for where, target in includes_of(path, root):
            problems += check_include(component, where, target, layers, None)
    return problems


GOOD = {
    "docs/architecture.md": "| layer | component | what |\n|---|---|---|\n| 1 | `src/low` | x |\n"
                            "| 2 | `src/mid` | x |\n| 2 | `src/side` | x |\n| 3 | `src/group` | x |\n"
                            "| 4 | `tools/` | x |\n| 3.1 | `src/group/a` | x |\n"
                            "| 3.2 | `src/group/b/deep` | x |\n| 3.3 | `src/group/b` | x |\n",
    "src/low/CMakeLists.txt": "xy_component(low SOURCES low.c)\n",
    "src/low/low.h": "",
    "src/low/low.c": '#include "low/low.h"\n#include "low/inner.h"\n#include <stdio.h>\n',
    "src/mid/CMakeLists.txt": "xy_component(mid\n  SOURCES mid.c\n  COMPONENTS low # lower\n  TESTS a.c)\n",
    "src/mid/mid.c": '#include "low/low.h"\n',
    "src/side/CMakeLists.txt": "xy_component(side SOURCES side.c COMPONENTS low)\n",
    "src/side/side.c": '#include "low/low.h"\n',
    "src/group/CMakeLists.txt": "xy_component(group SOURCES a/a.c b/b.c group.c COMPONENTS low mid)\n",
    "src/group/a/a.c": '#include "low/low.h"\n#include "group/a/inner.h"\n',
    "src/group/b/b.c": '#include "group/a/a.h"\n#include "mid/mid.h"\n',
    "src/group/group.c": '#include "group/b/b.h"\n#include "group/group.h"\n',
    "src/group/b/deep/x.c": '#include "group/a/a.h"\n',
    "tools/main.c": '#include "mid/mid.h"\n#include "side/side.h"\n#include "group/b/b.h"\n',
    "src/mid/mid_test.c": '#include "testing/low.h"\n#include "testing/mid.h"\n',
    "src/group/b/b_test.c": '#include "testing/group_b_more.h"\n',
    "tests/testing/low.h": '#include "low/inner.h"\n',
    "tests/testing/mid.h": '#include "mid/inner.h"\n#include "testing/low.h"\n',
    "tests/testing/group_b_more.h": '#include "group/b/inner.h"\n#include "group/a/a.h"\n',
}

# What is changed in the good tree, and a word that the complaint must hold.
BROKEN = [
    ({"src/low/low.c": '#include "mid/mid.h"\n'}, "includes mid/mid.h of layer 2"),
    ({"src/mid/mid.c": '#include "side/side.h"\n'}, "includes side/side.h of layer 2"),
    ({"src/mid/mid.c": '# include "low/inner.h"\n'}, "private to low"),
    ({"src/mid/mid_test.c": '#include "low/inner.h"\n'}, "private to low"),
    ({"tools/main.c": '#include "mid/inner.h"\n'}, "private to mid"),
    ({"src/mid/CMakeLists.txt": "xy_component(mid SOURCES mid.c)\n"}, "does not name it"),
    ({"src/low/CMakeLists.txt": "xy_component(low SOURCES low.c COMPONENTS mid)\n"}, "not below low"),
    ({"src/shed/shed.c": ""}, "src/shed: not in the layers table"),
    ({"src/group/a/a.c": '#include "group/b/b.h"\n'}, "group/a (layer 3.1) includes group/b/b.h"),
    ({"src/group/a/a.c": '#include "group/group.h"\n'}, "group/a (layer 3.1) includes group/group.h"),
    ({"src/group/b/b.c": '#include "group/a/inner.h"\n'}, "private to group/a"),
    ({"src/group/b/deep/x.c": '#include "group/b/b.h"\n'}, "includes group/b/b.h of layer 3.3"),
    ({"tools/main.c": '#include "group/b/inner.h"\n'}, "private to group/b"),
    ({"src/mid/mid.c": '#include "group/a/a.h"\n'}, "includes group/a/a.h of layer 3.1"),
    ({"src/mid/mid.c": '#include "testing/low.h"\n'}, "testing/low.h is for tests"),
    ({"src/mid/mid.c": '#include "testing/mid.h"\n'}, "testing/mid.h is for tests"),
    ({"src/low/low_test.c": '#include "testing/mid.h"\n'}, "includes testing/mid.h of layer 2"),
    ({"src/side/side_test.c": '#include "testing/mid.h"\n'}, "includes testing/mid.h of layer 2"),
    ({"tests/testing/low.h": '#include "testing/mid.h"\n'}, "includes testing/mid.h of layer 2"),
    ({"tests/testing/mid.h": '#include "low/inner.h"\n'}, "private to low"),
    ({"tests/testing/group_b_more.h": '#include "group/group.h"\n'}, "group/b (layer 3.3) includes group/group.h"),
    ({"tests/testing/other.h": ""}, "named as no component"),
    ({"docs/architecture.md": "no table\n"}, "no layers table"),
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
