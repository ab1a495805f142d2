# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2016 # of gdb
# gdb, valgrind and memory of a GPU, with programs that were compiled for another MPI; what is not installed is left
# out.
. "$XYLEM_SOURCE_DIR/tests/gpu/cuda_lib.sh"
headers=$XYLEM_BUILD_DIR/tests/abi
[ -f "$headers/openmpi/mpi.h" ] || skip "no translations in this build"

compile() { # ABI/LIBRARY SOURCE OPTION...
    local source=$2
    cc -g -I"$headers/${1%/*}" -I"$XYLEM_SOURCE_DIR/include" "$source" -o "$(basename "$source" .c)" "${@:3}" "$XYLEM_BUILD_DIR/lib/xylem/$1" \
        -Wl,--allow-shlib-undefined
}

# The stack of a rank in a callback of the program: its lines, and the function that it called.
stack() {
    out=$(timeout 240 gdb -q -nx -batch -ex 'set breakpoint pending on' -ex 'break add if rank == 2' -ex run \
        -ex 'p rank' -ex bt -ex continue --args "$bin/mpiexec" -n 3 --debug-ranks all ./modes op 2>&1) ||
        die "gdb failed: $out"
    says "$out" '$1 = 2'
    says "$out" "add (in="
    says "$out" "PMPI_Allreduce"
    says "$out" "main (argc=2"
    says "$out" "exited normally"
}

# valgrind finds the one mistake of each rank, and no other.
mistake() {
    expect 0 timeout 240 valgrind --suppressions="$XYLEM_SOURCE_DIR/tools/valgrind/xylem.supp" \
        "$bin/mpiexec" -n 2 ./modes heap
    says "$err" "Invalid write of size 4"
    says "$err" "main (modes.c:45)"
    says "$err" "ERROR SUMMARY: 2 errors from 2 contexts"
}

has() { # TOOL ABI: this tool is tried with programs for this ABI.
    command -v "$1" >/dev/null && { [ -n "${XYLEM_SOAK:-}" ] || [ "$1:${2%/*}" = gdb:openmpi ] || [ "$1:${2%/*}" = valgrind:mpich ]; }
}

for abi in openmpi/libmpi.so.40 mpich/libmpich.so.12; do
    compile $abi "$XYLEM_SOURCE_DIR/tests/abi/modes.c"
    if has gdb $abi && gdb -q -batch -ex run true 2>&1 | grep -q "exited normally"; then
        stack
    fi
    if has valgrind $abi; then
        mistake
    fi
    # Memory of the device in MPI calls: the host cannot touch it.
    compile $abi "$XYLEM_SOURCE_DIR/tests/gpu/device_pointers.c" -ldl
    for what in "messages: 24" "collectives: " "windows: "; do
        run 0 -n 4 --workers 2 ./device_pointers "${what%%:*}"
        says "$out" "$what"
        says "$out" "results are right"
        quiet
        [ -n "${XYLEM_SOAK:-}" ] || break
    done
done
