# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Exit codes, and messages that name the rank, the code or signal, and the call.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
ulimit -c 0

build ends -pthread
# ends CODE HOW MESSAGE: standard error must have the message.
ends() {
    run "$1" -n 3 ./ends "$2"
    says "$err" "$3"
}
run 0 -n 3 ./ends return0
quiet
same "$out" $'0 atexit\n1 atexit\n2 atexit'
ends 7 return7 "ended with exit code 7"
ends 6 late "rank 2 ended with exit code 6"
ends 9 exit9 "rank 2 ended with exit code 9 without calling MPI_Finalize"
[ "$out" = "2 atexit" ] || die "atexit functions of the rank that ends: $out"
ends 8 _exit "rank 2 ended with exit code 8"
[ -z "$out" ] || die "_exit runs no functions: $out"
ends 10 quick "rank 2 ended with exit code 10"
[ "$out" = "2 quick" ] || die "$out"
ends 1 nofinalize "without calling MPI_Finalize"
ends 5 early "rank 1 ended with exit code 5 before MPI_Init"
ends 134 abort "rank 2: aborted (SIGABRT) in program code"
ends 134 assert "Assertion \`rank < 0' failed"
ends 139 segv "rank 2: segmentation fault (address 0x8) in program code, at ends.c:"
ends 136 fpe "rank 2: arithmetic error (SIGFPE)"
ends 139 overflow "rank 2: stack overflow"
ends 139 inside "rank 2: segmentation fault"
says "$err" "in MPI_Recv"
ends 37 abort37 "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD with errorcode 37"
ends 1 abort0 "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD with errorcode 0"
ends 21 thread "rank 2 ended with exit code 21"
ends 1 deadlock "deadlock: no rank can make progress"
says "$err" "MPI_Recv"

# The other signals that end a process: with the rank they belong to.
ends 142 alarm "rank 2: ended by SIGALRM (Alarm clock)"
ends 141 pipe "rank 2: ended by SIGPIPE (Broken pipe)"
ends 152 xcpu "rank 2: ended by SIGXCPU (CPU time limit exceeded)"
ends 165 realtime "rank 2: ended by SIGRTMIN+3"
ends 154 default "rank 2: ended by SIGVTALRM"

# A time limit, from the option and from the environment.
run 124 -n 3 --timeout 0.2 ./ends sleep
says "$err" "time limit of 0.2 s"
MPIEXEC_TIMEOUT=1 run 124 -n 3 ./ends sleep
# Ranks that run while they are reported.
for _ in {1..12}; do
    run 124 -n 4 --timeout 0.2 ./ends poll
    says "$err" "time limit of 0.2 s"
    [[ $err == *"MPI_"* || $err == *"in its own code"* ]] || die "no report: $err"
done

# The place that is named is where it happened.
run 139 -n 1 ./ends segv
says "$err" "in program code, at ends.c:$(($(grep -n '"segv"' "$sources/ends.c" | cut -d: -f1) + 1))"

# Signals end the job.
for signal in INT TERM HUP; do
    expect $((128 + $(kill -l $signal))) timeout --preserve-status -s $signal 0.5 \
        "$bin/mpiexec" -n 3 ./ends sleep
done

# A signal during the end of the job, here while it waits for the reader of its output.
mkfifo pipe
exec 7<>pipe
"$bin/mpiexec" -n 2 --workers 1 ./ends full >pipe 2>said &
pid=$!
until grep -q "ended with exit code 8" said; do sleep 0.05; done
sleep 0.2
kill -TERM $pid
code=0
timeout 60 tail --pid=$pid -f /dev/null || kill -KILL $pid
wait $pid || code=$?
[ $code = 143 ] || die "exit code $code after SIGTERM"
exec 7>&-
