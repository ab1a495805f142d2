# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2016
# gdb sees the code and the variables of every rank: alone, attached, in a core file, and with the
# commands of `xylem gdb`.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
sources=$XYLEM_SOURCE_DIR/tests/debug

command -v gdb >/dev/null || {
    echo "left out: gdb is not installed"
    exit 77
}
gdb -q -batch -ex run true 2>&1 | grep -q "exited normally" || {
    echo "left out: gdb cannot start processes here"
    exit 77
}
[ "$(gdb -q -batch -ex 'python print(int(gdb.VERSION.split(".")[0]) >= 13)')" = True ] || {
    echo "left out: gdb is older than 13"
    exit 77
}
minor=$(ldd --version | sed -n '1s/.* 2\.//p')
[ "${minor%%.*}" -ge 35 ] || {
    echo "left out: the C library is older than 2.35"
    exit 77
}

# line TEXT: the line of the program with this remark.
line() {
    grep -n "/\* $1 \*/" "$sources/debugged.c" | cut -d: -f1
}

# gdb_run COMMAND... -- ARGUMENT...: gdb on mpiexec with these commands; all it printed is in $out.
gdb_run() {
    local commands=()
    while [ "$1" != -- ]; do
        commands+=(-ex "$1")
        shift
    done
    shift
    out=$(timeout 240 gdb -q -nx -batch -ex 'set breakpoint pending on' "${commands[@]}" \
        --args "$bin/mpiexec" "$@" 2>&1) || die "gdb failed: $out"
}

# lines PATTERN: how many lines of $out match.
lines() {
    grep -c -- "$1" <<<"$out" || true
}

build debugged -O0
add=$(line "has the sum")

# Stock gdb: a breakpoint in all ranks, its lines, locals, and variables of that rank.
gdb_run "break debugged.c:$add if rank == 2" run 'p sum' 'p token' 'p counter' 'p squares' next \
    'p sum' 'info breakpoints' bt continue -- -n 4 ./debugged
says "$out" "hand_on (rank=2, size=4) at"
says "$out" '$1 = 100'
says "$out" '$2 = 200'
says "$out" '$3 = 3'
says "$out" '$4 = 4'
says "$out" '$5 = 300'
says "$out" "1.4 "
says "$out" "in main (argc=1"
says "$out" "sum 600"
says "$out" "exited normally"

# A breakpoint by the name of a function stops in every rank.
gdb_run 'break hand_on' run continue continue continue -- -n 3 ./debugged
[ "$(lines 'hit Breakpoint 1.*hand_on (rank=')" = 3 ] || die "$out"

# The ranks of a list alone; one that is not there is refused.
gdb_run 'break hand_on' run 'info breakpoints' continue -- -n 4 --debug-ranks 1,3 ./debugged
says "$out" "hand_on (rank="
[ "$(lines '^1\.[0-9] ')" = 2 ] || die "$out"
gdb_run 'break hand_on' run -- -n 2 --debug-ranks none ./debugged
says "$out" "exited normally"
[ "$(lines 'hit Breakpoint')" = 0 ] || die "$out"
run 1 -n 2 --debug-ranks 2 ./debugged
says "$err" "--debug-ranks: 2 in '2' is too large; there are 2, counted from 0"
run 0 -n 100 --debug-ranks all ./debugged
quiet

# xylem gdb: what ranks do, those that wait included.
debug() {
    local code=0
    out=$(timeout 240 "$XYLEM" gdb "$@" 2>&1) || code=$?
    [ "$code" = 0 ] || die "xylem gdb ended with $code: $out"
}
debug --batch --ex "break debugged.c:$add if \$_rank() == 2" --ex run --ex 'info ranks' \
    --ex 'rank apply all p counter' --ex 'rank 3' --ex 'p token' --ex 'p $_rank()' --ex bt \
    --ex 'rank 2' --ex next --ex 'p sum' --ex 'rank' --ex continue --ex run --ex 'rank 3' \
    --ex continue -n 4 --workers 1 ./debugged
says "$out" "* 2    running"
[[ $out =~ 0\ +waiting\ +MPI_Barrier\ +main\ at\ .*:$(line meets) ]] || die "$out"
[[ $out =~ 3\ +waiting\ +MPI_Recv\ +hand_on\ at\ .*:$(line receives) ]] || die "$out"
for r in 0 1 2 3; do
    [[ $out =~ "Rank $r ("[^$'\n']*:$'\n$'$((r + 1))" = $((r + 1))" ]] || die "counter of rank $r: $out"
