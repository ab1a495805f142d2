# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Jobs in several processes: who runs where, streams, exit codes, and ways to end.
. "$XYLEM_SOURCE_DIR/tests/launch/several_lib.sh"

build several
here=$(pwd)

host=$(hostname)
printf 'one\ntwo\n' >input
expected="rank 0 of 5 here 0 of 3 on $host in $here with nothing sum 10
rank 1 of 5 here 1 of 3 on $host in $here with nothing sum 10
rank 2 of 5 here 2 of 3 on $host in $here with nothing sum 10
rank 3 of 5 here 0 of 2 on $host in $here with nothing sum 10
rank 4 of 5 here 1 of 2 on $host in $here with nothing sum 10
input one
input two"
# Two processes of as many cores: the first has the odd rank.
run 0 -n 5 --processes 2 --workers 2 --net tcp ./several <input
same "$out" "$expected"
quiet
run 0 -n 3 --processes 3 -x XYLEM_TEST_WORD=hello -wdir / "$here/several" </dev/null
says "$out" "rank 2 of 3 here 0 of 1 on $host in / with hello sum 3"
run 0 -n 2 --processes 2 -l ./several </dev/null
says "$out" "[1] rank 1 of 2"
# Two programs; one has ranks in both processes.
run 0 -n 1 --processes 2 ./several : -n 3 ./several </dev/null
says "$out" "rank 3 of 4"
# Over an MPI of the host, where there is one.
if command -v mpiexec.hydra >/dev/null && ldconfig -p 2>/dev/null | grep -q libmpich.so.12; then
    run 0 -n 4 --processes 2 --net mpi --launcher mpiexec.hydra ./several <input
    says "$out" "rank 3 of 4 here 1 of 2 on $host in $here with nothing sum 6"
    says "$out" "input two"
fi
# The exit code of a rank; the others go on to their end.
ends 9 "rank 1 ended with exit code 9" -n 4 --processes 2 ./several 9 </dev/null
says "$out" "rank 3 of 4"

# One fails: all end, with its code.
ends 7 "MPI_ABORT was invoked on rank 3" -n 4 --processes 2 ./several abort 3
ends 5 "rank 0 ended with exit code 5 without calling MPI_Finalize" -n 4 --processes 2 ./several exit 0
ends 137 "process 1 on $host (ranks 2-3) was ended by signal 9" -n 4 --processes 2 ./several kill 2
ends 137 "process 0 on $host (rank 0) was ended by signal 9" -n 3 --processes 3 ./several kill 0
ends 134 "rank 1: aborted" -n 2 --processes 2 ./several fault 1
ends 15 "the receive has room for 4 (sent at several.c:" -n 2 --processes 2 ./several long 0
ends 2 "--processes 3: the job has only 2 ranks" -n 2 --processes 3 ./several
ends 2 "unknown transport 'smoke'" -n 2 --processes 2 --net smoke ./several
ends 2 "unknown strategy or file" -n 2 --processes 2 --place nowhere ./several
ends 127 "does not exist" -n 2 --processes 2 ./nothing
ends 1 "--virtual is for jobs in one process" -n 2 --processes 2 --virtual cluster:2 ./several
run 0 -n 2 --processes 2 hostname
same "$out" "$host"$'\n'"$host"
XYLEM_NODE=17 ends 2 "XYLEM_NODE is set to '17'" -n 2 ./several

# One matrix and one trace of all, also of a job that is cut short.
run 0 -n 4 --monitor one ./several messages </dev/null
run 0 -n 4 --processes 2 --monitor two --trace two.xyt ./several messages </dev/null
cmp one/program.csv two/program.csv || die "other messages than in one process"
grep -q '^3,0,2000,4$' two/program.csv || die "no messages from rank 3 to rank 0"
expect 0 "$bin/xylem" view two.xyt
says "$out" "recorded by 2 processes with one clock"
expect 0 "$bin/xylem" view --json two.xyt
says "$out" '"group": "process 1 on '"$host"'"'
says "$out" '"messages_unreceived": 0'
says "$out" '"links_alone": 0'
expect 0 "$bin/xylem" place --machine "node:2 core:2" two/all.csv
ends 7 "MPI_ABORT was invoked on rank 3" -n 4 --processes 2 --trace cut.xyt --monitor none ./several abort 3
expect 0 "$bin/xylem" view cut.xyt
says "$out" "recorded by 2 processes"
[ -z "$err" ] || die "a trace that was cut: $err"
[ ! -e none ] || die "a matrix of a job that was ended"
# Also where what sends the trace is late: preloaded, a thread that waits for one thing for ever sleeps
# longer than the job takes to end.
cat >late.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>
int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    int (*next)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
    int code = next(fds, count, timeout);

    if (count == 1 && timeout == -1)
        sleep(5);
    return code;
}
END
cc -shared -fPIC late.c -o late.so
LD_PRELOAD=./late.so ends 7 "MPI_ABORT was invoked on rank 3" -n 4 --processes 2 --trace late.xyt ./several abort 3
expect 0 "$bin/xylem" view late.xyt
says "$out" "recorded by 2 processes"
[ -z "$err" ] || die "a trace that is late: $err"
ends 1 "/nowhere/x.xyt" -n 4 --processes 2 --trace /nowhere/x.xyt ./several
[ -c /dev/full ] && ends 1 "/dev/full: cannot write the trace: No space left" -n 4 --processes 2 --trace /dev/full ./several messages

# A process that is stopped goes on when it is continued; both then wait for what nobody sends, which is
# noticed with it and not before.
"$bin/mpiexec" -n 2 --processes 2 ./several stop 1 >continued 2>&1 </dev/null &
head=$!
stopped=
until [ -n "$stopped" ]; do
    kill -0 $head 2>/dev/null || die "ended while a process was stopped: $(cat continued)"
    for pid in $(pgrep -P $head); do
        if grep -q '^State:[[:space:]]*T' "/proc/$pid/status" 2>/dev/null; then stopped=$pid; fi
    done
    sleep 0.1
done
sleep 0.3
kill -CONT "$stopped"
code=0
wait $head || code=$?
[ $code = 1 ] || die "ended with $code after it was continued: $(cat continued)"
says "$(cat continued)" "deadlock: no rank can make progress"
gone

# Placed by a matrix: partners 0-2 and 1-3 share a process; rank 0 has the input wherever it is.
printf '# ranks 4\nsource,target,bytes,messages\n0,2,9000,9\n2,0,9000,9\n1,3,9000,9\n3,1,9000,9\n0,1,1,1\n' >partners.csv
run 0 -v -n 4 --processes 2 --matrix partners.csv --monitor placed ./several messages <input
says "$out" "input two"
process_of() { sed -n "s/^mpiexec: rank $1 runs .* in process \\([0-9]*\\)\$/\\1/p" <<<"$err"; }
[ "$(process_of 0)$(process_of 1)" = "$(process_of 2)$(process_of 3)" ] || die "not by the matrix: $err"
[ "$(process_of 0)" != "$(process_of 1)" ] || die "not by the matrix: $err"
for rank in 0 1 2 3; do
    says "$out" "rank $rank of 4 here $((rank / 2)) of 2 on $host"
done
cmp one/program.csv placed/program.csv || die "other messages than in one process"
ends 1 "the matrix has 4 ranks and the job 5" -n 5 --processes 2 --matrix partners.csv ./several
ends 137 "(2 ranks) was ended by signal 9" -n 4 --processes 2 --matrix partners.csv ./several kill 0
