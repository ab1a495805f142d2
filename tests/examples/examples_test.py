#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compile the examples as users do, run them, and compare what they print.

    tests/examples/examples_test.py run BUILD NAME RANKS...    with mpicc, against reference.py
    tests/examples/examples_test.py peer BUILD NAME RANKS...   with Open MPI, against reference.py
    tests/examples/examples_test.py project BUILD make|cmake|meson
                                                               all of them through a build system

BUILD is a build tree. Exit code 77: the other MPI library or the build system is not here. Lines
that begin with `time: ` are not compared; lines of different ranks come in any order.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import reference

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import testing # noqa: E402

SOURCES = Path(__file__).resolve().parents[2] / "examples"
SECONDS = testing.seconds(150)


def fail(text):
    sys.exit("FAILED: " + text)


def environment(build):
    """The built tree comes first, as an installed one would."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("XYLEM_", "OMPI_", "MPICH_", "MPIEXEC_"))}
    kept["PATH"] = f"{build}/bin:{kept.get('PATH', '')}"
    return kept


def run(command, env, directory=None):
    """Standard output of a command that must succeed and say nothing on standard error."""
    result = subprocess.run(command, env=env, cwd=directory, stdin=subprocess.DEVNULL, text=True,
                            capture_output=True, timeout=SECONDS, check=False)
    if result.returncode != 0:
        fail(f"{' '.join(map(str, command))} ends with exit code {result.returncode}:\n"
             f"{result.stdout}{result.stderr}")
    return result


def source_of(name):
    return next(path for path in (SOURCES / f"{name}.c", SOURCES / f"{name}.cpp") if path.exists())


def compile_with(suffix, name, directory, env):
    """With mpicc, or mpicxx, or those of another library: mpicc.openmpi."""
    source = source_of(name)
    compiler = ("mpicxx" if source.suffix == ".cpp" else "mpicc") + suffix
    # Fused operations round once instead of twice; the reference does not fuse.
    said = run([compiler, "-O2", "-Wall", "-Wextra", "-ffp-contract=off", source, "-o", name],
               env, directory)
    if not suffix and said.stderr:
        fail(f"{compiler} warns: {said.stderr}")
    return Path(directory) / name


def compare(name, ranks, output):
    lines = sorted(line for line in output.splitlines() if not line.startswith("time: "))
    wanted = reference.expected(name, ranks)
    if lines != wanted:
        fail(f"{name} with {ranks} ranks prints\n" + "\n".join(lines) + "\ninstead of\n" +
             "\n".join(wanted))


def check(launcher, program, ranks, env, is_quiet):
    name = program.name
    result = run([*launcher, "-n", str(ranks), program, *reference.ARGUMENTS.get(name, [])], env)
    if is_quiet and result.stderr:
        fail(f"{name} with {ranks} ranks says on standard error: {result.stderr}")
    compare(name, ranks, result.stdout)


def run_example(build, name, *ranks):
    env = environment(build)
    with tempfile.TemporaryDirectory() as directory:
        program = compile_with("", name, directory, env)
        alone = run([program, *reference.ARGUMENTS.get(name, [])], env)
        compare(name, 1, alone.stdout)
        for count in ranks:
            check(["mpiexec"], program, int(count), env, True)
        # All ranks on one core: another order of events.
        check(["mpiexec", "--workers", "1"], program, int(ranks[-1]), env, True)


def run_peer(build, name, *ranks):
    if not shutil.which("mpicc.openmpi") or not shutil.which("mpiexec.openmpi"):
        print("no Open MPI here (package libopenmpi-dev); left out")
        return 77
    env = environment(build)
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               OMPI_MCA_mpi_yield_when_idle="1",
               OMPI_MCA_rmaps_base_oversubscribe="1",  # until version 4; its successor since 5
               PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
    with tempfile.TemporaryDirectory() as directory:
        program = compile_with(".openmpi", name, directory, env)
        for count in ranks:
            check(["mpiexec.openmpi"], program, int(count), env, False)
    return 0


def build_commands(system, directory):
    """(commands, where the programs are then)"""
    if system == "make":
        return [["make"]], directory
    if system == "cmake":
        return [["cmake", "-S", ".", "-B", "build"], ["cmake", "--build", "build"]], \
            directory / "build"
    return [["meson", "setup", "build"], ["ninja", "-C", "build"]], directory / "build"


def run_project(build, system):
    if not shutil.which(system) or (system == "meson" and not shutil.which("ninja")):
        print(f"no {system} here; left out")
        return 77
    env = environment(build)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "examples"
        shutil.copytree(SOURCES, directory)
        # Meson asks pkg-config for Open MPI first, then mpicc.
        env.update(PKG_CONFIG_LIBDIR=name, MPICC=f"{build}/bin/mpicc", MPICXX=f"{build}/bin/mpicxx")
        commands, programs = build_commands(system, directory)
        for command in commands:
            run(command, env, directory)
        for example in reference.EXAMPLES:
            check(["mpiexec"], programs / example, 5, env, True)
    return 0


def main(arguments):
    actions = {"run": run_example, "peer": run_peer, "project": run_project}
    if len(arguments) < 3 or arguments[0] not in actions:
        print(__doc__)
        return 2
    return actions[arguments[0]](Path(arguments[1]).resolve(), *arguments[2:]) or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
