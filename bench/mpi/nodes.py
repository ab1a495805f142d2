#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs in two processes beside the host's own MPI, in one run.

  bench/mpi/nodes.py PREFIX [--brief | --quick] [--peers openmpi,mpich] [--only WHAT,...]

PREFIX is where Xylem is installed (or build/release). The same source (core.c) is compiled with each
library's own mpicc and run in turn; each number is the median over the turns, and the last column is
Xylem's divided by the peer's (for a bandwidth as well: both are times). --brief ends within eight
minutes; --quick tries all of it once, for figures that mean nothing.

  tcp          two hosts, which are network namespaces behind a bridge (needs root): Xylem over its own
               sockets, encrypted and plain, and over the peer, and the peer over TCP; before it, what
               the cipher alone takes on one core, and behind it what encryption costs beyond that
  shared       one machine: Xylem over its own shared memory, with --net mpi, with --net mpi-only through
               that of the peer, and the peer; both with the same settings of the library
  collectives  64 ranks: Xylem with 32 in each of two processes, and the peer with 64 processes. What
               a peer does not end in time has a ratio to that time, with a < in front
  overlap      how much of Ibcast, Iallreduce and Ialltoall of 1 MiB between two processes is hidden
               behind three times as much computation (nbc.c): per cent
  onesided     puts, gets and atomics between two processes (rma.c)
  remote       the same between two hosts over a line of 200 Mbit/s (tc tbf): what crosses it counts, and other
               work of this machine does not (needs root)
  striped      large messages between two hosts over one and two such lines (needs root)
  idle         seconds of processor time of 64 ranks that wait for 10 s, one of which sleeps
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

from core import HERE, Library, peers, quiet, text

SIZES = [8, 1024, 16384, 65536, 1048576, 4194304]
LINE = "200mbit"
ONE_SIDED = ["put:8", "put:65536", "get:8", "get:65536", "fetch", "add:1024"]
OVERLAP = ["bcast", "allreduce", "alltoall"]
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
# Seconds for one row, and for what a peer does with 64 processes; seconds that a job waits.
FORMS = {"full": {"turns": 5, "seconds": 0.3, "limit": 120, "repetitions": 15, "idle": 10},
         "brief": {"turns": 3, "seconds": 0.1, "limit": 20, "repetitions": 9, "idle": 5},
         "quick": {"turns": 1, "seconds": 0.02, "limit": 10, "repetitions": 3, "idle": 2}}
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.hydra"}
# What the peers are given for two ranks of one machine (core.py): without kernel copies, which are slower.
SETTINGS = {"openmpi": ["--mca", "btl_vader_single_copy_mechanism", "none"],
            "mpich": ["-genv", "UCX_TLS", "posix,sysv,self"]}


