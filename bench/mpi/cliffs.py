#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sizes at which a collective becomes suddenly slower, or a larger one is faster.

  bench/mpi/cliffs.py PREFIX [--quick] [--ranks 2,16,64] [--only NAME,NAME]

Every blocking collective, 1 byte to 16 MiB in steps of two, 2 to 64 ranks (buffers of all ranks: 1 GiB at
most). Listed is every jump of more than 3 times between neighbouring sizes (`jump`), and every size that
takes more than 20 % longer than the next larger one (`dip`). What looks like one is measured again, three
times on its own, and listed only if it is one each time: noise is not. Where the buffers outgrow a cache a
plain copy jumps as well: a jump must be 1.5 times that of copies of the same buffers. The last line counts them.
"""
import argparse
import os
import subprocess
import sys
import tempfile

JUMP, DIP, AGAIN, BEYOND_COPY = 3.0, 1.2, 3, 1.5


def measure(prefix, program, ranks, *arguments):
    """{collective: [(bytes, seconds, bytes of buffers), ...]} of one job."""
    command = [os.path.join(prefix, "bin", "mpiexec"), "-n", str(ranks), program, *map(str, arguments)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")
    found = {}
    for line in filter(None, lines):
        name, size, seconds, buffers = line.split()
        found.setdefault(name, []).append((int(size), float(seconds), int(buffers)))
    return found


def copy_jump(copies, buffers):
    """How much longer copies take where their buffers grow to about this size, for one step at most."""
    around = [b[1] / a[1] for a, b in zip(copies, copies[1:]) if buffers / 4 <= b[2] <= buffers * 2]
    return max(around, default=1.0)


def kind(small, large, copied=1.0):
    """What the times of two neighbouring sizes are: a jump, a dip, or None."""
    if large > max(JUMP, BEYOND_COPY * copied) * small:
        return "jump"
    return "dip" if small > DIP * large else None


def is_still(prefix, program, ranks, name, sizes, what, copied, repetitions):
    """The last times of the pair, if each measurement of it alone says the same; else None."""
    times = None
    for _ in range(AGAIN):
        found = measure(prefix, program, ranks, repetitions, name, sizes[0], sizes[1])[name]
        times = [seconds for _, seconds, _ in found]
        if len(times) != 2 or kind(*times, copied) != what:
            return None
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ranks")
    parser.add_argument("--only")
    options = parser.parse_args()
    ranks = [int(n) for n in options.ranks.split(",")] if options.ranks else \
        [2, 16] if options.quick else [2, 4, 8, 16, 32, 64]
    repetitions = 3 if options.quick else 9
    limits = (1, 65536) if options.quick else (1, 16 << 20)
    count = points = 0
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "cliffs")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cliffs.c")
        subprocess.run([os.path.join(options.prefix, "bin", "mpicc"), "-O2", "-o", program, source], check=True)
        print(f"{'':4} {'ranks':>5} {'collective':<20} {'bytes':>9} {'us':>10} {'bytes':>9} {'us':>10} {'ratio':>6}")
        for n in ranks:
            found = {}
            names = ["copy"] + options.only.split(",") if options.only else ["all"]
            for name in names:
                found.update(measure(options.prefix, program, n, repetitions, name, *limits))
            copies = found.pop("copy")
            for name, times in found.items():
                points += len(times)
                for (small, a, _), (large, b, buffers) in zip(times, times[1:]):
                    copied = copy_jump(copies, buffers)
                    what = kind(a, b, copied)
                    if what is None:
                        continue
                    again = is_still(options.prefix, program, n, name, (small, large), what, copied, repetitions)
                    if again is not None:
                        a, b = again
                        count += 1
                        print(f"{what:4} {n:5} {name:<20} {small:9} {a * 1e6:10.2f} {large:9} {b * 1e6:10.2f}"
                              f" {b / a:6.2f}", flush=True)
    print(f"cliffs, {points} points  {count}  found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
