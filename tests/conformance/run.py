#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the programs by which MPICH checks an MPI library against the standard.

    tests/conformance/run.py [--work DIR] [--source DIR] [--prefix DIR] [--only DIRECTORY,...] [--timeout S]
                             [--jobs N] [--built] [--options 'WORDS'] [--compiler MPICC] [--launcher 'WORDS'] [--failed]
    tests/conformance/run.py --list [--work DIR] [--prefix DIR]

The programs are not part of Xylem: the sources of MPICH are fetched from Debian's archive
(`apt-get source mpich`), configured for the installed Xylem in --prefix (without it this tree is
installed below --work) and built there. --source names the folder `test/mpi` of another version instead, with its
`configure` made (`autogen.sh` there); it is built in place. --built runs what an earlier call has built. --only names
directories of the suite (`coll`, `errors/io`, `f08`). --options gives mpiexec more options: with `--processes 2` only
programs of two or more ranks run. --compiler compiles the programs for another MPI, `mpicc.openmpi` or `mpicc.mpich`, in a folder
of its own, with the Fortran compiler beside it; --launcher runs them with that MPI's own mpiexec instead of Xylem's. --failed runs
again what has failed in --work/results.json. Every line of the suite's lists (`testlist`, and the datatypes of `testlist.dtp`,
which its autogen.sh or configure writes) is run in a directory of its own, with links to the programs, once for all lines that differ in
settings of MPICH alone, for --timeout seconds or as long as its list allows. It passes by the rules of the suite: exit code 0 and "No
Errors" as the only output, or what `resultTest` says. The table has one row per directory; what did
not pass follows, with its last line of output. All of it is in --work/results.json, and the output
of each run beside it. What fails and is marked `xfail` in the lists, as MPICH itself does not pass it, is not judged.
The exit code is 0 when all that was run passed, 1 otherwise.

`left_out.txt` beside this script has what is left out, one program per line with its reason.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True # leave the source tree as it is
sys.path.insert(0, str(HERE.parent / "libraries"))
from debian import CannotFetch, Sources, call, install # noqa: E402

# Directories of the suite that hold nothing of the standard, or what is measured.
LEFT_OUT = {"impls", "perf", "basic", "manual", "ckpoint", "ft", "util", "dtpools", "cxx", "errors/cxx"}
# How long a connect waits that nobody accepts, which is a setting of each library.
CONNECT_LIMIT = "MPIR_CVAR_CH4_COMM_CONNECT_TIMEOUT="
NOT_BUILT = "was not built"
Run = collections.namedtuple("Run", "directory program ranks arguments result seconds memory expected limit",
                             defaults=("", ""))


def lists(suite):
    """The directories with a list of programs, as far as the suite's own lists lead to them."""
    found = []

    def visit(directory):
        path = suite / directory / "testlist"
        if directory in LEFT_OUT or not path.exists():
            return
        found.append(directory)
        for line in path.read_text(encoding="utf-8").splitlines():
            word = line.split("#")[0].split()
            if word and (suite / directory / word[0]).is_dir():
                visit(str(Path(directory) / word[0]))
    visit(".")
    return [directory for directory in found if directory != "."]


def read_list(suite, directory):
    """The runs of a directory's lists; those that are the same to another library come once."""
    seen = {}
    files = [suite / directory / name for name in ("testlist", "testlist.dtp")]
    for line in [line for file in files if file.exists() for line in file.read_text(encoding="utf-8").splitlines()]:
        words = line.split("#")[0].split()
        if not words or (suite / directory / words[0]).is_dir():
            continue
        keys = collections.defaultdict(list)
        for word in words[2:]:
            key, _, value = word.partition("=")
            keys[key].append(value)
        run = Run(directory, words[0], int(words[1]) if len(words) > 1 else 2, tuple(keys["arg"]),
                  (keys["resultTest"] or [""])[0], int((keys["timeLimit"] or ["0"])[0] or 0),
                  float((keys["mem"] or ["0"])[0]), (keys["xfail"] or [""])[0],
                  next((value.removeprefix(CONNECT_LIMIT) for value in keys["env"]
                        if value.startswith(CONNECT_LIMIT)), ""))
        seen[run[:5]] = run
    return list(seen.values())


def name_of(run):
    return f"{run.directory}/{run.program}"


def read_left_out(path):
    """{program: reason}; a name that ends in / stands for a directory, and one behind `OPTION:` for runs with it."""
    reasons = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            program, _, reason = line.partition(" ")
            reasons[program] = reason.strip()
    return reasons