class Hosts:
    """alpha and beta: namespaces with names, behind a bridge of the one that this runs in."""

    def __init__(self, folder, rate=None, lines=1):
        self.holders, self.lines = [], lines
        self.agent = os.path.join(folder, "agent")
        self.file = os.path.join(folder, "hosts")
        sh = lambda line: subprocess.run(line, shell=True, check=True)
        sh("ip link set lo up")
        for line in range(lines):
            sh(f"ip link add bridge{line} type bridge; ip addr add 10.{77 + line}.0.1/24 dev bridge{line}; "
               f"ip link set bridge{line} up")
        for i, name in enumerate(("alpha", "beta")):
            holder = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c",
                                       f"hostname {name}; echo; exec sleep 36000"], stdout=subprocess.PIPE)
            holder.stdout.readline()
            self.holders.append(holder)
            inside = f"nsenter -t {holder.pid} --net"
            sh(f"{inside} ip link set lo up")
            for line in range(lines):
                near, far = f"v{i}-{line}", f"eth{line}"
                sh(f"ip link add {near} type veth peer name {far} netns {holder.pid}; "
                   f"ip link set {near} master bridge{line} up; "
                   f"{inside} ip addr add 10.{77 + line}.0.{11 + i}/24 dev {far}; {inside} ip link set {far} up")
                if rate:
                    limit = f"root tbf rate {rate} burst 4kb latency 50ms"
                    sh(f"tc qdisc add dev {near} {limit}; {inside} tc qdisc add dev {far} {limit}")
            # Hosts have no core in common: each gets its own of this machine.
            with open(os.path.join(folder, name + ".enter"), "w") as out:
                out.write(f"taskset -c {sorted(os.sched_getaffinity(0))[i % os.cpu_count()]} "
                          f"nsenter -t {holder.pid} --net --uts")
        with open(self.agent, "w") as out:
            out.write('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\n'
                      f'enter=$(cat "{folder}/$1.enter") || exit 1\nshift\n'
                      # UCX takes the interfaces from /sys, which is that of a namespace.
                      'exec $enter unshare --mount sh -c "mount -t sysfs sysfs /sys; $*"\n')
        os.chmod(self.agent, 0o755)
        with open(self.file, "w") as out:
            out.write("alpha\nbeta\n")

    def options(self, name):
        """Of the launcher of a peer."""
        if name == "openmpi":
            return ["--mca", "plm_rsh_agent", self.agent, "--mca", "btl", "tcp,self", "--mca", "pml", "ob1",
                    "--mca", "osc", "pt2pt"]
        return ["-localhost", "10.77.0.1", "-launcher-exec", self.agent, "-genv", "UCX_TLS", "tcp,self"]

    def own(self, prefix, options):
        """Xylem over its own sockets."""
        return xylem(prefix, ["--hosts", "alpha:1,beta:1", "--launcher", self.agent, "--net", "tcp", *options])

    def columns(self, prefix, names):
        """Xylem over its own sockets, and the peers, with one rank on each host."""
        columns = {"xylem tcp": self.own(prefix, []), "xylem plain": self.own(prefix, ["--net-plain"])}
        for name in names:
            spread = (["--map-by", "ppr:1:node", "--bind-to", "none", "--hostfile", self.file]
                      if name == "openmpi" else ["-f", self.file, "-ppn", "1"])
            for library in peer(name, self.options(name) + spread):
                columns[name] = library
        return columns

    def close(self):
        # Their devices would go with the hosts, but later, and have the names of the next ones.
        for line in range(self.lines):
            subprocess.run(f"ip link del v0-{line}; ip link del v1-{line}; ip link del bridge{line}", shell=True, check=True)
        for holder in self.holders:
            holder.kill()
            holder.wait()


def xylem(prefix, options):
    library = Library("xylem", os.path.join(prefix, "bin/mpicc"), os.path.join(prefix, "bin/mpiexec"))
    library.options = options
    return library


def peer(name, options):
    library = peers([name])
    if library:
        library[0].options = options
    return library


def cipher_speed():
    """{size: time} to encrypt messages, without the network; decryption takes as long again."""
    found = {}
    if shutil.which("openssl") is None:
        return found
    print("\ncipher alone, aes-128-gcm, one core:", end="")
    for size in SIZES:
        block = min(size, 65536)  # of a record
        lines = subprocess.run(["openssl", "speed", "-mr", "-seconds", "1", "-bytes", str(block), "-evp",
                                "aes-128-gcm"], capture_output=True, text=True).stdout.splitlines()
        rate = [float(line.split(":")[-1]) for line in lines if line.startswith("+F:")]
        if rate:
            found[size] = size / rate[0]
            print(f"  {size} B {text(found[size])}", end="")
    print(flush=True)
    return found


def beyond_cipher(found, cipher):
    """What encryption costs more than the cipher: both ends are part of a latency, and each has its
    own part of a stream."""
    print(f"\n{'encryption':<20}{'encrypted':>20}{'plain':>20}{'cipher':>20}{'beyond the cipher':>22}")
    for what in pairs():
        kind, size = what.split(":")
        sealed, plain = (found[what][f"xylem {c}"] for c in ("tcp", "plain"))
        if not sealed or not plain or int(size) not in cipher:
            continue
        own = cipher[int(size)] * (2 if kind == "latency" else 1)
        sealed, plain = statistics.median(sealed), statistics.median(plain)
        print(f"{what:<20}{text(sealed):>20}{text(plain):>20}{text(own):>20}"
              f"{100 * (sealed / (plain + own) - 1):>20.0f} %", flush=True)


