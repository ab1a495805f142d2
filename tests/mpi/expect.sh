#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that look at what is said about mistakes, with the arguments PROGRAM MPIEXEC
# [OPTION]... Nothing may hang: a run that takes longer than four minutes has failed.
program=$1
shift
launcher=(timeout 240 "$@")
failures=0
message=
# shellcheck disable=SC2034 # for those who source this
deadlock='^mpiexec: deadlock: no rank can make progress$'

# expect RANKS CODE MISTAKE PATTERN...: the exit code, and each pattern on a line of standard error.
expect() {
    local ranks=$1 code=$2 mistake=$3 status pattern
    shift 3
    message=$("${launcher[@]}" -n "$ranks" "$program" "$mistake" 2>&1 >/dev/null)
    status=$?
    if [ "$status" -ne "$code" ]; then
        echo "$mistake: exit code $status, expected $code: $message"
        failures=$((failures + 1))
    fi
    for pattern do
        if ! grep -q -E -e "$pattern" <<<"$message"; then
            echo "$mistake: does not say '$pattern': $message"
            failures=$((failures + 1))
        fi
    done
}
