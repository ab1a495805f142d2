# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Record locks exclude ranks, so that --coverage has exact counts; -pg says what to use instead.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
sources=$XYLEM_SOURCE_DIR/tests/debug

build locked
for more in "" "--workers 1"; do
    rm -f counted
    # shellcheck disable=SC2086 # none or two words
    run 0 -n 7 $more ./locked
    quiet
    [ "$out" = "exclusive, counted 140 of 140" ] || die "$out"
done

cat >counts.c <<END
#include <mpi.h>
static int add(int x)
{
    return x + 1;
}
int main(int argc, char **argv)
{
    int x = 0;
    MPI_Init(&argc, &argv);
    while (x < 10)
        x = add(x);
    MPI_Finalize();
    return 0;
}
END
if command -v gcov >/dev/null && XYLEM_CC=gcc "$bin/mpicc" --coverage -O0 counts.c -o counts; then
    run 0 -n 200 ./counts
    run 0 -n 200 ./counts
    gcov counts.c >/dev/null || gcov counts-counts.gcda >/dev/null
    says "$(grep 'return x + 1' counts.c.gcov)" " 4000:"
else
    echo "left out: no gcov"
fi

"$bin/mpicc" -pg counts.c -o profiled 2>/dev/null || {
    echo "left out: the compiler has no -pg"
    exit 0
}
run 0 -n 2 ./profiled
says "$err" "use perf"
run 0 -q -n 2 ./profiled
quiet
