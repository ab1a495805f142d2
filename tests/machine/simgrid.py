#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Routes and collisions beside SimGrid's, on a fat tree and a torus.

    simgrid.py golden FILE              run SimGrid and write FILE
    simgrid.py same FILE                run SimGrid: does it still give what FILE says? Skipped without SimGrid
    simgrid.py run FILE MPIEXEC MPICC PATTERN.C    run a program in virtual time; each message within 5 % of FILE

SimGrid has zones of both kinds with its own static routes (FAT_TREE: D-mod-k, TORUS: dimension by dimension).
Its network model CM02 is used with full bandwidths and no traffic of acknowledgements. Latencies are zero
there, because it divides a link among flows by their latencies, and small here. Half way round a torus
SimGrid chooses by the position of the sender, so that the sizes are odd.
"""
import collections
import csv
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BYTES, RATE, NEAR, SKIP = 262144, 10e6, 0.05, 77

# Nodes, SimGrid's description, Xylem's.
LINK = "(links=%d latency=0.1us bandwidth=10MB/s)"
TOPOLOGIES = {
    "fat-tree": (48, 'topology="FAT_TREE" topo_parameters="3;4,4,3;1,4,2;1,1,1"',
                 "switch:3" + LINK % 8 + " switch:4" + LINK % 4 + " node:4" + LINK % 1 + " core:1"),
    "torus": (45, 'topology="TORUS" topo_parameters="5,3,3"', "torus:5x3x3(latency=0.1us bandwidth=10MB/s) core:1"),
}


def patterns(n):
    """Pairs of each pattern: neighbours, far shifts, permutations, one receiver, four, many pairs."""
    draw = random.Random("routes")
    mixed = list(range(n))
    draw.shuffle(mixed)
    stride = next(s for s in range(7, n) if math.gcd(s, n) == 1)
    found = {
        "shift-1": [(i, (i + 1) % n) for i in range(n)],
        "shift-third": [(i, (i + n // 3) % n) for i in range(n)],
        "reverse": [(i, n - 1 - i) for i in range(n)],
        "stride": [(i, i * stride % n) for i in range(n)],
        "random": [(i, mixed[i]) for i in range(n)],
        "to-one": [(i, 0) for i in range(n)],
        "to-four": [(i, i % 4 * 11) for i in range(n)],
        "pairs": draw.sample([(i, j) for i in range(n) for j in range(n)], 250),
    }
    return {name: [p for p in pairs if p[0] != p[1]] for name, pairs in found.items()}


def write_pattern(folder, pairs):
    path = os.path.join(folder, "pattern")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines("%d %d %d\n" % (a, b, BYTES) for a, b in pairs)
    return path


def simulate(program, folder, topology, pairs):
    """Messages and loads by SimGrid, as rows of the file."""
    nodes, described, _ = TOPOLOGIES[topology]
    platform = os.path.join(folder, "platform.xml")
    with open(platform, "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
                   '<cluster id="c" prefix="h" suffix="" radical="0-%d" speed="1Gf" bw="%.0fBps" lat="0s" %s '
                   'sharing_policy="SPLITDUPLEX"/></platform>' % (nodes - 1, RATE, described))
    done = subprocess.run([program, platform, write_pattern(folder, pairs), "--cfg=network/model:CM02",
                           "--cfg=network/TCP-gamma:0", "--cfg=network/crosstraffic:0",
                           "--cfg=network/bandwidth-factor:1", "--log=root.thres:critical"],
                          capture_output=True, text=True, timeout=120, check=True)
    loads = collections.Counter()
    for line in done.stdout.splitlines():
        word = line.split()
        if word[0] == "message":
            yield "message", int(word[1]), int(word[2]), "%.6g" % float(word[3])
        elif word[0] == "load":
            loads[round(float(word[2]))] += 1
    for load, links in sorted(loads.items()):
        yield "load", load, links, ""


def all_rows():
    """Runs SimGrid on all patterns; None without it."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "routes")
        if shutil.which("c++") is None or subprocess.run(
                ["c++", "-std=c++17", "-O1", "-o", program, os.path.join(HERE, "simgrid_routes.cpp"), "-lsimgrid"],
                capture_output=True, check=False).returncode != 0:
            return None
        return [[topology, name, *map(str, row)] for topology, (nodes, _, _) in TOPOLOGIES.items()
                for name, pairs in patterns(nodes).items() for row in sorted(simulate(program, folder, topology, pairs))]


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.reader(line for line in file if not line.startswith("#")))


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("# SimGrid 3.32, by tests/machine/simgrid.py: messages of %d bytes that start together, links of %.0f MB/s.\n"
                   "# topology, pattern, message, from, to, seconds; topology, pattern, load, bytes, links that carry them\n"
                   % (BYTES, RATE / 1e6))
        csv.writer(file, lineterminator="\n").writerows(rows)


def run(path, mpiexec, mpicc, source):
    """Runs every pattern in virtual time and compares message by message."""
    expected = {(t, p, int(a), int(b)): float(s) for t, p, kind, a, b, s in read(path) if kind == "message"}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        subprocess.run([mpicc, "-O1", source, "-o", program], check=True)
        for topology, (nodes, _, machine) in TOPOLOGIES.items():
            for name, pairs in patterns(nodes).items():
                done = subprocess.run([mpiexec, "--virtual", machine, "--compute", "none", "-n", str(nodes), program,
                                       write_pattern(folder, pairs)], capture_output=True, text=True, timeout=300, check=False)
                if done.returncode != 0:
                    sys.exit(done.stderr)
                times = {(int(w[1]), int(w[2])): float(w[3]) for w in map(str.split, done.stdout.splitlines())}
                errors = [abs(times[p] / expected[(topology, name, *p)] - 1) for p in pairs]
                is_right = len(times) == len(set(pairs)) and max(errors) <= NEAR
                failed += not is_right
                print("%-9s %-12s %3d messages, last after %8.4f s, SimGrid %8.4f s, largest difference %4.1f %%%s" % (
                    topology, name, len(pairs), max(times.values()),
                    max(expected[(topology, name, *p)] for p in pairs), 100 * max(errors), "" if is_right else "  WRONG"))
    return failed > 0


def main():
    if sys.argv[1] == "run":
        return run(*sys.argv[2:6])
    rows = all_rows()
    if rows is None:
        print("skipped: no SimGrid")
        return SKIP
    if sys.argv[1] == "golden":
        write(sys.argv[2], rows)
        return 0
    if rows != read(sys.argv[2]):
        print("SimGrid gives other values than", sys.argv[2])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
