# SPDX-License-Identifier: BSD-3-Clause
"""Build and test a changed tree without touching the tree itself.

    sandbox = open_sandbox(build)
    word, log = sandbox.attempt({"src/arith/rank_grid.c": "new text"}, ["arith.rank_grid"])

`word` is killed (a test failed), survived, endless (the tests did not end in time, or took half of the memory),
untested (a test is missing or was skipped), unreached (no program of the tests contains the change) or unbuilt.
Where the system allows private mounts, each attempt sees an overlay of the tree at the same path in namespaces of its
own and continues from the objects of `build`. Elsewhere all attempts share a copy of the tree in build/mutants/tree,
which is built once. The tests run their sample, and for a thorough attempt all cases (XYLEM_SOAK) where the sample
notices nothing.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 240 # for the tests of one attempt, less than ctest's own limit


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)


def component(path):
    """The component of a file: `coll` of src/coll/x.c, `mpi_rma` of src/mpi/rma/x.c."""
    parts = Path(path).parts
    if parts[0] != "src":
        return parts[0]
    return f"mpi_{parts[2]}" if parts[1] == "mpi" and len(parts) > 3 else parts[1]


def read_tests(build):
    """{name: command} of all tests of a build; the command is empty while its program is not built."""
    listed = run(["ctest", "--test-dir", str(build), "--show-only=json-v1"])
    if listed.returncode != 0:
        raise ValueError(f"{build}: ctest lists no tests; configure it first (cmake --preset dev)")
    text = listed.stdout[listed.stdout.index("{"):]
    return {test["name"]: test.get("command", []) for test in json.loads(text)["tests"]}


def unit_target(test):
    return "test_" + test.replace(".", "_")


def read_programs(build):
    """{output: is it a unit test} of all programs and shared libraries that ninja can link."""
    listed = run(["ninja", "-C", str(build), "-t", "targets", "all"]).stdout
    outputs = re.findall(r"^(\S+): \w+_(?:EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)_LINKER", listed, re.M)
    return {output: Path(output).name.startswith("test_") for output in outputs}


def choose_targets(build, edits, tests):
    """What must be built: the programs that the tests name, or for scripts all but the unit tests."""
    programs, commands = read_programs(build), read_tests(build)
    chosen = set()
    if not programs or not all(path.endswith((".c", ".h", ".inc")) for path in edits):
        return ["all"] # another generator, or a file that generates sources
    for test in tests:
        unit = [output for output in programs if Path(output).name == unit_target(test)]
        words = [os.path.relpath(word, build) for word in commands.get(test, []) if word.startswith(f"{build}/")]
        named = [word for word in words if word in programs]
        chosen.update(unit or named or [output for output, is_unit in programs.items() if not is_unit])
    return sorted(chosen)


def build_and_test(build, edits, tests, cases, seconds, is_thorough):
    """Build and run the tests in a tree that has the edits already."""
    targets = choose_targets(build, edits, tests)
    made = run(["cmake", "--build", str(build), "--target", *targets])
    if made.returncode != 0:
        return "unbuilt", made.stdout[-3000:]
    if edits and "no work to do" in made.stdout:
        return "unreached", f"the tests do not contain {', '.join(edits)}"
    word, log = run_tests(build, tests, cases, {}, seconds)
    if word != "survived" or not is_thorough:
        return word, log
    return run_tests(build, tests, cases, {"XYLEM_SOAK": "1"}, seconds)


def run_tests(build, tests, cases, more, seconds):
    """(word, log) of tests up to the first failure, with more variables in the environment."""
    pattern = "^(" + "|".join(re.escape(test) for test in tests) + ")$"
    of_soak = ("XYLEM_SEED", "XYLEM_SOAK", "XYLEM_TIMEOUT_FACTOR")
    env = {name: value for name, value in os.environ.items() if name not in of_soak}
    env.update(more, XYLEM_FIRST_FAILURE="1")
    if cases:
        env["XYLEM_BUGS"] = " ".join(cases)
    with subprocess.Popen(["ctest", "--test-dir", str(build), "-R", pattern, "--stop-on-failure",
                           "--output-on-failure"], env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as child:
        log, end = None, time.monotonic() + seconds
        while log is None and time.monotonic() < end and not takes_all_memory(child.pid):
            try:
                log, _ = child.communicate(timeout=min(1, seconds))
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(child.pid, signal.SIGKILL) # what a broken program has left behind
        except ProcessLookupError:
            pass
    if log is None:
        return "endless", f"no end after {seconds:.0f} s, or half of the memory in use"
    if child.returncode != 0:
        return "killed", log
    return ("untested" if "No tests were found" in log or "***Skipped" in log else "survived"), log


def takes_all_memory(session):
    """Whether the processes of a session use half of the machine's memory."""
    pages = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError: # it has ended
            continue
        pages += int(fields[21]) if int(fields[3]) == session else 0
    return pages > os.sysconf("SC_PHYS_PAGES") // 2


