#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# xylem stencil --real --choices: a second run like the first does not try policies again; files that are old, broken or
# something else.
# shellcheck disable=SC2154 # out and err are set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

small=(--real --blocks 24 --block 4KiB --iterations 5 --policy foresight --cpus 2)
ran() { # What ran, and whether it says bit for bit.
    expect 0 "$XYLEM" stencil "${small[@]}" "$@" --json
    printf '%s\n' "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
assert r["checked"], r
print(r["ran"])'
}

# The default file, which is below the cache of the user.
first=$(ran)
file=$XDG_CACHE_HOME/xylem/choices
[ "$(wc -l <"$file")" = 2 ] || die "not one choice in $file: $(cat "$file")"
cp "$file" before
[ "$(ran)" = "$first" ] || die "the second run chose something else"
cmp "$file" before || die "the second run wrote the file again"

# What the file says is what runs: the trials are not repeated.
other=lws
[ "$first" = lws ] && other=eager
sed "s/\t$first /\t$other /" before >"$file"
[ "$(ran)" = "$other" ] || die "the file was not used"
[ "$(ran --choices none)" = "$first" ] || die "--choices none used the file"
[ "$(ran --choices mine)" = "$first" ] || die "another file has the same choice"
[ "$(XYLEM_CHOICES=mine ran)" = "$first" ] || die "XYLEM_CHOICES was not used"

# Another problem, memory or option is another choice.
ran --iterations 6 >/dev/null
ran --memory 20KiB >/dev/null
ran --eviction lru >/dev/null
[ "$(wc -l <"$file")" = 5 ] || die "not four choices: $(cat "$file")"
# What was asked for by name needs no choice.
expect 0 "$XYLEM" stencil --real --blocks 24 --block 4KiB --iterations 5 --policy eager --choices eager.txt
[ ! -e eager.txt ] || die "a policy that was named was kept as a choice"

# Old and broken files: said, not used, replaced.
for text in 'xylem choices 1 0.0.1\nwhat\tlws lru 0 0 0 2 0' 'xylem choices 1 0.1.0\nbroken' \
    'xylem choices 1 0.1.0\nx\tnone lru 0 0 0 2 0' 'xylem choices 1 0.1.0\nx\tlws lru 0 0 0 -2 0' \
    'xylem choices 1 0.1.0\nx\tlws lru 0 0 0 2 0 9' 'xylem choices 1 0.1.0\nx\tforesight lru 0 0 0 2 0'; do
    printf '%b\n' "$text" >old
    ran --choices old >/dev/null
    says "$(cat "$WORK/.err")" "will be replaced"
    [ "$(wc -l <old)" = 2 ] || die "not replaced: $(cat old)"
    ran --choices old >/dev/null
    [ -z "$(cat "$WORK/.err")" ] || die "said again: $(cat "$WORK/.err")"
done
# A choice with more workers than there are is made anew.
sed "s/ 2 0\$/ 3000 0/" before >more.txt
[ "$(ran --choices more.txt)" = "$first" ] || die "3000 cores were used"

# A file of something else stays as it is.
echo "int main(void) { return 0; }" >main.c
expect 1 "$XYLEM" stencil "${small[@]}" --choices main.c
one_line "$err"
says "$err" "'main.c' is not a file of choices"
[ "$(cat main.c)" = "int main(void) { return 0; }" ] || die "main.c was written"
expect 1 "$XYLEM" stencil "${small[@]}" --choices .
one_line "$err"
# A place that cannot be written: the run is right all the same.
expect 0 "$XYLEM" stencil "${small[@]}" --choices /proc/none/choices
says "$err" "is not kept"
