# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# getopt, rand, strtok and the like: N ranks print what N runs of one rank print, whatever the others do.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

build state
arguments=(x -a --size 3 y -fb 7 --flag -- -z)
run 0 -n 4 ./state "${arguments[@]}"
quiet
for r in 0 1 2 3; do
    says "$out" "$r: options a s=3 f b=7 f rest x y -z"
    says "$out" "$r: first 1804289383 seeded "
    says "$out" "$r: words one two three"
    says "$out" "$r: day $((r + 2)) errno $((r + 1))"
done
# The numbers are the C library's.
cat >plain.c <<END
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    for (unsigned r = 0; r < 4; r++) {
        unsigned short seed[3] = {1, 2, 3};
        int a;
        double d;
        long b, c;
        srand(r + 1); srand48(r);
        a = rand(); b = rand(); c = random(); d = drand48();
        seed48(seed);
        printf("seeded %d %ld %ld %.6f %ld\n", a, b, c, d, lrand48());
    }
}
END
cc plain.c -o plain
while read -r line; do
    says "$out" "$line"
done < <(./plain)