def rows_of(prefix, only, names, folder):
    """(title, {column: Library}, rows, ranks)"""
    if "tcp" in only and os.environ.get("XYLEM_BENCH_NAMESPACE"):
        hosts = Hosts(folder)
        columns = hosts.columns(prefix, names)
        for name in names:
            launcher = LAUNCHERS[name] + " " + " ".join(hosts.options(name))
            columns[f"xylem {name}"] = xylem(
                prefix, ["--hosts", "alpha:1,beta:1", "--launcher", launcher, "--net", "mpi"])
        yield "tcp", columns, pairs(), 2
        hosts.close()
    if "striped" in only and os.environ.get("XYLEM_BENCH_NAMESPACE"):
        hosts = Hosts(folder, LINE, 2)
        columns = {name: hosts.own(prefix, ["--net-interface", interfaces]) for name, interfaces in
                   (("one line", "eth0,bridge0"), ("two lines", "eth0,eth1,bridge0"))}
        yield f"striped, {LINE}", columns, pairs(), 2
        hosts.close()
    if "shared" in only:
        columns = {"xylem shm": xylem(prefix, ["--processes", "2", "--net", "shm"])}
        for name in names:
            for column, net in ((f"xylem {name}", "mpi"), (f"xylem only {name}", "mpi-only")):
                columns[column] = xylem(prefix, ["--processes", "2", "--net", net, "--launcher",
                                                 " ".join([LAUNCHERS[name], *SETTINGS[name]])])
            for library in peer(name, []):
                columns[name] = library
        yield "shared", columns, pairs(), 2
    if "collectives" in only:
        columns = {f"xylem {net}": xylem(prefix, ["--processes", "2", "--net", net])
                   for net in ("shm", "tcp")}
        for name in names:
            columns[f"xylem {name}"] = xylem(
                prefix, ["--processes", "2", "--net", "mpi-only", "--launcher", LAUNCHERS[name]])
            for library in peer(name, []):
                columns[name] = library
        yield "collectives", columns, COLLECTIVES, 64


def pairs():
    return [f"latency:{n}" for n in SIZES[:3]] + [f"bandwidth:{n}" for n in SIZES[3:]]


def ratio(medians, column, limit):
    """Of a column of Xylem to the fastest peer that it is compared with."""
    name = column.split()[-1]
    own = medians.get(column)
    names = [name] if name in LAUNCHERS else [n for n in LAUNCHERS if n in medians]
    others = [medians[n] for n in names if medians.get(n)]
    if own and others:
        return f"{own / min(others):.2f}"
    return f"<{own / limit:.2g}" if own and names else "-"


def heading(title, what, columns, own):
    print(f"\n{title}\n{what:<20}" + "".join(f"{c:>20}" for c in columns)
          + "".join(f"{c + ' /':>22}" for c in own))


def print_row(what, columns, own, found, limit):
    medians = {c: statistics.median(found[c]) if found[c] else None for c in columns}
    print(f"{what:<20}" + "".join(f"{text(medians[c]):>20}" for c in columns)
          + "".join(f"{ratio(medians, c, limit):>22}" for c in own), flush=True)


def table(title, columns, rows, ranks, form):
    """Two ranks measure all rows in one run, A, B, C, A, B, C, ...; 64 processes of a peer share a
    few cores, get a run for each row, and only one."""
    own = [c for c in columns if c.startswith("xylem")]
    found = {what: {c: [] for c in columns} for what in rows}
    seconds = ["--seconds", str(form["seconds"])]
    for turn in range(form["turns"]):
        for column, library in columns.items():
            if ranks > 2 and column in LAUNCHERS:
                continue
            _, values = library.run(ranks, rows + seconds, 120)
            for what in rows:
                if values and what in values:
                    found[what][column].append(values[what])
    heading(f"{title}, {ranks} ranks", "what", columns, own)
    for what in rows:
        for column in columns if ranks > 2 else []:
            if column in LAUNCHERS:
                _, values = columns[column].run(ranks, [what] + seconds, form["limit"])
                if values:
                    found[what][column].append(values[what])
        print_row(what, columns, own, found[what], form["limit"])
    return found


