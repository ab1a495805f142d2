# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# mpiexec finds out which MPI a program is compiled for, however it comes to need it, and reports about such
# programs as about its own.
. "$XYLEM_SOURCE_DIR/tests/launch/lib.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
headers=$XYLEM_BUILD_DIR/tests/abi
openmpi=$XYLEM_BUILD_DIR/lib/xylem/openmpi/libmpi.so.40
mpich=$XYLEM_BUILD_DIR/lib/xylem/mpich/libmpich.so.12
[ -f "$headers/openmpi/mpi.h" ] || skip "no translations in this build"
three=$'one of 3\none of 3\none of 3'

# compile ABI LIBRARY ARGUMENT...: as the compiler of that MPI does.
compile() {
    local abi=$1 library=$2
    shift 2
    cc -g -I"$headers/$abi" "$@" "$library" -Wl,--allow-shlib-undefined
}

# rename_needed NAME SHORTER FILE: the program then needs a library of another name.
rename_needed() {
    python3 - "$@" <<'END'
import sys
old, new, path = sys.argv[1:]
data = open(path, "rb").read()
assert data.count(old.encode() + b"\0") == 1
open(path, "wb").write(data.replace(old.encode() + b"\0", new.encode().ljust(len(old) + 1, b"\0")))
END
    readelf -d "$3" | grep -q "NEEDED.*\[$2\]" || die "$3 does not need $2"
}

all_ways() { # ABI LIBRARY NAME
    local abi=$1 library=$2 name=$3
    compile "$abi" "$library" "$sources/foreign.c" -o direct
    run 0 -v -n 3 ./direct
    same "$out" "$three"
    says "$err" "xylem/$abi/$(basename "$library")': it stands in for another library of its name"
    # A script, and a library that is loaded late, in a process.
    run 0 -n 3 sh -c ./direct
    same "$out" "$three"
    cc -DLOADED="\"$(basename "$library")\"" "$sources/foreign.c" -o loads -ldl
    run 0 -n 3 ./loads
    same "$out" $'initialised\ninitialised\ninitialised'
    # Functions without an error code: in a process, the names of Xylem's own are those of the translation.
    cat >plain.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Pcontrol(1);
    printf("%d\n", MPI_Wtime() > 0 && MPI_Wtick() > 0 && MPI_Aint_diff(MPI_Aint_add(8, 4), 4) == 8);
    MPI_Finalize();
    return 0;
}
END
    compile "$abi" "$library" plain.c -o plain
    run 0 --timeout 60 -n 3 sh -c ./plain
    same "$out" $'1\n1\n1'
    # A thread that calls MPI: keys of attributes, and lists whose length is that of a communicator.
    cat >thread.c <<'END'
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
static int copy(MPI_Comm comm, int key, void *extra, void *value, void *place, int *flag)
{
    *(void **)place = (char *)value + 1;
    *flag = 1;
    return comm == MPI_COMM_SELF ? MPI_SUCCESS : MPI_ERR_OTHER;
}
static void *run(void *unused)
{
    int key, is_there = 0, size, position = 0, from[3] = {1, 2, 3}, to[3] = {0}, one[3] = {1, 1, 1}, at[3] = {0, 4, 8};
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    char *value = "-", packed[4];
    MPI_Comm made;
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, "-right");
    MPI_Comm_dup(MPI_COMM_SELF, &made);
    MPI_Comm_get_attr(made, key, &value, &is_there);
    MPI_Alltoallw(from, one, at, types, to, one, at, types, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &size);
    MPI_Pack(from, 1, MPI_INT, packed, 4, &position, MPI_COMM_WORLD);
    printf("%s\n", is_there && position == 4 && to[0] == size + 1 && to[2] == size + 1 ? value : "wrong");
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
END
    compile "$abi" "$library" -w -pthread thread.c -o thread
    for way in "./thread" "sh -c ./thread"; do
        # shellcheck disable=SC2086 # words
        run 0 --timeout 60 -n 3 $way
        same "$out" $'right\nright\nright'
    done
    # The same by the name of a link to the file of another MPI, which is found in LD_LIBRARY_PATH.
    cc -shared -fPIC -Wl,-soname,"$(basename "$library")" -x c /dev/null -o "$PWD/$(basename "$library").2.1"
    ln -sf "$(basename "$library").2.1" "$(basename "${library%.so.*}").so"
    cc -DLOADED="\"$(basename "${library%.so.*}").so\"" "$sources/foreign.c" -o loads_link -ldl
    run 0 -n 3 -x LD_LIBRARY_PATH="$PWD" ./loads_link
    same "$out" $'initialised\ninitialised\ninitialised'
    # A program whose library needs it.
    cat >inner.c <<'END'
