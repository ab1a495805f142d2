#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fox's matrix product against what was measured on Grid'5000 (Achour's thesis, Table 22).

    fox.py XYLEM SOURCE

The machine has the clusters of those runs; what its cores and links did is known from other tables of
the thesis only, and latencies between its sites from elsewhere. So each time must be right within a
factor of three, and the growth from the smallest to the largest matrix within 30 %.
"""
import csv
import json
import pathlib
import subprocess
import sys

FACTOR, GROWTH = 3, 0.30


def predict(xylem, source, procs, n):
    cost = source / "tests/data/cost"
    command = [xylem, "predict", str(source / "examples/fox.c"), "-n", str(procs), "-m", "grid5000-fox",
               "--hosts", str(cost / f"fox-{procs}.hosts"), "--costs", str(cost / "grid5000-fox.xml"),
               "--arg", str(n), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=True)
    return json.loads(done.stdout)["time"]


def main():
    xylem, source = sys.argv[1], pathlib.Path(sys.argv[2])
    with open(source / "tests/data/cost/bmr-measured.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    failed, times = 0, {}
    for procs, n, measured in [(procs, int(row["n"]), float(row[column])) for row in rows
                               for procs, column in ((9, "m1"), (15, "m2"), (27, "m3"))]:
        seconds = predict(xylem, source, procs, n)
        times[procs, n] = seconds, measured
        is_right = 1 / FACTOR <= seconds / measured <= FACTOR
        failed += not is_right
        print(f"{procs:3} {n:6}  predicted {seconds:8.2f} s  measured {measured:8.2f} s  "
              f"{seconds / measured:5.2f}{'' if is_right else '  WRONG'}")
    for procs in sorted({p for p, _ in times}):
        sizes = sorted(n for p, n in times if p == procs)
        growth = [times[procs, sizes[-1]][i] / times[procs, sizes[0]][i] for i in range(2)]
        is_right = abs(growth[0] / growth[1] - 1) <= GROWTH
        failed += not is_right
        print(f"{procs:3}: grows {growth[0]:.1f} times, measured {growth[1]:.1f}{'' if is_right else '  WRONG'}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
