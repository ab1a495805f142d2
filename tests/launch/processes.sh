# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2016
# Programs that are not linked with MPI run as N processes: MPI programs behind a wrapper, time limits,
# and that nothing is left behind.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build private
export XYLEM_TEST_MARK=$$-$RANDOM

# left: processes of this test that still run, without this shell and its children.
left() {
    grep -lz "^XYLEM_TEST_MARK=$XYLEM_TEST_MARK\$" /proc/[0-9]*/environ 2>/dev/null |
        cut -d/ -f3 | while read -r pid; do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = sleep ] && echo "$pid"
    done || true
}
# gone: none of them is left, soon.
gone() {
    for _ in {1..300}; do
        [ -n "$(left)" ] || return 0
        sleep 0.1
    done
    die "still running: $(left)"
}

# What they run may use MPI: each process is a rank then, and all make one job.
build joined
joined() {
    run 0 "$@"
    says "$out" "4 ranks, sum 6"
}
joined -n 4 env A=b ./joined
joined -n 4 nice -n 1 ./joined
joined -n 4 timeout 50 ./joined
joined -n 3 env ./joined : -n 1 bash -c './joined; true'
printf '#!/bin/sh\nexec ./joined "$@"\n' >script
chmod +x script
joined -n 4 ./script
cat >load.py <<END
import ctypes, os
mpi = ctypes.CDLL(os.environ["LIBRARY"])
world, integer, total = (ctypes.c_void_p(n) for n in (int(os.environ["WORLD"]), int(os.environ["INT"]), int(os.environ["SUM"])))
mpi.MPI_Init(None, None)
rank, size, added = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mpi.MPI_Comm_size(world, ctypes.byref(size))
mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(added), 1, integer, total, world)
if rank.value == 0:
    print(f"{size.value} ranks, sum {added.value}")
mpi.MPI_Finalize()
END
export LIBRARY=$XYLEM_BUILD_DIR/lib/libmpi_abi.so
eval "$(./joined handles)"
export WORLD INT SUM
joined -n 4 python3 load.py
# One after the other: as many jobs.
run 0 -n 4 sh -c './joined && ./joined'
[ "$(grep -c "4 ranks, sum 6" <<<"$out")" = 2 ] || die "two jobs: $out"
# What one of them does ends all, with its word for it.
run 134 -n 4 env ./joined crash
says "$err" "rank 1 was ended by signal 6 (Aborted)"
run 7 -n 4 env ./joined abort
says "$err" "MPI_ABORT was invoked on rank 1"
run 1 -n 4 env ./joined exit
says "$err" "rank 1 has ended without MPI_Finalize"
run 1 -n 4 sh -c './joined exit; exit 0'
says "$err" "rank 1 has ended without MPI_Finalize"
run 1 -n 4 env ./joined deadlock
says "$err" "deadlock: no rank can make progress"
says "$err" "rank 3: in MPI_Recv from rank 0, tag 3 on MPI_COMM_WORLD"
says "$err" "cause: rank 0 waits for a message with tag 3 from rank 1"
run 1 -n 3 sh -c '[ $PMI_RANK = 1 ] || exec ./joined'
says "$err" "rank 1 has ended with exit code 0 without calling MPI_Init, where rank"
run 1 -n 2 sh -c './joined & ./joined; wait'
says "$err" "calls MPI_Init in two processes at once"
run 1 -n 2 env PMI_RANK=7 ./joined
says "$err" "calls MPI_Init as rank 7, and there are 2"
# The launcher of another MPI.
PMI_RANK=0 PMI_SIZE=4 expect 1 ./private
says "$err" "./private is one of 4 processes"
says "$err" "mpiexec -n 4 ./private"

