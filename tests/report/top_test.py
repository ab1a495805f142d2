#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""xylem top on running jobs: of one process, of several, and of several hosts.

    top_test.py BUILD SOURCE

Each job waits for files that the test makes: nothing depends on how long something takes.
"""
import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD, SOURCE = Path(sys.argv[1]), Path(sys.argv[2])
LOOK = SOURCE / "tests/report/look.c"
XYLEM = BUILD / "bin/xylem"
RANKS = 5
PATIENCE = 60  # seconds, after which something is wrong


def line_of(mark):
    for number, line in enumerate(LOOK.read_text(encoding="utf-8").splitlines(), 1):
        if f"/* {mark} */" in line:
            return f"look.c:{number}"
    raise AssertionError(mark)


def top(*arguments, code=0, **more):
    done = subprocess.run([str(XYLEM), "top", *map(str, arguments)], capture_output=True, text=True, check=False,
                          timeout=PATIENCE, stdin=subprocess.DEVNULL, **more)
    assert done.returncode == code, (arguments, done)
    return done


def ranks_of(job):
    """By number; none while the job has not begun."""
    done = subprocess.run([str(XYLEM), "top", str(job.pid), "--json", "--interval", "0.1"], capture_output=True, text=True,
                          check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert done.returncode == 0 or "is not an mpiexec" in done.stderr, done
    return {rank["rank"]: rank for rank in json.loads(done.stdout)["ranks"]} if done.returncode == 0 else {}


def await_ranks(job, is_so):
    """What top says, as soon as it is so."""
    end = time.monotonic() + PATIENCE
    while True:
        assert job.poll() is None, job.communicate()
        found = ranks_of(job)
        if len(found) == RANKS and all("messages_per_second" in rank for rank in found.values()) and is_so(found):
            return found
        assert time.monotonic() < end, found


class Job:
    """A job of look.c that is ended, however the test goes."""

    def __init__(self, work, *options):
        self.go, self.end = Path(work) / "go", Path(work) / "go.end"
        for path in (self.go, self.end):
            path.unlink(missing_ok=True)
        self.process = subprocess.Popen([str(BUILD / "bin/mpiexec"), "-n", str(RANKS), *options, str(Path(work) / "look"), str(self.go)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=work)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.go.touch()
        self.end.touch()
        try:
            said = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        assert self.process.returncode == 0, said


def check_waits(job):
    """The last rank computes; in the end all others wait for it."""
    found = await_ranks(job.process, lambda ranks: ranks[RANKS - 1]["state"] == "compute" and ranks[RANKS - 1]["waiters"] == RANKS - 1)
    assert found[0]["waits_for"] == [RANKS - 1] and found[0]["call"] == "MPI_Recv", found[0]
    assert found[0]["place"] == line_of("chain") and found[0]["communicator"] == "MPI_COMM_WORLD", found[0]
    assert found[1]["waits_for"] == [0] and found[1]["root"] == RANKS - 1, found[1]
    for rank in range(2, RANKS - 1):
        assert found[rank]["call"] == "MPI_Barrier" and found[rank]["place"] == line_of("all"), found[rank]
        assert found[rank]["waits_for"] == [0, 1, RANKS - 1], found[rank]
    for rank in found.values():
        assert rank["seconds"] > 0 and rank["messages_per_second"] == 0, rank


def check_text(job):
    text = top(job.process.pid, "--once").stdout
    assert text.startswith(f"look, {RANKS} ranks"), text
    assert re.search(rf"{RANKS - 1} wait; {RANKS - 1} ultimately for rank {RANKS - 1}: its own code", text), text
    assert re.search(rf"\n2-{RANKS - 2} +wait .*MPI_Barrier on MPI_COMM_WORLD, at {line_of('all')}, for ranks 0, 1, {RANKS - 1}\n", text), text
    assert "\033" not in text, text
    assert len(top(job.process.pid, "--once", "--all").stdout.splitlines()) == 4 + RANKS


def check_rates(job):
    """Ranks that exchange 1000 bytes with each call."""
    job.go.touch()
    # Counters are read one after the other while ranks run: one look may be a message off, not every one.
    found = await_ranks(job.process, lambda ranks: all(
        rank["messages_per_second"] > 0 and 990 < rank["bytes_per_second"] / rank["messages_per_second"] < 1001
        for rank in ranks.values()))
    for rank in found.values():
        assert rank["calls_per_second"] >= rank["messages_per_second"], rank


def check_terminal(job):
    """On a terminal it goes on until q; colours unless NO_COLOR is set."""
    for no_colour in ("", "1"):
        main, other = pty.openpty()
        child = subprocess.Popen([str(XYLEM), "top", str(job.process.pid), "-i", "0.1s"], stdin=other, stdout=other, stderr=other,
                                 env={**os.environ, "NO_COLOR": no_colour, "TERM": "xterm"})
        os.close(other)
        seen = b""
        end = time.monotonic() + PATIENCE
        while seen.count(b"\033[H") < 3:
            assert time.monotonic() < end and child.poll() is None, seen
            if select.select([main], [], [], 1)[0]:
                seen += os.read(main, 65536)
        os.write(main, b"sfq")
        while True: # what it printed last may come after its end
            is_over = child.poll() is not None
            assert time.monotonic() < end, seen
            if select.select([main], [], [], 0.1)[0]:
                try:
                    seen += os.read(main, 65536)
                except OSError:
                    break
            elif is_over:
                break
        assert child.wait() == 0, seen
        os.close(main)
        assert (b"\033[1m" in seen) == (no_colour == ""), seen
        assert b"q: quit" in seen and b"\033[?1049l" in seen, seen


def check_one(work):
    with Job(work) as job:
        check_waits(job)
        check_text(job)
        check_terminal(job)
        check_rates(job)


def check_several(work):
    with Job(work, "--processes", "2") as job:
        check_waits(job)
        text = top(job.process.pid, "--once").stdout
        assert ", 2 processes, mpiexec" in text, text
        check_rates(job)


def check_hosts(work):
    if subprocess.run(["unshare", "--uts", "true"], capture_output=True, check=False).returncode != 0:
        print("this system does not give a process another host name: hosts are not tried")
        return
    agent = Path(work) / "agent"
    agent.write_text('#!/bin/sh\nhost=$1; shift\nexec unshare --uts sh -c "hostname $host; exec $*"\n', encoding="utf-8")
    agent.chmod(0o755)
    with Job(work, "--hosts", "alpha:3,beta:2", "--launcher", "./agent") as job:
        check_waits(job)
        processes = json.loads(top(job.process.pid, "--json").stdout)["processes"]
        assert [(p["host"], p["answered"]) for p in processes] == [("alpha", True), ("beta", True)], processes


def check_lists(work):
    """Without a number: the only job, or a list of all."""
    with Job(work) as one:
        await_ranks(one.process, lambda ranks: True)
        others = Path(work) / "other"
        others.mkdir()
        (others / "look").symlink_to(Path(work) / "look")
        with Job(others) as two:
            await_ranks(two.process, lambda ranks: True)
            done = top(code=2)
            assert all(re.search(rf"^ *{job.process.pid} .*look", done.stdout, re.M) for job in (one, two)), done
            assert "give the process id of one" in done.stderr, done


def check_refusals():
    assert "is not a process id" in top("x", code=2).stderr
    assert "there is no process" in top(2**31 - 16, code=1).stderr
    assert "is not an mpiexec" in top(os.getpid(), code=1).stderr
    assert "at least 0.1 s" in top("--interval", "0", code=2).stderr


def main():
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([str(BUILD / "bin/mpicc"), "-g", "-O1", str(LOOK), "-o", f"{work}/look"], check=True)
        check_refusals()
        check_one(work)
        check_several(work)
        check_hosts(work)
        check_lists(work)


main()