def write_edits(edits, root):
    for name, text in edits.items():
        Path(root, name).write_text(text, encoding="utf-8")


class Overlay:
    """Attempts in mount and process namespaces of their own."""

    def __init__(self, build):
        self.build = build

    def attempt(self, edits, tests, cases=(), seconds=SECONDS, is_thorough=False):
        job = {"build": str(self.build), "edits": edits, "tests": tests, "cases": list(cases), "seconds": seconds,
               "is_thorough": is_thorough}
        result = run([*UNSHARE, sys.executable, str(Path(__file__).resolve())], input=json.dumps(job))
        word, _, log = result.stdout.partition("\n")
        if result.returncode != 0:
            raise RuntimeError(f"the private mounts failed:\n{result.stdout}")
        return word, log


def attempt_inside(job):
    """Inside the namespaces: lay an overlay over the tree, change it, build, test."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", scratch], check=True)
        upper, work = Path(scratch, "upper"), Path(scratch, "work")
        upper.mkdir()
        work.mkdir()
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o",
                        f"lowerdir={ROOT},upperdir={upper},workdir={work}", str(ROOT)], check=True)
        os.chdir(ROOT) # the old directory is below the overlay
        write_edits(job["edits"], ROOT)
        word, log = build_and_test(Path(job.pop("build")), **job)
        os.chdir("/")
        subprocess.run(["umount", "-l", str(ROOT)], check=True)
        subprocess.run(["umount", "-l", scratch], check=True)
    return word, log


class Copy:
    """Attempts in one copy of the tree, whose build starts from nothing once."""

    def __init__(self, build):
        self.root = ROOT / "build/mutants/tree"
        self.build = self.root / "build/dev"
        for name in source_files():
            update(ROOT / name, self.root / name)
        if not (self.build / "CMakeCache.txt").exists():
            made = run(["cmake", "-S", str(self.root), "-B", str(self.build), "-G", "Ninja", *cache_options(build)])
            if made.returncode != 0:
                raise RuntimeError(f"cmake cannot configure {self.root}:\n{made.stdout[-3000:]}")

    def attempt(self, edits, tests, cases=(), seconds=SECONDS, is_thorough=False):
        try:
            write_edits(edits, self.root)
            return build_and_test(self.build, edits, tests, cases, seconds, is_thorough)
        finally:
            for name in edits:
                update(ROOT / name, self.root / name)


def source_files():
    """The files of the tree that git does not ignore, or all outside of build/ where there is no git."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if listed.returncode == 0:
        return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    names = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return [str(name) for name in names if name.parts[0] != "build"]


def update(source, target):
    """Copy a file that differs: equal ones keep their time, and so their objects."""
    if target.exists() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def cache_options(build):
    """The options that a build was configured with."""
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    names = r"CMAKE_BUILD_TYPE|CMAKE_C_COMPILER(?:_LAUNCHER)?|CMAKE_C_FLAGS\w*|XYLEM_\w+"
    return [f"-D{line}" for line in re.findall(rf"^(?:{names}):(?!INTERNAL|STATIC)\w+=.*$", cache, re.M)]


UNSHARE = ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc"] + (["-r"] if os.geteuid() != 0 else [])


def open_sandbox(build):
    """An overlay where the system allows one, a copy elsewhere (or with XYLEM_MUTANTS_COPY set)."""
    if not (build / "CMakeCache.txt").exists():
        raise ValueError(f"{build} is no build; configure it first (cmake --preset dev)")
    allowed = run([*UNSHARE, "mount", "-t", "tmpfs", "tmpfs", "/tmp"]).returncode == 0
    if allowed and "XYLEM_MUTANTS_COPY" not in os.environ:
        if ROOT not in build.parents:
            raise ValueError(f"{build} is outside of {ROOT}, where mutants would change it; use a build below it")
        return Overlay(build)
    return Copy(build)


if __name__ == "__main__":
    OUTCOME = attempt_inside(json.loads(sys.stdin.read()))
    print("\n".join(OUTCOME))
