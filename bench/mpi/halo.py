#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A halo exchange on several hosts, as the launcher places it and as Xylem does.

  bench/mpi/halo.py PREFIX [--quick]

PREFIX is where Xylem is installed (or build/release). The hosts are network namespaces of this
machine, joined by a bridge; what leaves a host is slowed down to 200 Mbit/s (tc tbf). Ranks talk over
TCP with Open MPI. The matrix comes from `xylem monitor`, the placement from `xylem place`, and for
each order of the ranks the line says hop-bytes and the median time of a step. Needs root, ip and tc,
and leaves nothing behind.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HOSTS, CORES, RATE = 4, 4, "200mbit"
BRIDGE, NET = "xyhalo", "10.213.77"
ROWS, COLUMNS, KIB = 4, 4, 256


def call(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True).stdout


def clean_up():
    for h in range(HOSTS):
        subprocess.run(["ip", "netns", "del", f"xynode{h}"], check=False, capture_output=True)
    subprocess.run(["ip", "link", "del", BRIDGE], check=False, capture_output=True)


def make_hosts():
    call("ip", "link", "add", BRIDGE, "type", "bridge")
    call("ip", "addr", "add", f"{NET}.100/24", "dev", BRIDGE)
    call("ip", "link", "set", BRIDGE, "up")
    for h in range(HOSTS):
        space, outer = f"xynode{h}", f"xyhalo{h}"
        call("ip", "netns", "add", space)
        call("ip", "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", space)
        call("ip", "link", "set", outer, "master", BRIDGE, "up")
        inside = ["ip", "netns", "exec", space]
        call(*inside, "ip", "link", "set", "lo", "up")
        call(*inside, "ip", "addr", "add", f"{NET}.{h + 1}/24", "dev", "eth0")
        call(*inside, "ip", "link", "set", "eth0", "up")
        call(*inside, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", RATE,
             "burst", "64kb", "latency", "200ms")


def write_agent(folder):
    """What stands for ssh: HOST COMMAND..."""
    path = os.path.join(folder, "agent")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nhost=$1; shift\n"
                   "exec ip netns exec xy$host unshare -u sh -c \"hostname $host; $*\"\n")
    os.chmod(path, 0o755)
    return path


class Bench:
    def __init__(self, prefix, folder, steps):
        self.xylem = os.path.join(prefix, "bin/xylem")
        self.folder, self.steps = folder, str(steps)
        self.program = os.path.join(folder, "halo")
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        call("mpicc.openmpi", "-O2", "-o", self.program, os.path.join(HERE, "halo.c"))

    def arguments(self, steps):
        return [self.program, str(ROWS), str(COLUMNS), str(KIB), steps]

    def monitor(self):
        """The matrix of a short run on this host."""
        matrix = os.path.join(self.folder, "halo.csv")
        subprocess.run([self.xylem, "monitor", matrix, "--", "mpirun.openmpi", "--oversubscribe",
                        "-n", str(ROWS * COLUMNS), *self.arguments("1")], check=True,
                       env=self.environment, stdout=subprocess.DEVNULL)
        return matrix

    def place(self, matrix, *options):
        command = [self.xylem, "place", matrix, "--machine", f"node:{HOSTS} core:{CORES}", *options]
        hosts = call(*command, "-o", "slurm").split()
        return hosts, json.loads(call(*command, "--json"))["hop_bytes"]

    def time(self, agent, hosts):
        """Rank i runs on hosts[i]."""
        path = os.path.join(self.folder, "hosts")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(hosts) + "\n")
        command = ["mpirun.openmpi", "--mca", "rmaps", "seq", "--hostfile", path,
                   "--mca", "plm_rsh_agent", agent, "--mca", "plm_rsh_no_tree_spawn", "1",
                   "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", f"{NET}.0/24",
                   "--mca", "oob_tcp_if_include", f"{NET}.0/24", "--mca", "pml", "ob1",
                   "--mca", "mpi_yield_when_idle", "1", "--mca", "hwloc_base_binding_policy", "none",
                   *self.arguments(self.steps)]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True,
                              timeout=300, check=False)
        if done.returncode != 0:
            sys.exit(f"halo: mpirun ends with {done.returncode}:\n{done.stdout}{done.stderr}")
        return float(done.stdout.split()[-1])


def measure(prefix, steps):
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(prefix, folder, steps)
        matrix = bench.monitor()
        orders = [("by slot", *bench.place(matrix, "-s", "packed")),
                  ("by node", *bench.place(matrix, "-s", "random", "--seed", "1")),
                  ("placed by Xylem", *bench.place(matrix))]
        # Ranks dealt out to the hosts in turn; what that costs is worked out from the matrix.
        dealt = [f"node{r % HOSTS}" for r in range(ROWS * COLUMNS)]
        orders[1] = ("by node", dealt, hop_bytes(matrix, dealt))
        make_hosts()
        agent = write_agent(folder)
        first = None
        for name, hosts, hops in orders:
            seconds = bench.time(agent, hosts)
            first = first or (hops, seconds)
            print(f"{name:16}  hop-bytes {hops / 1e6:8.2f} MB  step {seconds * 1e3:8.2f} ms"
                  f"  to the first {hops / first[0]:.2f} {seconds / first[1]:.2f}", flush=True)


def hop_bytes(matrix, hosts):
    """Two links inside a host, four between hosts."""
    total = 0
    with open(matrix, encoding="utf-8") as file:
        for line in file:
            if line[0].isdigit():
                source, target, size, *_ = line.split(",")
                total += float(size) * (2 if hosts[int(source)] == hosts[int(target)] else 4)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    missing = [tool for tool in ("ip", "tc", "unshare", "mpicc.openmpi", "mpirun.openmpi")
               if not shutil.which(tool)]
    if missing or os.geteuid() != 0:
        print(f"halo: left out, without {', '.join(missing) or 'root'}")
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    clean_up()
    try:
        measure(options.prefix, 5 if options.quick else 25)
    finally:
        clean_up()


if __name__ == "__main__":
    main()
