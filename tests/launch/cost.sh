# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# A rank has its own copies of the pages of a private library that hold addresses, and of few others;
# data that is all addresses takes no mapping.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
ranks=16

[ -r /proc/self/smaps_rollup ] || skip "the kernel has no /proc/self/smaps_rollup"
for flag in "" -DPLAIN; do
    cc -O1 -shared -fPIC ${flag:+"$flag"} "$sources/cost_library.c" -o libcost.so
    build cost -L. -lcost -Wl,-rpath,"\$ORIGIN"
    run 0 -n $ranks --share libcost.so ./cost
    read -r wrong shared mappings <<<"$out"
    [ "$wrong" = 0 ] || die "shared: $wrong wrong words"
    run 0 -v -n $ranks ./cost
    relocated=$(sed -n "s/.*private library '.*libcost.so'.* relocation takes \([0-9]*\) KiB .*/\1/p" <<<"$err")
    [ "$relocated" -ge 1024 ] || die "no relocated pages: $err"
    read -r wrong private mappings <<<"$out"
    [ "$wrong" = 0 ] || die "private: $wrong wrong words"
    extra=$(((private - shared) / ranks))
    [ $((10 * extra)) -le $((12 * relocated)) ] ||
        die "$extra KiB of a rank's own for $relocated KiB that relocation writes ($private and $shared KiB in all)"
    # One is the prototype itself.
    wanted=$((${#flag} > 0 ? ranks + 1 : 1))
    [ "$mappings" = $wanted ] || die "$mappings mappings of data instead of $wanted (${flag:-addresses alone})"
done
