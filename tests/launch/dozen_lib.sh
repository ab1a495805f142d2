# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2054
# Sourced by the tests with twelve private libraries.

# build_dozen [FLAG...]: the program ./dozen, its libraries and its plug-ins in this directory.
build_dozen() {
    local from=$XYLEM_SOURCE_DIR/tests/launch name flags
    local cc=("$bin/mpicc" -g -O1 -std=gnu11 -fPIC -shared -L. -Wl,-rpath,"\$ORIGIN" "$@")
    echo 'OLD_1 { global: version_check; }; NEW_2 { global: version_*; local: *; } OLD_1;' >version.map
    for name in order rank comm stream local lazy pointer ctor version key constant; do
        flags=()
        case $name in
        order) flags=(-Wl,-z,lazy) ;; # refers to librank.so without naming it
        comm | stream | local | lazy | key) flags=(-lrank -pthread) ;;
        pointer) flags=(-lrank -lorder) ;;
        ctor) flags=(-lrank -lorder) ;;
        version) flags=(-lrank -Wl,--version-script=version.map) ;;
        constant) flags=(-lrank -nostartfiles) ;;
        esac
        "${cc[@]}" "-D${name^^}" "$from/dozen_library.c" -o "lib$name.so" "${flags[@]}" || die "lib$name.so"
    done
    "$bin/mpicxx" -g -O1 -std=c++17 -fPIC -shared "$@" "$from/dozen_object.cc" -o libobject.so -L. -lrank \
        -Wl,-rpath,"\$ORIGIN" || die "libobject.so"
    "${cc[@]}" -DDEPENDENCY "$from/dozen_library.c" -o libdependency.so
    for name in a b; do
        "${cc[@]}" -DPLUGIN "$from/dozen_library.c" -o plugin_$name.so -ldependency -lrank || die "plugin_$name.so"
    done
    "${cc[@]}" -DGLOBAL "$from/dozen_library.c" -o global.so
    "${cc[@]}" -DUSES_GLOBAL "$from/dozen_library.c" -o uses_global.so
    cp uses_global.so uses_nothing.so
    "$bin/mpicc" -g -O1 -std=gnu11 "$@" "$from/dozen.c" -o dozen -L. -Wl,--no-as-needed -lorder -lrank -lcomm \
        -lstream -llocal -llazy -lpointer -lctor -lversion -lkey -lconstant -lobject -rdynamic -ldl -Wl,-rpath,"\$ORIGIN" ||
        die "dozen"
}
