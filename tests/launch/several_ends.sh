# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Jobs in several processes that end by a clock or by the end of mpiexec.
. "$XYLEM_SOURCE_DIR/tests/launch/several_lib.sh"

build several

host=$(hostname)
ends 1 "process 1 on $host (rank 1) has not answered for 2 s" -n 2 --processes 2 --heartbeat 2s ./several stop 1
ends 124 "the time limit of 1 s has passed" -n 2 --processes 2 --timeout 1 ./several sleep 0

# The head is killed: the processes end by themselves. A signal for it is one for all.
"$bin/mpiexec" -n 2 --processes 2 ./several sleep 0 >/dev/null 2>&1 &
head=$!
sleep 1
kill -9 $head
wait $head || true
gone
"$bin/mpiexec" -n 2 --processes 2 ./several sleep 0 >/dev/null 2>&1 &
head=$!
sleep 1
kill -TERM $head
code=0
wait $head || code=$?
[ $code = 143 ] || die "ended with $code after SIGTERM"
gone
