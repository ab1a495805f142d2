#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Remove the entry of the directory /opt from a .deb: the directory belongs to the system.

    packaging/leave_opt.py FILE.deb

dpkg removes the empty directories of a package with the package, and no other package of Debian names /opt.
A .deb is an ar archive of debian-binary, control.tar and data.tar.
"""
import gzip
import io
import lzma
import sys
import tarfile

FORMATS = {"gz": (gzip.decompress, lambda data: gzip.compress(data, mtime=0)),
           "xz": (lzma.decompress, lzma.compress)}
HEADER = 60


def members(data):
    """(name, header, content) of an ar archive."""
    at = 8
    while at + HEADER <= len(data):
        header = data[at:at + HEADER]
        size = int(header[48:58])
        yield header[:16].decode().strip().rstrip("/"), header, data[at + HEADER:at + HEADER + size]
        at += HEADER + size + size % 2


def without_opt(data):
    """A tar archive without the member opt/."""
    out = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(data)) as old, \
            tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as new:
        for member in old:
            if member.name.lstrip("./") != "opt":
                new.addfile(member, old.extractfile(member) if member.isreg() else None)
    return out.getvalue()


def main():
    path = sys.argv[1]
    with open(path, "rb") as file:
        data = file.read()
    out = data[:8]
    for name, header, content in members(data):
        if name.startswith("data.tar"):
            unpack, pack = FORMATS[name.rpartition(".")[2]]
            content = pack(without_opt(unpack(content)))
        out += header[:48] + b"%-10d" % len(content) + header[58:] + content + b"\n" * (len(content) % 2)
    with open(path, "wb") as file:
        file.write(out)


if __name__ == "__main__":
    main()
