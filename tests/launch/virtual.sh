# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Jobs in virtual time: clocks, costs, reports, and that two runs are the same.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build virtual -lm
node='node:2(latency=2us bandwidth=10GB/s) core:2'

# Clocks and sleeps: hours pass in no time. Loops that poll end.
run 0 --virtual core:4 --compute none -n 3 ./virtual clocks sleeps clocks polling data
quiet
run 0 --virtual core:4 --compute timed -n 3 ./virtual data
quiet
run 0 --virtual "$node" --compute none --place packed -n 4 ./virtual sleeps polling data
quiet
run 0 --virtual core:2 --oversubscribe --compute none -n 7 ./virtual data
quiet

# Waits with a limit: the limit is one of the virtual clock, and two runs are the same.
build virtual_limits
run 0 --virtual core:4 --compute none -n 1 ./virtual_limits
run 0 --virtual core:4 --compute none -n 2 ./virtual_limits
limits=$out
run 0 --virtual core:4 --compute none -n 2 ./virtual_limits
same "$out" "$limits"

# What a message costs: o = 100 ns at either end, latency 100 ns, copies at 8 GB/s; above 4 KiB the
# receiver copies alone. Between nodes there are two links of 2 us and 10 GB/s.
run 0 --virtual core:2 --compute none -n 2 ./virtual ping:0 ping:800 ping:8000
same "$out" "ping 0 600.00 ns
ping 800 1000.00 ns
ping 8000 2600.00 ns"
run 0 --virtual "$node" --compute none --place packed -n 3 ./virtual ping:0 ping:800
same "$out" "ping 0 8400.00 ns
ping 800 8960.00 ns"

# Receives from any rank take messages in the order of virtual time, and so does the output.
run 0 --virtual core:8 --compute none -n 4 ./virtual order
[ "$out" = "from 3 at 1.0
from 2 at 2.0
from 1 at 3.0" ] || die "order: $out"

# Two runs are the same, to the last bit.
for turn in 1 2; do
    run 0 --virtual "$node" --compute none --oversubscribe --json $turn.json --trace $turn.xyt -n 9 \
        ./virtual data order time
    quiet
    printf '%s\n' "$out" >$turn.txt
done
cmp 1.json 2.json || die "the numbers differ"
cmp 1.txt 2.txt || die "the output differs"
cmp 1.xyt 2.xyt || die "the traces differ"
grep -q '"time": [0-9.]*' 1.json || die "no time: $(cat 1.json)"
expect 0 "$XYLEM" view --chrome 1.chrome 1.xyt
grep -q MPI_Bcast 1.chrome || die "the trace has no calls"

# Ranks that wait in a call wait, and MPI has little to do.
run 0 --virtual "$node" --compute none --trace waits.xyt -n 4 ./virtual late order
expect 0 "$XYLEM" view --json waits.xyt
awk -F'[:,]' '/"MPI"/ {mpi += $2} /"wait"/ {wait += $2} END {exit !(mpi < 1e-3 && wait > 9)}' <<<"$out" ||
    die "what ranks wait is MPI's: $out"

# Reports.
run 1 --virtual core:4 --compute none -n 3 ./virtual deadlock
[[ $err == *deadlock* && $err == *'MPI_Recv from rank 1, tag 9'* ]] || die "deadlock: $err"
run 1 --virtual core:4 --compute none -n 2 ./virtual disagree
[[ $err == *'ranks disagree about collective'*MPI_Bcast* ]] || die "disagree: $err"
run 0 --virtual haswell8x32 --compute none -v -n 2 ./virtual barrier
[[ $err == *'virtual time: '*' on haswell8x32, 2 ranks'* ]] || die "-v: $err"
[[ $err == *"rank 0 runs './virtual' on core 0 of haswell8x32"* ]] || die "-v: $err"

# Messages of collectives are those of the algorithm: the monitor and the numbers agree.
run 0 --virtual core:4 --library openmpi --compute none --monitor monitor --json counts.json -n 4 \
    ./virtual data
counted() { awk -F, '/^[0-9]/ {n += $4} END {print n + 0}' "monitor/$1.csv"; }
number() { sed -n "s/^  \"$1\": \([0-9]*\),.*/\1/p" counts.json; }
[ "$(counted program)" = "$(number point_to_point_messages)" ] || die "messages of the program"
[ "$(counted all)" = "$(number messages)" ] || die "messages: $(counted all)"
[ "$(counted collectives)" -gt 40 ] || die "messages of collectives: $(counted collectives)"

# Reordering knows the machine: a ring across nodes is folded into them.
printf '0 0\n1 2\n2 1\n3 3\n' >apart.txt
run 0 --virtual "$node" --compute none --place apart.txt -n 4 ./virtual ring
[ "$out" = "neighbours on the same node: 2" ] || die "reordered: $out"

# What code costs: calls by their name, and the times of a real run.
run 0 --virtual core:4 --compute none --compute-call cos=2ms,sin=1s -n 1 ./virtual time cos time
[ "$out" = "rank 0 ends at 0.000000025
0.540
rank 0 ends at 0.002000050" ] || die "compute-call: $out"
cat >blas.c <<'END'
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc)
{
    *c = order + ta + tb + alpha * *a * *b + beta * *c + lda + ldb + ldc + m + n + k;
}
void cblas_dtrmm(int order, int side, int uplo, int ta, int diag, int m, int n) {}
END
cat >kernel.c <<'END'
#include <mpi.h>
#include <stdio.h>
void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double,
                 double *, int);
