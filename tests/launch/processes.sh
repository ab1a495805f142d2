# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2016
# Programs without MPI run as N processes: what a wrapper does to an MPI program, time limits, and
# that nothing is left behind.
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

# Each would be a job of one rank: said once, with what to type.
refused() {
    local advice=$1
    shift
    run 1 "$@"
    says "$err" "$advice"
    [ "$(grep -c '^mpiexec: ' <<<"$err")" = 1 ] || die "not one message: $err"
    [[ $out != *rank* ]] || die "it has run: $out"
}
refused "type: env A=b mpiexec -n 3 ./private 'a b'" -n 3 env A=b ./private 'a b'
refused "type: nice -n 1 mpiexec -n 2 ./private" -n 2 nice -n 1 ./private
refused "type: timeout 50 mpiexec -n 2 ./private" -n 2 timeout 50 ./private
refused "mpiexec -n 4 ./private" -n 4 bash -c './private; true'
for wrapper in "valgrind -q" "strace -o trace.out" "taskset -c 0"; do
    command -v "${wrapper%% *}" >/dev/null || continue
    # shellcheck disable=SC2086 # the wrapper and its options
    refused "type: $wrapper mpiexec -n 2 ./private" -n 2 $wrapper ./private
done
printf '#!/bin/sh\nexec ./private "$@"\n' >script
chmod +x script
refused "start ./script without mpiexec, and in it write: mpiexec -n 2 ./private" -n 2 ./script
cat >load.py <<END
import ctypes, os
ctypes.CDLL(os.environ["LIBRARY"]).MPI_Init(None, None)
END
export LIBRARY=$XYLEM_BUILD_DIR/lib/libmpi_abi.so
refused "python3 loads MPI while it runs" -n 4 python3 load.py
refused "name the MPI programs themselves" -n 1 env ./private : -n 1 env ./private
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
expect 0 timeout 60 python3 terminal.py "$bin/mpiexec" -n 2 \
    sh -c 'trap "echo interrupted; n=490" INT; n=0; echo ready; while [ $n -lt 500 ]; do sleep 0.1; n=$((n + 1)); done'
[ "$out" = 2 ] || die "interrupted $out times"
# A reader that goes away ends them.
set +o pipefail
timeout 60 "$bin/mpiexec" -n 2 yes | head -1 >/dev/null
[ "${PIPESTATUS[0]}" = 141 ] || die "a broken pipe: ${PIPESTATUS[0]}"
