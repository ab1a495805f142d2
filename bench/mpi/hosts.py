#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Predicted times beside measured ones, on several hosts.

  bench/mpi/hosts.py PREFIX [--quick] [--only WORD,...] [--mpi openmpi|mpich] [--keep FILE] [--costs FILE]
                     [--turns N] [--minutes M] [--usual-priority]

PREFIX is where Xylem is installed (or build/release). Two sites of two clusters of two hosts are made of
network namespaces: each host has a line to its cluster, each cluster one to its site, and one line joins
the sites. `tc tbf` limits the bandwidth of every line, in both directions, and delay.c holds its frames
(netem is not needed). Then, with the installed MPI library over TCP:

  - `xylem calibrate --hosts` finds clusters, sites and links, and measures messages;
  - predicted.c runs seven times on the eight hosts;
  - the same programs are predicted from the file of the calibration, by `mpiexec --virtual`.

Printed are the median of the runs, the prediction, its error, and how much the medians of even and odd
runs differ. The last lines are the mean and the greatest error, with the rows that count as missed: above
20 % and above 1.5 times that difference; and how many pairs of alternatives (see predicted.c) that differ
by more than 15 % are ranked right. With SimGrid installed, smpirun predicts the same programs from a
platform with the links of the same calibration. Needs root.

Every command has a limit. What is left of it in the hosts is killed when it is over, and a program that has
printed its last row is not waited for: MPI_Finalize of MPICH 4.0 over TCP may never end. Hosts go also when
this script is interrupted or terminated; those of one that was killed go when the next one starts. Processes
run before all other work of the machine, those of MPICH before most of it, but for --usual-priority.

--minutes ends all of it in time: at most three quarters of it are for the calibration, and a run that would last longer
than what is left is not begun (the first two are), or is ended. With --turns 0 --keep FILE hosts are calibrated and nothing
runs; with --costs FILE that calibration predicts, and hosts are not calibrated again.
"""
import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as tree

from core import HERE, quiet, text
from predicted import AGAIN, WORST, count_ranked, error_of, seconds_by_row

# Microseconds of a line, bytes per second of each direction.
HOST, CLUSTER, SITE = 100, 700, 14000
RATES = {"C1": 10e6, "C2": 5e6, "C3": 10e6, "C4": 8e6}
UPLINK, BETWEEN = 8e6, 4e6
CLUSTERS = {"C1": (1, 2), "C2": (3, 4), "C3": (5, 6), "C4": (7, 8)}
SITES = {"S1": ("C1", "C2"), "S2": ("C3", "C4")}
MTU = 3000

CALIBRATED, RAN = 600, 300  # seconds that a calibration, a run take at most
GRACE = 5  # ... and a program that has printed all
PREDICTED = 20  # ... and predictions

# How processes come before other work. Those of MPICH spin for long while they connect: they would keep the cores
# from each other, and from everybody.
BEFORE = {"openmpi": ("chrt", "-f", "1"), "mpich": ("nice", "-n", "-5")}

SIZES = (64, 16384, 131072)
ROWS = [(what, size) for what in ("pingpong", "across", "bcast", "scatter", "gather", "allreduce", "alltoall", "halo")
        for size in SIZES] + [("cg", 8192), ("fox", 256)]
OTHERS = [("bcast-linear", size) for size in SIZES] + [("reduce-bcast", size) for size in SIZES] + \
         [("alltoall-pairs", size) for size in SIZES] + [("halo~", size) for size in SIZES] + [("cg~", 8192), ("fox~", 256)]

# Libraries poll without waiting, again and again, and here their processes share a few cores, which no process
# that runs before all other work loses to its equals. A poll waits a little if nothing was there and the one
# before it did not find anything either. The first one after an event must not wait: the loop of events of
# Open MPI goes on polling until it finds nothing, and only then is a request that the event has completed looked
# at. Where that poll waited, a host that received did not begin to send before its data had paused.
# UCX, below MPICH, polls for events that only another thread of it can handle, and yields to it.
PATIENT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
static const struct timespec none, moment = {.tv_nsec = 50000}, little = {.tv_nsec = 1000000};
static __thread int is_idle; /* the last poll has found nothing */
static int found(int count)
{
    is_idle = count == 0;
    return count;
}
int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
    if (timeout != 0)
        return found(epoll_pwait(fd, events, count, timeout, NULL));
    return found(epoll_pwait2(fd, events, count, is_idle ? &little : &none, NULL));
}
int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    struct timespec t = {timeout / 1000, timeout % 1000 * 1000000L};

    if (timeout != 0)
        return found(ppoll(fds, count, timeout < 0 ? NULL : &t, NULL));
    return found(ppoll(fds, count, is_idle ? &little : &none, NULL));
}
int sched_yield(void)
{
    return nanosleep(&moment, NULL);
}
unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    unsigned events;

    if (progress == NULL)
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    events = progress(worker);
    if (events == 0 && !is_idle)
        nanosleep(&moment, NULL);
    return events;
}
"""


