#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""slice.py FILE BLOCKS CELLS PICTURE [SCALE]: draw the middle slice of a 3D domain (xylem stencil --file) as a PNG.

The first dimension goes down and the second one to the right; positive values are red and negative ones blue. SCALE is
the size of a cell in pixels.
"""
import struct
import sys
import zlib
from array import array
from pathlib import Path


def read_slice(path, blocks, cells):
    """Rows of values in the middle of the third dimension; a file holds block after block."""
    extents = [b * c for b, c in zip(blocks, cells)]
    data = Path(path).read_bytes()
    size = len(data) // (extents[0] * extents[1] * extents[2])
    if size not in (4, 8) or size * extents[0] * extents[1] * extents[2] != len(data):
        sys.exit(f"{path} has {len(data)} bytes, which are not {'x'.join(map(str, extents))} cells of 4 or 8 bytes")
    values = array("d" if size == 8 else "f", data)
    middle, rows = extents[2] // 2, []
    for i in range(extents[0]):
        row = []
        for j in range(extents[1]):
            block = (i // cells[0] * blocks[1] + j // cells[1]) * blocks[2] + middle // cells[2]
            cell = (i % cells[0] * cells[1] + j % cells[1]) * cells[2] + middle % cells[2]
            row.append(values[block * cells[0] * cells[1] * cells[2] + cell])
        rows.append(row)
    return rows


def colour(value, most):
    """Weak values are shown as well: a power of the value decides."""
    strength = min(1.0, abs(value) / most) ** 0.7
    fade = round(255 * (1 - strength))
    return bytes((255, fade, fade) if value > 0 else (fade, fade, 255))


def write_png(path, rows, scale):
    ordered = sorted(abs(v) for row in rows for v in row)
    most = ordered[len(ordered) * 995 // 1000] or 1.0
    lines = []
    for row in rows:
        line = b"\0" + b"".join(colour(v, most) * scale for v in row)
        lines += [line] * scale

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", scale * len(rows[0]), scale * len(rows), 8, 2, 0, 0, 0)
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(lines), 9)) +
                           chunk(b"IEND", b""))


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    path, blocks, cells, picture = sys.argv[1:5]
    rows = read_slice(path, [int(n) for n in blocks.split("x")], [int(n) for n in cells.split("x")])
    write_png(picture, rows, int(sys.argv[5]) if len(sys.argv) == 6 else 2)


main()
