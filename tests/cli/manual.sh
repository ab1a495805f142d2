# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Man pages: one for the command and one per verb, clean for mandoc and groff, complete.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

pages=$XYLEM_BUILD_DIR/share/man/man1
verbs=$("$XYLEM" help --json | python3 -c 'import json,sys; print(*(v["name"] for v in json.load(sys.stdin)["verbs"]))')
[ -n "$verbs" ] || die "no verbs"
checked=0
# shellcheck disable=SC2086
for page in xylem.1 mpiexec.1 mpicc.1 mpicxx.1 ../man3/xylem.h.3 ../man3/xylem_factor.h.3 ../man3/xylem_matmul.h.3 ../man3/xylem_mpi.h.3 \
    $(printf 'xylem-%s.1 ' $verbs); do
    [ -s "$pages/$page" ] || die "$page was not made"
    if command -v mandoc >/dev/null; then
        mandoc -Tlint -Wwarning "$pages/$page" || die "mandoc complains about $page"
        mandoc -Tutf8 "$pages/$page" >"$(basename "$page").txt"
        checked=1
    fi
    if command -v groff >/dev/null; then
        groff -man -ww -Tutf8 -z "$pages/$page" 2>groff.err
        [ ! -s groff.err ] || die "groff complains about $page: $(cat groff.err)"
    fi
done
[ $checked = 1 ] || skip "neither mandoc nor groff is installed"

for page in mpirun.1 mpic++.1 mpiCC.1; do
    read -r macro target <"$pages/$page"
    [ "$macro" = .so ] || die "$page names no other page"
    [ -s "$pages/../$target" ] || die "$page leads nowhere"
done

# Every function of the headers is on their page.
for header in xylem xylem_factor xylem_matmul xylem_mpi; do
    plain=$(sed 's/.\x08//g' "$header.h.3.txt")
    while IFS= read -r name; do
        says "$plain" "$name"
    done < <(grep -oE '\bxylem_[a-z_]+\(' "$XYLEM_SOURCE_DIR/include/$header.h" | sort -u)
done

# --help-all and the page list the same options, each with its mark.
python3 "$XYLEM_SOURCE_DIR/tests/cli/manual.py" "$XYLEM" "$pages" || die "man pages and --help-all differ"
for verb in $verbs; do
    says "$(sed 's/.\x08//g' xylem.1.txt)" "xylem-$verb(1)"
done
