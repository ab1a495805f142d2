#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does every rank run where it was put?

    bound.py core|pu MACHINE.json PLACED.json CORES rank.N...

rank.N has a line `HOST CPUS` of rank N, CPUS as in /proc/self/status. PLACED.json is what
`xylem place --json` printed: for the machine in MACHINE.json where CORES is 0, and otherwise for
hosts node0, node1 and so on of CORES cores each, which are all that machine. `core`: the launcher
binds to all processors of a core that it counts in logical order; `pu`: to one, by its number.
"""
import json
import sys


def cpus(text):
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def processors_of_cores(path):
    """The physical numbers of the processors of each core, in logical order."""
    with open(path, encoding="utf-8") as file:
        objects = json.load(file)["objects"]
    cores = {o["id"]: [] for o in objects if o["type"] == "core"}
    for processor in (o for o in objects if o["type"] == "pu"):
        cores[processor["parent"]].append(processor["physical"])
    return list(cores.values())


def main():
    how, machine, placed, cores = sys.argv[1:5]
    cores = int(cores)
    processors = processors_of_cores(machine)
    leaves = [(core, one) for core, ones in enumerate(processors) for one in ones]
    with open(placed, encoding="utf-8") as file:
        core_of = json.load(file)["core_of"]
    wanted = {}
    for rank, leaf in enumerate(core_of):
        if cores:
            host, core, one = f"node{leaf // cores}", leaf % cores, leaf % cores
        else:
            host, core, one = None, *leaves[leaf]
        wanted[rank] = (host, set(processors[core]) if how == "core" else {one})
    said = {}
    for path in sys.argv[5:]:
        with open(path, encoding="utf-8") as file:
            host, text = file.read().split()
        said[int(path.rpartition(".")[2])] = (host if cores else None, cpus(text))
    if said != wanted:
        print(f"said {said}, wanted {wanted}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
