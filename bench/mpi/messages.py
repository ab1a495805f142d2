#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far models of messages are off at sizes that were not measured, under Xylem and its peers.

  bench/mpi/messages.py PREFIX [--quick] [--peers openmpi,mpich]

For each library `xylem calibrate --messages` makes the model of two processes of this machine; then
sizes that it has not seen are measured, and compared to what `xylem explain message` says.
"""
import argparse
import json
import os
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


def calibrate(xylem, path, seconds, words, environment):
    subprocess.run([xylem, "calibrate", "--quiet", "--messages", "--seconds", f"{seconds}s", "-o", path]
                   + words, check=True, env=environment)


def blocking_times(path):
    import xml.etree.ElementTree as tree
    for message in tree.parse(path).getroot().iter("Message"):
        if message.get("Cluster1") == "local":
            return {float(s.get("Size")): float(s.get("Blocking")) for s in message.iter("Sample")}
    return {}


def predict(xylem, path, size):
    out = subprocess.run([xylem, "explain", "message", str(size), "local", "local", "--costs", path,
                          "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(out)["blocking"]["linear"]


def compare(xylem, name, words, environment, seconds, sizes, folder):
    model, truth = (os.path.join(folder, f"{name}-{what}.xml") for what in ("model", "truth"))
    calibrate(xylem, model, seconds, words, environment)
    calibrate(xylem, truth, seconds, words + ["--sizes", ",".join(map(str, sizes))], environment)
    errors = {size: abs(predict(xylem, model, int(size)) / t - 1)
              for size, t in blocking_times(truth).items()}
    worst = max(errors, key=errors.get)
    print(f"{name}: mean error at {len(errors)} other sizes  {100 * sum(errors.values()) / len(errors):.2f} %")
    print(f"{name}: worst, at {worst:.0f} bytes  {100 * errors[worst]:.2f} %", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peers", default="openmpi,mpich")
    options = parser.parse_args()
    xylem = os.path.join(os.path.abspath(options.prefix), "bin/xylem")
    seconds, count = (2, 8) if options.quick else (12, 40)
    sizes = other_sizes(count, 4 << 20)
    with tempfile.TemporaryDirectory() as folder:
        compare(xylem, "xylem", [], os.environ, seconds, sizes, folder)
        for name in filter(None, options.peers.split(",")):
            launcher, compiler, extra, environment = PEERS[name]
            if not shutil.which(launcher) or not shutil.which(compiler):
                print(f"# {name} is not installed: left out")
                continue
            words = ["--launcher", launcher, "--compiler", compiler]
            words += [f"--extra={word}" for word in extra]
            compare(xylem, name, words, dict(os.environ, **environment), seconds, sizes, folder)


if __name__ == "__main__":
    main()
