#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kernels.py BUILD SOURCE random|wave: xylem stencil --kernel-source against computations that know nothing of it.

random: random stencils of random radius, shape and time levels on random grids, on cores, ranks and an OpenCL device:
the bits of a loop in Python. wave: the standing wave of examples/kernels/wave.c converges to the known solution with
order 8 in space and 2 in time.
"""
import itertools
import math
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import testing


def run(build, before, options):
    """The cells that a run leaves in a file, in the order of the grid, and what it printed."""
    Path("domain.bin").unlink(missing_ok=True)
    command = [*before, f"{build}/bin/xylem", "stencil", "--real", "--file", "domain.bin", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=testing.seconds(100), check=False)
    if done.returncode != 0 or "bit for bit" not in done.stdout:
        sys.exit(f"FAILED: {' '.join(command)}: {done.stdout}{done.stderr}")
    return Path("domain.bin").read_bytes()


class Grid:
    """Blocks of cells; cells at the ends keep their values."""

    def __init__(self, blocks, cells, radius):
        self.blocks, self.cells = blocks, cells
        self.extents = [b * c for b, c in zip(blocks, cells)]
        self.low = [c if b > 1 else radius for b, c in zip(blocks, cells)]

    def places(self):
        return itertools.product(*map(range, self.extents))

    def is_inside(self, place):
        return all(low <= x < extent - low for x, low, extent in zip(place, self.low, self.extents))

    def read(self, data, kind):
        """A file holds block after block."""
        values = iter(struct.unpack(f"{math.prod(self.extents)}{kind}", data))
        grid = {}
        for block in itertools.product(*map(range, self.blocks)):
            for cell in itertools.product(*map(range, self.cells)):
                grid[tuple(b * n + c for b, n, c in zip(block, self.cells, cell))] = next(values)
        return grid

    def options(self):
        return ["--blocks", "x".join(map(str, self.blocks)), "--cells", "x".join(map(str, self.cells))]


# ---- Random stencils ----

class Stencil:
    """A sum of products in one order, of cells around, the value before, the place and the iteration."""

    def __init__(self, draw):
        self.dims = draw.choice([1, 2, 2, 3])
        self.is_box = self.dims == 2 and draw.random() < 0.4
        self.radius = draw.randint(1, 3)
        self.levels = draw.randint(1, 2)
        offsets = set()
        for _ in range(draw.randint(2, 6)):
            offset = [draw.randint(-self.radius, self.radius) for _ in range(self.dims)]
            if not self.is_box:
                axis = draw.randrange(self.dims)
                offset = [x if d == axis else 0 for d, x in enumerate(offset)]
            offsets.add(tuple(offset))
        self.terms = [(round(draw.uniform(-0.5, 0.5), 3), offset) for offset in sorted(offsets)]
        self.axis = draw.randrange(self.dims)

    def text(self):
        reads = [f"(XY_REAL){factor} * XY_AT{self.dims}({', '.join(map(str, offset))})" for factor, offset in self.terms]
        before = " + (XY_REAL)0.25 * XY_BEFORE" if self.levels == 2 else ""
        places = " + ".join(f"{7 - 2 * d} * XY_PLACE({d})" for d in range(self.dims))
        return f"""#define XY_RADIUS {self.radius}