#include <mpi.h>
#include <stdio.h>
void inner(void);
void inner(void)
{
    int size;
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("one of %d\n", size);
    MPI_Finalize();
}
END
    compile "$abi" "$library" -shared -fPIC inner.c -o libinner.so
    echo 'void inner(void); int main(void) { inner(); return 0; }' >outer.c
    # shellcheck disable=SC2016 # for the linker
    cc outer.c ./libinner.so -Wl,-rpath,'$ORIGIN' -Wl,--allow-shlib-undefined -o outer
    run 0 -n 3 ./outer
    same "$out" "$three"
    # A deadlock: the call and its line are those of the program.
    cat >waits.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    int x;
    MPI_Init(&argc, &argv);
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line 6 */
    return 0;
}
END
    compile "$abi" "$library" waits.c -o waits
    run 1 -n 2 ./waits
    says "$err" "ranks 0-1: in MPI_Recv from any rank, tag 7 on MPI_COMM_WORLD, at waits.c:6"
    # Both MPIs in one program.
    local other=mpich other_library=$mpich
    [ "$abi" = openmpi ] || other=openmpi other_library=$openmpi
    compile "$other" "$other_library" -shared -fPIC inner.c -o libother.so
    # shellcheck disable=SC2016
    compile "$abi" "$library" "$sources/foreign.c" -Wl,--no-as-needed ./libother.so -Wl,-rpath,'$ORIGIN' -o mixed
    run 1 -n 2 ./mixed
    says "$err" "mixed' is compiled for $name and '"
    says "$err" "libother.so' for "
    # A plug-in for another MPI than the program's may not initialise it again.
    "$bin/mpicc" -DWITH_MPI -DLOADED="\"$(basename "$library")\"" "$sources/foreign.c" -o again
    run 16 -n 2 ./again
    says "$err" "MPI_Init: MPI was already initialized"
}
all_ways openmpi "$openmpi" "Open MPI"
all_ways mpich "$mpich" MPICH

# A number that the other MPI does not define is none of Xylem's numbers of that value, and messages show it as it is.
unknown() { # WHAT NUMBER MESSAGE
    err=$(timeout 240 "$bin/mpiexec" -n 1 ./unknown "$1" "$2" 2>&1) && die "$1 $2 is accepted"
    says "$err" "$3"
}
for abi in openmpi mpich; do
    compile $abi "${!abi}" "$XYLEM_SOURCE_DIR/tests/abi/unknown.c" -o unknown
    for rank in -7 $([ $abi = openmpi ] && echo -3 || echo -4); do
        unknown rank "$rank" "MPI_Send: rank $rank does not exist in MPI_COMM_WORLD"
        unknown root "$rank" "the root is $rank; MPI_COMM_WORLD"
        unknown target "$rank" "the target is rank $rank; "
    done
    unknown tag -2 "MPI_Recv: the tag is -2; "
    unknown lock 301 "the lock type is 301; "
    unknown assertion 1048576 "the assertion is 1048576; "
    unknown split 221 "221 is not a type of split"
    unknown order 12 "the order is 12; "
    unknown whence 401 "whence is 401; "
    unknown mode 1048577 "the access mode 0x100001 has bits"
done

# Extensions answer, as for a program of Xylem's own, or end the job with a message.
cat >cuda.c <<'END'
#include <mpi.h>
#include <mpi-ext.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    printf("CUDA %d\n", MPIX_Query_cuda_support());
    MPI_Finalize();
    return 0;
}
END
"$bin/mpicc" cuda.c -o cuda
run 0 -n 3 ./cuda
cuda=$out
for abi in openmpi mpich; do
    compile $abi "${!abi}" -D${abi^^} "$XYLEM_SOURCE_DIR/tests/abi/extensions.c" -ldl -o extensions
    run 0 -n 3 ./extensions
    same "$out" "$cuda"
done
for name in MPIX_Delete_error_class MPIX_Grequest_start; do
    run 1 -n 2 ./extensions $name
    says "$err" "MPI: $name, an extension of MPICH, is not supported"
    says "$err" "at extensions.c:"
done

