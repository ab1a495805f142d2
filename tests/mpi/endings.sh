#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# How jobs end: endings.sh PROGRAM [MPIEXEC -n N]. Without a launcher the program is rank 0 of 1.
program=$1
shift
failures=0

# expect CODE PATTERN ENDING...: the exit code, and a line of standard error (an empty pattern:
# standard error is empty).
expect() {
    local code=$1 pattern=$2 message status
    shift 2
    message=$("${launcher[@]}" "$program" "$@" 2>&1 >/dev/null)
    status=$?
    if [ "$status" -ne "$code" ]; then
        echo "$*: exit code $status, expected $code: $message"
        failures=$((failures + 1))
    elif [ -z "$pattern" ] && [ -n "$message" ]; then
        echo "$*: says: $message"
        failures=$((failures + 1))
    elif [ -n "$pattern" ] && ! grep -q -E "$pattern" <<<"$message"; then
        echo "$*: does not say '$pattern': $message"
        failures=$((failures + 1))
    fi
}

launcher=("$@")
last=0
said= # a launcher says that a rank ended badly
if [ $# -ge 3 ]; then
    last=$(($3 - 1))
    said='rank [0-9]+ ended with exit code 7'
fi

expect 0 '' good
expect 7 "$said" return
expect 37 "MPI_ABORT was invoked on rank $last in communicator MPI_COMM_WORLD with errorcode 37" abort 37
expect 1 'with errorcode 0' abort 0
expect 1 'with errorcode 256' abort 256
expect 5 'on rank 0 in communicator heartwood with errorcode 5' abort_named
expect 6 "rank $last: MPI_Send: .*does not exist in MPI_COMM_WORLD.*MPI_ERR_RANK; at " fatal
expect 105 'with errorcode 105' handler
expect 5 'MPI_Comm_remote_size: .*MPI_ERR_COMM' errors_abort
expect 16 'MPI_Init: MPI was already initialized' twice
expect 42 'rank [0-9]+: MPI_File_open: no/such/file: No such file or directory \(MPI_ERR_NO_SUCH_FILE' no_file
expect 1 'MPI_Comm_rank was called before MPI_Init' before
expect 1 'MPI_Comm_rank was called after MPI_Finalize' after
exit $((failures > 0))
