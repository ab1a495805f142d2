# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The installed Open MPI and MPICH as transports: what every transport promises, and whole jobs.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build several
sources=$XYLEM_SOURCE_DIR/tests/debug
sanitized=0
if build sanitized -O0 -fsanitize=address,undefined 2>/dev/null; then sanitized=1; fi
conformance=$XYLEM_BUILD_DIR/src/net/test_net_transport
[ -x "$conformance" ] || skip "no $conformance in this build"
tried=0
# conforms TRANSPORT CASE PROCESSES
conforms() {
    XYLEM_TEST_NET=$1 XYLEM_TEST_DIR=$(mktemp -d -p .) XYLEM_TEST_CASE=$2 expect 0 timeout 240 \
        $launcher "${options[@]}" -n "$3" "$conformance"
}
for launcher in mpirun.openmpi mpiexec.hydra; do
    command -v $launcher >/dev/null || continue
    tried=1
    options=()
    if [ $launcher = mpirun.openmpi ]; then
        options=(--allow-run-as-root --oversubscribe --bind-to none)
        for name in NET DIR CASE HIDES; do options+=(-x "XYLEM_TEST_$name"); done
    fi
    for case in sizes_and_order flood large_buffers the_same_number_again threads_send threads_poll \
        sleep_ends_early leave_at_once; do
        for processes in 2 3; do
            [ $case = the_same_number_again ] && [ $processes = 3 ] && continue
            conforms mpi-only $case $processes
        done
    done
    # Some through shared memory, some through the library: as on several hosts with several processes.
    for case in sizes_and_order large_buffers sleep_ends_early leave_at_once; do
        XYLEM_TEST_HIDES=1 conforms mpi $case 3
    done
    run 0 -n 5 --processes 2 --net mpi-only --launcher $launcher ./several </dev/null
    says "$out" "rank 4 of 5"
    run 0 -n 5 --processes 2 --net mpi-only --launcher $launcher "$XYLEM_BUILD_DIR/tests/mpi/mpi_rma_table" </dev/null
    says "$out" "table: "
    run 7 -n 4 --processes 2 --net mpi-only --launcher $launcher ./several abort 3
    says "$err" "MPI_ABORT was invoked on rank 3"
    # A stopped mpiexec sees what process 1 has said when the launcher has ended process 0, too.
    rm -f pid
    "$bin/mpiexec" -n 4 --processes 2 --net mpi-only --launcher $launcher ./several late_abort 3 >/dev/null 2>late &
    until [ -s pid ]; do sleep 0.01; done
    aborting=$(<pid)
    kill -STOP $!
    rm pid
    while kill -0 "$aborting" 2>/dev/null; do sleep 0.01; done
    sleep 0.1
    kill -CONT $!
    code=0
    wait $! || code=$?
    [ $code = 7 ] || die "$launcher: late abort ended with $code: $(<late)"
    run 1 -n 4 --processes 2 --net mpi --launcher $launcher ./several kill 3
    says "$err" "has ended or was killed"
    says "$err" "process 1 on $(hostname) (ranks 2-3)"
    # On one machine nothing is left to the library.
    run 0 -n 5 -v --processes 2 --net mpi --launcher $launcher ./several messages </dev/null
    says "$err" "messages go over mpi (shared memory to 1 of this machine), up to 16384 bytes at once"
    [ $sanitized = 1 ] || continue
    # Looking for leaks takes half a minute on some machines.
    ASAN_OPTIONS=detect_leaks=0 run 0 -n 3 --processes 2 --net mpi-only --launcher $launcher ./sanitized </dev/null
    [ "$(wc -l <<<"$out")" = 3 ] || die "sanitized: $out"
    ASAN_OPTIONS=detect_leaks=0 run 1 -n 3 --processes 2 --net mpi-only --launcher $launcher ./sanitized heap </dev/null
    says "$err" "ERROR: AddressSanitizer: heap-buffer-overflow"
    says "$err" "mpiexec: rank 1: the sanitizer has found an error, and ends the job"
done
[ $tried = 1 ] || skip "no other MPI is installed"
