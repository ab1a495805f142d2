#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs in two processes beside the host's own MPI, in one run.

  bench/mpi/nodes.py PREFIX [--quick] [--peers openmpi,mpich] [--only tcp,shared,collectives,idle]

PREFIX is where Xylem is installed (or build/release). The same source (core.c) is compiled with each
library's own mpicc and run in turn; each number is the median over the turns, and the last column is
Xylem's divided by the peer's (for a bandwidth as well: both are times).

  tcp          two hosts, which are network namespaces behind a bridge (needs root): Xylem over its own
               sockets and over the peer, and the peer over TCP
  shared       one machine: Xylem over the peer's shared memory, and the peer
  collectives  64 ranks: Xylem with 32 in each of two processes, and the peer with 64 processes
  idle         seconds of processor time of 64 ranks that wait for 10 s, one of which sleeps
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

from core import HERE, Library, peers, quiet, text

SIZES = [8, 1024, 16384, 65536, 1048576, 4194304]
COLLECTIVES = ["bcast:8", "bcast:1048576", "allreduce:8", "allreduce:1048576", "alltoall:1024"]
IDLE = """#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        sleep((unsigned)atoi(argv[1]));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.hydra"}


class Hosts:
    """alpha and beta: namespaces with names, behind a bridge of the one that this runs in."""

    def __init__(self, folder):
        self.holders = []
        self.agent = os.path.join(folder, "agent")
        self.file = os.path.join(folder, "hosts")
        sh = lambda line: subprocess.run(line, shell=True, check=True)
        sh("ip link set lo up; ip link add bridge0 type bridge; ip addr add 10.77.0.1/24 dev bridge0; "
           "ip link set bridge0 up")
        for i, name in enumerate(("alpha", "beta")):
            holder = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c",
                                       f"hostname {name}; echo; exec sleep 36000"], stdout=subprocess.PIPE)
            holder.stdout.readline()
            self.holders.append(holder)
            inside = f"nsenter -t {holder.pid} --net"
            sh(f"ip link add v{i} type veth peer name eth0 netns {holder.pid}; ip link set v{i} master bridge0 up; "
               f"{inside} ip addr add 10.77.0.{11 + i}/24 dev eth0; {inside} ip link set eth0 up; "
               f"{inside} ip link set lo up")
            # Hosts have no core in common: each gets its own of this machine.
            with open(os.path.join(folder, name + ".enter"), "w") as out:
                out.write(f"taskset -c {sorted(os.sched_getaffinity(0))[i % os.cpu_count()]} "
                          f"nsenter -t {holder.pid} --net --uts")
        with open(self.agent, "w") as out:
            out.write('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\n'
                      f'enter=$(cat "{folder}/$1.enter") || exit 1\nshift\n'
                      'exec $enter sh -c "$*"\n')
        os.chmod(self.agent, 0o755)
        with open(self.file, "w") as out:
            out.write("alpha\nbeta\n")

    def options(self, name):
        """Of the launcher of a peer."""
        if name == "openmpi":
            return ["--mca", "plm_rsh_agent", self.agent, "--mca", "btl", "tcp,self", "--mca", "pml", "ob1"]
        return ["-localhost", "10.77.0.1", "-launcher-exec", self.agent, "-genv", "UCX_TLS", "tcp,self"]

    def close(self):
        for holder in self.holders:
            holder.kill()


def xylem(prefix, options):
    library = Library("xylem", os.path.join(prefix, "bin/mpicc"), os.path.join(prefix, "bin/mpiexec"))
    library.options = options
    return library


def peer(name, options):
    library = peers([name])
    if library:
        library[0].options = options
    return library


def rows_of(prefix, only, names, folder):
    """(title, {column: Library}, rows, ranks)"""
    if "tcp" in only and os.environ.get("XYLEM_BENCH_NAMESPACE"):
        hosts = Hosts(folder)
        where = ["--hosts", "alpha:1,beta:1", "--launcher"]
        columns = {"xylem tcp": xylem(prefix, [*where, hosts.agent, "--net", "tcp"])}
        for name in names:
            launcher = LAUNCHERS[name] + " " + " ".join(hosts.options(name))
            spread = (["--map-by", "ppr:1:node", "--bind-to", "none", "--hostfile", hosts.file]
                      if name == "openmpi" else ["-f", hosts.file, "-ppn", "1"])
            columns[f"xylem {name}"] = xylem(prefix, [*where, launcher, "--net", "mpi"])
            for library in peer(name, hosts.options(name) + spread):
                columns[name] = library
        yield "tcp", columns, pairs(), 2
        hosts.close()
    if "shared" in only:
        columns = {}
        for name in names:
            columns[f"xylem {name}"] = xylem(
                prefix, ["--processes", "2", "--net", "mpi", "--launcher", LAUNCHERS[name]])
            for library in peer(name, []):
                columns[name] = library
        yield "shared", columns, pairs(), 2
    if "collectives" in only:
        columns = {"xylem tcp": xylem(prefix, ["--processes", "2", "--net", "tcp"])}
        for name in names:
            columns[f"xylem {name}"] = xylem(
                prefix, ["--processes", "2", "--net", "mpi", "--launcher", LAUNCHERS[name]])
            for library in peer(name, []):
                columns[name] = library
        yield "collectives", columns, COLLECTIVES, 64


def pairs():
    return [f"latency:{n}" for n in SIZES[:3]] + [f"bandwidth:{n}" for n in SIZES[3:]]


def ratio(medians, column):
    name = column.split()[-1]
    own, others = medians.get(column), [medians.get(n) for n in (LAUNCHERS if name == "tcp" else [name])]
    others = [o for o in others if o]
    return f"{own / min(others):.2f}" if own and others else "-"


def table(title, columns, rows, ranks, turns, seconds):
    own = [c for c in columns if c.startswith("xylem")]
    print(f"\n{title}, {ranks} ranks\n{'what':<20}" + "".join(f"{c:>16}" for c in columns)
          + "".join(f"{c + ' /':>18}" for c in own))
    for what in rows:
        found = {c: [] for c in columns}
        for turn in range(turns):
            for column, library in columns.items():
                if ranks > 2 and turn > 0 and column in LAUNCHERS:
                    continue  # a minute each: once is enough to see by how much
                _, values = library.run(ranks, [what, "--seconds", str(seconds)], 120)
                if values:
                    found[column].append(values[what])
        medians = {c: statistics.median(v) if v else None for c, v in found.items()}
        print(f"{what:<20}" + "".join(f"{text(medians[c]):>16}" for c in columns)
              + "".join(f"{ratio(medians, c):>18}" for c in own), flush=True)


def idle(prefix, folder, seconds):
    source = os.path.join(folder, "idle.c")
    with open(source, "w") as out:
        out.write(IDLE)
    library = xylem(prefix, ["--processes", "2", "--net", "tcp"])
    library.build(folder, source)
    used = []
    for wait in (0, seconds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(library.command(64, [str(wait)]), check=True, timeout=seconds + 60)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"\nidle, 64 ranks, {seconds} s: {used[1] - used[0]:.3f} s of processor time beyond those of a job "
          f"without the wait ({used[0]:.3f} s): {100 * max(0, used[1] - used[0]) / seconds:.2f} % of a core")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peers", default="openmpi,mpich")
    parser.add_argument("--only", default="tcp,shared,collectives,idle")
    options = parser.parse_args()
    only = options.only.split(",")
    if "tcp" in only and not os.environ.get("XYLEM_BENCH_NAMESPACE"):
        if subprocess.run(["unshare", "--net", "--uts", "true"], capture_output=True).returncode == 0:
            os.environ["XYLEM_BENCH_NAMESPACE"] = "1"
            os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
        print("# no namespaces: tcp is left out")
    turns, seconds = (1, 0.02) if options.quick else (5, 0.3)
    names = [n for n in options.peers.split(",") if shutil.which(LAUNCHERS[n])]
    quiet()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        if os.environ.get("XYLEM_BENCH_NAMESPACE"):
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        for title, columns, rows, ranks in rows_of(options.prefix, only, names, folder):
            for library in columns.values():
                library.build(folder)
            table(title, columns, rows, ranks, turns, seconds)
        if "idle" in only:
            idle(options.prefix, folder, 2 if options.quick else 10)


if __name__ == "__main__":
    main()
