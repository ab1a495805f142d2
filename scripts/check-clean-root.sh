#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Build, test and package the last commit in a bare Debian or Ubuntu, and use the package in a second one.
#
#   scripts/check-clean-root.sh DIR [SUITE [MIRROR]]   (needs root, debootstrap and the network)
#
# DIR and DIR-package are made by debootstrap where they do not exist (bookworm from the archive of this
# machine's apt, unless SUITE and MIRROR name others) and kept. Both get the apt configuration of this
# machine. TARGETS (`demo test package install`) selects the steps: `install` installs the .deb of the last
# `package` in DIR-package with nothing but the packages that it depends on, compiles and runs the examples
# with Make, CMake and Meson, runs docs/getting-started.md and removes it; no file may remain. `trial` follows
# the README as a new user does and prints the times (remove DIR before it). `shell` starts a shell in DIR.
# DEBOOTSTRAP_OPTIONS: Ubuntu from a Debian without the package ubuntu-keyring needs --no-check-gpg. The last line is `N passed, N failed`.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -ge 1 ] || { sed -n '3,13s/^# \{0,1\}//p' "$0"; exit 2; }
first=$(realpath -m "$1")
second=$first-package
suite=${2:-bookworm}
archive=${3:-}
if [ "$(id -u)" -ne 0 ]; then
    echo "check-clean-root: needs root, for debootstrap and chroot" >&2
    exit 1
fi

# The first mirror that this machine's apt uses for a Debian archive.
mirror() {
    local found
    # shellcheck disable=SC2016 # apt-get expands these itself
    found=$(apt-get indextargets --format '$(SITE) $(REPO_URI) $(CODENAME) $(COMPONENT)' 2>/dev/null |
        awk -v suite="$suite" '$4 == "main" && $3 == suite && !/security/ { print $2; exit }')
    if [ -z "$found" ]; then
        echo "check-clean-root: this machine's apt has no archive with $suite; name one as MIRROR" >&2
        return 1
    fi
    echo "$found"
}

# make_root DIR: a bare system, unless there is one already.
make_root() {
    local options=(--variant=minbase --components=main) script=()
    [ ! -x "$1/usr/bin/apt-get" ] || return 0
    [ -n "$archive" ] || archive=$(mirror)
    case $archive in
    *ubuntu*)
        options=(--variant=minbase "--components=main,universe")
        # Debian's debootstrap need not know a newer Ubuntu by name; all of them are made alike.
        [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=(gutsy)
        ;;
    esac
    # shellcheck disable=SC2086 # several words
    debootstrap "${options[@]}" ${DEBOOTSTRAP_OPTIONS:-} "$suite" "$1" "$archive" "${script[@]}"
}

# copy_apt DIR: the part of this machine's apt configuration that reaches the network: proxies, certificates.
copy_apt() {
    local root=$1 path
    for path in /etc/apt/apt.conf /etc/apt/apt.conf.d; do
        [ ! -e "$path" ] || cp -r "$path" "$root/etc/apt/"
    done
    # Hooks call programs that a bare root does not have.
    grep -lE 'Pre-Install-Pkgs|Post-Invoke|Pre-Invoke' -r "$root/etc/apt/apt.conf.d" 2>/dev/null | xargs -r rm -f
    # Every installed system has this file; debootstrap leaves it to the installer.
    [ -e "$root/etc/hosts" ] || echo "127.0.0.1 localhost" >"$root/etc/hosts"
    [ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    [ ! -d /usr/local/share/ca-certificates ] || cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
}

mounted=()
unmount_all() {
    local i
    for ((i = ${#mounted[@]} - 1; i >= 0; i--)); do
        umount "${mounted[i]}" || umount -l "${mounted[i]}"
    done
    mounted=()
}
trap unmount_all EXIT

mount_one() {
    local target=${!#}
    mkdir -p "$target"
    mount "$@"
    mounted+=("$target")
}

# enter_root DIR: make it and mount what programs expect; one root at a time.
enter_root() {
    unmount_all
    root=$1
    make_root "$root"
    copy_apt "$root"
    mount_one -t proc proc "$root/proc"
    mount_one -t sysfs -o ro sysfs "$root/sys"
    mount_one --bind /dev "$root/dev"
    mount --make-private "$root/dev" # what is mounted below it stays out of this machine's own /dev
    mount_one -t devpts devpts "$root/dev/pts"
    mount_one -t tmpfs tmpfs "$root/dev/shm"
}

proxies=()
for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || proxies+=("$name=${!name}")
done

# Functions for the commands in a root: install packages; list the files that packages can change.
# shellcheck disable=SC2016 # the inner shell expands
prelude='install() {
    apt-get -q -o Dpkg::Use-Pty=0 install -y --no-install-recommends "$@" >/install.log || { tail /install.log; return 1; }
}
list() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var -o -path /root -o -path /try \
        -o -path /install.log \) -prune -o -printf "%y %m %u %p %l\n" | sort
}
'

# inside COMMANDS: run by bash in the root, in an environment that holds nothing of this machine's.
inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root CI=true LC_ALL=C.UTF-8 \
        "${proxies[@]}" DEBIAN_FRONTEND=noninteractive bash -euc "$prelude$1"
}

passed=0 failed=0
results=()
# step TEXT COMMANDS: one more thing that passes or fails.
step() {
    local begin=$SECONDS word=passed
    echo "== $1"
    if inside "$2"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) word=FAILED
    fi
    results+=("$(printf '%-7s%6d s  %s' "$word" $((SECONDS - begin)) "$1")")
    [ $word = passed ]
}

