#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Install the built tree, move it, and use it as a user would.

    tests/install_test.py BUILD SOURCE

A small C program is built against the moved tree through pkg-config and through find_package, and
both are run; the installed command runs; the library exports what xylem.h declares and no more;
nothing in the tree names the place it was built in.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def run(*command, env=None):
    """The standard output of a command that must succeed."""
    words = [str(word) for word in command]
    result = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: exit code {result.returncode}\n"
                         f"{result.stdout}{result.stderr}")
    return result.stdout


def expect(condition, message):
    if not condition:
        raise SystemExit(message)


def check_exports(prefix):
    declared = set(re.findall(r"^XYLEM_API\s[^;]*?(\w+)\(",
                              (prefix / "include/xylem.h").read_text(encoding="utf-8"), re.M))
    table = run("nm", "-D", "--defined-only", prefix / "lib/libxylem.so")
    exported = {line.split()[-1].split("@")[0] for line in table.splitlines()
                if line.split()[-2] not in "Aa"}
    expect(declared == exported, f"xylem.h declares {sorted(declared)}, "
                                 f"libxylem.so exports {sorted(exported)}")


def check_soname(prefix, version):
    dynamic = run("readelf", "-d", prefix / "lib/libxylem.so")
    soname = "libxylem.so." + ".".join(version.split(".")[:2])
    expect(f"[{soname}]" in dynamic, f"the soname is not {soname}:\n{dynamic}")


MODULE_COMMANDS = """
set ModulesCurrentModulefile [lindex $argv 0]
proc module-whatis {text} {}
proc conflict {args} {}
proc setenv {name value} {puts "$name=$value"}
proc prepend-path {name value} {puts "$name=$value"}
source $ModulesCurrentModulefile
"""


def check_module(prefix, version, work):
    """The module file names paths of the moved tree that are there."""
    module = prefix / "share/xylem/modulefiles/xylem" / version
    expect(module.read_text(encoding="utf-8").startswith("#%Module1.0"), f"{module} is no module file")
    if not shutil.which("tclsh"):
        print("left out: tclsh is not installed")
        return
    script = work / "module.tcl"
    script.write_text(MODULE_COMMANDS, encoding="utf-8")
    found = dict(line.split("=", 1) for line in run("tclsh", script, module).splitlines())
    expect(found.get("XYLEM_HOME") == str(prefix.resolve()), f"the module file says {found}")
    for name, value in found.items():
        expect(Path(value).is_dir(), f"the module file sets {name} to {value}, which is not there")
    expect((Path(found["PATH"]) / "mpicc").exists(), "the module file leads to no mpicc")
    expect((prefix / "share/man/man1/xylem.1").exists(), "no man page beside PATH")
    expect("MANPATH" not in found, "the module file sets MANPATH, which hides the system's man pages")


