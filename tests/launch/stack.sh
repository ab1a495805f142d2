# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# How large stacks are, and who is named when one is too small.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
ulimit -c 0
[ "$(ulimit -H -s)" = unlimited ] || skip "the size of stacks is limited here (ulimit -H -s)"
unset XYLEM_STACK_SIZE

# overflows PLACE SIZE ARGUMENT...: rank 3 of 4 is named, with the size of its stack.
overflows() {
    local place=$1 size=$2
    shift 2
    run 139 -n 4 --workers 1 "$@"
    says "$err" "mpiexec: rank 3: stack overflow in $place; its stack has $size"
    says "$err" "--stack-size"
    [ "$(grep -c mpiexec: <<<"$err")" = 1 ] || die "one message is enough: $err"
}
fits() {
    run 0 -n 4 --workers 1 "$@"
    quiet
    [ "$out" = "used 1" ] || die "$out"
}

build stack
ulimit -S -s 8192
fits ./stack many 6
overflows "program code" "8 MiB" ./stack many 12
# Every page of a large frame is touched, and so the guard: not another rank's stack.
overflows "program code" "8 MiB" ./stack one 12
# Code of another compiler jumps over the guard, and is found at the next switch.
build stack -fno-stack-clash-protection
overflows MPI_Recv "8 MiB" ./stack one 15

# The shell's limit is the size; the option is stronger.
build stack
ulimit -S -s 65536
fits ./stack many 50
fits ./stack one 50
overflows "program code" "64 MiB" ./stack many 70
overflows "program code" "2 MiB" --stack-size 2M ./stack many 12
ulimit -S -s unlimited
fits ./stack many 600
fits --stack-size 2G ./stack many 1500
