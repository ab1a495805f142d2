# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Globals, statics, thread-local variables and C++ objects are private per rank.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build private
for n in 1 2 3 64 1000; do
    run 0 -n "$n" ./private
    quiet
    [ -z "$out" ] || die "$out"
done
run 0 -n 3 ./private x
same "$out" $'rank 0\nrank 1\nrank 2'

# The same program from other linkers and without symbols.
strip private -o stripped
for how in -fuse-ld=gold -fuse-ld=lld -Wl,-z,noseparate-code -Wl,-z,pack-relative-relocs -Wl,-z,lazy; do
    build private "$how" 2>/dev/null || continue
    mv private other
    run 0 -n 5 ./other
    [ -z "$out$err" ] || die "$how: $out$err"
done
run 0 -n 5 ./stripped
[ -z "$out$err" ] || die "$out$err"

build objects
run 0 -n 3 ./objects
quiet
want=
for r in 0 1 2; do
    want+="$r made global"$'\n'"$r made inner"$'\n'"$r unmade inner"$'\n'"$r unmade global"$'\n'
    want+="$r error of $r, $((r + 1)) numbers, 4 locals"$'\n'
done
same "$out" "${want%$'\n'}"

# One image for all when asked.
build private
run 0 -n 2 --share-globals ./private
says "$out" "not private"
