# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Jobs in several processes that end by a clock or by the end of mpiexec.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build several
export XYLEM_TEST_MARK=$$-$RANDOM

# gone: no process of a job of this test is left, soon.
gone() {
    local left
    for _ in {1..300}; do
        left=$(grep -lz "^XYLEM_TEST_MARK=$XYLEM_TEST_MARK\$" /proc/[0-9]*/environ 2>/dev/null |
            cut -d/ -f3 | while read -r pid; do
            [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = mpiexec ] && echo "$pid"
        done || true)
        [ -n "$left" ] || return 0
        sleep 0.1
    done
    die "still running: $left"
}
# ends CODE MESSAGE ARGUMENT...: one message, and nothing stays behind.
ends() {
    local code=$1 message=$2
    shift 2
    run "$code" "$@"
    says "$err" "$message"
    [ "$(grep -c '^mpiexec: ' <<<"$err")" = 1 ] || die "not one message: $err"
    gone
}

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
