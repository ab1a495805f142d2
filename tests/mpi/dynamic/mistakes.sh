#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What is said about jobs with spawned ranks that go wrong: PROGRAM MPIEXEC [OPTION]...
# shellcheck source=tests/mpi/expect.sh
. "$(dirname "$0")/../expect.sh"

expect 2 0 none
expect 2 3 exit '^mpiexec: rank [23] ended with exit code 3$'
expect 2 53 missing "MPI_Comm_spawn: the program 'no-such-program' does not exist .*MPI_ERR_SPAWN"
expect 2 9 abort '^mpiexec: MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD \(rank 3 of the job\) with errorcode 9'
expect 2 8 abort-parent '^mpiexec: MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD with errorcode 8'
expect 2 134 crash '^mpiexec: rank 3: aborted'
expect 2 1 deadlock "$deadlock" \
    'ranks 0-1: in MPI_Recv from rank 2 \(0 in an unnamed communicator\), tag 7' \
    'ranks 2-3: in MPI_Recv from rank 0.*, tag 7 on MPI_COMM_PARENT' \
    'cause: rank 0 waits for a message with tag 7 from rank 2, rank 2 waits for a message with tag 7 from rank 0'
expect 2 1 connect "$deadlock" 'rank 3: in MPI_Comm_connect' 'ranks? .*in MPI_Comm_disconnect'

# Lines are tagged, and spawned ranks counted, by their number in the job.
message=$("${launcher[@]}" -v -n 2 "$program" none 2>&1)
grep -q -E '^mpiexec: rank 3 is spawned: it runs .*, as rank 1 of 2(, on core [0-9]+ of .*)?$' <<<"$message" || {
    echo "-v does not name rank 3: $message"
    failures=$((failures + 1))
}

# What cannot be done is said in one line.
if ! grep -q -e '--virtual' <<<"${launcher[*]}"; then
    message=$("${launcher[@]}" --virtual "core:3" -n 2 "$program" none 2>&1)
    code=$?
    if [ $code -ne 53 ] || [ "$(wc -l <<<"$message")" -ne 1 ] ||
        ! grep -q '2 more ranks on synthetic, where 1 of 3 cores is free; give --oversubscribe' <<<"$message"; then
        echo "--virtual: $message"
        failures=$((failures + 1))
    fi
fi
message=$("${launcher[@]}" --share-globals -n 2 "$program" none 2>&1)
grep -q 'a job with --share-globals has the ranks that it was started with' <<<"$message" || {
    echo "--share-globals: $message"
    failures=$((failures + 1))
}
exit $((failures > 0))
