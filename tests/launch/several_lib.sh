# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by tests of jobs in several processes instead of lib.sh: nothing of a job stays behind.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

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
