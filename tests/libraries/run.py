#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Build real libraries with an installed Xylem and run their own MPI checks.

    tests/libraries/run.py [--work DIR] [--prefix DIR] [--only NAME,...] [--source NAME=DIR]...
                           [--keep] [--jobs N]
    tests/libraries/run.py --list

The sources are fetched from Debian's archive (`apt-get source`), or copied from the source tree DIR
of --source. They are built unchanged with `mpicc`, `mpicxx` and `mpifort` of --prefix (without it this
tree is installed below --work), and their checks are run by its `mpiexec`. recipes/NAME.py says how,
for one library. The table has one row per library; what failed follows. Logs are in --work/NAME.log;
--keep leaves the build trees, too. The exit code is 0 when every check passed, 1 when one failed, 2
when all that could be fetched passed but some could not.
"""
import argparse
import importlib.util
import os
import re
import shutil
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True # leave the source tree as it is
from debian import CannotFetch, Sources, call, install # noqa: E402

HERE = Path(__file__).resolve().parent


class DoesNotBuild(Exception):
    """Names the command that failed."""


class Job:
    """One library on its way: its sources, the commands that build it, its checks."""

    def __init__(self, name, recipe, options):
        self.name, self.recipe, self.jobs = name, recipe, options.jobs
        self.tree = options.work / name
        self.log = options.work / f"{name}.log"
        self.log.write_bytes(b"")
        self.bin = options.prefix / "bin"
        self.env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1",
                    "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C"}
        self.checks = []

    def need(self, *command, cwd=".", seconds=3600):
        """A command without which there is nothing to check."""
        if call(command, self.log, cwd=self.tree / cwd, env=self.env, seconds=seconds) != 0:
            raise DoesNotBuild(" ".join(str(word) for word in command)[:60])

    def configure(self, *words, cwd="."):
        """Some archives hold what autoconf reads, others also what it writes."""
        if not (self.tree / cwd / "configure").exists():
            self.need("autoreconf", "-i", cwd=cwd)
        self.need("./configure", *words, cwd=cwd)

    def make(self, *targets, cwd="."):
        self.need("make", f"-j{self.jobs}", *targets, cwd=cwd)

    def check(self, name, *command, cwd=".", seconds=900, prints=None, forbids=None):
        """A check: exit code 0, and output that has `prints` and has not `forbids`."""
        before = self.log.stat().st_size
        code = call(command, self.log, cwd=self.tree / cwd, env=self.env, seconds=seconds)
        with open(self.log, "rb") as log:
            log.seek(before)
            output = log.read().decode(errors="replace").split("\n", 1)[1]
        why = ""
        if code != 0:
            why = f"exit code {code}"
        elif prints and not re.search(prints, output, re.M):
            why = f"does not print '{prints}'"
        elif forbids and re.search(forbids, output, re.M):
            why = re.search(forbids, output, re.M).group(0)
        self.checks.append((name, why))
        return output

    def ranks(self, number, *program):
        """The command that runs a program with so many ranks."""
        return [self.bin / "mpiexec", "-n", str(number), *program]


def recipes():
    """{name: module}, in the order of the alphabet."""
    found = {}
    for path in sorted((HERE / "recipes").glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        found[path.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found[path.stem])
    return found


def bring(job, recipe, tree, sources):
    """Put the sources into job.tree, from `tree` where it is given; their name for the table."""
    if tree:
        shutil.rmtree(job.tree, ignore_errors=True)
        shutil.copytree(tree, job.tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        return f"{job.name} of {tree}"
    version = re.sub(r".*_(.*?)(\+.*)?\.orig\..*", r"\1", sources.original(recipe.SOURCE).name)
    sources.unpack(recipe.SOURCE, job.tree, getattr(recipe, "PART", None))
    return f"{recipe.SOURCE} {version}"


def own_tree(text):
    """(NAME, DIR) of NAME=DIR."""
    name, _, tree = text.partition("=")
    if not tree or not Path(tree).is_dir():
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=DIR with the folder of a source tree")
    return name, Path(tree).resolve()


def try_one(name, recipe, options, sources):
    """A row of the table."""
    job = Job(name, recipe, options)
    row = {"name": name, "what": recipe.WHAT, "source": recipe.SOURCE, "result": "", "failed": []}
    start = time.monotonic()
    try:
        row["source"] = bring(job, recipe, options.source.get(name), sources)
        recipe.run(job)
    except CannotFetch as error:
        row["result"] = f"not fetched: {error}"
        return row
    except DoesNotBuild as error:
        row["failed"].append(("build", str(error)))
        row["result"] = "does not build"
    row["failed"] += [(check, why) for check, why in job.checks if why]
    if not row["result"]:
        row["result"] = f"{sum(not why for _, why in job.checks)} of {len(job.checks)} checks pass"
    row["seconds"] = round(time.monotonic() - start)
    if not options.keep and not row["failed"]:
        shutil.rmtree(job.tree, ignore_errors=True)
    return row


def main():
    known = recipes()
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--work", type=Path, default=HERE.parent.parent / "build/libraries")
    parser.add_argument("--prefix", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(known))
    parser.add_argument("--source", type=own_tree, action="append", default=[], metavar="NAME=DIR")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        for name, recipe in known.items():
            print(f"{name:10} {recipe.WHAT}")
        return 0
    options.source = dict(options.source)
    for name in [*options.only, *options.source]:
        if name not in known:
            parser.error(f"there is no recipe {name}; --list has those that are there")
        if name not in options.only:
            parser.error(f"--source is for {name}, which --only leaves out")
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    options.prefix = (options.prefix or install(options.work)).resolve()
    if not (options.prefix / "bin/mpicc").exists():
        parser.error(f"{options.prefix} has no bin/mpicc: give --prefix an installed Xylem")
    sources = Sources(options.work)
    rows = []
    for name in options.only:
        rows.append(try_one(name, known[name], options, sources))
        print(f"{name}: {rows[-1]['result']}", file=sys.stderr, flush=True)
    print("| library | what was run | result |\n|---|---|---|")
    for row in rows:
        print(f"| {row['source']} | {row['what']} | {row['result']} |")
    for row in rows:
        for check, why in row["failed"]:
            print(f"{row['name']}: {check}: {why} (see {options.work / row['name']}.log)")
    if any(row["failed"] for row in rows):
        return 1
    return 2 if any(row["result"].startswith("not fetched") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
