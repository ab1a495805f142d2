# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Options of Open MPI's and MPICH's launchers, and options that are honoured or refused.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build private
build stdio_ranks
# shellcheck disable=SC2016 # the shell of the ranks expands it
echoes='echo "out $PMI_RANK"; echo "err $PMI_RANK" >&2'

# refused TEXT ARGUMENT...: exit code 2, one line with TEXT.
refused() {
    local text=$1
    shift
    run 2 "$@" ./private
    [ "$(wc -l <<<"$err")" = 1 ] || die "one line: $err"
    says "$err" "$text"
}
refused "unknown transport 'infiniband'" --net infiniband -n 2
refused "core 4095 does not exist or may not be used" --cores 4095 -n 2
refused "--workers 999999: the job may use" --workers 999999 -n 2
refused "is not between 64" --stack-size 1 -n 2
refused "'=3' is not the name of a variable" -x =3 -n 2
refused "is not the name of a variable" -env A=B 3 -n 2
refused "--usize 2: the job has 4 ranks" --usize 2 -n 4
refused "option --algorithm has no effect with --virtual" --algorithm bcast=chain --virtual 2x4 -n 2
refused "option --progress-order has no effect" --progress-order priority --virtual 2x4 -n 2
XYLEM_ALGORITHM=bcast=chain refused "option --algorithm, from the variable XYLEM_ALGORITHM, has no effect with --virtual" --virtual 2x4 -n 2
refused "--progress-place smt: runs in virtual time have no model of sibling hardware threads" \
    --progress threads --progress-place smt --virtual core:4 -n 2
refused "option --trace before './private' applies to the whole job" -n 1 ./private : -n 1 --trace t.xyt
refused "--nooversubscribe: 4 ranks on 1 core" --nooversubscribe --workers 1 -n 4
XYLEM_TRACE_MESSAGES=none run 0 -n 2 ./private
quiet
run 0 -n 2 -x NO_SUCH_VARIABLE ./private
says "$err" "there is no such variable"
for key in binding=user:0 colour=red; do
    printf '# hosts\nlocalhost slots=4 %s\n' "$key" >hosts
    run 1 -n 2 -f hosts ./private
    says "$err" "hosts:2: unknown word '$key'"
done
# Files with text.
printf 'localhost slots=4\n\0' >zero
for options in "-f zero" "--rankfile zero" "--app zero" "--place ./zero" "--check --check-suppress zero"; do
    program=./private
    [[ $options != --app* ]] || program=
    # shellcheck disable=SC2086 # several words
    run 1 -n 2 $options $program
    says "$err" "zero: not a text file"
done

# What ranks print.
for program in "sh -c '$echoes'" ./stdio_ranks; do
    eval run 0 -n 2 --output-filename 'd/e' "$program"
    same "$out" $'out 0\nout 1'
    same "$err" $'err 0\nerr 1'
    [ "$(cat d/e/1/rank.1/stdout d/e/1/rank.0/stderr)" = $'out 1\nerr 0' ] || die "files of $program"
    eval run 0 -n 2 --output-filename 'f:nocopy,nojobid' --tag-output "$program"
    [ -z "$out$err" ] || die "printed as well: $out $err"
    [ "$(cat f/rank.0/stdout)" = '[1,0]<stdout>:out 0' ] || die "$(cat f/rank.0/stdout)"
    eval run 0 -n 2 -outfile-pattern 'o.%r.%p%g%%' -errfile-pattern all "$program"
    [ -z "$out$err" ] || die "printed as well: $out $err"
    [ "$(cat o.0.00% o.1.00%)" = $'out 0\nout 1' ] || die "files of a pattern"
    same "$(cat all)" $'err 0\nerr 1'
    eval run 0 -n 2 --processes 2 -outfile-pattern 'p.%r' "$program"
    [ "$(cat p.0 p.1)" = $'out 0\nout 1' ] || die "files of two processes"
    eval run 0 -n 2 --merge-stderr-to-stdout --tag-output "$program"
    quiet
    same "$out" "$(printf '[1,%s]<stdout>:%s\n' 0 'out 0' 0 'err 0' 1 'out 1' 1 'err 1')"
    eval run 0 -n 1 --timestamp-output -l "$program"
    [[ $out =~ ^[A-Z][a-z]{2}\ [A-Z][a-z]{2}\ [0-9]{2}\ [0-9:]{8}\ 20[0-9]{2}\[0\]\ out\ 0$ ]] || die "$out"