# A bare Debian has no make, and nobody can call the Makefile without one.
prepare_first() {
    enter_root "$first"
    rm -rf "$root/xylem"
    git clone -q --no-local . "$root/xylem"
    step "install make and git" "apt-get -q update >/dev/null; install make git ca-certificates"
}

# The build tools of the sample programs, and the libraries that the package depends on, come first: the
# list of files is then that of the package alone.
# shellcheck disable=SC2016 # the inner shell expands
use_package() {
    local deb
    deb=$(ls "$first"/xylem/build/package/xylem-*.deb) || return
    enter_root "$second"
    rm -rf "$root/try" && mkdir -p "$root/try/tests"
    cp -r docs examples machines "$root/try/"
    cp tests/docs_test.py tests/testing.py "$root/try/tests/"
    cp "$deb" "$root/try/xylem.deb"
    step "install the dependencies of the .deb" '
        apt-get -q update >/dev/null
        ! dpkg -s xylem >/dev/null 2>&1 || dpkg -r xylem
        install gcc g++ libc6-dev make cmake ninja-build meson pkg-config python3
        install $(apt-get -s install --no-install-recommends /try/xylem.deb |
            awk "/^Inst/ && \$2 != \"xylem\" { print \$2 }")
        list >/try/before' || return 0
    step "install the .deb" '
        dpkg -i /try/xylem.deb >/try/install.log || { cat /try/install.log; exit 1; }
        [ "$(readlink -f /usr/bin/mpicc /usr/bin/mpiexec /usr/bin/xylem | xargs)" = \
            "/opt/xylem/bin/mpicc /opt/xylem/bin/mpiexec /opt/xylem/bin/xylem" ]
        . /opt/xylem/share/xylem/env.sh
        [ "$(command -v mpicc)" = /opt/xylem/bin/mpicc ]
        ! ldd /opt/xylem/bin/* /opt/xylem/lib/*.so 2>/dev/null | grep "not found"' || return 0
    step "compile and run with Make" '
        . /opt/xylem/share/xylem/env.sh
        cp -r /try/examples /try/make && cd /try/make && make >/dev/null
        mpiexec -n 1000 ./hello | tail -1 | grep -x "1000 of 1000 ranks said hello"' || :
    step "compile and run with CMake" '
        . /opt/xylem/share/xylem/env.sh
        cmake -S /try/examples -B /try/cmake -G Ninja >/dev/null && cmake --build /try/cmake >/dev/null
        mpiexec -n 64 /try/cmake/hello | tail -1 | grep -x "64 of 64 ranks said hello"' || :
    step "compile and run with Meson" '
        . /opt/xylem/share/xylem/env.sh
        meson setup /try/meson /try/examples | grep "dependency MPI for c found: YES" && ninja -C /try/meson >/dev/null
        ldd /try/meson/hello | grep /opt/xylem/lib/
        mpiexec -n 64 /try/meson/hello | tail -1 | grep -x "64 of 64 ranks said hello"' || :
    step "lines of source in a report" '
        . /opt/xylem/share/xylem/env.sh
        cd /try && mpicc -g examples/deadlock.c -o deadlock
        mpiexec -n 2 ./deadlock 2>&1 | grep "at deadlock.c:"' || :
    step "the commands of docs/getting-started.md" '
        . /opt/xylem/share/xylem/env.sh
        cd /try && python3 tests/docs_test.py docs/getting-started.md /opt/xylem /try' || :
    step "remove the .deb" '
        dpkg -r xylem >/try/remove.log || { cat /try/remove.log; exit 1; }
        list >/try/after
        diff /try/before /try/after' || :
}

ready=
for target in ${TARGETS:-demo test package install}; do
    if [ "$target" = install ]; then
        use_package || failed=$((failed + 1))
        ready=
        continue
    fi
    [ -n "$ready" ] || prepare_first || break
    ready=yes
    if [ "$target" = shell ]; then
        inside "cd /xylem; exec bash -i"
        continue
    fi
    if [ "$target" = trial ]; then
        step "follow the README" "cd /xylem; scripts/new-user-trial.sh" || :
        continue
    fi
    step "make $target" "cd /xylem; make $target" || :
    step "no other MPI after make $target" '! command -v mpicc mpirun mpiexec' || :
done

printf '\n%s\n' "$suite, $(git -C "$first/xylem" log -1 --format='%h %s')"
printf '%s\n' "${results[@]}"
echo "all of it took $SECONDS s"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
