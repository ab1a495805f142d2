# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by the tests of the launcher, in an empty directory: . "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

bin=$XYLEM_BUILD_DIR/bin
sources=$XYLEM_SOURCE_DIR/tests/launch
[ -x "$bin/mpiexec" ] || skip "no mpiexec in this build"
unset OMP_NUM_THREADS MPIEXEC_TIMEOUT XYLEM_PLACE

# build NAME [ARGUMENT...]: compile NAME.c or NAME.cc of this directory to ./NAME.
build() {
    local name=$1
    shift
    if [ -f "$sources/$name.cc" ]; then
        "$bin/mpicxx" -g -O1 "$sources/$name.cc" -o "$name" "$@"
    else
        "$bin/mpicc" -g -O1 -std=gnu11 "$sources/$name.c" -o "$name" "$@"
    fi
}

# run CODE ARGUMENT...: run mpiexec and check its exit code; $out and $err as expect.
run() {
    local code=$1
    shift
    expect "$code" timeout 240 "$bin/mpiexec" "$@"
}

# quiet: nothing was said on standard error.
quiet() {
    [ -z "$err" ] || die "unexpected on standard error: $err"
}

# same TEXT TEXT: equal, up to the order of lines.
same() {
    diff <(sort <<<"$1") <(sort <<<"$2") || die "output differs"
}
