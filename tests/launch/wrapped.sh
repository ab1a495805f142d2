# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2016
# Programs behind a wrapper, one process per rank, that several processes of mpiexec start: they make one
# job, whose ends, input and numbers are as on one machine.
. "$XYLEM_SOURCE_DIR/tests/launch/several_lib.sh"

build joined
on="--processes 2"
# shellcheck disable=SC2086 # several words
{
    run 0 -n 3 $on --net tcp env ./joined : -n 1 bash -c './joined; true'
    says "$out" "4 ranks, sum 6"
    quiet
    run 0 -n 3 $on sh -c './joined && ./joined'
    [ "$(grep -c "3 ranks, sum 3" <<<"$out")" = 2 ] || die "two jobs: $out"
    run 0 -n 3 $on -l sh -c 'echo $PMI_RANK of $PMI_SIZE, $MPI_LOCALRANKID of $MPI_LOCALNRANKS; cat' <<<"some input"
    same "$out" $'[0] 0 of 3, 0 of 3\n[1] 1 of 3, 1 of 3\n[2] 2 of 3, 2 of 3\n[0] some input'
    # What one of them does ends all, and the first failure, in the order of ranks, is the job's.
    ends 134 "rank 1 was ended by signal 6 (Aborted)" -n 4 $on env ./joined crash
    run 7 -n 4 $on env ./joined abort
    says "$err" "MPI_ABORT was invoked on rank 1"
    run 7 -n 4 $on sh -c './joined abort; true'
    says "$err" "rank 1 ended with exit code 7"
    ends 1 "rank 1 has ended without MPI_Finalize" -n 4 $on env ./joined exit
    ends 1 "rank 3 has ended with exit code 0 without calling MPI_Init, where" -n 4 $on \
        sh -c '[ $PMI_RANK = 3 ] || exec ./joined'
    ends 1 "calls MPI_Init in two processes at once" -n 2 $on sh -c './joined & ./joined; wait'
    ends 3 "rank 1 ended with exit code 3" -n 3 $on sh -c '[ $PMI_RANK = 0 ] || exit $((4 - PMI_RANK))'
    # The collector is killed: ranks that it has not started itself end, too.
    run 137 -n 2 sh -c 'STARTER=$PPID ./joined orphans; true'
    for _ in {1..300}; do
        left=$(grep -lz "^XYLEM_TEST_MARK=$XYLEM_TEST_MARK\$" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 |
            while read -r pid; do [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = joined ] && echo "$pid"; done || true)
        [ -n "$left" ] || break
        sleep 0.1
    done
    [ -z "$left" ] || die "still running: $left"
    # A time limit says who runs, and ends what they have started.
    for seconds in 1 5 30; do
        run 124 -n 3 $on --timeout $seconds sh -c '[ $PMI_RANK = 1 ] || { sleep 300 & sleep 300; }'
        gone
        [[ $err != *"rank 1: ended"* ]] || break
    done
    says "$err" "the time limit of $seconds s has passed"
    says "$err" "ranks 0,2: running"
    says "$err" "rank 1: ended"
}