# Alone, through a launcher of their own, and as children of ranks they run.
run 0 -n 1 env ./private x
[ "$out" = "rank 0" ] || die "$out"
run 0 -n 2 sh -c "'$bin/mpiexec' -n 1 ./private x"
same "$out" $'rank 0\nrank 0'
cat >starts.c <<END
#include <mpi.h>
#include <stdlib.h>
int main(int c, char **v)
{
    MPI_Init(&c, &v);
    int code = system("./private x");
    MPI_Finalize();
    return code != 0;
}
END
"$bin/mpicc" starts.c -o starts
run 0 -n 2 ./starts
same "$out" $'rank 0\nrank 0'

# A time limit: reported, and nothing is left, whoever started it. On a busy machine the processes may
# not have come so far within the limit.
for seconds in 1 5 30; do
    run 124 -n 3 --timeout $seconds sh -c '[ $PMI_RANK = 1 ] || { sleep 300 & sleep 300; }'
    [ -z "$(left)" ] || die "left behind: $(left)"
    [[ $err != *"rank 1: ended"* ]] || break
done
says "$err" "the time limit of $seconds s has passed"
says "$err" "ranks 0,2: running"
says "$err" "rank 1: ended"
for seconds in 0.5 5 30; do
    run 124 -n 2 --timeout $seconds sh -c 'trap "" TERM; echo before; sleep 300; sleep 300'
    [ -z "$(left)" ] || die "left behind: $(left)"
    [[ $out != *before*before* ]] || break
done
same "$out" $'before\nbefore'

# A program at a fixed address is its own process; the options of mpiexec hold for it, too.
cat >fixed.c <<END
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int c, char **v)
{
    MPI_Init(&c, &v);
    puts("here");
    sleep(c > 1 ? 300 : 0);
    MPI_Finalize();
    return 0;
}
END
"$bin/mpicc" -no-pie -fno-pie fixed.c -o fixed
run 0 -n 1 -l ./fixed
[ "$out" = "[0] here" ] || die "$out"
run 124 -n 1 --timeout 1 ./fixed x
says "$err" "the time limit of 1 s has passed"

# mpiexec is killed: its processes go, those that they have started, too.
"$bin/mpiexec" -n 2 sh -c 'sleep 300 & sleep 300; true' &
pid=$!
for _ in {1..300}; do
    [ "$(left | wc -l)" = 4 ] && break
    sleep 0.1
done
[ "$(left | wc -l)" = 4 ] || die "they have not started"
kill -KILL $pid
wait $pid 2>/dev/null || true
gone

# Signals reach them, and their ends come back.
run 143 -n 2 sh -c '[ $PMI_RANK = 0 ] || kill -TERM $$'
says "$err" "rank 1 was ended by signal 15 (Terminated)"
"$bin/mpiexec" -n 2 sh -c 'trap "exit 7" TERM; : >"ready.$PMI_RANK"; while :; do sleep 0.1; done' \
    2>/dev/null &
pid=$!
for _ in {1..600}; do
    [ -e ready.0 ] && [ -e ready.1 ] && break
    sleep 0.1
done
kill -TERM $pid
code=0
wait $pid || code=$?
[ $code = 7 ] || die "the trap's exit code: $code"
# An interrupt of the terminal reaches each of them once.
cat >terminal.py <<END
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
said, sent = b"", False
while said.count(b"interrupted") < 2 and (data := os.read(fd, 1000)):
    said += data
    if not sent and said.count(b"ready") == 2:
        os.write(fd, b"\x03")
        sent = True
try: # more of them would come at once; these end a second later
    while data := os.read(fd, 1000):
        said += data
except OSError:
    pass
os.waitpid(pid, 0)
print(said.count(b"interrupted"))
END
expect 0 timeout 240 python3 terminal.py "$bin/mpiexec" -n 2 \
    sh -c 'trap "echo interrupted; n=490" INT; n=0; echo ready; while [ $n -lt 500 ]; do sleep 0.1; n=$((n + 1)); done'
[ "$out" = 2 ] || die "interrupted $out times"
# A reader that goes away ends them.
set +o pipefail
timeout 240 "$bin/mpiexec" -n 2 yes | head -1 >/dev/null
[ "${PIPESTATUS[0]}" = 141 ] || die "a broken pipe: ${PIPESTATUS[0]}"