# Ranks that survive the failure of others, with the constants of each MPI.
for abi in openmpi mpich; do
    compile $abi "${!abi}" -D_GNU_SOURCE "$sources/survive.c" -o survive
    run 0 --survive -n 3 ./survive 1 kill
    says "$out" "2 survivors"
done

# Other names of functions in Fortran.
for abi in openmpi mpich; do
    compile $abi "${!abi}" "$XYLEM_SOURCE_DIR/tests/abi/fortran_names.c" -o names
    run 0 -n 3 ./names
    same "$out" $'right\nright\nright'
    # What the translation lacks would be found in Xylem's own library, with other handles.
    exported() {
        nm -D --defined-only "$1" | awk '$2 ~ /[TW]/ { print $3 }' | LC_ALL=C sort -u
    }
    left=$(LC_ALL=C comm -13 <(exported "${!abi}") <(exported "$XYLEM_BUILD_DIR/lib/libmpi_abi.so") |
        grep -E '^P?MPIX?_|^p?mpi_.*_$' | grep -vE '^P?MPI_Abi_|_(to|from)int$|_fn_$|_fn_null_(c_)?$|detach.*_f08_$' || true)
    same "$left" ""
done

# The common name of MPICH's relatives.
compile mpich "$mpich" "$sources/foreign.c" -o renamed
rename_needed libmpich.so.12 libmpi.so.12 renamed
run 0 -n 3 ./renamed
same "$out" "$three"
# Beside a library that needs the other name, there is one translation.
echo 'int MPI_Type_contiguous(int, int, int *); void made(int *type) { MPI_Type_contiguous(3, 0x4c000405, type); }' >made.c
cc -shared -fPIC made.c "$mpich" -Wl,--allow-shlib-undefined -o libmade.so
cat >uses_made.c <<'END'
#include <mpi.h>
void made(MPI_Datatype *type);
int main(void)
{
    MPI_Datatype type;
    int size;

    MPI_Init(0, 0);
    made(&type);
    MPI_Type_size(type, &size);
    MPI_Type_free(&type);
    MPI_Finalize();
    return size != 12;
}
END
# shellcheck disable=SC2016
compile mpich "$mpich" uses_made.c -L. -lmade -Wl,-rpath,'$ORIGIN' -o uses_made
rename_needed libmpich.so.12 libmpi.so.12 uses_made
run 0 -n 3 ./uses_made
run 0 -n 3 sh -c ./uses_made

# Copy relocations: the executable has its own copies of predefined objects.
if command -v clang >/dev/null && command -v ld.lld >/dev/null; then
    clang -g -fuse-ld=lld -fPIE -pie -fdirect-access-external-data -I"$headers/openmpi" \
        -I"$XYLEM_SOURCE_DIR/tests/mpi" -w -D_GNU_SOURCE "$XYLEM_SOURCE_DIR/tests/mpi/topology.c" "$openmpi" \
        -Wl,--allow-shlib-undefined -lm -o copies
    readelf -r copies | grep -q 'COPY.*ompi_mpi_comm_world' || die "no copy relocations"
    run 0 -n 4 ./copies
fi

# Executables that cannot be ranks of one process: at a fixed address (with copies of predefined objects on x86-64), or with
# rights that mpiexec does not have. A rank alone, and processes of a script, have the translation, too.
for abi in openmpi mpich; do
    compile $abi "${!abi}" -no-pie -fno-pie "$sources/foreign.c" -o fixed
    run 1 -n 2 ./fixed
    says "$err" "fixed: the program is linked to a fixed address"
    says "$err" "start it from a script"
    run 0 -n 1 ./fixed
    same "$out" "one of 1"
    run 0 -n 3 sh -c ./fixed
    same "$out" "$three"
    run 0 -n 3 --share-globals ./fixed
    same "$out" "$three"
done
refused() { # FILE WHAT MPIEXEC...
    err=$("${@:3}" -n 2 "$1" 2>&1) && die "$1 runs"
    says "$err" "'$1' $2, but ranks are threads of mpiexec and have its rights only"
    [ "$(wc -l <<<"$err")" = 1 ] || die "more than one line: $err"
}
if [ "$(id -u)" = 0 ]; then
    for bits in u+s g+s; do
        cp renamed with_rights
        chown 65534:65534 with_rights
        chmod $bits with_rights
        refused ./with_rights "is set$([ $bits = u+s ] && echo u || echo g)id ($bits)" timeout 240 "$bin/mpiexec"
        chown 0:0 with_rights
        run 0 -n 3 ./with_rights # without the bit, which chown has removed
    done
    # Capabilities: CAP_NET_BIND_SERVICE, in effect. Root has it anyway.
    python3 -c 'import os, struct; os.setxattr("with_rights", "security.capability", struct.pack("<5I", 0x2000001, 1 << 10, 0, 0, 0))'
    run 0 -n 3 ./with_rights
    nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chmod o+rx .
    if "${nobody[@]}" test -x "$bin/mpiexec" -a -r "$PWD/with_rights" 2>/dev/null; then
        refused ./with_rights "has capabilities" env HOME=/ "${nobody[@]}" timeout 240 "$bin/mpiexec"
    fi
