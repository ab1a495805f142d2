# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# exec in a rank, ends that are not exit, and what children see.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build replace -pthread
for how in execl execlp execle execv execvp execve syscall; do
    run 0 -n 3 ./replace "$how"
    [ "$out" = "1 goes on: Operation not supported" ] || die "$how: $out"
    says "$err" "rank 1: exec"
    says "$err" "is refused: it would replace all 3 ranks"
    says "$err" "posix_spawn, system, or fork and exec"
    run 3 -n 1 ./replace "$how" alone
    [ "$out" = "replaced" ] || die "$how: $out"
done
run 3 -n 1 ./replace before
run 0 -n 2 ./replace before
same "$out" $'0 goes on: Operation not supported\n0 goes on: Operation not supported\nend of 0\nend of 1'

run 0 -n 3 --workers 1 ./replace pthread_exit
quiet
same "$out" "$(for r in 0 1 2; do echo "thread of $r"; echo "end of $r"; done)"
[ "$(grep -n "end of 1" <<<"$out" | cut -d: -f1)" -gt "$(grep -n "thread of 1" <<<"$out" | cut -d: -f1)" ] ||
    die "the rank has ended before its thread: $out"
run 0 -n 2 --workers 1 ./replace thrd_exit
same "$out" $'end of 0\nend of 1'
run 5 -n 2 --workers 1 ./replace exit_group
says "$err" "rank 1 ended with exit code 5"
[ -z "$out" ] || die "exit functions were called: $out"
run 6 -n 2 --workers 1 ./replace exit_thread
says "$err" "rank 1 ended with exit code 6"

mkdir bin1
printf '#!/bin/sh\nexit 11\n' >bin1/only1
chmod +x bin1/only1
run 0 -n 2 --workers 1 ./replace children
quiet
same "$out" "$(for r in 0 1; do
    echo "$r popen"
    echo "$r: pclose 4"
    echo "$r vfork"
    echo "$r: vfork 4"
    echo "$r spawn"
    echo "$r: only1 $((r == 1 ? 11 : 98))"
    echo "end of $r"
done)"
