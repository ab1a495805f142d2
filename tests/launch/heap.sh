# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The heap grows in large steps, gives memory back, and leaves the user's settings alone.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build heap
build many

# System calls are counted, not timed; those of the start are in both counts. Both workers allocate 128 MiB in pieces of 4 KiB; without the
# settings the second one alone makes 32768 calls.
if command -v strace >/dev/null && strace -f -o trace true 2>/dev/null; then
    expect 0 timeout 240 strace -f -o trace -e trace=mmap,mprotect,brk "$bin/mpiexec" -n 2 ./heap grow 0
    before=$(grep -c -E '(mmap|mprotect|brk)\(' trace)
    expect 0 timeout 240 strace -f -o trace -e trace=mmap,mprotect,brk "$bin/mpiexec" -n 2 ./heap grow 128
    after=$(grep -c -E '(mmap|mprotect|brk)\(' trace)
    per_gib=$((4 * (after - before)))
    echo "$per_gib calls per GiB"
    [ "$per_gib" -le 1000 ] || die "$per_gib calls of mmap, mprotect and brk per GiB"

    # Heaps that are open and were never touched are no memory to return: the heap of the first worker only grows.
    expect 0 timeout 240 strace -f -o trace -e trace=brk "$bin/mpiexec" -n 2 ./heap open
    ends=$(grep -o '= 0x[0-9a-f]*$' trace)
    [ "$ends" = "$(sort <<<"$ends")" ] || die "the heap was returned though nothing was in it"
else
    echo "without strace: calls are not counted"
fi

# good COMMAND...: it succeeds and is quiet.
good() {
    expect 0 timeout 240 "$@"
    quiet
}
good "$bin/mpiexec" -n 2 ./heap open
[ "$out" -ge 60 ] || die "a heap of $out MiB: it will grow page by page"

# The user's settings win.
for setting in MALLOC_TOP_PAD_=65536 MALLOC_TRIM_THRESHOLD_=1048576 MALLOC_MMAP_THRESHOLD_=1048576 \
    MALLOC_MMAP_MAX_=100 GLIBC_TUNABLES=glibc.malloc.top_pad=65536 \
    GLIBC_TUNABLES=glibc.malloc.check=0:glibc.malloc.mmap_threshold=1048576; do
    good env "$setting" "$bin/mpiexec" -n 2 ./heap open
    [ "$out" -le 1 ] || die "a heap of $out MiB with $setting"
done
good "$bin/mpiexec" -n 2 ./heap mallopt
[ "$out" -le 1 ] || die "a heap of $out MiB after mallopt"

"$bin/mpicc" -shared -fPIC -fno-builtin "$sources/own_malloc.c" -o libown_malloc.so
good env LD_PRELOAD="$PWD/libown_malloc.so" "$bin/mpiexec" -n 2 ./heap open
[ "$out" -le 1 ] || die "a heap of $out MiB with another malloc"

# Under a limit on address space, each MiB counts.
good bash -c "ulimit -v 8000000; exec '$bin/mpiexec' -n 2 ./heap open"
[ "$out" -le 1 ] || die "a heap of $out MiB under ulimit -v"

# What ranks free is returned though some pieces stay: their own, and others'.
# (Less than 32 MiB and an eighth of what was in use then may stay.)
for what in return cross; do
    for ranks in 2 5; do
        good "$bin/mpiexec" -n "$ranks" ./heap "$what" $((1000 / ranks))
        [ "$out" = returned ] || die "$what of $ranks ranks: the memory is $out"
    done
done
# ... unless the user has set otherwise.
good env MALLOC_TRIM_THRESHOLD_=1000000000 MALLOC_TOP_PAD_=67108864 "$bin/mpiexec" -n 2 ./heap keep 200
[ "$out" = kept ] || die "the memory is $out though the user keeps it"

# Not while another rank runs: it may use what it has just freed, as some programs do.
good "$bin/mpiexec" -n 2 ./heap freed 200
[ "$out" = whole ] || die "memory that a running rank has freed is $out"

# A worker that is to look again is not taken for one that can wake others.
run 1 -n 2 ./heap stuck 200
says "$err" "deadlock"

# Address space is not memory.
run 0 -n 1000 ./many
read -r _ kib <<<"$out"
echo "1000 idle ranks: $kib KiB"
[ "$kib" -le $((36 << 10)) ] || die "1000 idle ranks take $kib KiB"
