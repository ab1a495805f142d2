# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2054
# Shared libraries of the program: shared, private when listed, private by themselves when sharing
# would be wrong.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

cc -shared -fPIC -Wl,-soname,libown.so.1 "$sources/own.c" -o libown.so.1
ln -sf libown.so.1 libown.so
cc -shared -fPIC "$sources/callback.c" -o libcallback.so
cc -shared -fPIC -x c - -o libouter.so -L. -lown <<<'int own_count(void); int outer(void) { return own_count(); }'
here=(-L. -Wl,-rpath,"\$ORIGIN")
build libraries "${here[@]}" -lown
run 0 -n 3 ./libraries
quiet
same "$out" $'0 calls 1\n1 calls 1\n2 calls 1'
for list in own libown.so.1 libown.so ./libown.so m,own; do
    [ $list = m,own ] && continue
    run 0 -n 3 --privatize $list ./libraries
    quiet
    same "$out" $'0 calls 0\n1 calls 0\n2 calls 0'
done
run 2 -n 3 --privatize own,other ./libraries
says "$err" "--privatize other: './libraries' does not use such a library"

build libraries -DLEVEL "${here[@]}" -lown
run 0 -n 3 --privatize own ./libraries
same "$out" $'0 level 3 3\n1 level 4 4\n2 level 5 5'
if [ "$(uname -m)" = x86_64 ]; then # a copy relocation
    run 0 -n 3 ./libraries
    same "$out" $'0 level 3 3\n1 level 4 4\n2 level 5 5'
fi

build libraries -DCALLBACK "${here[@]}" -lown -lcallback -rdynamic
run 0 -n 3 -v ./libraries
same "$out" $'0 value 100\n1 value 101\n2 value 102'
says "$err" "every rank gets its own '$PWD/libcallback.so'"

rm libcallback.so
run 1 -n 3 ./libraries
says "$err" "cannot load the library 'libcallback.so'"
