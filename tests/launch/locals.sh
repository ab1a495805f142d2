# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2054
# Thread-local variables: of the program, of shared and of private libraries, in every way that
# compilers address them, in ranks of several workers and in their threads.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

right=$(for r in 0 1 2 3 4; do echo "$r: 0 wrong"; done)
here=(-L. -Wl,-rpath,"\$ORIGIN" -llocals)
number=0
# in_ways WHAT WAY...: five ranks and one, started in each way (a sample: every second), find all variables right.
in_ways() {
    local what=$1 how
    shift
    for how in "$@"; do
        number=$((number + 1))
        is_chosen $number 2 || continue
        # shellcheck disable=SC2086
        run 0 --workers 2 $how -n 5 ./locals
        quiet
        same "$out" "$right"
        # shellcheck disable=SC2086
        run 0 $how -n 1 ./locals
        [ "$out$err" = "0: 0 wrong" ] || die "$what: one rank $how: $out$err"
    done
}

dialects=(-ftls-model=global-dynamic -ftls-model=initial-exec)
case $(uname -m) in
x86_64) dialects+=(-mtls-dialect=gnu -mtls-dialect=gnu2) ;;
aarch64) dialects+=(-mtls-dialect=trad -mtls-dialect=desc) ;;
esac
for dialect in "${dialects[@]}"; do
    cc -O1 -shared -fPIC "$dialect" "$sources/locals_library.c" -o liblocals.so
    build locals "${here[@]}"
    in_ways "$dialect" "" "--privatize locals" --share-globals
done
for how in -DEXTERN "-DEXTERN -fPIC" -fPIC -O0 -DALIGNED=64 -DALIGNED=4096 -DALIGNED=16384 -DLARGE=200000 "-DLARGE=100000 -DEXTERN"; do
    # shellcheck disable=SC2086
    build locals $how "${here[@]}"
    in_ways "$how" "" "--privatize locals"
done

# A library that names a variable of another: both shared, either private, both private.
for dialect in "${dialects[@]}"; do
    cc -shared -fPIC "$dialect" -DOWNER "$sources/pair.c" -o libowner.so
    cc -shared -fPIC "$dialect" -DUSER "$sources/pair.c" -o libuser.so -L. -lowner -Wl,-rpath,"\$ORIGIN"
    build pair -L. -luser -lowner -Wl,-rpath,"\$ORIGIN"
    for how in "" "--privatize user" "--privatize owner" "--privatize owner,user"; do
        # shellcheck disable=SC2086
        run 0 --workers 2 $how -n 4 ./pair
        quiet
        same "$out" $'0 5 same\n1 6 same\n2 7 same\n3 8 same'
    done
done

# Pages of zeros: those that nobody uses are not copied when ranks change, all others are.
build locals_zeros
run 0 --workers 1 -n 5 ./locals_zeros untouched
same "$out" "0 pages are there"
cp locals_zeros other
for ranks in "-n 7 ./locals_zeros random 1" "--workers 1 -n 5 ./locals_zeros random 2" "-n 4 --processes 2 ./locals_zeros random 3" \
    "-n 3 ./locals_zeros random 4 : -n 3 ./other random 5" "-n 4 ./locals_zeros threads 6" "--workers 1 -n 3 ./locals_zeros threads 7"; do
    # shellcheck disable=SC2086
    run 0 $ranks
    same "$out$err" "all is there"
done

# Those of the C++ library: std::call_once, std::promise, std::async.
build once -pthread
run 0 --workers 2 -n 4 ./once
quiet
same "$out" $'0 1 0 0 0\n1 2 1 2 3\n2 3 2 4 6\n3 4 3 6 9'
