# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Shared by the scripts: how they speak. Colours only on a terminal, and never in CI.

if [ -t 1 ] && [ "${CI:-}" != true ] && [ -z "${NO_COLOR:-}" ]; then
    bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
    bold='' red='' green='' plain=''
fi

say_step() {
    printf '%s== %s%s\n' "$bold" "$*" "$plain"
}

say_bad() {
    printf '%s%s%s\n' "$red" "$*" "$plain"
}

say_good() {
    printf '%s%s%s\n' "$green" "$*" "$plain"
}