def check_environment(prefix):
    """env.sh puts the moved tree in front of another MPI, for shells, pkg-config, CMake and Meson."""
    script = f'. "{prefix}/share/xylem/env.sh"; command -v mpicc; pkg-config --variable=prefix ompi-c; ' \
             'echo "$CMAKE_PREFIX_PATH"; mpicc -showme:incdirs'
    env = {"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": "/elsewhere", "CMAKE_PREFIX_PATH": "/elsewhere"}
    mpicc, pc, cmake, include = run("bash", "-euc", script, env=env).splitlines()
    home = prefix.resolve()
    expect(Path(mpicc) == home / "bin/mpicc", f"env.sh leads to {mpicc}")
    pc = pc.replace("\\ ", " ")  # pkg-config quotes spaces
    expect(Path(pc).resolve() == home, f"env.sh leads pkg-config to {pc}")
    expect(cmake == f"{home}:/elsewhere", f"env.sh sets CMAKE_PREFIX_PATH to {cmake}")
    expect(Path(include) == home / "include", f"mpicc names {include}")
    shells = {"bash": "bash-completion/completions/mpiexec", "zsh": "zsh/site-functions/_xylem",
              "fish": "fish/vendor_completions.d/mpicc.fish"}
    data = run("bash", "-euc", f'. "{prefix}/share/xylem/env.sh"; echo "$XDG_DATA_DIRS"', env=env).strip()
    expect(data == f"{home}/share:/usr/local/share:/usr/share", f"env.sh sets XDG_DATA_DIRS to {data}")
    for shell, path in shells.items():
        expect((home / "share" / path).is_file(), f"no completion for {shell}: share/{path}")
    # Other shells do not know the path of the file; without a prefix that is there it is an error.
    env["XYLEM_HOME"] = str(home)
    out = run("sh", "-euc", f'. "{prefix}/share/xylem/env.sh"; command -v mpicc', env=env)
    expect(Path(out.strip()) == home / "bin/mpicc", f"env.sh in sh leads to {out}")
    env["XYLEM_HOME"] = "/elsewhere"
    result = subprocess.run(["sh", "-c", f'. "{prefix}/share/xylem/env.sh"'], env=env, capture_output=True,
                            text=True, check=False)
    expect(result.returncode != 0 and "set XYLEM_HOME" in result.stderr, f"env.sh: {result}")


def check_pkg_config(prefix, source, work):
    env = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
    version = run("pkg-config", "--modversion", "xylem", env=env).strip()
    flags = run("pkg-config", "--cflags", "--libs", "xylem", env=env).split()
    program = work / "by-pkg-config"
    run(os.environ.get("CC", "cc"), source / "tests/consumer/main.c", "-o", program, *flags)
    env = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    expect(run(program, env=env) == f"xylem {version}\n", "the program built with pkg-config is wrong")
    return version


def check_find_package(prefix, source, work, version):
    build = work / "by-cmake"
    run("cmake", "-S", source / "tests/consumer", "-B", build, "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    expect(run(build / "consumer") == f"xylem {version}\n",
           "the program built with find_package is wrong")


def check_command(prefix, version):
    xylem = prefix / "bin/xylem"
    expect(xylem.exists(), "bin/xylem is not installed")
    # Elsewhere, and with an environment in which nothing leads back to the source tree.
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/"}
    expect(version in run(xylem, "--version", env=env), f"xylem --version does not say {version}")
    expect(run(xylem, "machine", env=env).strip(), "xylem machine prints nothing")
    for machine in sorted((prefix / "share/xylem/machines").glob("*.xml")):
        expect(run(xylem, "machine", machine.stem, env=env).strip(),
               f"xylem machine {machine.stem} prints nothing")


def check_no_build_paths(prefix, build, source):
    """Files that name the build or source tree would not work on another machine."""
    for path in sorted(prefix.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.suffix not in (".so",):
            text = path.read_bytes()
            objects = text.startswith((b"\x7fELF", b"!<arch>\n"))
            for place in (build, source):
                # A whole path, not the end of another one.
                named = re.search(rb"(?<![\w.)}/-])" + re.escape(bytes(place)) + rb"(?![\w.-])", text)
                # Debug information of a development build names its sources; that is its task.
                expect(objects or not named,
                       f"{path.relative_to(prefix)} names {place}")


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    build, source = (Path(argument).resolve() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        run("cmake", "--install", build, "--prefix", work / "first")
        prefix = work / "moved tree"
        shutil.move(work / "first", prefix)
        plain = work / "moved"
        plain.symlink_to(prefix)  # pkg-config's output is split at spaces by most build tools
        version = check_pkg_config(plain, source, work)
        check_find_package(prefix, source, work, version)
        check_soname(prefix, version)
        check_exports(prefix)
        check_command(prefix, version)
        check_module(prefix, version, work)
        check_environment(plain)
        check_no_build_paths(prefix, build, source)
    return 0


if __name__ == "__main__":
    sys.exit(main())
