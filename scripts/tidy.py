#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run clang-tidy over the files of a build tree, in parallel, and only where something changed.

    scripts/tidy.py BUILD [CLANG-TIDY [FILE...]]

A file that was clean is not analysed again while its preprocessed text, its options, the checks
and clang-tidy stay the same: BUILD/tidy/ holds one empty file per clean state, named by its hash.

XYLEM_TIDY_FAST=1 leaves out the static analyzer, which takes most of the time, and looks at the files
that are named, or at a fixed fortieth of them without tests: `make check` and `make test` do that, `make lint`
and `make soak` do not.
"""
import concurrent.futures
import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAST = os.environ.get("XYLEM_TIDY_FAST") == "1"


def wanted(entries, named):
    """The entries of compile_commands.json to analyse, each file once; not what was generated."""
    seen = {}
    for entry in entries:
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if (path.suffix == ".c" and ROOT in path.parents and (ROOT / "build") not in path.parents
                and (path in named if named else not FAST or is_chosen(path))):
            seen.setdefault(path, entry)
    return seen


def common_state(tidy):
    version = subprocess.run([tidy, "--version"], capture_output=True, check=False).stdout
    return version + (ROOT / ".clang-tidy").read_bytes() + bytes([FAST])


def options_of(entry):
    """The options of a compile command without the compiler, the output and the input."""
    words = entry.get("arguments") or shlex.split(entry["command"])
    kept, skip = [], False
    for word in words[1:]:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT", "-MQ"):
            skip = word != "-c"
        elif word not in ("-MD", "-MMD") and not word.endswith(".c"):
            kept.append(word)
    return kept


def state_of(path, entry, common):
    """A hash of all that the verdict depends on. Comments count: they hold NOLINT."""
    options = options_of(entry)
    text = subprocess.run(["cc", "-E", "-C"] + options + [str(path)], cwd=entry["directory"],
                          capture_output=True, check=False)
    whole = hashlib.sha256(common)
    for part in (str(path).encode(), " ".join(options).encode(), path.read_bytes(), text.stdout):
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()


def is_chosen(path):
    return not is_test(path) and hashlib.sha256(bytes(path.relative_to(ROOT))).digest()[0] % 40 == 0


def is_test(path):
    return path.name.endswith("_test.c") or not {ROOT / "tests", ROOT / "bench"}.isdisjoint(path.parents)


def analyse(path, entry, build, tidy, common):
    """None when clean, else what clang-tidy said."""
    stamp = build / "tidy" / state_of(path, entry, common)
    if stamp.exists():
        stamp.touch()
        return None
    # Following every path through assertions costs most of the time and finds nothing.
    fewer = ["--checks=-clang-analyzer-*"] if FAST else []
    if is_test(path):
        # Their arguments come from us.
        fewer = ["--checks=-clang-analyzer-*,-cert-env33-c,-cert-err34-c"]
    # The options are those of another compiler, whose warnings clang need not know.
    result = subprocess.run([tidy, "--quiet", "--extra-arg=-Wno-unknown-warning-option",
                             "-p", str(build)] + fewer + [str(path)],
                            capture_output=True, text=True, check=False)
    if result.returncode == 0:
        stamp.touch()
        return None
    return result.stdout + "".join(line + "\n" for line in result.stderr.splitlines()
                                   if "warnings generated" not in line)


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    build = Path(sys.argv[1]).resolve()
    tidy = sys.argv[2] if len(sys.argv) > 2 else "clang-tidy"
    (build / "tidy").mkdir(exist_ok=True)
    named = [Path(name).resolve() for name in sys.argv[3:]]
    entries = wanted(json.loads((build / "compile_commands.json").read_text(encoding="utf-8")), named)
    common = common_state(tidy)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(analyse, path, entry, build, tidy, common)
                for path, entry in entries.items()]
        for job in jobs:
            said = job.result()
            if said is not None:
                bad += 1
                print(said)
    print(f"clang-tidy: {len(entries)} files, {bad} with warnings")
    return 1 if bad or not (entries or named) else 0


if __name__ == "__main__":
    sys.exit(main())
