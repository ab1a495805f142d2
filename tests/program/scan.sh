#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# xylem scan: what it prints, what it refuses, and that nothing is written then.
set -euo pipefail
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
programs=$XYLEM_SOURCE_DIR/tests/program

# refused FILE "message": one line, exit code 1, no output file.
refused() {
    local code=0
    "$XYLEM" scan "$1" -o out.xml 2>said || code=$?
    [ "$code" = 1 ] || die "$1: exit code $code"
    [ "$(wc -l <said)" = 1 ] || die "$1: more than one line: $(cat said)"
    grep -qF "$2" said || die "$1: $(cat said)"
    [ ! -e out.xml ] || die "$1: something was written"
}

printf '#include <mpi.h>\nint main(void)\n{\n    MPI_Init(0, 0;\n}\n' >syntax.c
refused syntax.c "syntax.c:4: expected ')'"
printf '#include <nowhere.h>\nint main(void) { return 0; }\n' >header.c
refused header.c "header.c:1: 'nowhere.h' file not found"
refused missing.c "missing.c"
printf '#include <mpi.h>\nvoid f(void) { MPI_Barrier(MPI_COMM_WORLD); }\n' >no_main.c
refused no_main.c "no_main.c: no function main()"
printf 'int main(void) { return 0; }\n' >no_mpi.c
refused no_mpi.c "no_mpi.c:1: main() calls no MPI function"
cat >goto.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
again:
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc-- > 3)
        goto *(&&again);
    MPI_Finalize();
}
END
refused goto.c "goto.c:8: a goto to a computed label is not understood in main()"
cat >pointer.c <<'END'
#include <mpi.h>
static void f(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}
static void g(void)
{
    MPI_Finalize();
}
int main(int argc, char **argv)
{
    void (*calls[])(void) = {f, g}, (*call)(int) = 0;
    MPI_Init(&argc, &argv);
    call(calls[0] == calls[1]);
}
END
refused pointer.c "pointer.c:14: a call through a function pointer"
printf '#include <mpi.h>\nint main(void) { MPI_Win w; MPI_Init(0, 0); MPI_Win_detach(w, 0); MPI_Finalize(); }\n' >win.c
refused win.c "win.c:2: MPI_Win_detach cannot be simulated"
printf 'struct s { int bits : 3; } a[2], *p = a;\nint main(void) { p++->bits++; }\n' >bits.c
refused bits.c "bits.c:2: a bit-field that changes behind an expression with an effect"
code=0
"$XYLEM" scan -o out.xml 2>said || code=$?
[ "$code" = 2 ] || die "no file: exit code $code"

# An old file stays when the scan fails.
echo old >out.xml
"$XYLEM" scan goto.c -o out.xml 2>said && die "goto was accepted"
[ "$(cat out.xml)" = old ] || die "the old description is gone"

# Kernels and macros from the command line; several files in any order.
"$XYLEM" scan "$programs/kernel.c" --kernel smooth >kernel.xml
grep -q '<kernel name="smooth" sizes="n / (rank + 1), i"' kernel.xml || die "no kernel: $(cat kernel.xml)"
"$XYLEM" scan "$programs/macros.c" -D TWICE | grep -q 'test="i &lt; 2"' || die "-D TWICE"
"$XYLEM" scan "$programs"/several/{layout,several}.c -o a.xml
"$XYLEM" scan "$programs"/several/{several,layout}.c -o b.xml
for f in a b; do
    "$XYLEM" predict $f.xml -n 4 --machine 'node:1 core:4' --json >$f.json
    sed -i '/"program"/d' $f.json
done
cmp a.json b.json || die "the order of the files matters"

# What is shown: dropped lines behind //, without colours where the output is no terminal.
"$XYLEM" scan "$programs/work.c" --show=text >shown.c
grep -q '^//                c\[i\]\[j\] += a' shown.c || die "$(cat shown.c)"
grep -q '^        MPI_Bcast(a, N \* N' shown.c || die "$(cat shown.c)"
! grep -q $'\033' shown.c || die "colours in a file"
diff <(sed 's,^//,,' shown.c) <(sed 's,^//,,' "$programs/work.c") || die "the text of the program changed"
"$XYLEM" scan "$programs/work.c" --show=html >shown.html
grep -q '<i>                c\[i\]\[j\] += a' shown.html || die "no grey in the page"
grep -q '<b>    31</b>' shown.html || die "no line numbers in the page"
grep -q 'Legend:' shown.html || die "no legend in the page"
grep -q 'prefers-color-scheme:dark' shown.html || die "the page has no dark colours"
"$XYLEM" scan "$programs/work.c" --list >list
grep -Eq 'work.c:31 +MPI_Bcast +MPI$' list || die "$(cat list)"

