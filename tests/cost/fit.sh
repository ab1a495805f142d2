#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Models of tables that users have measured, and models that become stale.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

needs cc
export XDG_CACHE_HOME=$WORK/cache
# Tables of the user: a model of each column that is asked for, drawn and stored beside others.
data=$XYLEM_SOURCE_DIR/tests/data/cost
expect 0 "$XYLEM" calibrate --fit "$data/dgemm-measured.csv:m1" --fit "dgemm@C2=$data/dgemm-measured.csv:m2" \
    --fit "message@genepi-sol=$data/p2p-measured.csv:m_block,m_nonblock" --criterion r2 -o fitted.xml --svg fitted.svg
says "$out" "dgemm on local: 9 samples, error 0."
says "$out" "dgemm on C2: 9 samples"
says "$out" "  1680 to 9450: t ="
says "$out" "nonblocking messages, genepi - sol: 9 samples"
grep -q '</svg>' fitted.svg || die "no picture"
expect 0 "$XYLEM" explain cost dgemm 3000 --costs fitted.xml
says "$out" "criterion r2"
expect 0 "$XYLEM" explain message 64M genepi sol --costs fitted.xml
says "$out" "hockney"
expect 0 "$XYLEM" calibrate --fit "dtrtri=$data/dtrtri-measured.csv:m1" -o fitted.xml --quiet
expect 0 "$XYLEM" explain cost dgemm 3000 --costs fitted.xml
expect 2 "$XYLEM" calibrate --fit "@=$data/dgemm-measured.csv:m1"
expect 1 "$XYLEM" calibrate --fit "$data/dgemm-measured.csv:m9"
says "$err" "no such column: 'm9'"
expect 2 "$XYLEM" calibrate --fit "$data/dgemm-measured.csv:m1" --check
expect 2 "$XYLEM" calibrate --watch --check

# A kernel that becomes slower on purpose is noticed in the second round, and one that does not is not. Both are timed by
# a clock that stands still but for the kernel and 10 us for each reading, so that other programs have no effect.
cat >slow.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static long long *now; /* nanoseconds, the same for all processes */
__attribute__((constructor)) static void begin(void)
{
    int file = openat(AT_FDCWD, "clock", O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0)
        _exit(99);
    now = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
}
int clock_gettime(clockid_t clock, struct timespec *t)
{
    long long ns = __atomic_add_fetch(now, 10000, __ATOMIC_RELAXED);
    (void)clock;
    *t = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    return 0;
}
/* The time that a thread has waited for a core is that of the kernel's clock: not told. */
int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (strcmp(path, "/proc/thread-self/schedstat") == 0)
        return errno = ENOENT, -1;
    return openat(AT_FDCWD, path, flags, mode);
}
int kernel(size_t n)
{
    long factor = 1;
    FILE *file = fopen("factor", "r");
    if (file != NULL) {
        if (fscanf(file, "%ld", &factor) != 1)
            return 1;
        fclose(file);
    }
    __atomic_add_fetch(now, (long long)n * 20000 * factor, __ATOMIC_RELAXED);
    return 0;
}
END
cc -O1 -shared -fPIC -o slow.so slow.c
export LD_PRELOAD=$PWD/slow.so
expect 0 "$XYLEM" calibrate --compute -k '' --seconds 1s --max-time 8ms -p "slow=$PWD/slow.so" -o slow.xml --fresh
expect 0 "$XYLEM" calibrate --watch --compute --rounds 2 --interval 0s --seconds 1s --tolerance 0.1 -o slow.xml
says "$out" "watching 1 models"
[[ $out != *stale* ]] || die "$out"
echo 4 >factor
expect 1 "$XYLEM" calibrate --watch --compute --rounds 2 --interval 0s --seconds 1s --tolerance 0.1 -o slow.xml
says "$out" "slow 1 thread: stale, takes "
says "$err" "1 of 1 models are stale"
