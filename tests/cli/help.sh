# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Help, version, suggestions and exit codes.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

expect 0 "$XYLEM" --version
[[ $out =~ ^xylem\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || die "odd version: $out"
expect 0 "$XYLEM" -V

expect 0 "$XYLEM" --help
says "$out" "Usage: xylem [OPTION]... VERB"
says "$out" "describe xylem or one of its verbs"
table=$out
! grep -qE '.{81}' <<<"$out" || die "lines of more than 80 columns: $out"
expect 0 "$XYLEM" help
[ "$out" = "$table" ] || die "'xylem help' and 'xylem --help' differ"

# Every verb describes itself in the same words whichever way it is asked.
expect 0 "$XYLEM" help --json
python3 -m json.tool <<<"$out" >/dev/null || die "help --json is not JSON"
verbs=$(python3 -c 'import json,sys; print(*(v["name"] for v in json.load(sys.stdin)["verbs"]))' <<<"$out")
for verb in $verbs; do
    says "$table" "  $verb "
    expect 0 "$XYLEM" help "$verb"
    described=$out
    says "$out" "Usage: xylem $verb"
    expect 0 "$XYLEM" "$verb" --help
    [ "$out" = "$described" ] || die "two texts about $verb"
    expect 0 "$XYLEM" help --all "$verb"
    described=$out
    expect 0 "$XYLEM" "$verb" --help-all
    [ "$out" = "$described" ] || die "two long texts about $verb"
    case $verb in run | cc | c++ | gdb) continue ;; esac # other programs read their arguments
    expect 2 "$XYLEM" "$verb" --no-such-option
    one_line "$err"
    says "$err" "ee 'xylem $verb --help'"
done

expect 2 "$XYLEM"
one_line "$err"
expect 2 "$XYLEM" hlep
one_line "$err"
says "$err" "did you mean 'help'?"
expect 2 "$XYLEM" zzzzzz
one_line "$err"
[[ $err != *"did you mean"* ]] || die "a suggestion out of nowhere: $err"
expect 2 "$XYLEM" help hlep
says "$err" "did you mean 'help'?"
expect 2 "$XYLEM" --verson
says "$err" "did you mean '--version'?"
expect 2 "$XYLEM" help --jsn
says "$err" "did you mean '--json'?"
expect 2 "$XYLEM" help help help
one_line "$err"
says "$err" "one argument too many: 'help'"
expect 2 "$XYLEM" help --json=yes
says "$err" "takes no value"
expect 2 "$XYLEM" $'bad\nverb\e[31m'
one_line "$err"
