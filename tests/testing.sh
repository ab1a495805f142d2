# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by tests: the seed and the sample, as in tests/testing/base.h, and limits of time.

# testing_hash TEXT: the 64-bit FNV-1a hash of a seed, without sign; never 0.
testing_hash() {
    local LC_ALL=C hash=$((0xcbf29ce484222325)) byte
    for byte in $(printf %s "$1" | od -An -v -tu1); do
        hash=$(((hash ^ byte) * 1099511628211))
    done
    printf '%u\n' $((hash != 0 ? hash : 1))
}

# testing_seed: the start of a test's random numbers, from XYLEM_SEED.
testing_seed() {
    testing_hash "${XYLEM_SEED:-xylem}"
}

# timeout SECONDS COMMAND...: the limits of all tests are multiplied by XYLEM_TIMEOUT_FACTOR. With an option the
# limit is part of the test.
timeout() {
    case $1 in
    *[!0-9]*) command timeout "$@" ;;
    *) command timeout "$(testing_limit "$1")" "${@:2}" ;;
    esac
}

testing_limit() {
    echo $(($1 * ${XYLEM_TIMEOUT_FACTOR:-2}))
}

# is_chosen N SHARE: whether case N belongs to the sample, one of SHARE cases in a row; all do with XYLEM_SOAK.
is_chosen() {
    [ -n "${XYLEM_SOAK:-}" ] || [ $(($1 % $2)) -eq 0 ]
}