def left_out(run, reasons, options):
    """Why it is not judged under these options of mpiexec, or None."""
    name = name_of(run)
    for pattern, reason in reasons.items():
        option, _, program = pattern.rpartition(":")
        if option and option not in options:
            continue
        if name == program or (program.endswith("/") and name.startswith(program)):
            return reason
    return None


def too_large(run, memory):
    """Why the machine, which has `memory` GB, does not run it; None: it does. Files and others need some, too."""
    return f"needs {run.memory} GB, and this machine has {memory:.0f}" if 2 * run.memory > memory else None


def judge(run, code, output):
    """'' for a run that passed, otherwise why it did not."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and "FORTRAN STOP" not in line]
    if code is None:
        return "not finished in time"
    if run.result in ("TestErrFatal", "TestStatus"):
        return "" if code != 0 else "exit code 0, an error was due"
    good = [line for line in lines if re.fullmatch(r"No [Ee]rrors|Test Passed", line)]
    other = [line for line in lines if line not in good]
    if run.result == "TestStatusNoErrors":
        return "" if code != 0 and good and not other else f"exit code {code}"
    if code != 0 or other:
        return f"exit code {code}: {other[-1] if other else ''}"
    return "" if good else "did not print No Errors"


def execute(run, number, options):
    """Run one program in a directory of its own; (why it failed or '', its output)."""
    program = options.build / run.directory / run.program
    if not program.exists():
        return NOT_BUILT, ""
    place = options.work / "runs" / f"{run.directory.replace('/', '_')}_{run.program.replace('/', '_')}_{number}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for built in (options.build / run.directory).iterdir():  # what programs of it start
        if built.is_file() and os.access(built, os.X_OK):
            (place / built.name).symlink_to(built)
    # A program that must be stopped waits for the limit of its list, which the suite gives to mpiexec.
    limit = ["--timeout", str(run.seconds)] if run.result == "TestErrFatal" and run.seconds else []
    # Programs spawn only where MPI_UNIVERSE_SIZE leaves room.
    room = ["--usize", "64"] if "spawn" in run.directory else []
    launcher = options.launcher or [options.prefix / "bin/mpiexec", *room, *limit]
    command = [*launcher, *options.options, "-n", str(run.ranks), program, *run.arguments]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("XYLEM_")}
    environment["OMP_NUM_THREADS"] = "1"
    if run.limit:
        environment["XYLEM_CONNECT_TIMEOUT"] = run.limit
    with subprocess.Popen([str(word) for word in command], cwd=place, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            output, code = process.communicate(timeout=max(options.timeout, run.seconds))[0], process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, code = process.communicate()[0], None
    output = output.decode(errors="replace")
    shutil.rmtree(place, ignore_errors=True)
    (options.work / "runs" / f"{place.name}.txt").write_text(output, encoding="utf-8")
    return judge(run, code, output), output


def let_f08_in(configure):
    """The suite tries `use mpi_f08` of MPICH only, for want of a test whether another library has it."""
    text = configure.read_text(encoding="utf-8")
    configure.write_text(text.replace('"$enable_f08" = "yes" -a "$FROM_MPICH" = "yes"',
                                      '"$enable_f08" = "yes"'), encoding="utf-8")


def compilers(options):
    """The wrappers that compile the suite, those of --compiler or Xylem's."""
    mpicc = shutil.which(options.compiler) if options.compiler else str(options.prefix / "bin/mpicc")
    if mpicc is None:
        raise SystemExit(f"conformance: there is no '{options.compiler}'")
    folder, name = os.path.split(mpicc)
    return {key: os.path.join(folder, name.replace("mpicc", wrapper))
            for key, wrapper in (("CC", "mpicc"), ("CXX", "mpicxx"), ("FC", "mpifort"), ("F77", "mpifort"))}


def prepare(options):
    """Fetch, configure and build what is to be run."""
    suite = options.work / ("mpich" + options.abi)
    options.build = options.source or suite / "test/mpi"
    if not options.build.exists():
        Sources(options.work).unpack("mpich", suite)
    log = options.work / "build.log"
    if not (options.build / "config.status").exists():
        let_f08_in(options.build / "configure")
        wrappers = compilers(options)
        code = call([options.build / "configure", f"--with-mpi={options.prefix}",
                     *(f"{prefix}{name}={wrapper}" for name, wrapper in wrappers.items() for prefix in ("", "MPI")),
                     *(f"{name}=-fallow-argument-mismatch" for name in ("FFLAGS", "FCFLAGS") if options.compiler),
                     "--enable-fortran=all", "--disable-cxx", "--enable-threads=multiple", "--enable-strictmpi"],
                    log, cwd=options.build)
        if code != 0:
            raise SystemExit(f"the suite cannot be configured (see {log})")
    if options.list or options.built:
        return
    for directory in [*("util", "dtpools"), *options.directories(options.build)]:
        # Programs that need what the library has not do not build; the others do. Compilers take
        # minutes to optimise some of them (coll/allred), and what checks buffers takes minutes otherwise.
        level = "-O2" if directory in ("util", "dtpools") else "-O0"
        if options.abi == ".openmpi":  # its header refuses functions that MPI 3.0 removed, which its library has
            level += " -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -DOMPI_REMOVED_USE_STATIC_ASSERT=0 '-D__mpi_interface_removed__(a,b)='"
        call(["make", "-k", f"-j{options.jobs}", "-C", options.build / directory, f"CFLAGS={level}",
              *programs(options.build, directory)], log)


