#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `make demo` shows, in under a minute: the machine it runs on, a machine that it does not, and
# what a program did. Each scene prints the command it runs.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

scripts/install-packages.sh build
say_step "building (release)"
mkdir -p build
log=build/demo-build.log
if ! { cmake --preset release && cmake --build --preset release; } >"$log" 2>&1; then
    tail -30 "$log"
    echo "demo: the build failed; the whole log is in $log" >&2
    exit 1
fi
PATH=$PWD/build/release/bin:$PATH
out=build/demo
mkdir -p "$out"

# scene TITLE COMMAND...: say it, run it.
scene() {
    say_step "$1"
    shift
    echo "\$ $*"
    "$@"
    echo
}

# Later scenes go here, the main job first.
scene "this machine" xylem machine
scene "a machine from a line of text: 2 packages of 4 cores in each of 2 nodes" \
    xylem machine "node:2 package:2 core:4"
scene "the same as a picture" \
    xylem machine "node:2 package:2 core:4" --svg "$out/machine.svg"
scene "what a program did: a heat equation on eight cores of two nodes" \
    xylem view examples/heat.xyt
scene "the same as a page" xylem view examples/heat.xyt -o "$out/heat.html"
echo "Open $out/heat.html and $out/machine.svg in a browser; docs/README.md lists the pages."