# Recursion without end ends, and so does a variable of the environment that is not given: unset.
cat >endless.c <<'END'
#include <mpi.h>
#include <stdlib.h>
static int down(int n)
{
    return n == 0 ? 0 : 1 + down(n - 1);
}
int main(int argc, char **argv)
{
    const char *text = getenv("STEPS");
    int steps = text != NULL ? atoi(text) : 2;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < down(steps); i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
END
collectives() {
    "$XYLEM" predict endless.c -n 2 -m 'node:1 core:4' --json "$@" 2>said | grep '"collectives"' || die "$(cat said)"
}
collectives | grep -q ': 3,' || die "steps without an environment"
grep -qF 'endless.c:9: STEPS is taken to be unset in the environment; --env STEPS=VALUE sets it' said || die "$(cat said)"
[ "$(wc -l <said)" = 1 ] || die "not said once: $(cat said)"
collectives --env STEPS=7 | grep -q ': 8,' || die "--env STEPS=7"
[ ! -s said ] || die "$(cat said)"
code=0
"$XYLEM" predict endless.c -n 2 -m 'node:1 core:4' --env STEPS=-1 >out 2>said || code=$?
[ "$code" = 1 ] || die "recursion without end: $code $(cat said)"
grep -q 'endless.c:5: process 0: .*call' said || die "recursion without end: $(cat said)"

# Unknown values: listed, given, refused when there is none of that name.
cat >unknown.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int n;
    MPI_Init(&argc, &argv);
    if (scanf("%d", &n) != 1)
        return 1;
    for (int i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
"$XYLEM" scan unknown.c -o unknown.xml 2>said
grep -qF "unknown.c:7: n is not known: set by scanf()" said || die "$(cat said)"
"$XYLEM" predict unknown.xml -n 2 --machine 'node:1 core:4' --assume n=5 --json | grep -q '"collectives": 6' ||
    die "--assume of xylem predict"
"$XYLEM" scan unknown.c --assume n=5 -o given.xml 2>said
[ ! -s said ] || die "$(cat said)"
"$XYLEM" predict given.xml -n 2 --machine 'node:1 core:4' --json | grep -q '"collectives": 6' || die "--assume of xylem scan"

# Functions without source may set global variables that they can name, and all of an array or a block.
cat >foreign.c <<'END'
#include <mpi.h>
#include <stdlib.h>
void fill(int *), prepare(void);
struct { int a, b; } both = {1, 2};
int n = 4, few[] = {1, 2, 3};
static int own = 5;
int main(int argc, char **argv)
{
    int list[4] = {1, 2, 3, 4}, *block = calloc(8, sizeof(int));
    MPI_Init(&argc, &argv);
    CALL;
    for (int i = 0; i < VALUE; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
# foreign CALL VALUE ASSUMED COUNT: the value is not known; with --assume ASSUMED there are COUNT collectives.
foreign() {
    local at=(foreign.c "-DCALL=$1" "-DVALUE=$2" -n 2 --machine 'node:1 core:4' --json)
    "$XYLEM" predict "${at[@]}" >/dev/null 2>said && die "$2 after $1 is taken for known"
    grep -q "not known.*set by ${1%(*}()" said || die "$2 after $1: $(cat said)"
    "$XYLEM" predict "${at[@]}" --assume "$3" 2>said | grep -q "\"collectives\": $4" || die "$2 after $1 with $3: $(cat said)"
}
foreign "prepare()" n n=6 7
foreign "prepare()" "few[1]" "few[1]=6" 7
foreign "prepare()" both.b both.b=6 7
foreign "fill(list)" "list[2]" "list[2]=6" 7
foreign "fill(&list[1])" "list[2]" "list[2]=6" 7
foreign "fill(block)" "block[7]" "block[7]=6" 7
foreign "fill(&n)" n n=6 7
"$XYLEM" predict foreign.c "-DCALL=prepare()" -DVALUE=own -n 2 --machine 'node:1 core:4' --json 2>said | grep -q '"collectives": 6' ||
    die "a static variable is not known: $(cat said)"
"$XYLEM" predict foreign.c "-DCALL=fill(list)" -DVALUE=n -n 2 --machine 'node:1 core:4' --json >/dev/null 2>said && die "n after fill(list) is taken for known"
code=0
"$XYLEM" predict foreign.c "-DCALL=fill(list)" "-DVALUE=list[2]" -n 2 --assume "list[1]=6" >/dev/null 2>said || code=$?
[ $code != 0 ] || die "list[2] is known by list[1]"
grep -q 'perhaps a part of list (line 11: set by fill())' said || die "$(cat said)"
code=0
"$XYLEM" scan unknown.c --assume m=5 2>said || code=$?
[ "$code" = 2 ] || die "--assume m: exit code $code"

# CUDA: functions of the device are not read, a kernel takes the time that is named, and what it writes is not known.
cp "$programs/heat.cu" .
at=(heat.cu -n 4 --machine 'node:1 core:4' --arg 2000)
"$XYLEM" predict "${at[@]}" --cost step=1ms --json >out 2>said || die "heat.cu: $(cat said)"
grep -q '"seconds": 0.0100' out || die "10 steps of 1 ms: $(cat out)"
grep -q "heat.cu:18: the kernel 'step' is not read" said || die "$(cat said)"
[ "$(grep -c "'count' is not read" said)" = 1 ] || die "not one message for a kernel that is declared twice: $(cat said)"
"$XYLEM" predict "${at[@]}" >/dev/null 2>said && die "a kernel without a model is free"
grep -q 'no model of step' said || die "$(cat said)"
"$XYLEM" predict "${at[@]}" --free-kernels -DCOUNT >/dev/null 2>said && die "what a kernel writes is taken for known"
grep -q 'not known.*set by count()' said || die "$(cat said)"
"$XYLEM" predict "${at[@]}" --free-kernels -DCOUNT --assume "device_found[0]=7" >/dev/null 2>said || die "$(cat said)"

# A kernel of C that the user names writes where its pointers point.
cat >kernel.c <<'END'
#include <mpi.h>
static void relax(int n, int *left) { *left = n * 2; }
int main(void)
{
    int left = 3;
    MPI_Init(0, 0);
    relax(5, &left);
    for (int i = 0; i < left; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
END
"$XYLEM" predict kernel.c -n 2 --kernel relax --free-kernels >/dev/null 2>said && die "left is taken for known"
grep -q 'not known.*left.*set by relax()' said || die "$(cat said)"

# Other languages.
for name in a.cpp a.cc a.f90 a.F; do
    : >$name
    "$XYLEM" predict $name >/dev/null 2>said && die "$name is read"
    grep -Eq "$name: (C\+\+|Fortran) is not read.*mpiexec --virtual" said || die "$(cat said)"
done

# OpenMP: the number of threads is asked for, and a team is not larger than its share of the node.
cat >team.c <<'END'
#include <mpi.h>
static double x[1000];
int main(void)
{
    MPI_Init(0, 0);
#pragma omp parallel for
    for (int i = 0; i < 1000; i++)
        x[i] = i;
    MPI_Finalize();
    return 0;
}
END
at=(team.c -n 2 --machine 'node:1 core:4' --loop-cost 1us --json)
"$XYLEM" predict "${at[@]}" >/dev/null 2>said && die "a team of unknown size is predicted"
grep -q 'team.c:6: .*--threads-per-rank' said || die "$(cat said)"
# takes SECONDS OPTION...: the loop takes so long.
takes() {
    "$XYLEM" predict "${at[@]}" --threads-per-rank "${@:2}" >out
    grep -q "\"seconds\": $1\$" out || die "not $1 s with $*: $(cat out)"
}
takes 0.001 0
takes 0.0005 2 --free-kernels
takes 0.0015 2 --cost team=1ms
"$XYLEM" predict "${at[@]}" --threads-per-rank 2 >/dev/null 2>said && die "a team without a model is free"
grep -q 'no model of team' said || die "$(cat said)"
"$XYLEM" predict "${at[@]}" --threads-per-rank 4 --free-kernels >/dev/null 2>said && die "8 threads on 4 cores"
grep -q 'each process has 2 cores of its node' said || die "$(cat said)"
"$XYLEM" predict "${at[@]}" --threads-per-rank 4 --free-kernels --oversubscribe >/dev/null || die "--oversubscribe"