void cblas_dtrmm(int, int, int, int, int, int, int);
int main(int argc, char **argv)
{
    double a = 2, b = 3, c = 10, begin;

    MPI_Init(&argc, &argv);
    begin = MPI_Wtime();
    cblas_dgemm(101, 111, 112, 500, 500, 500, 0.5, &a, 7, &b, 8, 0.1, &c, 9);
    printf("%.1f %.9f\n", c, MPI_Wtime() - begin);
    if (argc > 1)
        cblas_dtrmm(1, 2, 3, 4, 5, 60, 70);
    MPI_Finalize();
    return 0;
}
END
cc -shared -fPIC blas.c -o libfakeblas.so
"$bin/mpicc" kernel.c -o kernel -L. -lfakeblas -Wl,-rpath,"$PWD"
costs=$XYLEM_SOURCE_DIR/tests/data/cost/costs.xml
run 0 --virtual core:4 --compute model --costs "$costs" -n 1 ./kernel
[ "$out" = "1852.0 0.003732025" ] || die "a kernel by its model: $out"
run 0 --virtual core:4 --compute none --costs "$costs" -n 1 ./kernel
[ "$out" = "1852.0 0.000000025" ] || die "a kernel for nothing: $out"
run 1 --virtual core:4 --compute model --costs "$costs" -n 1 ./kernel more
[[ $err == *"there is no model of 'cblas_dtrmm'"* ]] || die "$err"
run 0 --virtual core:4 --compute model --costs "$costs" --compute-call cblas_dtrmm=1us -n 1 ./kernel more
run 0 --virtual core:4 --compute none -n 1 ./virtual time compute time
[ "$out" = "rank 0 ends at 0.000000025
rank 0 ends at 1.500000050" ] || die "xylem_compute: $out"
run 0 -n 1 ./virtual compute
run 0 --trace real.xyt -n 2 ./virtual data
run 0 --virtual core:4 --compute trace:real.xyt --json traced.json -n 2 ./virtual data
grep -q '"compute": 0\.[0-9]*[1-9]\|"compute": [0-9.]*e-' traced.json || die "$(cat traced.json)"

# One buffer for seven ranks of a core stays in its caches, seven buffers do not.
cat >many.c <<'END'
#include <mpi.h>
#include <stdio.h>
enum { BYTES = 65536 };
static char from[8 * BYTES], to[BYTES];
int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++) {
        if (rank > 0)
            MPI_Recv(to, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int r = 1; rank == 0 && r < size; r++)
            MPI_Send(from + (argc > 1 ? r : 0) * BYTES, BYTES, MPI_BYTE, r, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.0f\n", 1e9 * MPI_Wtime());
    MPI_Finalize();
    return 0;
}
END
cat >many.xml <<'END'
<XylemCosts version="1" machine="test" hardware="test" date="2026-01-01T00:00:00Z" time="s" size="B">
  <Message Cluster1="pu" Cluster2="pu" Library="Xylem" Eager="4096">
    <Blocking ErrorMean="0" ErrorMax="0">
      <Latency>1e-7</Latency>
      <Bandwidth><Interval Start="1" End="4194304" a="0" b="1e10" Samples="3" ErrorMax="0"/></Bandwidth>
      <Time>
        <Interval Start="1" End="65536" a="1e-10" b="1e-7" Samples="2" ErrorMax="0"/>
        <Interval Start="65536" End="4194304" a="1e-9" b="0" Samples="2" ErrorMax="0"/>
      </Time>
    </Blocking>
    <Sample Size="1" Blocking="1e-7"/>
    <Sample Size="65536" Blocking="6.7e-6"/>
    <Sample Size="4194304" Blocking="4.2e-3"/>
  </Message>
</XylemCosts>
END
"$bin/mpicc" many.c -o many
run 0 --virtual core:1 --oversubscribe --compute none --costs many.xml -n 8 ./many
one=$out
run 0 --virtual core:1 --oversubscribe --compute none --costs many.xml -n 8 ./many more
[ $((one * 10)) -lt $((out * 8)) ] || die "one buffer takes $one ns, seven take $out ns"

# One block for all ranks instead of 64 times 8 MiB.
run 0 --virtual core:64 --compute none --share-data 1M -n 64 ./virtual memory
[ "${out% MiB}" -lt 200 ] || die "the memory is not shared: $out"

# Mistakes.
run 2 --virtual core:4 -n 5 ./virtual
[[ $err == *'5 ranks on '*' 4 cores'*--oversubscribe* ]] || die "$err"
run 2 --json numbers.json -n 2 ./virtual
[[ $err == *'option --json has no effect without --virtual'* ]] || die "$err"
run 2 --virtual core:4 --compute half -n 2 ./virtual
[[ $err == *"--compute 'half'"* ]] || die "$err"
run 2 --virtual core:4 --compute model -n 2 ./virtual
[[ $err == *--costs* ]] || die "$err"
run 2 --virtual core:4 --compute-call cos -n 2 ./virtual
[[ $err == *'NAME=TIME'* ]] || die "$err"
run 1 --virtual core:4 --compute trace:real.xyt -n 3 ./virtual
[[ $err == *'real.xyt has no call of rank 2'* ]] || die "$err"
run 1 --virtual core:4 --compute trace:virtual -n 2 ./virtual
run 1 --virtual nosuch -n 2 ./virtual
[[ $err == *"'nosuch' is not a machine"* ]] || die "$err"
run 1 --virtual 'node:2 core:2' --place packed -n 4 ./virtual ping:8
[[ $err == *'gives no latency and bandwidth'* ]] || die "$err"
run 1 --virtual core:4 -n 2 /bin/true
[[ $err == *'does not use MPI'* ]] || die "$err"

# What is measured here takes on the machine what its kernels take there: three times as long.
sed 's/<Params>.*<\/Params>/<Params>0 0 0 1e-11<\/Params>/' "$costs" >here.xml
sed 's/<Params>.*<\/Params>/<Params>0 0 0 3e-11<\/Params>/' "$costs" >there.xml
run 0 --virtual core:4 --compute timed --costs there.xml --costs-here here.xml -v -n 2 ./virtual barrier
[[ $err == *'computation takes 3 times as long as here (by 1 kernels)'* ]] || die "timed: $err"
run 0 --virtual core:4 --compute timed --costs there.xml --costs-here there.xml -v -n 2 ./virtual barrier
[[ $err == *'computation takes 1 times as long as here'* ]] || die "timed: $err"
XYLEM_COSTS=$PWD/nothing.xml run 0 --virtual core:4 --compute timed --costs there.xml -n 2 ./virtual barrier
[[ $err == *'because the speed of this machine is not known; give --compute timed:FACTOR'* ]] || die "timed: $err"
XYLEM_COSTS=$PWD/here.xml run 0 --virtual core:4 --compute timed --costs there.xml -v -n 2 ./virtual barrier
[[ $err == *'computation takes 3 times as long as here'* ]] || die "timed: $err"
run 2 --virtual core:4 --compute none --costs there.xml --costs-here here.xml -n 2 ./virtual barrier
[[ $err == *'--costs-here scales --compute timed'* ]] || die "timed: $err"
run 2 --costs-here here.xml -n 2 ./virtual barrier
[[ $err == *'option --costs-here has no effect without --virtual'* ]] || die "timed: $err"

# However many functions have a known time, all are charged; too many are refused when called.
many() { # COUNT: ./many, which calls that many functions of a library, and $calls for --compute-call
    calls=
    {
        for ((i = 0; i < $1; i++)); do echo "void f$i(void) {}"; done
    } >many_library.c
    {
        echo '#include <mpi.h>'
        echo '#include <stdio.h>'
        for ((i = 0; i < $1; i++)); do echo "void f$i(void);"; done
        echo 'int main(void) { double t; MPI_Init(0, 0); t = MPI_Wtime();'
        for ((i = 0; i < $1; i++)); do
            echo "f$i();"
            calls+=",f$i=1ms"
        done
        printf '%s\n' 'printf("%.0f ms\n", 1e3 * (MPI_Wtime() - t)); MPI_Finalize(); return 0; }'
    } >many.c
    calls=${calls#,}
    cc -shared -fPIC -o libmany.so many_library.c
    "$bin/mpicc" -o many many.c -L. -lmany -Wl,-rpath,"$PWD"
}
many 300
run 0 --virtual core:4 --compute none --compute-call "$calls" -n 1 ./many
same "$out" "300 ms"
many 1024
run 1 --virtual core:4 --compute none --compute-call "$calls" -n 1 ./many
[[ $err == *'calls more than 1023 functions whose time is known'* ]] || die "many: $err"
