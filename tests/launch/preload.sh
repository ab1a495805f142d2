# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2054
# Libraries in front of MPI and of the C library: preloaded before mpiexec, with -x, or linked.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

here=(-L. -Wl,-rpath,"\$ORIGIN" -Wl,--no-as-needed)

# three_ways NAME WANT [ARGUMENT]: with libNAME.so in each of the three ways four ranks print WANT.
three_ways() {
    local name=$1 want=$2
    shift 2
    build preloaded
    expect 0 env LD_PRELOAD="./lib$name.so" timeout 240 "$bin/mpiexec" --workers 2 -n 4 ./preloaded "$@"
    quiet
    same "$out" "$want"
    run 0 --workers 2 -n 4 -x LD_PRELOAD="./lib$name.so" ./preloaded "$@"
    quiet
    same "$out" "$want"
    mkdir -p elsewhere
    run 0 --workers 2 -n 4 -wdir elsewhere -x LD_PRELOAD="./lib$name.so" ../preloaded "$@"
    quiet
    same "$out" "$want"
    build preloaded "${here[@]}" "-l$name"
    run 0 --workers 2 -n 4 ./preloaded "$@"
    quiet
    same "$out" "${want//.\/lib$name.so/}"
    run 0 --share-globals --workers 2 -n 4 ./preloaded "$@"
    quiet
}

# A tool in the way of PMPI: each rank has its own.
for how in -DPMPI -DNEXT; do
    "$bin/mpicc" -shared -fPIC $how "$sources/tool.c" -o libtool.so
    three_ways tool "$(for r in 0 1 2 3; do echo "rank $r sent $r"; done)"
done

# A function of the C library; behind it is still the rank's.
cc -shared -fPIC "$sources/interposer.c" -o libinterposer.so
three_ways interposer "$(for r in 0 1 2 3; do echo "$r is the interposer, preloads './libinterposer.so'"; done)" x

# An allocator: the C library's own allocations go to it, too, and its caches belong to threads.
cc -O1 -shared -fPIC -fno-builtin -ftls-model=initial-exec "$sources/allocator.c" -o liballocator.so
three_ways allocator "$(for r in 0 1 2 3; do echo "rank $r: 0 caches too many"; done)"

# The same allocator as a part of the program: what the C library gives away comes from it.
build preloaded -fno-builtin "$sources/allocator.c"
run 0 --workers 2 -n 4 ./preloaded
quiet
same "$out" "$(for r in 0 1 2 3; do echo "rank $r: 0 caches too many"; done)"
run 0 --share-globals --workers 2 -n 4 ./preloaded
quiet

# A library with malloc and without free: it is no allocator, and its variables are the rank's.
cc -O1 -shared -fPIC -fno-builtin "$sources/filling.c" -o libfilling.so
build preloaded -fno-builtin "${here[@]}" -lfilling
run 0 --workers 2 -n 4 ./preloaded
quiet
same "$out" "$(for r in 0 1 2 3; do echo "rank $r: filled with 'f' for rank $r"; done)"

# Functions of the C library in which ranks give way, called while MPI looks for work.
cc -shared -fPIC "$sources/yielder.c" -o libyielder.so
"$bin/mpicc" "$XYLEM_SOURCE_DIR/tests/mpi/polling.c" -o polling
for way in sched_yield nanosleep iprobe; do
    run 0 -n 24 --comm-cores 1 --split auto -x LD_PRELOAD=./libyielder.so ./polling $way
    quiet
done

# Real ones, where they are installed.
build preloaded
for real in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
    ldconfig -p 2>/dev/null | grep -q "$real" || continue
    run 0 --workers 2 -n 4 -x LD_PRELOAD=$real ./preloaded
    [ -z "$out$err" ] || die "$real: $out$err"
done

# One process has one list.
run 1 -n 1 -x LD_PRELOAD=./liballocator.so ./preloaded : -n 1 -x LD_PRELOAD= ./preloaded
says "$err" "which has one list of preloaded libraries"
