# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# xylem choose: what it prints, stores and refuses.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
unset XYLEM_HISTORY XYLEM_COSTS
costs=$XYLEM_SOURCE_DIR/tests/data/cost/costs.xml

cat >sort.problem <<'END'
problem sort
parameter n
parameter p = 8
let compare = 5e-9
let alpha = 20e-6
alternative gather formula n*log2(n)*compare + 8e-9*n
alternative sample formula n/p*log2(n/p)*compare + p*alpha
alternative never formula 1e-9
when never p == 7
END

# By predictions alone; the slower one wins where it is small.
expect 0 "$XYLEM" choose sort.problem --set n=100
[ "$out" = gather ] || die "$out"
expect 0 "$XYLEM" choose sort.problem --set n=1e6
[ "$out" = sample ] || die "$out"
expect 0 "$XYLEM" choose sort.problem --set n=1e6 --set p=7
[ "$out" = never ] || die "$out"
expect 0 "$XYLEM" choose sort.problem --set n=1e6 --explain
says "$out" "* sample"
says "$out" "n/p*log2(n/p)*compare: 10.6 ms; p*alpha: 160 us"
says "$out" "never   not for these parameters: p == 7"
says "$out" "100 % sure that sample is the best"
expect 0 "$XYLEM" choose sort.problem --set n=1e6 --json
says "$out" '"chosen": "sample"'
[ ! -e .cache/xylem/history ] || die "a choice alone was stored"

# Real times correct what comes later, near and on this host.
expect 0 "$XYLEM" choose sort.problem --set n=5e4 --explain
says "$out" "* sample"
expect 0 "$XYLEM" choose sort.problem --set n=5e4 --ran sample=40ms
expect 0 "$XYLEM" choose sort.problem --set n=5e4 --ran gather=4ms
expect 0 "$XYLEM" choose sort.problem --set n=6e4
[ "$out" = gather ] || die "a correction has no effect: $out"
expect 0 "$XYLEM" choose sort.problem --set n=6e4 --no-history
[ "$out" = sample ] || die "$out"
expect 0 "$XYLEM" choose sort.problem --set n=6e4 --host elsewhere
[ "$out" = sample ] || die "$out"
expect 0 "$XYLEM" choose --history show
says "$out" "n=50000,p=8  sample: 40 ms"
expect 0 "$XYLEM" choose --history export sort
[ "$(printf '%s\n' "$out" | wc -l)" = 2 ] || die "$out"
printf '%s\n' "$out" >exported
expect 0 "$XYLEM" choose --history clear
expect 0 "$XYLEM" choose --history show
[ "$out" = "" ] || die "$out"
expect 0 "$XYLEM" choose --history import exported
says "$out" "2 runs added"
expect 0 "$XYLEM" choose sort.problem --set n=6e4
[ "$out" = gather ] || die "$out"
echo nonsense >>.cache/xylem/history
expect 0 "$XYLEM" choose sort.problem --set n=6e4
[ "$out" = gather ] || die "$out"
one_line "$err"
says "$err" "history:3: not a line of a history; 1 such line is left out"
expect 1 "$XYLEM" choose --history import .cache/xylem/history
one_line "$err"

expect 0 "$XYLEM" choose --history clear

# Models of kernels and messages, and nodes of other speeds.
cat >kernels.problem <<'END'
parameter n = 1000
node fast factor=1
node slow factor=2
independent
alternative whole formula factor*dgemm(n) + message(8*n*n)
alternative half formula 2*dgemm(n/2) + 2*message(2*n*n) + 0.03
END
if [ "$("$XYLEM" choose kernels.problem --costs "$costs" 2>&1)" = whole ]; then
    die "the slower node does not count"
fi
expect 0 "$XYLEM" choose kernels.problem --costs "$costs" --explain
says "$out" "node slow: half"
expect 1 "$XYLEM" choose kernels.problem
one_line "$err"
says "$err" "run 'xylem calibrate' or give --costs FILE"