done
run 1 -n 2 --processes 2 -outfile-pattern same ./private
says "$err" "give each rank its own with %r"
refused "expected r (rank)" -n 2 -outfile-pattern 'x%y'

# Standard input.
for program in "sh -c 'echo \$PMI_RANK \$(cat)'" "./stdio_ranks in"; do
    eval run 0 -n 3 --stdin 1 "$program" <<<word
    same "$out" $'0\n1 word\n2'
    eval run 0 -n 2 --stdin none "$program" <<<word
    same "$out" $'0\n1'
    eval run 0 -n 3 --stdin all "$program" <<<word
    same "$out" $'0 word\n1 word\n2 word'
    eval run 0 -n 4 --processes 2 --stdin 2 "$program" <<<word
    same "$out" $'0\n1\n2 word\n3'
done
run 0 -n 2 --stdin all sh -c 'wc -c' < <(head -c 1000000 /dev/zero)
same "$out" $'1000000\n1000000'
refused "give a rank of the job" --stdin 5 -n 2
run 1 --stdin all --processes 2 -n 2 ./private
says "$err" "--stdin all is for jobs of one process"

# Programs from a file.
cat >app <<'END'
# a comment
-n 1 ./private x

-n 2 sh -c "echo 'two   words'" # more
END
sed 's/sh -c.*/.\/private x/' app >same
run 0 -l --app same
same "$out" $'[0] rank 0\n[1] rank 1\n[2] rank 2'
run 0 -configfile=same
same "$out" $'rank 0\nrank 1\nrank 2'
run 0 --processes 2 -configfile same
same "$out" $'rank 0\nrank 1\nrank 2'
sed -n 4p app >words
run 0 -configfile words
same "$out" $'two   words\ntwo   words'
refused "programs are in that file" --app same
echo '-n 1 echo "open' >bad
run 1 --app bad
says "$err" "bad:1: a quote is not closed"

# Where ranks run: on a machine of two sockets with four cores each.
# mapped CORES ARGUMENT...: the cores of ranks 0, 1, ...
mapped() {
    local want=$1
    shift
    run 0 --virtual 'pack:2 core:4' --report-bindings "$@" ./private
    err=$(sed -n 's/.*rank \([0-9]*\) runs .* on core \([0-9]*\) of .*/\1 \2/p' <<<"$err" | sort -n | cut -d' ' -f2 | tr '\n' ' ')
    [ "$err" = "$want " ] || die "$*: $err, not $want"
}
mapped "0 1 2 3 4 5" -n 6 --map-by core
mapped "0 1 2 3 4 5" -n 6 --map-by slot
mapped "0 4 1 5 2 6" -n 6 -map-by socket
mapped "0 1 2 4 5 6" -n 6 --map-by socket --rank-by core
mapped "0 4 1 5 2 3" -n 6 --map-by core --rank-by socket
mapped "0 1 4 5" --map-by ppr:2:socket
mapped "3 2 1 0" -n 4 --bind-to user:3,2,1,0
refused "there is room for 4 ranks" -n 5 --virtual 'pack:2 core:4' --map-by ppr:2:socket
refused "unknown level; use slot" -n 2 --map-by rack
refused "is none of PE=N" -n 2 --map-by core:XX
refused "write core, core:N" -n 2 --bind-to desk
printf 'rank 1=localhost slot=0:2\nrank 0=%s slot=5 # a comment\nrank 2=+n0 slot=1:0-1\n' "$(hostname)" >ranks
mapped "5 2 4" -n 3 --rankfile ranks
mapped "5 2 4" -n 3 --map-by rankfile:file=ranks
run 1 -n 4 --virtual 'pack:2 core:4' --rankfile ranks ./private
says "$err" "ranks: rank 3 has no line"
echo 'rank 3=elsewhere slot=1' >>ranks
run 1 -n 4 --virtual 'pack:2 core:4' --rankfile ranks ./private
says "$err" "ranks:4: 'elsewhere' is another host"
run 0 -n 2 --bind-to socket ./private
says "$err" "--bind-to socket has no effect"
run 0 -n 2 --mca btl self ./private
says "$err" "--mca btl has no effect"
run 0 -n 2 --processes 2 --mca btl self ./private
[ "$(wc -l <<<"$err")" = 1 ] || die "one line: $err"
run 0 -q -n 2 --mca btl self --bind-to numa ./private
quiet
# ... and on this one.
core=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
for options in "--cpu-set 0" "--cpu-list 0 --bind-to cpu-list:ordered" "--bind-to user:$core" "--cores $core --map-by numa"; do
    # shellcheck disable=SC2086 # several words
    run 0 -n 2 --display-map $options ./private
    [ "$(grep -c "on core $core\$" <<<"$err")" = 2 ] || die "$options: $err"
