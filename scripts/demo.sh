#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `make demo` shows, in under a minute: an MPI program with 64 ranks and with 1000, a mistake
# that is explained, the machine it all runs on, what a program did, why it took that long, and what
# would make it faster. Each scene prints the command it runs.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/install-packages.sh build
say_step "building (release)"
mkdir -p build
log=build/demo-build.log
# The build writes to the log; a terminal sees how far it is.
build() {
    cmake --preset release && cmake --build --preset release --target xylem mpiexec
}
show_steps() {
    awk -v log_file="$log" '{ print >log_file }
        match($0, /^\[[0-9]+\/[0-9]+\]/) { printf "\r  %s ", substr($0, 1, RLENGTH) >"/dev/stderr" }
        END { printf "\r\033[K" >"/dev/stderr" }'
}
if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then
    build 2>&1 | show_steps && built=yes || built=no
else
    build >"$log" 2>&1 && built=yes || built=no
fi
if [ "$built" = no ]; then
    tail -30 "$log"
    echo "demo: the build failed; the whole log is in $log" >&2
    exit 1
fi
PATH=$PWD/build/release/bin:$PATH
out=build/demo
mkdir -p "$out"

# scene TITLE COMMAND [COMMAND]...: say it, run each command line.
scene() {
    local command
    say_step "$1"
    shift
    for command do
        echo "\$ $command"
        bash -o pipefail -c "$command"
    done
    echo
}

# mistake TITLE COMMAND: one that must end with an error.
mistake() {
    say_step "$1"
    echo "\$ $2"
    if bash -c "$2" 2>&1; then
        echo "demo: this should have failed" >&2
        exit 1
    fi
    echo
}

cores=$(nproc)
scene "an MPI program, compiled with mpicc and run with 64 ranks on $cores cores" \
    "mpicc examples/hello.c -o $out/hello" \
    "mpiexec -n 64 $out/hello | tail -3"
scene "heat in a plate: a halo exchange; the checksum is the same for any number of ranks" \
    "mpicc -O2 examples/heat2d.c -o $out/heat2d" \
    "mpiexec -n 1 $out/heat2d 512 500" \
    "mpiexec -n 64 $out/heat2d 512 500" \
    "mpiexec -n 1000 $out/heat2d 512 500"
mpicc -g examples/deadlock.c -o "$out/deadlock"
mistake "a deadlock does not hang: it is reported" "mpiexec -n 4 $out/deadlock"
if command -v lmp >/dev/null; then
    cat >"$out/in.lj" <<'END'
units lj
lattice fcc 0.8442
region box block 0 12 0 12 0 12
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
thermo 50
run 100
END
    scene "an installed program, compiled for Open MPI, as it is: LAMMPS with 16 ranks" \
        "mpiexec -n 16 lmp -in $out/in.lj -log none | grep -A4 Step"
fi
scene "this machine" "xylem machine"
scene "a machine from a line of text: 2 packages of 4 cores in each of 2 nodes" \
    "xylem machine 'node:2 package:2 core:4' --svg $out/machine.svg" \
    "xylem machine 'node:2 package:2 core:4'"
scene "what a program did: a heat equation on eight cores of two nodes" \
    "xylem view examples/heat.xyt" \
    "xylem view examples/heat.xyt -o $out/heat.html"
mpicc -g tests/report/planted.c -o "$out/planted"
scene "why a run takes as long as it does: a program whose rank 2 has twice the work, in virtual time" \
    "mpiexec -n 4 --virtual core:4 --compute none --report=$out/run.xyp --trace $out/run.xyt $out/planted imbalance" \
    "xylem report $out/run.xyp -o $out/report.html" \
    "xylem view $out/run.xyt -o $out/view.html"
mpicc -g -O1 tests/report/gain.c -o "$out/gain"
scene "what would make a run faster, and by how much: predicted from a trace, and measured" \
    "mpiexec -n 4 --virtual core:4 --compute none --trace $out/gain.xyt $out/gain early" \
    "xylem advise $out/gain.xyt --verify --rounds 1 -- mpiexec -n 4 --virtual core:4 --compute none $out/gain early"
scene "collectives that progress while the program computes: 64 simulated cores, 32 to 63 of them with ranks" \
    "xylem bench nbc --simulate knl64 --ranks 32..63 --html $out/overlap-knl64.html"
echo "The curves are in $out/overlap-knl64.html."
echo "Open $out/report.html, $out/view.html, $out/heat.html and $out/machine.svg in a browser. Your own programs: mpicc and mpiexec"
echo "are in build/release/bin; docs/getting-started.md continues from here."
