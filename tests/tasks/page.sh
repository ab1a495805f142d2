#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The first program of docs/tasks.md, compiled and run, prints what the page says.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

[ -e "$XYLEM_BUILD_DIR/lib/libxylem.so" ] || skip "no libxylem.so in this build"
# shellcheck disable=SC2016 # the quotes are those of the page
sed -n '/^```c$/,/^```$/{/^```$/q;/^```/!p}' "$XYLEM_SOURCE_DIR/docs/tasks.md" >program.c
expect 0 "${CC:-cc}" -Wall -Werror -I "$XYLEM_SOURCE_DIR/include" program.c -L "$XYLEM_BUILD_DIR/lib" \
    -Wl,-rpath,"$XYLEM_BUILD_DIR/lib" -lxylem -o program
expect 0 ./program
while IFS= read -r line; do
    grep -qF "\`$line\`" "$XYLEM_SOURCE_DIR/docs/tasks.md" || die "the page does not say: $line"
done <"$WORK/.out"
[ "$(wc -l <"$WORK/.out")" = 2 ] || die "other lines than the page has"
