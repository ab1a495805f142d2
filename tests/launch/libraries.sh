# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2054
# Shared libraries of the program: private by default, shared where the table says so, where there is
# nothing to share, and where the user asks for it.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

cc -shared -fPIC -Wl,-soname,libown.so.1 "$sources/own.c" -o libown.so.1
ln -sf libown.so.1 libown.so
cc -shared -fPIC "$sources/callback.c" -o libcallback.so
cc -shared -fPIC -x c - -o libouter.so -L. -lown <<<'int own_count(void); int outer(void) { return own_count(); }'
here=(-L. -Wl,-rpath,"\$ORIGIN")
private=$'0 calls 0\n1 calls 0\n2 calls 0'
shared=$'0 calls 1\n1 calls 1\n2 calls 1'
build libraries "${here[@]}" -lown
run 0 -n 3 ./libraries
quiet
same "$out" "$private"
for list in own libown.so.1 libown.so ./libown.so; do
    run 0 -n 3 --share $list ./libraries
    quiet
    same "$out" "$shared"
    run 0 -n 3 --privatize $list ./libraries
    quiet
    same "$out" "$private"
done
run 0 -n 3 --share-globals ./libraries
quiet
same "$out" "$shared"

# What a shared library needs is shared as well: here libown.so, through libouter.so.
build libraries "${here[@]}" -Wl,--no-as-needed -louter -lown
run 0 -n 3 -v --share outer ./libraries
same "$out" "$shared"
says "$err" "shared library '$PWD/libown.so.1': it is needed by a shared library, 'libouter.so'"
run 2 -n 3 --share outer --privatize own ./libraries
says "$err" "--share libouter.so: it uses 'own_count' of 'libown.so.1', which is private to each rank"

# Names that are not there, or cannot be honoured.
run 0 -n 3 --privatize own,other --share third ./libraries
same "$out" "$private"
says "$err" "mpiexec: --privatize other: './libraries' is not linked with such a library"
says "$err" "mpiexec: --share third: './libraries' is not linked with such a library"
[ "$(wc -l <<<"$err")" = 2 ] || die "$err"
run 0 -q -n 3 --privatize other ./libraries
quiet
run 2 -n 3 --privatize c ./libraries
says "$err" "--privatize libc.so.6: it must be shared: the C library"
run 2 -n 3 --privatize own --share own ./libraries
says "$err" "libown.so.1 is in the lists of both --share and --privatize"
run 2 -n 3 --share-globals --share own ./libraries
says "$err" "leave --privatize and --share out"

# A library without variables is shared; with addresses of something private it is not.
cc -shared -fPIC -nostartfiles -x c - -o libconstant.so <<<'int constant(int n) { return n + 1; }'
cc -shared -fPIC -nostartfiles -x c - -o libone.so <<<'char one; int variable(int n) { return one += n; }'
cc -shared -fPIC -nostartfiles -x c - -o libinitial.so <<<'int one = 5; int initial(int n) { return one += n; }'
build libraries "${here[@]}" -Wl,--no-as-needed -lown -lconstant -lone -linitial
run 0 -n 3 -v ./libraries
says "$err" "shared library '$PWD/libconstant.so': it has no variables"
says "$err" "private library '$PWD/libone.so': it has variables"
says "$err" "private library '$PWD/libinitial.so': it has variables"
run 0 -n 3 -v --privatize constant ./libraries
says "$err" "private library '$PWD/libconstant.so': --privatize"

# Variables of the library that the program uses. It may have copies of them that the library uses as well,
# as on x86_64 by default.
level=$'0 level 3 3 3\n1 level 4 4 4\n2 level 5 5 5'
build libraries -DLEVEL "${here[@]}" -lown
run 0 -n 3 ./libraries
quiet
same "$out" "$level"
if XYLEM_CC=clang build libraries -DLEVEL -fPIE -pie -fdirect-access-external-data -fuse-ld=lld "${here[@]}" -lown \
    2>/dev/null; then
    [ "$(readelf -rW libraries | grep -c '_COPY .*own_')" = 2 ] || die "the program has no copies"
    run 0 -n 3 ./libraries
    quiet
    same "$out" "$level"
    run 2 -n 3 --share own ./libraries
    says "$err" "--share libown.so.1: it uses 'own_"
    says "$err" "of 'libraries', which is private to each rank"
else
    echo "left out: clang and lld, which can be asked for copies, are not installed"
fi

build libraries -DCALLBACK "${here[@]}" -lown -lcallback -rdynamic
run 0 -n 3 -v ./libraries
same "$out" $'0 value 100\n1 value 101\n2 value 102'
says "$err" "private library '$PWD/libcallback.so': it has variables"
run 2 -n 3 --share callback ./libraries
says "$err" "--share libcallback.so: it uses 'program_value' of 'libraries', which is private to each rank"

rm libcallback.so
run 1 -n 3 ./libraries
says "$err" "cannot load the library 'libcallback.so'"
