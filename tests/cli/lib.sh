# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by the whole-program tests: . "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"
set -eu
. "$XYLEM_SOURCE_DIR/tests/testing.sh"
# What the user calibrated is not for tests.
export XDG_CACHE_HOME="$WORK/.cache"

die() {
    echo "FAILED: $*" >&2
    exit 1
}

# skip REASON: the test cannot run here.
skip() {
    echo "left out: $*"
    exit 77
}

# needs TOOL...: skip the test where one of these programs is not installed.
needs() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || skip "$tool is not installed (see packages.txt)"
    done
}

# expect CODE COMMAND...: run it, check its exit code; what it printed is in $out and $err.
expect() {
    local want=$1 got=0
    shift
    "$@" >"$WORK/.out" 2>"$WORK/.err" || got=$?
    # shellcheck disable=SC2034 # read by the tests
    out=$(cat "$WORK/.out")
    err=$(cat "$WORK/.err")
    [ "$got" = "$want" ] || die "'$*' ended with $got instead of $want: $err"
}

# says TEXT PART: TEXT must contain PART.
says() {
    [[ $1 == *"$2"* ]] || die "expected '$2' in: $1"
}

# one_line TEXT: an error is one line that starts with the command's name.
one_line() {
    [[ $1 == "xylem: "* && $1 != *$'\n'* ]] || die "not one line of xylem: $1"
}
