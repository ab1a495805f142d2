# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Fortran programs: mpif.h, `use mpi` and `use mpi_f08`, functions that MPI calls, variables and units
# of each rank, what they print, and errors with lines of Fortran.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
sources=$XYLEM_SOURCE_DIR/tests/fortran
[ -e "$XYLEM_BUILD_DIR/include/mpi_f08.mod" ] || skip "this build has no Fortran modules"

# mpifort without a compiler, and without modules.
expect 1 env XYLEM_FC=/none "$bin/mpifort" -fc=/none x.f
[[ $err == *"mpifort: no compiler '/none' (-fc); install it"* ]] || die "$err"
for wrapper in mpifort mpif77 mpif90; do
    expect 0 "$bin/$wrapper" -showme:link
    [[ $out == *-lmpi_abi* ]] || die "$wrapper: $out"
    expect 0 "$bin/$wrapper" -show -c x.f
    [[ $out == gfortran*"-I$XYLEM_BUILD_DIR/include"*"-c x.f" ]] || die "$wrapper: $out"
done

"$bin/mpifort" -w -g "$sources/plain.f" -o plain &
"$bin/mpifort" -Wall -Werror -g "$sources/modules.f90" -o modules || die "modules.f90"
"$bin/mpif90" -g -O2 "$sources/f08.f90" -o f08 || die "f08.f90"
wait $! || die "plain.f"
"$bin/mpicc" -g -c "$sources/attributes.c" -o attributes_c.o || die "attributes.c"
"$bin/mpifort" -g "$sources/attributes.f90" attributes_c.o -o attributes || die "attributes.f90"

right() { # right COUNT: as many ranks said so, in whole lines
    [ "$(grep -cE '^rank [0-9]+.*: right$' <<<"$out")" = "$1" ] || die "$out"
}
run 0 -n 5 ./plain
right 5
run 0 -n 1 --share-globals ./plain
right 1
expect 0 ./plain
right 1
run 0 -n 3 ./attributes
right 3
run 0 -n 4 ./modules
right 4
run 0 -n 4 ./f08
right 4
run 0 -n 3 --virtual "numa:1 core:4" ./f08
right 3

# Ranks fail, with the functions of all three interfaces.
for interface in "include 'mpif.h'" "use mpi" "use mpi_f08"; do
    handle=integer
    [ "$interface" != "use mpi_f08" ] || handle='type(MPI_Comm)'
    group=${handle/Comm/Group}
    request=${handle/Comm/Request}
    uses='' includes=$interface
    [ "${interface%% *}" != use ] || { uses=$interface includes=''; }
    sed "s/@uses@/$uses/; s/@includes@/$includes/; s/@comm@/$handle/; s/@group@/$group/; s/@request@/$request/" \
        "$sources/survive.f90.in" >survive.f90
    "$bin/mpifort" -Wall -Werror -g survive.f90 -o survive || die "survive.f90 with $interface"
    run 0 -n 3 --survive ./survive
    right 2
done

# Lines are whole, also those that are longer than the runtime's buffer, and errors name the line of Fortran.
cat >prints.f90 <<'END'
program prints
  use mpi_f08
  integer :: rank, i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  do i = 1, 3
    write (*, '(i0,a)', advance='no') rank, repeat('x', 20000)
    call MPI_Barrier(MPI_COMM_WORLD)
    print '(a)', ' end'
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  flush (6)
  write (0, *) 'beside'
  if (rank == 0) call MPI_Send(i, -1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD)
  call MPI_Finalize()
end program
END
"$bin/mpifort" -g prints.f90 -o prints
expect 2 timeout 240 "$bin/mpiexec" -n 3 ./prints
[[ $err == *"MPI_Send: "*prints.f90:14* ]] || die "$err"
sed -i 's/^  if (rank.*//' prints.f90
"$bin/mpifort" prints.f90 -o prints
run 0 -n 3 ./prints
[ "$(grep -cE '^[012]x+ end$' <<<"$out")" = 9 ] || die "torn lines"

# Without modules, and then the mistake is explained.
mkdir -p other/bin other/include
sed "s|^include=.*|include=$PWD/other/include|" "$bin/mpifort" >other/bin/mpifort
expect 1 sh other/bin/mpifort -c prints.f90
[[ $err == *"built without gfortran"* ]] || die "$err"