done
says "$out" "[Switching to rank 3 (waiting, MPI_Recv)]"
says "$out" "hand_on (rank=3, size=4) at"
says "$out" '$5 = 300'
says "$out" '$6 = 3'
says "$out" "PMPI_Recv ("
[[ $out != *"?? ()"* && $out != *" in  ()"* ]] || die "a frame without a function: $out"
says "$out" '$7 = 300' # of rank 2, after the addition
says "$out" "[Current rank is 2 (running)]"
[ "$(lines 'sum 600')" = 2 ] || die "$out"

# Before there are ranks, $_rank() is none of them: mpiexec has a main, too.
debug --batch --ex 'break main if $_rank() == 1' --ex run --ex 'info ranks' -n 2 --workers 1 ./debugged
[[ $out =~ 1\ +running\ +before\ MPI_Init\ main\ at ]] || die "$out"

# A rank that waits is not stepped; wrong words are refused.
out=$(timeout 240 "$XYLEM" gdb --batch --ex "break debugged.c:$add if rank == 1" --ex run --ex 'rank 2' \
    --ex next -n 3 --workers 1 ./debugged 2>&1) && die "stepped: $out"
says "$out" "Rank 2 waits: it cannot be stepped."
number=0
for wrong in "rank 9" "rank x" "rank 0-1" "rank apply 0" "info ranks 7"; do
    number=$((number + 1))
    is_chosen $number 3 || continue
    out=$(timeout 240 "$XYLEM" gdb --batch --ex 'break hand_on' --ex run --ex "$wrong" -n 2 ./debugged 2>&1) &&
        die "accepted '$wrong': $out"
    [[ $out != *Traceback* ]] || die "$out"
done
out=$("$XYLEM" gdb --batch --ex 'info ranks' -n 2 ./debugged 2>&1) && die "$out"
says "$out" "No ranks"

# Attached.
command timeout "$(testing_limit 240)" "$bin/mpiexec" -n 3 --workers 1 ./debugged hang >hang.out & # not in a subshell
job=$!
until grep -q hangs hang.out; do sleep 0.1; done
pid=$(pgrep -P $job -x mpiexec)
debug --batch --ex 'info ranks' --ex 'rank apply all p counter' --ex 'rank 0' \
    --ex 'set var is_released = 1' --ex detach -p "$pid"
[[ $out =~ 0\ +sleeping\ +main\ at\ .*:$(line sleeps) ]] || die "$out"
[[ $out =~ 2\ +waiting\ +MPI_Barrier\ +main\ at\ .*:$(line meets) ]] || die "$out"
for r in 0 1 2; do
    [[ $out =~ "Rank $r ("[^$'\n']*:$'\n$'$((r + 1))" = $((r + 1))" ]] || die "counter of rank $r: $out"
done
wait $job || die "the job did not go on"
says "$(cat hang.out)" "sum 300"

# A core file.
if [ "$(cat /proc/sys/kernel/core_pattern)" = core ] && ulimit -c unlimited 2>/dev/null; then
    run 134 -n 3 --workers 1 ./debugged abort
    core=$(ls core*)
    debug --batch --ex 'info ranks' --ex 'rank apply all p counter' --ex 'rank 2' --ex 'p sum' --core "$core"
    [[ $out =~ 2\ +running\ +main\ at ]] || die "$out"
    for r in 0 1 2; do
        [[ $out =~ "Rank $r ("[^$'\n']*:$'\n$'[0-9]+" = $((r + 1))" ]] || die "counter of rank $r: $out"
    done
    says "$out" '= 300'
else
    echo "core files go elsewhere: not tried"
fi
[ -z "$(find /tmp -maxdepth 1 -name 'xylem-gdb-*' -newer debugged)" ] || die "copies were left in /tmp"

# The command line of the verb.
expect 2 "$XYLEM" gdb -n 2
says "$err" "no program was given"
expect 2 "$XYLEM" gdb --no-such-option -n 2 ./debugged
says "$err" "unknown option '--no-such-option'"
expect 2 "$XYLEM" gdb -p 1 --core core
expect 1 "$XYLEM" gdb --core absent
one_line "$err"
expect 1 "$XYLEM" gdb --gdb absent-gdb -n 2 ./debugged
says "$err" "install gdb"
expect 0 "$XYLEM" gdb --script
[ -r "$out" ] || die "no script: $out"
