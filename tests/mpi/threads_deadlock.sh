#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# When threads of ranks wait: a deadlock is all of them, and has a line for the threads, too.
# threads_deadlock.sh MPIEXEC PROGRAM
# shellcheck disable=SC2086
set -u
mpiexec="timeout 240 $1" program=$2
failed=0

fail() { echo "$*"; failed=1; }

for options in "-n 2" "-n 3 --workers 1" "-n 1" "-n 3 --virtual core:3"; do
    case $options in *virtual*) thread="thread 1" ;; *) thread="a thread" ;; esac
    said=$($mpiexec $options "$program" all 2>&1)
    [ $? -eq 1 ] || fail "$options: a deadlock ends with another code than 1"
    case $said in *"deadlock: no rank can make progress"*) ;; *) fail "$options: $said" ;; esac
    case $said in *": in MPI_Recv from any rank, tag 8 on MPI_COMM_WORLD"*) ;; *) fail "$options: no rank: $said" ;; esac
    case $said in *": $thread in MPI_Recv from any rank, tag 7 on MPI_COMM_WORLD"*) ;; *) fail "$options: no thread: $said" ;; esac
    for what in join idle; do
            said=$($mpiexec $options "$program" $what 2>&1)
        [ $? -eq 1 ] || fail "$options $what: a deadlock ends with another code than 1"
        case $said in *"deadlock: no rank can make progress"*"in MPI_Recv from any rank, tag "*) ;; *) fail "$options $what: $said" ;; esac
    done
    $mpiexec $options "$program" late || fail "$options: a thread that is late is no deadlock"
done
exit $failed
