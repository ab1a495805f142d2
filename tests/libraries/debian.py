# SPDX-License-Identifier: BSD-3-Clause
"""Sources from Debian's archive, and an installed Xylem to build them with.

    sources = Sources(work)
    tree = sources.unpack("fftw3")        # a directory with the sources as their authors made them
    prefix = install(work)                # this tree, built for release

apt is told about source packages by a configuration of its own, in `work`: that of the system is
neither changed nor needed.
"""
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RELEASE = "bookworm"
MIRROR = "http://deb.debian.org/debian"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class CannotFetch(Exception):
    """Says in one line which source could not be fetched, and why."""


def call(command, log, cwd=None, env=None, seconds=3600):
    """Run a command; what it prints is appended to the file `log`. Its exit code, 124 for too long."""
    with open(log, "ab") as out:
        out.write(f"$ {' '.join(map(str, command))}\n".encode())
        out.flush()
        try:
            return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                                  stdout=out, stderr=subprocess.STDOUT, cwd=cwd, env=env,
                                  timeout=seconds, check=False).returncode
        except OSError as error:
            out.write(f"{error}\n".encode())
            return 127
        except subprocess.TimeoutExpired:
            out.write(f"stopped after {seconds} s\n".encode())
            return 124


class Sources:
    """Source packages of one release, fetched into `work`/sources once."""

    def __init__(self, work):
        self.where = Path(work) / "sources"
        self.apt = self.where / "apt"
        self.log = self.where / "apt.log"
        for folder in ("lists/partial", "cache/archives/partial"):
            (self.apt / folder).mkdir(parents=True, exist_ok=True)
        self.configuration = self.apt / "apt.conf"
        self.configuration.write_text(
            f'Dir::Etc::SourceList "{self.apt}/sources.list";\n'
            'Dir::Etc::SourceParts "/dev/null";\n'
            f'Dir::State::Lists "{self.apt}/lists";\n'
            f'Dir::Cache "{self.apt}/cache";\n'
            'APT::Sandbox::User "root";\n', encoding="utf-8")
        signed = f"[signed-by={KEYS}] " if Path(KEYS).exists() else ""
        (self.apt / "sources.list").write_text(
            f"deb-src {signed}{MIRROR} {RELEASE} main\n", encoding="utf-8")
        self.updated = False

    def _apt(self, *words):
        if shutil.which("apt-get") is None:
            raise CannotFetch("apt-get is not here: sources are fetched on Debian and Ubuntu only")
        return call(["env", f"APT_CONFIG={self.configuration}", "apt-get", *words], self.log,
                    cwd=self.where, seconds=600)

    def _update(self):
        if not self.updated and self._apt("update") != 0:
            raise CannotFetch(f"no list of packages from {MIRROR} (see {self.log})")
        self.updated = True

    def original(self, package):
        """The authors' archive. Debian's own changes are not needed, and not asked for."""
        def found():
            return sorted(self.where.glob(f"{package}_*.orig.tar.*"))
        if not found():
            self._update()
            self._apt("source", "--download-only", package)
        if not found():
            raise CannotFetch(f"{MIRROR} has no sources of {package} in {RELEASE} (see {self.log})")
        return found()[-1]

    def unpack(self, package, into, part=None):
        """The sources below `into`, unpacked anew, or the directory `part` of them; `into`."""
        archive = self.original(package)
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir(parents=True)
        above = 1 + (part.count("/") + 1 if part else 0)
        subprocess.run(["tar", "-xf", archive, "-C", into, f"--strip-components={above}",
                        *(["--wildcards", f"*/{part}/*"] if part else [])], check=True)
        return into


def install(work):
    """Build this tree for release and install it below `work`; the prefix."""
    prefix = Path(work) / "prefix"
    log = Path(work) / "install.log"
    if call([ROOT / "scripts/install.sh", prefix], log) != 0:
        raise SystemExit(f"scripts/install.sh failed (see {log})")
    return prefix
