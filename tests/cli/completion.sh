# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# The completion in a real bash.
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

# shellcheck source=/dev/null
. "$XYLEM_BUILD_DIR/share/bash-completion/completions/xylem"
complete -p xylem | grep -q -- '-F _xylem xylem' || die "no completion is installed for xylem"

# completes WORD...: the answers for the last word, sorted, in one line.
completes() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _xylem
    printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ' | sed 's/ $//'
}

same() {
    [ "$1" = "$2" ] || die "completion gives '$1' instead of '$2'"
}

json=$("$XYLEM" help --json)
query() {
    python3 -c "import json,sys; d=json.load(sys.stdin); print(*sorted($1))" <<<"$json"
}
verbs=$(query '[v["name"] for v in d["verbs"]]')
same "$(completes xylem '')" "$verbs"
same "$(completes xylem hel)" "help"
same "$(completes xylem --v)" "--version"
same "$(completes xylem help '')" "$verbs"
same "$(completes xylem help --js)" "--json"
# Names of one letter, which only run has, are written with one dash.
for verb in $verbs; do
    same "$(completes xylem "$verb" --)" \
        "$(query "['--help'] + ['--' + o['name'] for v in d['verbs'] if v['name'] == '$verb' for o in v['options'] if len(o['name']) > 1]")"
done
same "$(completes xylem run -n)" "-n"
if command -v shellcheck >/dev/null; then
    shellcheck -s bash -e SC2207,SC2034 "$XYLEM_BUILD_DIR/share/bash-completion/completions/xylem" ||
        die "shellcheck complains about the completion"
fi
