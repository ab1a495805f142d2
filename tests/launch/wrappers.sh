# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# mpicc, mpicxx and what build systems ask them.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"

for wrapper in mpicc mpicxx mpic++ mpiCC; do
    for option in -showme:compile --showme:compile; do
        expect 0 "$bin/$wrapper" $option
        [[ $out == -I* ]] || die "$wrapper $option: $out"
    done
    expect 0 "$bin/$wrapper" -showme:link
    says "$out" "-lmpi_abi"
    says "$out" "-Wl,-rpath,"
    expect 0 "$bin/$wrapper" -compile-info
    says "$out" " -I"
    expect 0 "$bin/$wrapper" -link-info
    says "$out" "-lmpi_abi"
    expect 0 "$bin/$wrapper" -showme:version
    says "$out" "Xylem"
    for option in -show -showme --showme; do
        expect 0 "$bin/$wrapper" $option
        says "$out" "-lmpi_abi"
    done
done
expect 0 "$bin/mpicc" -show -c x.c
[[ $out != *-lmpi_abi* ]] || die "compiling alone needs no library: $out"
says "$out" " -c x.c"
expect 2 "$bin/mpicc" -showme:nonsense
OMPI_CC=my-cc expect 0 env OMPI_CC=echo "$bin/mpicc" x.c
[[ $out == -I*" x.c -L"* ]] || die "$out"
expect 0 env MPICH_CC=echo "$bin/mpicc" x.c
[[ $out == -I* ]] || die "$out"
expect 0 env MPICH_CXX=echo "$bin/mpicxx" x.cc
[[ $out == -I* ]] || die "$out"
expect 0 "$bin/mpicc" -cc=echo x.c
[[ $out == -I* ]] || die "$out"
expect 0 "$bin/xylem" cc -showme:compile
[[ $out == -I* ]] || die "$out"
expect 0 "$bin/xylem" c++ -showme:compile
[[ $out == -I* ]] || die "$out"

# Stacks are protected where the compiler can, unless the program does not want it.
expect 0 "$bin/mpicc" -cc=gcc-12 -show -fno-stack-clash-protection -c x.c
[[ $out == "gcc-12 -I"*" -fstack-clash-protection -fno-stack-clash-protection -c x.c" ]] || die "$out"
expect 0 "$bin/mpicxx" -cxx="ccache x86_64-linux-gnu-g++" -showme:compile
says "$out" " -fstack-clash-protection"
expect 0 "$bin/mpicc" -cc=nvcc -show -c x.c
[[ $out != *protection* ]] || die "$out"

# In two steps, and with spaces in names.
mkdir "a dir"
cp "$sources/private.c" "a dir/p q.c"
"$bin/mpicc" -c "a dir/p q.c" -o "a dir/p q.o"
"$bin/mpicc" "a dir/p q.o" -o "a dir/p q"
run 0 -n 2 "a dir/p q" x
same "$out" $'rank 0\nrank 1'
