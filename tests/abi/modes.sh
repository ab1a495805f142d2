# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What mpiexec offers for programs of its own works for programs that were compiled for another MPI: traces, the
# monitor, --check, processes, communication cores, virtual time, and tools that were compiled for the same MPI.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
headers=$XYLEM_BUILD_DIR/tests/abi
[ -f "$headers/openmpi/mpi.h" ] || skip "no translations in this build"
three=$'sum 3\nsum 3\nsum 3'

all_modes() { # ABI LIBRARY
    local library=$XYLEM_BUILD_DIR/lib/xylem/$1/$2
    cc -g -I"$headers/$1" "$XYLEM_SOURCE_DIR/tests/abi/modes.c" "$library" -Wl,--allow-shlib-undefined -o modes
    cc -shared -fPIC -I"$headers/$1" "$XYLEM_SOURCE_DIR/tests/abi/modes_tool.c" "$library" -Wl,--allow-shlib-undefined -o libtool.so
    for options in "--processes 3" "--comm-cores 1" "--virtual fattree1024" "--trace run.xyt" "--monitor talk"; do
        # shellcheck disable=SC2086 # words
        run 0 -n 3 $options ./modes
        same "$out" "$three"
    done
    [ -s run.xyt ] || die "no trace"
    grep -q MPI_Sendrecv run.xyt || die "the trace has no MPI_Sendrecv"
    [ "$(grep -vc '^#' talk/all.csv)" -ge 3 ] || die "the monitor has no messages"
    rm -rf run.xyt talk
    run 120 --check -n 3 ./modes left
    says "$err" "modes.c:40"
    run 0 -n 3 -x LD_PRELOAD="$PWD/libtool.so" ./modes
    same "$out" "$three"$'\ntool: 1 messages, 1 sums\ntool: 1 messages, 1 sums\ntool: 1 messages, 1 sums'
    # In front of mpiexec the system loads the tool, too, and needs the library that it was linked with.
    if ldconfig -p | grep -qF " $2 "; then
        expect 0 env LD_PRELOAD="$PWD/libtool.so" timeout 240 "$bin/mpiexec" -n 3 ./modes
        same "$out" "$three"$'\ntool: 1 messages, 1 sums\ntool: 1 messages, 1 sums\ntool: 1 messages, 1 sums'
    fi
}
all_modes openmpi libmpi.so.40
all_modes mpich libmpich.so.12
