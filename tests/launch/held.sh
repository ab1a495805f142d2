# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Small one-sided operations to another process leave together: 2000 of them in fewer than fifty messages.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build held
cc -D_GNU_SOURCE -shared -fPIC "$sources/held_count.c" -o count.so -ldl
for net in tcp shm; do
    run 0 -n 2 --processes 2 --net "$net" ./held
    [ "$out" = "0 wrong" ] || die "$net: $out"
done
LD_PRELOAD=$PWD/count.so run 0 -n 2 --processes 2 --net tcp ./held
most=$(sed -n 's/^sent //p' <<<"$err" | sort -n | tail -n 1)
[ -n "$most" ] || die "nothing was counted: $err"
if [ "$most" -lt 20 ] || [ "$most" -ge 50 ]; then die "2000 operations took $most messages"; fi