#define XY_LEVELS {self.levels}
XY_FIRST {{ return (XY_REAL)0.125 * (XY_REAL)(({places} + 5 * XY_LEVEL + 5) % 11); }}
XY_CELL
{{
    XY_REAL sum = {' + '.join(reads)};
    return sum{before} + (XY_REAL)0.0625 * (XY_REAL)(XY_PLACE({self.axis}) - XY_LOW({self.axis}) + XY_ITERATION);
}}
"""

    def first(self, place, level):
        return 0.125 * ((sum((7 - 2 * d) * x for d, x in enumerate(place)) + 5 * level + 5) % 11)

    def expect(self, grid, iterations):
        now = {p: self.first(p, 0) for p in grid.places()}
        before = {p: self.first(p, -1 if self.levels == 2 and grid.is_inside(p) else 0) for p in grid.places()}
        for t in range(iterations):
            after = dict(now)
            for p in filter(grid.is_inside, now):
                total = None
                for factor, offset in self.terms:
                    term = factor * now[tuple(x + o for x, o in zip(p, offset))]
                    total = term if total is None else total + term
                if self.levels == 2:
                    total = total + 0.25 * before[p]
                after[p] = total + 0.0625 * (p[self.axis] - grid.low[self.axis] + t)
            now, before = after, now
        return now


def has_opencl(build):
    environment = dict(os.environ, XYLEM_GPU_DRIVER="opencl")
    said = subprocess.run([f"{build}/bin/xylem", "machine", "--json"], env=environment, capture_output=True, text=True,
                          check=False)
    return '"gpu": 1' in said.stdout


def random_stencils(build):
    draw = random.Random(testing.seed())
    places = [([], []), ([f"{build}/bin/mpiexec", "-n", "3"], [])]
    if has_opencl(build):
        os.environ["XYLEM_GPU_DRIVER"] = "opencl"
        os.environ["POCL_CACHE_DIR"] = f"{build}/pocl-cache"
        places += [([], ["--gpus", "1"])]
    if not Path(f"{build}/bin/mpiexec").exists():
        del places[1]
    for number in range(60 if testing.SOAK else 2):
        stencil = Stencil(draw)
        blocks = [draw.randint(3, 5)] + [draw.choice([1, 3]) for _ in range(stencil.dims - 1)]
        cells = [stencil.radius + draw.randint(0, 2) if b > 1 else 2 * stencil.radius + draw.randint(1, 4) for b in blocks]
        grid = Grid(blocks, cells, stencil.radius)
        iterations = draw.randint(1, 5)
        Path("random.c").write_text(stencil.text())
        options = ["--kernel-source", "random.c", "--graph", "jacobi", "--iterations", str(iterations), *grid.options()]
        if stencil.is_box:
            options += ["--points", "9"]
        expected = stencil.expect(grid, iterations)
        for before, more in places:
            found = grid.read(run(build, before, [*options, *more]), "d")
            wrong = [p for p in expected if found[p] != expected[p]]
            if wrong:
                sys.exit(f"FAILED: case {number}, {before} {options} {more}: cell {wrong[0]} is {found[wrong[0]]} and not "
                         f"{expected[wrong[0]]}; {len(wrong)} cells differ\n{stencil.text()}")
        # In place and in single precision there is the plain loop alone.
        if stencil.levels == 1:
            options[options.index("jacobi")] = draw.choice(["red-black", "natural"])
        run(build, *places[draw.randrange(len(places))][:1], [*options, "--precision", "single"])


# ---- The standing wave ----

def error(build, source, n, inner, steps, courant):
    """The largest error of a cell, in a box of n cells, or n + 1 distances, in each direction."""
    text = Path(f"{source}/examples/kernels/wave.c").read_text()
    Path("standing.c").write_text(f"#define STANDING 1\n#define COURANT {courant!r}\n{text}")
    grid = Grid([inner + 2, 1, 1], [n // inner, n + 8, n + 8], 4)
    found = grid.read(run(build, [], ["--kernel-source", "standing.c", "--graph", "jacobi", "--iterations", str(steps),
                                      *grid.options()]), "d")
    swing = math.cos(math.sqrt(3) * math.pi * courant * steps / (n + 1))
    sines = [[math.sin(math.pi * (x - low + 1) / (n + 1)) for x in range(extent)]
             for low, extent in zip(grid.low, grid.extents)]
    return max(abs(u - swing * math.prod(s[x] for s, x in zip(sines, p))) for p, u in found.items() if grid.is_inside(p))


def wave(build, source):
    """Time steps about in proportion to distance^4 show the order in space, and half of them that in time."""
    coarse, fine = error(build, source, 7, 1, 20, 0.05), error(build, source, 11, 1, 100, 0.015)
    order = math.log(coarse / fine, 12 / 8)
    if not 7.5 < order < 8.5:
        sys.exit(f"FAILED: order {order:.2f} in space, errors {coarse:.3g} and {fine:.3g}")
    whole, half = error(build, source, 7, 1, 10, 0.4), error(build, source, 7, 1, 20, 0.2)
    if not 1.8 < math.log2(whole / half) < 2.2:
        sys.exit(f"FAILED: order {math.log2(whole / half):.2f} in time, errors {whole:.3g} and {half:.3g}")


def main():
    build, source, what = sys.argv[1:]
    if what == "random":
        random_stencils(build)
    else:
        wave(build, source)


main()