def programs(build, directory):
    """The targets of make: the programs of the list, or all where there is none."""
    if not (build / directory / "testlist").exists():
        return []
    return sorted({run.program for run in read_list(build, directory)})


def table(results):
    """One row per directory: passed, failed, not judged."""
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for row in results:
        column = 2 if row["left out"] else 1 if row["why"] else 0
        rows[row["directory"]][column] += 1
    lines = ["| directory | pass | fail | not judged |", "|---|---|---|---|"]
    for directory in sorted(rows):
        lines.append(f"| `{directory}` | {rows[directory][0]} | {rows[directory][1]} | {rows[directory][2]} |")
    total = [sum(row[column] for row in rows.values()) for column in range(3)]
    share = 100 * total[0] / max(1, total[0] + total[1])
    lines.append(f"| all | {total[0]} | {total[1]} | {total[2]} |")
    return "\n".join(lines) + f"\n\n{share:.1f} % of what was judged passes"


def run_all(options):
    reasons = read_left_out(HERE / "left_out.txt")
    least = 2 if "--processes" in options.options else 1
    runs = [run for directory in options.directories(options.build)
            for run in read_list(options.build, directory) if run.ranks >= least]
    if options.failed:
        failed = {(row["directory"], row["program"], row["ranks"], tuple(row["arguments"]))
                  for row in json.loads((options.work / "results.json").read_text(encoding="utf-8")) if row["why"]}
        runs = [run for run in runs if run[:4] in failed]
    results = []
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = []
        for number, run in enumerate(runs):
            reason = left_out(run, reasons, [*options.options, options.abi]) or too_large(run, memory)
            jobs.append((run, reason, None if reason else pool.submit(execute, run, number, options)))
        for run, reason, job in jobs:
            why, output = job.result() if job else ("", "")
            if why == NOT_BUILT and options.compiler:
                reason, why = "does not compile for this MPI, which has not all that it uses", ""
            if why and run.expected:
                reason, why = f"the suite expects that it fails ({run.expected}): {why}", ""
            results.append({"directory": run.directory, "program": run.program, "ranks": run.ranks,
                            "arguments": run.arguments, "left out": reason, "why": why,
                            "output": output[-2000:]})
            if why:
                print(f"{name_of(run)} {' '.join(run.arguments)} ({run.ranks}): {why}", flush=True)
    return results


def directories(options):
    """What --only leaves of all directories."""
    def chosen(suite):
        found = lists(suite)
        if not options.only:
            return found
        unknown = [word for word in options.only
                   if not any(name == word or name.startswith(word + "/") for name in found)]
        if unknown:
            raise SystemExit(f"conformance: the suite has no directory {unknown[0]}; see --list")
        return [name for name in found
                if any(name == word or name.startswith(word + "/") for word in options.only)]
    return chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--work", type=Path, default=HERE.parent.parent / "build/conformance")
    parser.add_argument("--source", type=lambda text: Path(text).resolve())
    parser.add_argument("--prefix", type=Path)
    parser.add_argument("--options", type=shlex.split, default=[])
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--timeout", type=float, default=180) # as the suite has it
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--built", action="store_true")
    parser.add_argument("--failed", action="store_true")
    parser.add_argument("--compiler", default="")
    parser.add_argument("--launcher", type=shlex.split, default=[])
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    options.directories = directories(options)
    options.abi = Path(options.compiler).suffix # '.openmpi', '.mpich', or '' for Xylem's own
    try:
        options.prefix = (options.prefix or install(options.work)).resolve()
        prepare(options)
    except CannotFetch as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    if options.list:
        for directory in options.directories(options.build):
            print(f"{directory}: {len(read_list(options.build, directory))}")
        return 0
    results = run_all(options)
    (options.work / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(table(results))
    return 1 if any(row["why"] for row in results) else 0


if __name__ == "__main__":
    sys.exit(main())