def between_processes(prefix, names):
    columns = {f"xylem {net}": xylem(prefix, ["--processes", "2", "--net", net])
               for net in ("shm", "tcp")}
    for name in names:
        for library in peer(name, []):
            columns[name] = library
    return columns


def one_sided(title, columns, rows, folder, form):
    own = [c for c in columns if c.startswith("xylem")]
    for library in columns.values():
        library.build(folder, os.path.join(HERE, "rma.c"))
    heading(title, "what", columns, own)
    for what in rows:
        found = {c: [] for c in columns}
        for turn in range(form["turns"]):
            for column, library in columns.items():
                _, values = library.run(2, [what, "--seconds", str(form["seconds"])], form["limit"])
                if values:
                    found[column].append(values[what])
        print_row(what, columns, own, found, form["limit"])


def overlap(prefix, names, folder, form):
    columns = between_processes(prefix, names)
    arguments = ["--size", "1048576", "--collective", ",".join(OVERLAP), "--factor", "3",
                 "--repetitions", str(form["repetitions"]), "--limit", str(form["seconds"] * 10),
                 "--json"]
    found = {}
    for column, library in columns.items():
        library.build(folder, os.path.join(HERE, "nbc.c"))
        try:
            lines = subprocess.run(library.command(2, arguments), env=library.environment, check=True,
                                   capture_output=True, text=True, timeout=3 * form["limit"]).stdout
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            continue
        for line in lines.splitlines():
            values = json.loads(line)
            found[values["collective"], column] = f"{values['overlap']:.0f} %"
    heading("overlap, 2 ranks, 1 MiB", "what", columns, [])
    for what in OVERLAP:
        print(f"{what:<20}" + "".join(f"{found.get((what, c), '-'):>20}" for c in columns), flush=True)


def idle(prefix, folder, seconds):
    source = os.path.join(folder, "idle.c")
    with open(source, "w") as out:
        out.write(IDLE)
    library = xylem(prefix, ["--processes", "2"])
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
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--peers", default="openmpi,mpich")
    parser.add_argument("--only", default="tcp,striped,shared,collectives,overlap,onesided,remote,idle")
    options = parser.parse_args()
    only = options.only.split(",")
    if {"tcp", "striped", "remote"} & set(only) and not os.environ.get("XYLEM_BENCH_NAMESPACE"):
        if subprocess.run(["unshare", "--net", "--uts", "true"], capture_output=True).returncode == 0:
            os.environ["XYLEM_BENCH_NAMESPACE"] = "1"
            os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
        print("# no namespaces: tcp, striped and remote are left out")
    form = FORMS["quick" if options.quick else "brief" if options.brief else "full"]
    names = [n for n in options.peers.split(",") if n and shutil.which(LAUNCHERS[n])]
    quiet()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        if os.environ.get("XYLEM_BENCH_NAMESPACE"):
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        for title, columns, rows, ranks in rows_of(options.prefix, only, names, folder):
            for library in columns.values():
                library.build(folder)
            cipher = cipher_speed() if title == "tcp" else {}
            found = table(title, columns, rows, ranks, form)
            if cipher:
                beyond_cipher(found, cipher)
        if "overlap" in only:
            overlap(options.prefix, names, folder, form)
        if "onesided" in only:
            one_sided("onesided, 2 ranks", between_processes(options.prefix, names), ONE_SIDED, folder, form)
        if "remote" in only and os.environ.get("XYLEM_BENCH_NAMESPACE"):
            hosts = Hosts(folder, LINE)
            one_sided(f"remote, 2 ranks, {LINE}", hosts.columns(options.prefix, names),
                      ONE_SIDED + ["rate:8"], folder, form)
            hosts.close()
        if "idle" in only:
            idle(options.prefix, folder, form["idle"])


if __name__ == "__main__":
    main()
