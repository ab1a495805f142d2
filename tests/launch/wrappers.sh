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

# Each option of Open MPI's and MPICH's wrappers is honoured or refused, for every language.
for wrapper in mpicc:cc:CC mpicxx:cxx:CXX mpic++:cxx:CXX mpiCC:CC:CXX mpifort:fc:FC mpif77:f77:FC mpif90:f90:FC; do
    IFS=: read -r wrapper option name <<<"$wrapper"
    for help in -help:mpi --help:mpi -showme:help -help; do
        expect 0 env -u "XYLEM_$name" "$bin/$wrapper" $help
        [[ $out == "Usage: $wrapper "* && -z $err ]] || die "$wrapper $help: $out $err"
        says "$out" "XYLEM_$name"
    done
    for refused in -showme:nonsense -profile=x -config=x -static-mpi -nativelinking -xx=gcc; do
        [ $refused != -xx=gcc ] || { [ "$option" = cc ] && refused=-fc=gcc || refused=-cc=gcc; }
        expect 2 "$bin/$wrapper" $refused x.c
        [[ $err == "$wrapper: "*"'$refused'"* && $err != *$'\n'* ]] || die "$wrapper $refused: $err"
    done
    # A compiler that is named and not there is an error; one that is there is used.
    for variable in XYLEM OMPI MPICH; do
        expect 1 env "${variable}_$name=no-such-compiler" "$bin/$wrapper" x.c
        says "$err" "$wrapper: no compiler 'no-such-compiler' (\$${variable}_$name)"
        [[ $err != *$'\n'* ]] || die "$err"
        expect 0 env "${variable}_$name=echo" "$bin/$wrapper" x.c
        [[ $out == -I*" x.c -L"*-lmpi_abi ]] || die "$out"
    done
    expect 1 "$bin/$wrapper" "-$option=no-such-compiler" x.c
    says "$err" "'no-such-compiler' (-$option)"
    expect 0 "$bin/$wrapper" "-$option=echo" x.c
    [[ $out == -I* ]] || die "$out"
    expect 0 "$bin/$wrapper" -echo "-$option=echo" x.c
    [[ $err == *"echo -I"*" x.c"* ]] || die "-echo: $err"
    # Nothing to link: no library, as the linker would ask for main().
    expect 0 "$bin/$wrapper" "-$option=echo" -v
    [[ $out != *-lmpi_abi* ]] || die "$wrapper -v: $out"
    for info in -compile-info -compile_info -show-compile-info; do
        expect 0 "$bin/$wrapper" $info
        [[ $out == *" -I"* && $out != *-lmpi_abi* ]] || die "$wrapper $info: $out"
    done
    for info in -link-info -link_info -show-link-info; do
        expect 0 "$bin/$wrapper" $info
        says "$out" " -lmpi_abi"
    done
done
expect 0 "$bin/mpicc" -v
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