fi

# The Java interface of another MPI uses the inside of its C library.
echo 'int unused;' >java.c
cc -shared -fPIC java.c -Wl,-soname,libmpi_java.so.40 -o libmpi_java.so.40
# shellcheck disable=SC2016
compile openmpi "$openmpi" "$sources/foreign.c" -Wl,--no-as-needed ./libmpi_java.so.40 -Wl,-rpath,'$ORIGIN' -o uses_java
run 1 -n 2 ./uses_java
says "$err" "uses_java' uses the Java interface of another MPI (libmpi_java.so.40)"

# Functions of a Fortran program that MPI calls, and ranks that it starts; and with the translation of MPICH's mpif.h in the
# place of the installed library, which calls the functions of C.
callbacks_of_fortran() { # ABI
    local right=$' request 1 1 1 3 5 6\n attribute 11 101 T\n tags T T\n data 8 1 2 3 4\n started 13 0 0'
    "mpif90.$1" -w "$XYLEM_SOURCE_DIR/tests/abi/fortran_callbacks.f90" -o callbacks 2>/dev/null || return 0
    run 0 -n 1 --usize 8 ./callbacks
    same "$(tr -s ' ' <<<"$out")" "$right"
    [ "$1" = mpich ] || return 0
    rename_needed libmpichfort.so.12 libmpifort.so.12 callbacks
    run 0 -n 1 --usize 8 ./callbacks
    same "$(tr -s ' ' <<<"$out")" "$right"
}

# With the real compilers, and interpreters with bindings that were compiled for the other MPI.
for abi in openmpi mpich; do
    command -v "mpicc.$abi" >/dev/null || continue
    "mpicc.$abi" "$sources/foreign.c" -o "real.$abi"
    run 0 -n 3 "./real.$abi"
    same "$out" "$three"
    "mpicc.$abi" -I"$XYLEM_SOURCE_DIR/tests/mpi" "$XYLEM_SOURCE_DIR/tests/abi/translated.c" -o translated
    run 0 -n 3 ./translated
    "mpicc.$abi" "-D${abi^^}" "$XYLEM_SOURCE_DIR/tests/abi/extensions.c" -ldl -o extensions
    run 0 -n 3 ./extensions
    same "$out" "$cuda"
    if "mpicxx.$abi" -w "$XYLEM_SOURCE_DIR/tests/abi/classes.cpp" -o classes 2>/dev/null; then
        run 0 -n 3 ./classes
        same "$out" $'right\nright\nright'
    fi
    command -v "mpif90.$abi" >/dev/null || continue
    if "mpif90.$abi" "$XYLEM_SOURCE_DIR/tests/abi/fortran_2008.f90" -o f08 2>/dev/null; then
        run 0 -n 3 --usize 8 ./f08
        same "$(tr -s ' ' <<<"$out")" $' sum 3\n sum 3\n sum 3'
    fi
    callbacks_of_fortran "$abi"
    for module in mpi mpif.h; do
        use="use mpi" include=""
        [ $module = mpi ] || use="" include="include 'mpif.h'"
        sed "s/USE_MPI/$use/; s/INCLUDE_MPI/$include/" "$XYLEM_SOURCE_DIR/tests/abi/fortran.f90" >fortran.f90
        "mpif90.$abi" -w fortran.f90 -o fortran 2>/dev/null || continue # without that compiler
        run 0 -n 3 ./fortran
        same "$(tr -s ' ' <<<"$out")" $' one of 3\n one of 3\n one of 3'
    done
done
python=/usr/bin/python3
if [ -x $python ] && $python -c 'import mpi4py' 2>/dev/null; then
    run 0 -n 3 $python -c 'from mpi4py import MPI; print("one of", MPI.COMM_WORLD.allreduce(1))'
    same "$out" "$three"
fi
