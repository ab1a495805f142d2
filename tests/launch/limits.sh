# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Limits of the system that copies of many libraries reach are named before the job starts.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

cc -shared -fPIC "$sources/own.c" -o libown.so
build libraries -L. -lown -Wl,-rpath,"\$ORIGIN"

# refused TEXT: one line, and no rank has run.
refused() {
    [ -z "$out" ] || die "ranks ran: $out"
    says "$err" "$1"
    [[ $err != *$'\n'* ]] || die "more than one line: $err"
}
most=$(cat /proc/sys/vm/max_map_count)
if [ "$most" -le 300000 ]; then
    run 1 -n $((most / 4)) ./libraries
    refused "raise this limit with 'sysctl -w vm.max_map_count="
fi

# 20000 copies of more than 50 KiB.
expect 1 bash -c "ulimit -v 600000; exec timeout 240 '$bin/mpiexec' -n 20000 ./libraries"
refused "raise this limit with 'ulimit -v unlimited'"
