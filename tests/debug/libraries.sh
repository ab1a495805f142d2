# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2016,SC2119
# Private libraries, what they need and plug-ins, as gdb, valgrind and the address sanitizer see
# them: a program with twelve libraries runs as without, and lines of library code are named.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
. "$XYLEM_SOURCE_DIR/tests/launch/dozen_lib.sh"
unset ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS

# line TEXT: the line of the libraries' source with this text.
line() {
    grep -n -m1 -F "$1" "$sources/dozen_library.c" | cut -d: -f1
}

build_dozen
if command -v gdb >/dev/null && gdb -q -batch -ex run true 2>&1 | grep -q "exited normally"; then
    add=$(line 'counts[1999] += rank_number;')
    plugin=$(line 'own += rank;')
    out=$(timeout 240 gdb -q -nx -batch -ex 'set breakpoint pending on' \
        -ex "break dozen_library.c:$add if rank_number == 2" -ex run -ex 'p rank_number' -ex bt -ex delete \
        -ex "break dozen_library.c:$plugin if rank == 1" -ex continue -ex 'p mine' -ex bt -ex delete -ex continue \
        --args "$bin/mpiexec" --workers 1 -n 3 ./dozen plug-ins 2>&1) || die "gdb failed: $out"
    says "$out" "rank_set () at"
    says "$out" '$1 = 2'
    says "$out" "plugin_check (rank=1, call=1) at"
    says "$out" '$2 = 12'
    says "$out" "main (argc="
    says "$out" "0 wrong"
    says "$out" "exited normally"
else
    echo "left out: gdb cannot be used here"
fi

if command -v valgrind >/dev/null; then
    expect 0 timeout 600 valgrind --suppressions="$XYLEM_SOURCE_DIR/tools/valgrind/xylem.supp" \
        "$bin/mpiexec" -n 3 ./dozen plug-ins
    [ "$out" = "0 wrong" ] || die "$out"
    says "$err" "ERROR SUMMARY: 0 errors"
else
    echo "left out: valgrind is not installed"
fi

if build_dozen -fsanitize=address 2>/dev/null; then
    ASAN_OPTIONS=detect_leaks=0 run 0 -n 20 ./dozen plug-ins
    quiet
    [ "$out" = "0 wrong" ] || die "$out"
else
    echo "left out: the compiler has no address sanitizer"
fi
