#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Find groups of C files that can be compiled as one: none defines for itself what another one names.

    cmake/unity.py SIZE COMPILER INCLUDE FILE...

prints `GROUP FILE` for each file that gets a group of up to SIZE files; headers with quotes are below INCLUDE. Static
functions, variables and constants of a file count, and it is enough that another file has the word; for macros and
types, that a header has it which the other file includes. Two headers with a type of one name are not included
together. Left alone are files that define macros for what they include or what a header of the system has, and files
that the build writes.
"""
import functools
import re
import subprocess
import sys
from pathlib import Path

NOT_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def plain(text):
    """Without comments, strings and characters."""
    return NOT_TEXT.sub(lambda m: " " if m.group(0)[0] == "/" else '""', text)


def words(text):
    return set(re.findall(r"[A-Za-z_]\w*", text))


def includes(text):
    return re.findall(r'^[ \t]*#[ \t]*include "([^"]+)"', text, re.M)


@functools.lru_cache(maxsize=None)
def header(path):
    """What a header includes, its words, those of functions, and the types and macros that it defines."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    bare = plain(text)
    return includes(text), words(bare), set(re.findall(r"(\w+)\s*\(", bare)), own_names(bare)[1]


def system_words(paths, compiler):
    """What the system's headers say that these files include."""
    texts = (Path(path).read_text(encoding="utf-8") for path in paths)
    names = sorted({name for text in texts for name in re.findall(r"^#include <(?!mpi|xylem)([^>]+)>", text, re.M)})
    lines = "".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in names)
    said = subprocess.run([compiler, "-E", "-P", "-D_GNU_SOURCE", "-x", "c", "-"], input=lines, text=True,
                          capture_output=True, check=False) # one that refuses this processor is included nowhere
    return words(said.stdout)


def outermost(text):
    """What is outside of braces, and the constants of enums; bodies and initializers become {}."""
    out, depth, is_enum = [], 0, False
    for part in re.split(r"([{}])", text):
        if part == "{":
            if depth == 0:
                is_enum = re.search(r"\benum\b[\w\s]*$", out[-1] if out else "") is not None
                out.append("{")
            depth += 1
        elif part == "}":
            depth -= 1
            if depth == 0:
                out.append("}")
        elif depth == 0 or (depth == 1 and is_enum):
            out.append(part)
    return "".join(out)


def own_names(text):
    """(functions, variables and constants; macros and types) that a file defines for itself, of its plain text."""
    text = text.replace("\\\n", " ")
    names, types = set(), set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M))
    text = outermost(re.sub(r"^[ \t]*#[^\n]*", "", text, flags=re.M))
    for constants in re.findall(r"\benum\b[\w\s]*\{([^{}]*)\}", text):
        names.update(re.findall(r"(?:^|,)\s*(\w+)", constants))
    types.update(re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", text))
    text = re.sub(r"__attribute__\s*\(\([^;{}]*?\)\)", " ", re.sub(r"\{[^{}]*\}", "{}", text))
    for statement in re.sub(r"\)\s*\{\}", ");", text).split(";"): # a body ends a function, and nothing else
        kind = re.search(r"\b(static|typedef)\b", statement)
        if kind:
            (types if kind.group(1) == "typedef" else names).update(declared(statement))
    return names, types


def declared(statement):
    """The names in one declaration."""
    function = re.search(r"(\w+)\s*\(\s*([^)\s])", statement.split("=")[0])
    if function and function.group(2) != "*":
        return [function.group(1)]
    pointers = re.findall(r"\(\s*\*+\s*(?:const\s+)?(\w+)", statement.split("=")[0])
    if pointers:
        return pointers
    statement = re.sub(r"\[[^\]]*\]|\{\}", " ", statement)
    while re.search(r"\([^()]*\)", statement):
        statement = re.sub(r"\([^()]*\)", " ", statement)
    return [w[-1] for w in (re.findall(r"\w+", part.split("=")[0]) for part in statement.split(",")) if w]


class File:
    def __init__(self, path, root, system):
        raw = Path(path).read_text(encoding="utf-8")
        text = plain(raw)
        self.path = path
        self.names, self.types = own_names(text)
        self.words = words(text)
        self.all_words = set(self.words)
        self.headers = {} # of a type or macro: the header that defines it
        self.read_headers(includes(raw), root)
        last = max((m.start() for m in re.finditer(r"^[ \t]*#[ \t]*include\b", text, re.M)), default=0)
        self.is_alone = (re.search(r"^[ \t]*#[ \t]*(define|pragma)\b", text[:last], re.M) is not None or
                         not system.isdisjoint(self.names | self.types))

    def read_headers(self, left, root):
        seen = set()
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                more, its_words, functions, types = header(root / name)
                left = left + more
                self.all_words |= its_words
                self.words |= functions
                self.headers.update(dict.fromkeys(types, name))

    def disturbs(self, other):
        return not (self.names.isdisjoint(other.words) and self.types.isdisjoint(other.all_words))

    def fits(self, other):
        return (not self.disturbs(other) and not other.disturbs(self) and
                all(other.headers.get(name, path) == path for name, path in self.headers.items()))


def groups(paths, size, root, compiler):
    paths = [path for path in paths if path.endswith(".c") and not Path(path).is_absolute()]
    system = system_words(paths, compiler)
    made = []
    for path in paths:
        file = File(path, root, system)
        if file.is_alone:
            continue
        for group in made:
            if len(group) < size and all(file.fits(other) for other in group):
                group.append(file)
                break
        else:
            made.append([file])
    return made


def main():
    size, compiler, root, paths = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4:]
    for number, group in enumerate(groups(paths, size, root, compiler)):
        if len(group) > 1:
            for file in group:
                print(number, file.path)


if __name__ == "__main__":
    main()