# Measured tables, and simulations whose answers are kept.
printf 'alternative,n,seconds\na,100,1\na,1000,10\nb,100,2\nb,1000,5\n' >times.csv
printf 'parameter n\nalternative a table times.csv\nalternative b table times.csv\n' >table.problem
expect 0 "$XYLEM" choose table.problem --map n=100..1000+150
says "$out" "100,a"
says "$out" "1000,b"
cat >stencil.problem <<'END'
parameter blocks = 40
alternative dmdar stencil --blocks {blocks} --iterations 5 --memory 24MiB --policy dmdar
alternative eager stencil --blocks {blocks} --iterations 5 --memory 24MiB --policy eager
END
expect 0 "$XYLEM" choose stencil.problem --json
says "$out" '"cached": 0'
first=$(printf '%s\n' "$out" | grep predicted)
expect 0 "$XYLEM" choose stencil.problem --json
says "$out" '"cached": 2'
[ "$first" = "$(printf '%s\n' "$out" | grep predicted)" ] || die "what was kept is another time"
expect 0 "$XYLEM" choose stencil.problem --json --no-cache
says "$out" '"cached": 0'
[ "$first" = "$(printf '%s\n' "$out" | grep predicted)" ] || die "what was kept is another time"
if ! "$XYLEM" predict "$XYLEM_SOURCE_DIR/tests/predict/ring.xml" 2>&1 | grep -q 'built without'; then
    ring="predict $XYLEM_SOURCE_DIR/tests/predict/ring.xml -n {p} -m haswell8x32 --arg 5"
    printf 'parameter p = 8\nalternative slow %s --loop-cost 3us\nalternative fast %s --loop-cost 1us\n' \
        "$ring" "$ring" >ring.problem
    expect 0 "$XYLEM" choose ring.problem --explain
    says "$out" "* fast  "
    says "$out" "% computing"
fi

# Programs and functions of the user predict and run; what ran is stored.
cat >own.sh <<'END'
#!/bin/sh
case $1 in
predict) echo "${2}ms" ;;
run) echo "ran $2" ;;
words) echo soon ;;
*) exit 3 ;;
esac
END
chmod +x own.sh
cat >own.problem <<'END'
parameter n
alternative first program ./own.sh predict {2*n}
alternative second program ./own.sh predict {n}
run second program ./own.sh run {n + 1}
END
expect 0 "$XYLEM" choose own.problem --set n=20
[ "$out" = second ] || die "$out"
expect 0 "$XYLEM" choose own.problem --set n=20 --run
[ "$out" = "ran 21" ] || die "$out"
says "$err" "second ran in "
expect 0 "$XYLEM" choose --history show own
says "$out" "n=20  second: "
expect 0 "$XYLEM" choose --history clear own
answers() {
    local status=$1 want=$2
    printf 'parameter n = 1\nalternative a %s\n%s\n' "$3" "${4-}" >own2.problem
    expect "$status" "$XYLEM" choose own2.problem ${5+"$5"}
    one_line "$err"
    says "$err" "$want"
}
answers 1 "'./own.sh' printed 'soon'" "program ./own.sh words"
answers 1 "'./own.sh' ended with exit code 3" "program ./own.sh fail"
answers 1 "cannot run './missing'" "program ./missing"
answers 1 "answered 0 seconds" "program ./own.sh predict 0"
answers 1 "cannot load the shared object" "plugin missing.so seconds {n}"
answers 1 "write 'plugin FILE FUNCTION NUMBER...'" "plugin missing.so"
answers 2 "nothing says how to run a" "formula 1" "" --run
answers 1 "ended with exit code 3" "formula 1" "run a program ./own.sh fail" --run
answers 1 "write 'run NAME program WORD...'" "formula 1" "run a magic x"
answers 1 "no alternative of this name above" "formula 1" "run b program x"

# A map, drawn.
expect 0 "$XYLEM" choose sort.problem --map n=10..1e6*10 --map p=2,7 --svg map.svg
says "$out" "10,2,gather"
says "$out" "1000000,7,never"
grep -q '</svg>' map.svg || die "no picture"

# What is wrong.
wrong() {
    local want=$1
    shift
    expect 2 "$XYLEM" choose "$@"
    one_line "$err"
    says "$err" "$want"
}
wrong "give it with --set n=NUMBER" sort.problem
wrong "has no parameter 'm'" sort.problem --set n=1 --set m=1
wrong "write NAME=NUMBER" sort.problem --set n
wrong "is not a number" sort.problem --set n=x
wrong "no alternative 'heap'" sort.problem --set n=1 --reference heap
wrong "no alternative 'heap'" sort.problem --set n=1 --ran heap=1s
wrong "write NAME=TIME" sort.problem --set n=1 --ran gather
wrong "missing argument PROBLEM"
wrong "option --svg has no effect without --map" sort.problem --set n=1 --svg x.svg
wrong "--run runs one alternative" sort.problem --set n=1 --run --json
wrong "write NAME=VALUES" sort.problem --map n
expect 1 "$XYLEM" choose missing.problem
one_line "$err"
