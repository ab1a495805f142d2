#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Values that the source does not give, from a recorded run: learned.sh XYLEM MPICC MPIEXEC
set -euo pipefail
xylem=$(realpath "$1") mpicc=$(realpath "$2") mpiexec=$(realpath "$3")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "learned: $*" >&2
    exit 1
}
command -v addr2line >/dev/null || { echo "left out: addr2line is not installed"; exit 77; }
cd "$work"
cp "$here/learned.c" .
"$mpicc" -g -O1 learned.c -o learned -lm
"$mpiexec" -n 4 --trace run.xyt --monitor talk ./learned

# Without the trace the values are asked for.
if "$xylem" predict learned.c -n 4 -m haswell8x32 >said 2>&1; then
    fail "predicted what is not known"
fi
grep -q 'not known: error (line 28' said || fail "$(cat said)"

# With it, the messages are those of the run.
"$xylem" predict learned.c -n 4 -m haswell8x32 --from-trace run.xyt --matrix all.csv >said
grep -Eq '^error \(line 28\) from run.xyt: [0-9]+ values, 0 to 1$' said || fail "$(cat said)"
steps=$("$xylem" view run.xyt --json | grep -c . || true)
[ "$steps" -gt 0 ] || fail "no trace"
messages() { awk -F, '/^[0-9]/ { bytes += $3; n += $4 } END { print bytes, n }' "$1"; }
"$xylem" predict learned.c -n 4 -m haswell8x32 --from-trace run.xyt --json >run.json
number() { sed -n "s/^  \"$1\": \([0-9.e+-]*\),*\$/\1/p" run.json; }
[ "$(number point_to_point_bytes) $(number point_to_point_messages)" = "$(messages talk/program.csv)" ] ||
    fail "predicted $(number point_to_point_bytes) $(number point_to_point_messages), the run has $(messages talk/program.csv)"
# Every pass of the loop has one collective; MPI_Finalize is one more.
calls=$("$mpiexec" --virtual haswell8x32 --compute none -n 4 --json - ./learned | sed -n 's/^  "collectives": \([0-9]*\),*/\1/p')
[ "$(number collectives)" = "$calls" ] || fail "$(number collectives) collectives predicted, $calls made"
# To the last bit what the run takes in virtual time.
real=$("$mpiexec" --virtual haswell8x32 --compute none -n 4 --json - ./learned | sed -n 's/^  "time": \([0-9.e+-]*\),*/\1/p')
[ "$(number time)" = "$real" ] || fail "predicted $(number time), in virtual time $real"

# Another number of processes continues with what was learned.
"$xylem" predict learned.c -n 16 -m haswell8x32 --from-trace run.xyt >said
grep -q '^learned: 16 processes' said || fail "$(cat said)"

# Given values come before recorded ones; what the calls do not tell is asked for.
cat >kernel.c <<'END'
#include <cblas.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    double *x = calloc(1000, sizeof(double)), s = 0;
    int n;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 1000; i++)
        s += x[i] + 2;
    n = (int)s;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, x, n, x, n, 0, x, n);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
cat >cblas.h <<'END'
enum { CblasRowMajor = 101, CblasNoTrans = 111 };
static inline void cblas_dgemm(int a, int b, int c, int m, int n, int k, double d, const double *e,
                               int f, const double *g, int h, double i, double *j, int l)
{
    (void)a, (void)b, (void)c, (void)m, (void)n, (void)k, (void)d, (void)e, (void)f, (void)g;
    (void)h, (void)i, (void)j, (void)l;
}
END
"$mpicc" -g -I. kernel.c -o kernel -lm
"$mpiexec" -n 2 --trace kernel.xyt ./kernel
if "$xylem" predict kernel.c -I . -n 2 -m haswell32 --free-kernels --from-trace kernel.xyt >said 2>&1; then
    fail "the size of a kernel was guessed: $(cat said)"
fi
grep -q 'cannot be determined from kernel.xyt' said || fail "$(cat said)"
grep -q 'give it with --assume' said || fail "$(cat said)"

# A description has room for what has one value; what has several stays open, and is named.
"$xylem" scan learned.c --from-trace run.xyt -o learned.xml 2>said
grep -q 'error (line 28) has [0-9]* values in run.xyt, from 0 to 1, and stays open' said || fail "$(cat said)"
grep -q '<unknown name="error"' learned.xml || fail "a value that changes was made a constant"
cat >file.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int steps = 0, n = 0;
    static double x[1000];
    MPI_Init(&argc, &argv);
    FILE *input = fopen(argv[1], "r");
    if (fscanf(input, "%d %d", &steps, &n) != 2)
        return 1;
    for (int i = 0; i < steps; i++)
        MPI_Bcast(x, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Finalize();
}
END
echo 7 300 >input
"$mpicc" -g file.c -o file
"$mpiexec" -n 2 --trace file.xyt ./file input
"$xylem" scan file.c --from-trace file.xyt --arg input -o file.xml 2>said
[ ! -s said ] || fail "$(cat said)"
"$xylem" predict file.xml -n 8 -m haswell8x32 --arg other --json >file.json
grep -q '"collectives": 8,' file.json || fail "not seven broadcasts and the end: $(grep collectives file.json)"
if "$xylem" scan file.c --from-trace missing.xyt >/dev/null 2>said; then
    fail "a trace that is not there was taken"
fi

# A trace of another program, of a program without lines, of nothing.
if "$xylem" predict learned.c -n 4 -m haswell8x32 --from-trace kernel.xyt >said 2>&1; then
    fail "a trace of another program was taken"
fi
grep -q 'not of the same program' said || fail "$(cat said)"
"$mpicc" learned.c -o bare -lm -s
"$mpiexec" -n 4 --trace bare.xyt ./bare
if "$xylem" predict learned.c -n 4 -m haswell8x32 --from-trace bare.xyt >said 2>&1; then
    fail "a program without lines was taken"
fi
grep -q 'build the program with -g' said || fail "$(cat said)"
