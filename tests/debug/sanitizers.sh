# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Programs compiled with -fsanitize=address,undefined: run as many ranks, and their mistakes are
# found with line and rank; the thread sanitizer is refused.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
sources=$XYLEM_SOURCE_DIR/tests/debug
unset ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS

# line TEXT: the line of the program with this remark.
line() {
    grep -n "/\* $1 \*/" "$sources/sanitized.c" | cut -d: -f1
}

build sanitized -O0 -fsanitize=address,undefined || {
    echo "left out: the compiler has no address sanitizer"
    exit 77
}
# Where looking for leaks takes seconds in every program (scripts/test.sh), those that are not about leaks do not.
quick=
[ "$(uname -m)" != aarch64 ] || quick=detect_leaks=0:
export ASAN_OPTIONS=$quick
for n in 1 4 100; do
    run 0 -n "$n" ./sanitized
    quiet
    [ "$(wc -l <<<"$out")" = "$n" ] || die "$out"
done
run 0 -n 4 ./sanitized exit
quiet
ASAN_OPTIONS=${quick}detect_stack_use_after_return=1 run 0 -n 4 ./sanitized
quiet

number=0
for what in heap stack global freed null; do
    number=$((number + 1))
    [ $what = heap ] || is_chosen $number 2 || continue
    run 1 -n 3 ./sanitized $what
    says "$err" "ERROR: AddressSanitizer"
    [[ $err =~ "#0 "[^$'\n']*" in blunder "[^$'\n']*"sanitized.c:$(line $what)" ]] || die "$what: $err"
    says "$err" "mpiexec: rank 1: the sanitizer has found an error, and ends the job"
    [ "$(wc -l <<<"$out")" = 3 ] || die "output was lost: $out"
done
run 0 -n 3 ./sanitized undefined
says "$err" "sanitized.c:$(line undefined)"
says "$err" "signed integer overflow"

# One leak per rank, each with its line; what globals of a rank refer to is none.
ASAN_OPTIONS="" run 1 -n 3 ./sanitized leak
[ "$(grep -c "in lose .*sanitized.c:" <<<"$err")" = 3 ] || die "$err"
says "$err" "51 byte(s) leaked in 3 allocation(s)"

# C++: exceptions leave frames of the right stack.
build thrown -O0 -fsanitize=address,undefined
run 0 -n 8 ./thrown
quiet
[ -z "$out" ] || die "$out"

if build sanitized -O0 -fsanitize=thread 2>/dev/null; then
    run 1 -n 2 ./sanitized
    says "$err" "compiled with -fsanitize=thread, which watches threads, but ranks are none"
    [[ $err != *$'\n'* ]] || die "more than one line: $err"
fi

if build sanitized -O0 -fsanitize=leak 2>/dev/null; then
    run 1 -n 2 ./sanitized
    says "$err" "-fsanitize=address finds leaks, too"
fi

# clang links its runtime into the program, unless it is asked not to.
if is_chosen 1 2 && command -v clang >/dev/null && XYLEM_CC=clang build sanitized -O0 -fsanitize=address 2>/dev/null; then
    run 1 -n 2 ./sanitized
    says "$err" "-shared-libasan"
    directory=$(dirname "$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")")
    if [ "$directory" != . ] && XYLEM_CC=clang build sanitized -O0 -fsanitize=address -shared-libasan \
        "-Wl,-rpath,$directory" 2>/dev/null; then
        run 0 -n 4 ./sanitized
        quiet
        run 1 -n 3 ./sanitized heap
        says "$err" "ERROR: AddressSanitizer: heap-buffer-overflow"
    fi
fi
