#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are connected to each other (jobs.c, jobs_end.c).

  jobs.py MPIEXEC JOBS JOBS_END

A sample of them; with XYLEM_SOAK more, and more jobs than there are numbers for.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
import testing # noqa: E402

MPIEXEC, JOBS, JOBS_END = (os.path.abspath(p) for p in sys.argv[1:4])
SECONDS = testing.seconds(100) # where failure is a hang
failures = 0


def start(command, environment=None):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=dict(os.environ, **(environment or {})))


def end(what, job, code, pattern=None):
    global failures
    try:
        output = job.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        job.kill()
        output = job.communicate()[0] + "(did not end)"
    if job.returncode != code or (pattern is not None and not re.search(pattern, output)):
        print("%s: exit code %d, expected %d%s\n%s" % (what, job.returncode, code,
                                                       " with " + pattern if pattern else "", output))
        failures += 1


def ranks(count, *options):
    return [MPIEXEC, *options, "-n", str(count)] if count else [] # 0: without mpiexec


def meet(servers, clients, how="file", options=(), environment=None, others=(), wrappers=((), ())):
    """The whole of jobs.c; `options` of the server, `others` of the client. Processes join where
    there is a wrapper."""
    with tempfile.TemporaryDirectory() as folder:
        where = "name" if how == "name" else os.path.join(folder, "port")
        environment = dict(environment or {}, XYLEM_NAMES=folder)
        jobs = [start(ranks(servers, *options) + [*wrappers[0], JOBS, "server", where], environment),
                start(ranks(clients, *others) + [*wrappers[1], JOBS, "client", where], environment)]
        for job, name in zip(jobs, ("server", "client")):
            end("%s of %d and %d, %s %s" % (name, servers, clients, how,
                                            " ".join([*options, *wrappers[0], ":", *others, *wrappers[1]])), job, 0)
        left = [f for f in os.listdir(folder) if f != "port"]
        if left:
            end("names are left: %s" % left, start(["false"]), 0)


def part(mode, server_code, server_says, client_code, client_says=None, options=(), others=()):
    """How they end. What is said is said once."""
    with tempfile.TemporaryDirectory() as folder:
        where = os.path.join(folder, "port")
        server = start(ranks(2, *options) + [JOBS_END, mode, where, "server"])
        client = start(ranks(2, *others) + [JOBS_END, mode, where, "client"])
        end("client, " + mode, client, client_code, client_says)
        end("server, " + mode, server, server_code, server_says)


def three(options, others):
    """A job that is connected to two others: one process of it to the first, all to the second."""
    with tempfile.TemporaryDirectory() as folder:
        where = os.path.join(folder, "port")
        jobs = [start(ranks(3, *options) + [JOBS_END, "third", where, "server"]),
                start(ranks(2, *others) + [JOBS_END, "third", where + ".last", "client"]),
                start(ranks(3) + [JOBS_END, "third", where, "client"])]
        for job, name in zip(jobs, ("server", "first client", "second client")):
            end("%s of three jobs, %s" % (name, " ".join([*options, ":", *others])), job, 0)


def many(jobs, each):
    """Jobs, one after the other; 66 are more than there are numbers for."""
    with tempfile.TemporaryDirectory() as folder:
        where = os.path.join(folder, "port")
        server = start(ranks(2) + [JOBS_END, "many", where, "server", str(jobs * each)])
        for _ in range(jobs):
            end("one of many", start(ranks(each if each > 1 else 0) + [JOBS_END, "many", where, "client"]), 0)
        end("the server of %d x %d" % (jobs, each), server, 0)


meet(2, 3)
meet(1, 1, "name")
meet(0, 2)
meet(3, 0)
meet(2, 2, options=["--workers", "1", "--eager", "100"])
meet(2, 2, options=["--check=leaks,sends,buffers,windows"])
with tempfile.TemporaryDirectory() as counts:
    meet(2, 2, options=["--tag-output", "--monitor", counts])
TWO, THREE = ["--processes", "2"], ["--processes", "3"]
meet(4, 3, "name", options=TWO, others=THREE)
meet(2, 3, others=TWO)
if testing.SOAK:
    meet(3, 4, options=[*TWO, "--net", "tcp"], others=[*TWO, "--eager", "100"])
    meet(4, 2, options=[*TWO, "--check=leaks,sends,buffers,windows"], others=TWO)
    meet(4, 3, options=TWO, wrappers=([], ["env"]))
    meet(2, 2, wrappers=(["env"], ["env"]))
# Each process of the job may report it before mpiexec ends them all.
GONE = r"^([^\n]*the job that this one is connected to \(process \d+ on \S+\) has ended without MPI_Comm_disconnect[^\n]*\n)+$"
part("exit", 0, None, 0)
part("late", 0, None, 0)
part("abort", 1, GONE, 5)
part("gone", 1, r"deadlock: ", 0)
part("late", 0, None, 0, options=TWO, others=TWO)
part("abort", 1, GONE, 5, options=TWO, others=TWO)
part("gone", 1, r"deadlock: ", 0, options=TWO, others=TWO)
three([], [])
three(TWO, TWO)
many(66 if testing.SOAK else 3, 1)
many(1, 5)

# What cannot be done is said in one line.
with tempfile.TemporaryDirectory() as folder:
    where = os.path.join(folder, "port")
    server = start(ranks(2, "--virtual", "node:1 core:2") + [JOBS_END, "late", where, "server"])
    client = start(ranks(1) + [JOBS_END, "late", where, "client"])
    end("virtual time", client, 43, r"and was opened for it alone: .*MPI_ERR_PORT")
    server.kill()
    server.communicate()
sys.exit(failures > 0)