done
refused "--cpu-set 4000: the job may use" --cpu-set 4000 -n 2
run 0 --map-by ppr:3:node ./private x
same "$out" $'rank 0\nrank 1\nrank 2'
run 0 -n 2 --use-hwthread-cpus --map-by hwthread --report-bindings ./private
[ "$(grep -c 'runs' <<<"$err")" = 2 ] || die "$err"
run 0 -n 2 --processes 2 --report-bindings ./private
[ "$(grep -c 'in process' <<<"$err")" = 2 ] || die "$err"
for options in "--rankfile ranks" "--map-by ppr:1:socket"; do
    # shellcheck disable=SC2086 # several words
    run 1 -n 3 --processes 2 $options ./private
    says "$err" "is for jobs in one process"
done
"$XYLEM" place "$XYLEM_SOURCE_DIR/tests/data/place/treematch8.mat" -m 'pack:2 core:4' -s packed -o rankfile >placed
mapped "0 1 2 3 4 5 6 7" -n 8 --rankfile placed

# Processes that are no ranks are not bound, and a warning says so.
for options in "--cpu-set 0" "--rankfile placed" "--map-by core" "--bind-to core" "--cores 0" "--place packed"; do
    # shellcheck disable=SC2086 # several words
    run 0 -n 2 $options true
    says "$err" "$options does not bind '"
    [ "$(wc -l <<<"$err")" = 1 ] || die "one line: $err"
done
run 0 -n 2 -bind-to none true
quiet

# The launchers of Open MPI and MPICH bind ranks to the same cores, and refuse the same.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cores=$(taskset -cp $$ | sed 's/.*: //')
# bound NAME LAUNCHER ARGUMENT...: the cores of each rank, or "refused".
bound() {
    rm -f "$1".[0-9]
    if timeout 100 "${@:2}" "./cores.$1" "$1" </dev/null >"$1.out" 2>&1; then
        grep . "$1".[0-9] | sed 's/^[^.]*\.//'
    else
        echo refused
    fi
}
# alike NAME LAUNCHER ARGUMENT...: the same here.
alike() {
    local theirs ours
    theirs=$(bound "$@")
    ours=$(bound xylem "$bin/mpiexec" -q "${@:3}")
    [ "$ours" = "$theirs" ] || die "${*:2}: $theirs, here $ours: $(cat "$1.out" xylem.out)"
}
# Two cores of one hardware thread each, counted as the kernel numbers them.
threads=$(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list 2>/dev/null)
if [[ ($cores = 0-* || $cores = 0,1*) && $threads = 0 ]]; then
    "$bin/mpicc" "$sources/cores.c" -o cores.xylem
    printf 'rank 0=%s slot=1\nrank 1=%s slot=0\n' "$(hostname)" "$(hostname)" >both
    head -n 1 both >one
    sed 's/rank 1/rank 0/' both >twice
    if command -v mpicc.openmpi >/dev/null && command -v mpiexec.openmpi >/dev/null; then
        mpicc.openmpi "$sources/cores.c" -o cores.openmpi
        alike openmpi mpiexec.openmpi -n 2
        alike openmpi mpiexec.openmpi -n 2 --cpu-set 1
        alike openmpi mpiexec.openmpi -n 2 --cpu-set 4000
        alike openmpi mpiexec.openmpi -n 2 --bind-to cpu-list:ordered --cpu-list 1,0
        alike openmpi mpiexec.openmpi -n 2 --bind-to core --map-by core
        alike openmpi mpiexec.openmpi -n 2 --map-by rack
        alike openmpi mpiexec.openmpi -n 2 --rankfile both
        alike openmpi mpiexec.openmpi -n 2 --rankfile one
        alike openmpi mpiexec.openmpi -n 1 --rankfile twice
    fi
    if command -v mpicc.mpich >/dev/null && command -v mpiexec.hydra >/dev/null; then
        mpicc.mpich "$sources/cores.c" -o cores.mpich
        alike mpich mpiexec.hydra -n 2 -bind-to core
        alike mpich mpiexec.hydra -n 2 -bind-to rr
        alike mpich mpiexec.hydra -n 2 -bind-to hwthread -map-by core
        alike mpich mpiexec.hydra -n 2 -bind-to user:1,0
        alike mpich mpiexec.hydra -n 2 -bind-to desk
        alike mpich mpiexec.hydra -n 2 -bind-to core -map-by desk
    fi
fi
