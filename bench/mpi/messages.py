#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far models of messages are off at sizes that were not measured, under Xylem and its peers.

  bench/mpi/messages.py PREFIX [--quick] [--peers openmpi,mpich] [--sizes]

For each library `xylem calibrate --messages --hold-out SIZES` makes the model of two processes of this
machine, and measures sizes that it does not see in the same passes, twice. What the model says is compared
to the first time; how far the second time is from the first is what no model can do better. --sizes prints
every size.
"""
import argparse
import os
import re
import shutil
import subprocess
import tempfile

PEERS = {
    "openmpi": ("mpirun.openmpi", "mpicc.openmpi",
                ["--mca", "btl_vader_single_copy_mechanism", "none"], {}),
    "mpich": ("mpiexec.mpich", "mpicc.mpich", [], {"UCX_TLS": "posix,sysv,self"}),
}


def other_sizes(count, largest):
    """Spread over the range by the golden ratio; no power of two, and nothing in the middle of two."""
    sizes = []
    for i in range(count):
        size = round(largest ** ((i + 0.618034 * i % 1) / count))
        while size & (size - 1) == 0 or size % 3 == 0:
            size += 1
        sizes.append(size)
    return sorted(set(sizes))


def calibrate(xylem, path, seconds, words, environment, sizes):
    """A triple for each size: first time, second time, model."""
    said = subprocess.run([xylem, "calibrate", "--fresh", "--messages", "--seconds", f"{seconds}s", "-o", path,
                           "--hold-out", ",".join(map(str, sizes))] + words,
                          check=True, env=environment, capture_output=True, text=True).stdout
    # Two ranks on two PUs come first; two on one PU would be the next.
    said = said[:said.index("message ")]
    found = re.findall(r"held out (\d+) bytes: (\S+) s, again (\S+) s, model (\S+) s", said)
    return {int(size): tuple(map(float, times)) for size, *times in found}


def report(name, what, errors):
    worst = max(errors, key=errors.get)
    print(f"{name}: {what}, mean  {100 * sum(errors.values()) / len(errors):.2f} %")
    print(f"{name}: {what}, worst, at {worst:.0f} bytes  {100 * errors[worst]:.2f} %", flush=True)


def compare(xylem, name, words, environment, seconds, sizes, folder, is_long):
    found = calibrate(xylem, os.path.join(folder, f"{name}.xml"), seconds, words, environment, sizes)
    if is_long:
        for size, (first, second, model) in found.items():
            print(f"# {size} bytes: {1e6 * first:.3f} us, again {100 * (second / first - 1):+.1f} %,"
                  f" model {100 * (model / first - 1):+.1f} %")
    report(name, f"model at {len(found)} other sizes",
           {size: abs(model / first - 1) for size, (first, second, model) in found.items()})
    report(name, "measured again",
           {size: abs(second / first - 1) for size, (first, second, model) in found.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peers", default="openmpi,mpich")
    parser.add_argument("--sizes", action="store_true")
    options = parser.parse_args()
    xylem = os.path.join(os.path.abspath(options.prefix), "bin/xylem")
    seconds, count = (2, 8) if options.quick else (20, 40)
    sizes = other_sizes(count, 4 << 20)
    with tempfile.TemporaryDirectory() as folder:
        compare(xylem, "xylem", [], os.environ, seconds, sizes, folder, options.sizes)
        for name in filter(None, options.peers.split(",")):
            launcher, compiler, extra, environment = PEERS[name]
            if not shutil.which(launcher) or not shutil.which(compiler):
                print(f"# {name} is not installed: left out")
                continue
            words = ["--launcher", launcher, "--compiler", compiler]
            words += [f"--extra={word}" for word in extra]
            compare(xylem, name, words, dict(os.environ, **environment), seconds, sizes, folder,
                    options.sizes)


if __name__ == "__main__":
    main()
