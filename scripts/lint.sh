#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Formatting, static analysis, sizes. Needs the `dev` build tree, and makes it.
#
#   scripts/lint.sh            everything
#   scripts/lint.sh PART...    format, tidy, shell, sizes, cmake; reformat lays out all C files
#   scripts/lint.sh [PART...] -- FILE...
#                              only these files; sizes looks at all
#
# Ends with `N passed, N failed`.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. scripts/lib.sh

# files PATTERN...: those of the command line; else tracked files and new ones that are not ignored; without git,
# all that is not in build/.
files() {
    local listed path pattern
    if [ ${#only[@]} -gt 0 ]; then
        for path in "${only[@]}"; do
            for pattern in "$@"; do
                # shellcheck disable=SC2053 # a pattern
                [[ $path != $pattern ]] || echo "$path"
            done
        done
        return
    fi
    listed=$(git ls-files -co --exclude-standard -- "$@" 2>/dev/null | sort -u)
    if [ -z "$listed" ]; then
        for pattern in "$@"; do
            find . -path ./build -prune -o -type f -path "./${pattern#./}" -print
        done | sed 's|^\./||' | sort -u
        return
    fi
    # A file that was removed but not yet committed is still listed.
    while IFS= read -r path; do
        [ ! -f "$path" ] || echo "$path"
    done <<<"$listed"
}

# The code is kept clean with one version of the LLVM tools: each new one lays out and warns
# differently. XYLEM_LLVM=NN tries another.
llvm=${XYLEM_LLVM:-14}

need() {
    command -v "$1" >/dev/null && return
    echo "$1 is not installed (see packages.txt); left out"
    return 1
}

# llvm_tool NAME: the command of that version, or why it is not to be had.
llvm_tool() {
    if command -v "$1-$llvm"; then
        return
    elif "$1" --version 2>/dev/null | grep -q "version $llvm\."; then
        command -v "$1"
        return
    fi
    echo "there is no $1 of version $llvm here (see packages.txt); left out"
    return 1
}

# on_all_cores COMMAND...: run it for the files of the input, some at a time on each core.
on_all_cores() {
    xargs -r -n 40 -P "$(nproc)" "$@"
}

lint_format() {
    local tool
    tool=$(llvm_tool clang-format) || { echo "$tool"; return 77; }
    files '*.c' '*.h' | on_all_cores "$tool" --dry-run -Werror
}

# Not a check: what `make format` does.
lint_reformat() {
    local tool
    tool=$(llvm_tool clang-format) || { echo "$tool"; return 77; }
    files '*.c' '*.h' | on_all_cores "$tool" -i
}

lint_tidy() {
    local tool
    need python3 || return 77
    tool=$(llvm_tool clang-tidy) || { echo "$tool"; return 77; }
    if [ ! -r build/dev/compile_commands.json ] || [ -n "$(find . -name CMakeLists.txt -not -path './build/*' -newer build/dev/compile_commands.json)" ]; then
        cmake --preset dev >/dev/null || return 1
    fi
    scripts/tidy.py build/dev "$tool" "${only[@]}"
}

lint_shell() {
    need shellcheck || return 77
    # Scripts are found by their first line: not all of them end in .sh.
    { files '*.sh'; files '*' | xargs grep -lE '^#!.*\b(ba)?sh$' 2>/dev/null; } | sort -u |
        on_all_cores shellcheck -S style
}

lint_sizes() {
    need python3 || return 77
    tests/check_sizes.py
}

# CMake has no parser to call alone: a script-mode run reads the file before it runs anything,
# and the first command it meets ends it. What is left to see is whether parsing got there.
lint_cmake() {
    local path bad=0 said empty
    empty=$(mktemp -d)
    while IFS= read -r path; do
        if grep -nP '\t' "$path"; then
            echo "$path: tabs; indent with two spaces"
            bad=1
        fi
        said=$(cd "$empty" && cmake -P "$OLDPWD/$path" 2>&1)
        if grep -q 'Parse error' <<<"$said"; then
            echo "$path:"
            echo "$said"
            bad=1
        fi
    done < <(files '*CMakeLists.txt' 'cmake/*.cmake' 'tests/*.cmake')
    rm -rf "$empty"
    return $bad
}

parts=() only=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    parts+=("$1")
    shift
done
[ $# -eq 0 ] || only=("${@:2}")
passed=0 failed=0
for part in "${parts[@]:-format tidy shell sizes cmake}"; do
    for name in $part; do
        declare -F "lint_$name" >/dev/null || { echo "lint: no part $name" >&2; exit 2; }
        said=$("lint_$name" 2>&1)
        case $? in
        0) passed=$((passed + 1)) ; echo "lint $name: ok" ;;
        77) echo "lint $name: $said" ;;
        *)
            failed=$((failed + 1))
            echo "$said"
            say_bad "lint $name: failed"
            ;;
        esac
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
