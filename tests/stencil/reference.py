#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare studies (*.csv here) with the reference curves of the directory that is named.

    tests/stencil/reference.py DIRECTORY
"""
import csv
import re
import sys
from pathlib import Path

MIB = 3  # of a block
# (policy, GPUs, MB): larger differences, explained in docs/measurements.md.
FAR_FROM_STARPU = {("prio", 2, 498), ("dmdar", 2, 498)}
OUT_OF_ORDER = {("dmdar", 1, 198)}
problems = []


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def ours(names, value="tasks_end"):
    """{(policy, gpus, MB, load): time / bound}"""
    found = {}
    for name in names:
        for row in rows(name):
            blocks = int(row["blocks"].split("x")[0])
            key = (row["policy"], int(row["gpus"]), blocks * MIB, row["load"])
            found[key] = float(row[value]) / float(row["compute_bound"])
    return found


def check_order(reference, gpus, times):
    """Of two policies that differ by more than a tenth, the faster one is not slower here."""
    for row in rows(reference):
        size = int(row.pop("mb"))
        there = {policy: float(value) for policy, value in row.items()
                 if (policy, gpus, size, "even") in times}
        for fast in there:
            for slow in there:
                if there[slow] <= 1.1 * there[fast] or {(fast, gpus, size),
                                                        (slow, gpus, size)} & OUT_OF_ORDER:
                    continue
                a, b = times[fast, gpus, size, "even"], times[slow, gpus, size, "even"]
                if a > 1.02 * b:
                    problems.append(f"{gpus} GPUs, {size} MB: {fast} takes {a:.3f} and {slow} "
                                    f"{b:.3f}; in 2016 {there[fast]} and {there[slow]} ms/MB")


def check_starpu(reference, whole, short):
    for row in rows(reference):
        policy = row.pop("policy")
        for column, text in row.items():
            gpus, size = map(int, re.fullmatch(r"(\d)gpu_(\d+)mb", column).groups())
            times = short if "T=20" in text else whole
            mine = times.get((policy, gpus, size, "even"))
            if not text or mine is None or (policy, gpus, size) in FAR_FROM_STARPU:
                continue
            theirs = float(text.split("(")[0])
            if abs(mine / theirs - 1) > 0.25:
                problems.append(f"{policy}, {gpus} GPUs, {size} MB: {mine:.3f} against {theirs}")


def check_imbalance(reference, times):
    for row in rows(reference):
        size = int(row["mb"])
        for load in ("static", "dynamic"):
            co, dmdar = (times.get((policy, 2, size, load))
                         for policy in ("cache-oblivious", "dmdar"))
            if co is not None and (float(row["co_" + load]) < float(row["dmdar_" + load])) != (
                    co < dmdar):
                problems.append(f"{load} load, {size} MB: another order than in 2016")
            own = times.get(("foresight", 2, size, load))
            if own is not None and own > 1.05:
                problems.append(f"{load} load, {size} MB: Xylem's own takes {own:.3f}")


def main():
    data = Path(sys.argv[1])
    whole = ours(["queues.csv", "trapezoids.csv"])
    assert len(whole) == 36, len(whole)
    check_order(data / "stencil-2016-1gpu.csv", 1, whole)
    check_order(data / "stencil-2016-2gpu.csv", 2, whole)
    check_starpu(data / "stencil-starpu.csv", whole, ours(["short.csv"]))
    check_imbalance(data / "stencil-2016-imbalance.csv",
                    ours(["uneven1.csv", "uneven2.csv"], "makespan"))
    for (_, gpus, size, load), ratio in ours(["uneven3.csv"], "makespan").items():
        if ratio > 1.05:
            problems.append(f"{load} load, {gpus} GPUs, {size} MB: Xylem's own takes {ratio:.3f}")
    for (policy, gpus, size, _), ratio in ours(["own.csv"], "makespan").items():
        if ratio > (1.05 if gpus == 1 else 1.10):
            problems.append(f"{policy}, {gpus} GPUs, {size} MB: {ratio:.3f} times the bound")
    sys.exit("\n".join(problems) or 0)


main()