def run(line, **more):
    return subprocess.run(line.split() if isinstance(line, str) else line, check=True, **more)


def names_of(pid):
    """The namespaces of the script with this number that are there."""
    return [name for name in list_namespaces() if name.startswith("xyh%d-" % pid)]


def list_namespaces():
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line.strip()]


def kill_inside(name):
    """All processes of a namespace."""
    for pid in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass


def remove_namespaces(names):
    for name in names:
        kill_inside(name)
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


def is_hosts_script(pid):
    try:
        with open("/proc/%d/cmdline" % pid) as file:
            return "hosts.py" in file.read()
    except OSError:
        return False


def remove_leftovers():
    """Hosts of scripts that were killed."""
    for pid in {int(found.group(1)) for found in (re.match(r"xyh(\d+)-", name) for name in list_namespaces()) if found}:
        if pid != os.getpid() and not is_hosts_script(pid):
            remove_namespaces(names_of(pid))


def end_on_signals():
    """A signal ends the script as an error does: hosts go."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))


class Done:
    """A command that has ended, or was ended: returncode is None then."""

    def __init__(self, returncode, stdout, stderr):
        self.returncode, self.stdout, self.stderr = returncode, stdout, stderr


class Grid:
    """The hosts: PREFIX1 to PREFIX8, 10.78.0.1 to 10.78.0.8; all switches are in PREFIXnet."""

    def __init__(self, folder, before=()):
        self.folder, self.prefix, self.before = folder, "xyh%d-" % os.getpid(), list(before)
        self.net, self.relay = self.prefix + "net", None
        self.hosts = [h for members in CLUSTERS.values() for h in members]

    def lines(self):
        """(namespace:device, namespace:device, microseconds, bytes per second)"""
        for cluster, members in CLUSTERS.items():
            for h in members:
                yield "%s%d:xy0" % (self.prefix, h), "%s:h%d" % (self.net, h), HOST, RATES[cluster]
        for site, clusters in SITES.items():
            for c in clusters:
                yield "%s:d%s" % (self.net, c), "%s:u%s" % (self.net, c), CLUSTER, UPLINK
        yield self.net + ":dS1", self.net + ":dS2", SITE, BETWEEN

    def __enter__(self):
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        for name in [self.net] + ["%s%d" % (self.prefix, h) for h in self.hosts]:
            run("ip netns add " + name)
        delay = os.path.join(self.folder, "delay")
        run(["cc", "-O2", "-o", delay, os.path.join(HERE, "delay.c")])
        words = [w for a, b, us, _ in self.lines() for w in (a, b, str(us))]
        self.relay = subprocess.Popen([delay] + words, stdout=subprocess.PIPE, text=True)
        if self.relay.stdout.readline().strip() != "ready":
            sys.exit("hosts.py: the lines cannot be made")
        for h in self.hosts:
            self.within(h, "ip addr add 10.78.0.%d/24 dev xy0" % h)
            self.within(h, "ip link set lo up")
            # A connection is as fast as those of another program, and after a pause as before it.
            self.within(h, "sysctl -qw net.ipv4.tcp_slow_start_after_idle=0 net.ipv4.tcp_no_metrics_save=1")
        for bridge, devices in self.bridges().items():
            run("ip -n %s link add %s type bridge" % (self.net, bridge))
            for device in devices:
                run("ip -n %s link set %s master %s" % (self.net, device, bridge))
            run("ip -n %s link set %s mtu %d up" % (self.net, bridge, MTU))
        for a, b, _, rate in self.lines():
            for end in (a, b):
                name, device = end.split(":")
                run("ip -n %s link set %s mtu %d up" % (name, device, MTU))
                run("tc -n %s qdisc add dev %s root tbf rate %dbps burst %d limit 16000000" % (name, device, rate, MTU + 100))
        # The kernel's default, whatever this machine has: with bbr, what a connection has carried long ago decides
        # how fast it is now.
        for h in self.hosts:
            run("ip -n %s%d route replace 10.78.0.0/24 dev xy0 src 10.78.0.%d congctl cubic" % (self.prefix, h, h))
        self.await_all()

    def bridges(self):
        found = {"b" + c: ["h%d" % h for h in members] + ["d" + c] for c, members in CLUSTERS.items()}
        for s, clusters in SITES.items():
            found["b" + s] = ["u" + c for c in clusters] + ["d" + s]
        return found

    def within(self, host, line, **more):
        return run("ip netns exec %s%d %s" % (self.prefix, host, line), **more)

    def await_all(self):
        """A port that nobody listens at is refused by a host that can be reached."""
        deadline = time.monotonic() + 60
        for h in self.hosts[1:]:
            while "refused" not in subprocess.run(
                    ["ip", "netns", "exec", self.prefix + "1", "timeout", "5", "bash", "-c", "exec 3<>/dev/tcp/10.78.0.%d/9" % h],
                    capture_output=True, text=True, env=dict(os.environ, LC_ALL="C")).stderr:
                if time.monotonic() > deadline:
                    sys.exit("hosts.py: host %d cannot be reached" % h)

    def __exit__(self, *_):
        if self.relay is not None:
            self.relay.kill()
            self.relay.wait()
        remove_namespaces([self.net] + ["%s%d" % (self.prefix, h) for h in self.hosts])

    def on_first(self, line, limit, environment, is_all=lambda output: False):
        """A command on host 1, as if it were a machine of its own, before other work on the processors. It ends
        within the limit, and soon after is_all() is true of what it has printed. Its output goes to files: a
        process that it leaves behind would keep a pipe open."""
        paths = [os.path.join(self.folder, name) for name in ("stdout", "stderr")]
        with open(paths[0], "w") as out, open(paths[1], "w") as err:
            child = subprocess.Popen(self.before + ["ip", "netns", "exec", self.prefix + "1", "unshare", "--uts", "bash", "-c",
                                                    'hostname host1; exec "$@"', "--"] + line,
                                     stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment,
                                     start_new_session=True)
        end = time.monotonic() + limit
        try:
            while child.poll() is None and time.monotonic() < end:
                time.sleep(0.1)
                with open(paths[0]) as file:
                    if is_all(file.read()):
                        end = min(end, time.monotonic() + GRACE)
            code = child.poll()
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
            for h in self.hosts:
                kill_inside("%s%d" % (self.prefix, h))
            child.wait()
        return Done(code, *(open(path, errors="replace").read() for path in paths))


class Mpi:
    """An installed MPI library over TCP, whose processes wait patiently: here they share a few cores."""

    def __init__(self, name, grid):
        self.name, self.grid = name, grid
        self.launcher, self.compiler = "mpirun." + name, "mpicc." + name
        self.agent, self.patient = (os.path.join(grid.folder, w) for w in ("agent", "patient.so"))
        with open(self.agent, "w") as file:
            file.write("#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\nhost=$1\nshift\n"
                       'exec ip netns exec "%s${host##*.}" unshare --uts bash -c "hostname host${host##*.}; $*"\n' % grid.prefix)
        os.chmod(self.agent, 0o755)
        source = os.path.join(grid.folder, "patient.c")
        with open(source, "w") as file:
            file.write(PATIENT)
        run(["cc", "-O1", "-shared", "-fPIC", "-o", self.patient, source])
        self.hosts = os.path.join(grid.folder, "hosts")
        with open(self.hosts, "w") as file:
            file.writelines("10.78.0.%d\n" % h for h in grid.hosts)

    def extra(self):
        if self.name == "openmpi":
            return ("--mca btl tcp,self --mca btl_tcp_if_include xy0 --mca oob_tcp_if_include xy0 "
                    "--mca mpi_yield_when_idle 1 -x LD_PRELOAD=" + self.patient).split()
        return ("-iface xy0 -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES xy0 -genv UCX_TCP_KEEPIDLE 600s "
                "-genv LD_PRELOAD " + self.patient).split()

    def command(self, program, arguments):
        if self.name == "openmpi":
            slots = self.hosts + ".slots"
            with open(slots, "w") as file:
                file.writelines(line.strip() + " slots=1\n" for line in open(self.hosts))
            first = ["--allow-run-as-root", "-np", "8", "--hostfile", slots, "--mca", "plm_rsh_agent", self.agent]
        else:
            first = ["-n", "8", "-f", self.hosts, "-ppn", "1", "-launcher", "ssh", "-launcher-exec", self.agent]
        return [self.launcher] + first + self.extra() + [program] + arguments


def rounds_of(what, size):
    if what in ("pingpong", "across") and size < 65536:
        return 20
    return 1 if size > 65536 else 6


def arguments_of(rows):
    return [w for what, size in rows for w in (what, str(size), str(rounds_of(what, size)))]


def calibrate(prefix, mpi, output, seconds, sizes, limit):
    line = [os.path.join(prefix, "bin", "xylem"), "calibrate", "--hosts", mpi.hosts, "--messages", "--only-between", "--agent", mpi.agent,
            "--launcher", mpi.launcher, "--compiler", mpi.compiler, "--sizes", sizes, "--seconds", str(seconds), "-o", output]
    line += ["--extra=" + word for word in mpi.extra()]
    done = mpi.grid.on_first(line, limit, dict(os.environ, HOME=mpi.grid.folder))
    print("".join("# " + line + "\n" for line in done.stdout.splitlines() if " site" in line or line.startswith("message")), end="")
    if not os.path.exists(output):
        sys.exit("hosts.py: the hosts cannot be calibrated: " + (done.stderr or "it took too long"))
    if done.returncode != 0:
        print("# calibrate: " + ("took too long" if done.returncode is None else done.stderr.strip().split("\n")[-1]))


class Platform:
    """What the calibration found: hosts with their place, links between them."""

    def __init__(self, path, hosts):
        machine = tree.parse(path).getroot().find("machine")
        self.path, self.place, self.link, self.routes, core = path, {}, {}, {}, 0
        above = {}
        for site in machine.iter("site"):
            for cluster in site.iter("cluster"):
                for node in cluster.iter("node"):
                    name = node.get("name")
                    self.place[name] = core
                    above[name] = (cluster.get("id"), site.get("id"))
                    self.link[name] = node
                    core += sum(int(c.get("count", 1)) for c in node.iter("core"))
        for route in machine.iter("route"):
            self.routes[frozenset((route.get("from"), route.get("to")))] = route
        self.above, self.hosts = above, hosts

    def place_file(self, path):
        with open(path, "w") as file:
            file.writelines("%d %d\n" % (i, self.place[h]) for i, h in enumerate(self.hosts))
        return path

    def route(self, a, b):
        """The route between two hosts, or None inside a cluster."""
        for x, y in zip(self.above[a], self.above[b]):
            if x != y and frozenset((x, y)) in self.routes:
                return self.routes[frozenset((x, y))]
        return None

    def ends(self, route, number):
        """The latencies of the links of two hosts that the route joins: it was measured with them."""
        return sum(max(number(self.link[h], "latency") for h in self.hosts if end in self.above[h])
                   for end in (route.get("from"), route.get("to")))

    def simgrid(self, path):
        def number(element, what):
            word, units = element.get(what, "0"), {"us": 1e-6, "ms": 1e-3, "ns": 1e-9, "GB/s": 1e9, "MB/s": 1e6, "kB/s": 1e3, "B/s": 1}
            for unit, scale in units.items():
                if word.endswith(unit):
                    return float(word[:-len(unit)]) * scale
            return float(word.rstrip("s"))

        lines = ['<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
                 '<platform version="4.1"><zone id="all" routing="Full">']
        lines += ['<host id="%s" speed="1Gf"/>' % h for h in self.hosts]
        for h in self.hosts:
            lines.append('<link id="l%s" bandwidth="%.0fBps" latency="%.9fs" sharing_policy="SPLITDUPLEX"/>' % (
                h, number(self.link[h], "bandwidth"), number(self.link[h], "latency")))
        for i, (_, route) in enumerate(sorted((sorted(k), r) for k, r in self.routes.items())):
            lines.append('<link id="r%d" bandwidth="%.0fBps" latency="%.9fs" sharing_policy="SPLITDUPLEX"/>' % (
                i, number(route, "bandwidth") or 1e12, max(1e-9, number(route, "latency") - self.ends(route, number))))
            route.set("number", str(i))
        for i, a in enumerate(self.hosts):
            for b in self.hosts[i + 1:]:
                route, middle = self.route(a, b), ""
                if route is not None:
                    way = "UP" if route.get("from") in self.above[a] else "DOWN"
                    middle = '<link_ctn id="r%s" direction="%s"/>' % (route.get("number"), way)
                lines.append('<route src="%s" dst="%s" symmetrical="NO"><link_ctn id="l%s" direction="UP"/>%s'
                             '<link_ctn id="l%s" direction="DOWN"/></route>' % (a, b, a, middle, b))
                back = middle.replace("UP", "x").replace("DOWN", "UP").replace("x", "DOWN")
                lines.append('<route src="%s" dst="%s" symmetrical="NO"><link_ctn id="l%s" direction="UP"/>%s'
                             '<link_ctn id="l%s" direction="DOWN"/></route>' % (b, a, b, back, a))
        with open(path, "w") as file:
            file.write("\n".join(lines + ["</zone></platform>\n"]))
        return path


def predict(prefix, program, platform, mpi, rows):
    line = [os.path.join(prefix, "bin", "mpiexec"), "-n", "8", "--virtual", platform.path, "--place",
            platform.place_file(os.path.join(mpi.grid.folder, "places")), "--library", mpi.name, "--compute", "timed",
            "--progress", "none", program]
    done = subprocess.run(line + arguments_of(rows), capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit("hosts.py: cannot predict: " + done.stderr)
    return seconds_by_row(done.stdout)


def simulate(platform, folder, rows):
    program = os.path.join(folder, "predicted-smpi")
    if shutil.which("smpicc") is None or subprocess.run(
            ["smpicc", "-O2", "-o", program, os.path.join(HERE, "predicted.c")], capture_output=True).returncode != 0:
        return {}
    line = ["smpirun", "-np", "8", "-platform", platform.simgrid(os.path.join(folder, "platform.xml")), "-hostfile",
            os.path.join(folder, "hosts"), "--cfg=smpi/simulate-computation:no", "--log=root.thres:critical", program]
    done = subprocess.run(line + arguments_of(rows), capture_output=True, text=True, timeout=300)
    if "seconds" not in done.stdout:
        print("# smpirun: " + done.stderr.strip().split("\n")[-1])
    return seconds_by_row(done.stdout)


def report(rows, measured, predicted, smpi):
    errors, missed, others = [], 0, []
    print("%-15s %7s  %10s %10s %8s %8s %s" % ("what", "bytes", "measured", "predicted", "error", "twice", "smpi" if smpi else ""))
    for row in rows:
        if not measured.get(row) or row not in predicted:
            continue
        error, spread, middle = error_of(predicted[row], measured[row])
        beside = ""
        if row in smpi:
            others.append(abs(smpi[row] - middle) / middle)
            beside = "%10s %6.0f %%" % (text(smpi[row]), 100 * others[-1])
        errors.append(error)
        missed += error > max(WORST, AGAIN * spread)
        print("%-15s %7d  %10s %10s %6.1f %% %6.1f %% %s" % (*row, text(middle), text(predicted[row]), 100 * error, 100 * spread,
                                                            beside))
    print("# %d programs, mean error %.1f %%, greatest %.1f %%, %d missed%s" % (
        len(errors), 100 * statistics.mean(errors), 100 * max(errors), missed,
        "; smpi: mean %.0f %%, greatest %.0f %%" % (100 * statistics.mean(others), 100 * max(others)) if others else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="patterns with one of these words, with commas")
    parser.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    parser.add_argument("--keep", help="copy the file of the calibration there")
    parser.add_argument("--costs", help="a calibration that was kept")
    parser.add_argument("--turns", type=int)
    parser.add_argument("--minutes", type=float, default=60, help="in all; two runs at least are tried")
    parser.add_argument("--usual-priority", action="store_true")
    options = parser.parse_args()
    if os.getuid() != 0 or not os.path.exists("/dev/net/tun"):
        sys.exit("hosts.py: only root makes hosts, with /dev/net/tun")
    for command in ("mpirun." + options.mpi, "mpicc." + options.mpi, "ip", "tc", "chrt", "cc"):
        if shutil.which(command) is None:
            sys.exit("hosts.py: there is no " + command)
    if options.costs and not os.path.exists(options.costs):
        sys.exit("hosts.py: there is no file '%s' of a calibration" % options.costs)
    rows = [r for r in ROWS + OTHERS if any(w in r[0] for w in options.only.split(",")) and (not options.quick or r[1] < 65536)]
    turns, seconds = (2, 15) if options.quick else (7, 90)
    turns = turns if options.turns is None else options.turns
    seconds = min(seconds, 60 * options.minutes / 12)
    end = time.monotonic() + 60 * options.minutes
    prefix = os.path.abspath(options.prefix)
    quiet()
    end_on_signals()
    remove_leftovers()
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="xyh") as folder, Grid(folder, () if options.usual_priority else BEFORE[options.mpi]) as grid:
        mpi = Mpi(options.mpi, grid)
        costs = os.path.join(folder, "grid.xml")
        if options.costs:
            shutil.copy(options.costs, costs)
        else:
            calibrate(prefix, mpi, costs, seconds, "64,4K,16K,48K,80K,160K,400K" if options.quick else
                      "64,2K,8K,16K,32K,60K,80K,128K,256K", min(CALIBRATED, (45 if turns > 0 else 60) * options.minutes))
        if options.keep:
            shutil.copy(costs, options.keep)
        if turns == 0:
            return 0
        programs = [os.path.join(folder, "predicted-" + w) for w in (mpi.name, "xylem")]
        for compiler, program in zip((mpi.compiler, os.path.join(prefix, "bin", "mpicc")), programs):
            run([compiler, "-O2", "-w", "-o", program, os.path.join(HERE, "predicted.c")])
        measured, longest = {}, 0
        for turn in range(turns):
            begin = time.monotonic()
            if turn >= 2 and begin + longest + PREDICTED > end:
                print("# %d runs" % turn, flush=True)
                break
            limit = min(RAN, max((end - begin - PREDICTED) / max(1, 2 - turn), 30))
            done = grid.on_first(mpi.command(programs[0], arguments_of(rows)), limit, dict(os.environ, HOME=folder),
                                 lambda output: len(seconds_by_row(output)) == len(rows))
            longest = max(longest, time.monotonic() - begin)
            found = seconds_by_row(done.stdout)
            if len(found) < len(rows):
                print("# a run %s: %d of %d rows" % ("took too long" if done.returncode is None else "failed", len(found), len(rows)),
                      done.stderr.strip().split("\n")[-1], flush=True)
            for row, value in found.items():
                measured.setdefault(row, []).append(value)
        if not measured:
            sys.exit("hosts.py: no run has printed a time")
        platform = Platform(costs, [line.strip() for line in open(mpi.hosts)])
        predicted = predict(prefix, programs[1], platform, mpi, rows)
        report(rows, measured, predicted, simulate(platform, folder, rows))
        print(count_ranked(rows, measured, predicted))
    return 0


if __name__ == "__main__":
    sys.exit(main())
