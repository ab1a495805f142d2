# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Thousands of ranks: under the kernel's limit of mappings, and with little memory each.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build many
run 0 -n 100 ./many
read -r mappings1 kib1 <<<"$out"
run 0 -n 4100 ./many
quiet
read -r mappings2 kib2 <<<"$out"
per_rank=$(((mappings2 - mappings1) / 4000))
kib=$(((kib2 - kib1) / 4000))
echo "$per_rank mappings and $kib KiB per rank"
[ "$per_rank" -le 4 ] || die "$per_rank mappings per rank: 10000 ranks do not fit under 65530"
# The program's own data and stack are two pages and three.
[ "$kib" -le 52 ] || die "$kib KiB per rank"
