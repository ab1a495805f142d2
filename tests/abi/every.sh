# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Every function of the translations reaches Xylem's, and none comes back: in processes the dynamic linker takes a name
# that both libraries define from the translation, for Xylem's own library, too.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
headers=$XYLEM_BUILD_DIR/tests/abi
[ -f "$headers/openmpi/mpi.h" ] || skip "no translations in this build"
own=$XYLEM_BUILD_DIR/lib/libmpi_abi.so

functions() { # FILE: the functions that it exports
    nm -D --defined-only "$1" | awk '$2 ~ /[TW]/ { print $3 }' | LC_ALL=C sort -u
}

for library in openmpi/libmpi.so.40 mpich/libmpich.so.12; do
    abi=${library%/*} library=$XYLEM_BUILD_DIR/lib/xylem/$library
    # Nothing in Xylem's library refers by name to what the translation defines.
    LC_ALL=C comm -12 <(functions "$library") <(functions "$own") >both
    [ "$(wc -l <both)" -gt 1000 ] || die "only $(wc -l <both) names are in both"
    readelf -rW "$own" | awk '$5 != "" && $3 != "" { sub("@.*", "", $5); print $5 }' | LC_ALL=C sort -u >referred
    left=$(LC_ALL=C comm -12 both referred)
    [ -z "$left" ] || die "Xylem's library refers to names of the translation for $abi: $left"
    # Each of its functions, of C and of Fortran, is called; in make test one half for the one library, the other for the other.
    part=${XYLEM_SOAK:+-1}
    [ "$abi" = openmpi ] || part=${part:-1}
    functions "$library" | grep -E '^(P?MPIX?_|p?mpix?_|ompi_.*_f$)' >names
    cc -I"$headers/$abi" "$XYLEM_SOURCE_DIR/tests/abi/every.c" "$library" -ldl -Wl,--allow-shlib-undefined -o every
    run 0 -n 1 sh -c "./every ${part:-0} <names"
    says "$out" " 0 wrong"
done
