# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What ranks find in their environment, and that each has its own.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build environment
A=outside run 0 -n 3 -x B=b -genv C c ./environment
quiet
want=
for r in 0 1 2; do
    b=b
    [ $r = 1 ] && b=-
    want+="$r/3: $r 3 $r 3 $r 3 $r 3 A=outside B=b C=c"$'\n'
    want+="$r then OWN=own$r A=outside B=$b PUT=$r 1"$'\n'"child $r own$r"$'\n'"$r cleared - 1"$'\n'
done
same "$out" "${want%$'\n'}"

# Per program: -x and -env hold for their part, -genv for all.
run 0 -genv C all -n 1 -env B first ./environment : -n 1 -env B second ./environment
says "$out" "0/2: 0 2 0 2 0 2 0 2 A=- B=first C=all"
says "$out" "1/2: 1 2 1 2 1 2 1 2 A=- B=second C=all"
