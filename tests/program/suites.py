#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Predict the programs of public suites from their sources, and compare with their runs.

    tests/program/suites.py BUILD SUITE FOLDER [NAME...]

SUITE is mpitutorial, parres (the Parallel Research Kernels), osu (the OSU micro-benchmarks) or comd; FOLDER has its
sources. Words as in corpus.py. Values that are computed from data, such as the norm that a kernel verifies, are given
with --assume as a user would: the table names them. The exit code is 1 if a prediction differs from its run in silence.
"""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from corpus import Corpus # noqa: E402

TUTORIALS = {
    # program: (ranks, arguments)
    "check_status": (2, []), "probe": (2, []), "comm_groups": (16, []), "comm_split": (6, []), "bin": (4, ["100"]),
    "compare_bcast": (4, ["100", "10"]), "my_bcast": (4, []), "mpi_hello_world": (4, []), "reduce_avg": (4, ["100"]),
    "reduce_stddev": (4, ["100"]), "all_avg": (4, ["100"]), "avg": (4, ["100"]), "ping_pong": (2, []), "ring": (4, []),
    "send_recv": (2, []), "random_rank": (4, []),
}

KERNELS = {
    # program: (arguments, values computed from data)
    "Synch_p2p/p2p": (["10", "100", "100"], ["unknown_294_1=0"]), "Stencil/stencil": (["10", "100"], ["local_norm=0"]),
    "Transpose/transpose": (["10", "96"], ["abserr=0"]), "Transpose/transpose-a2a": (["10", "96"], ["abserr=0"]),
    "Reduce/reduce": (["10", "1000"], ["unknown_184_1=0"]), "Nstream/nstream": (["10", "1000", "0"], ["asum=1"]),
    "Sparse/sparse": (["10", "8", "2"], ["vector_sum=1"]), "Synch_global/global": (["10", "1200"], []),
    "Random/random": (["16", "4"], []), "DGEMM/dgemm": (["2", "64", "16"], []),
    "PIC-static/pic": (["10", "100", "1000", "1", "1", "SINUSOIDAL"], []),
    "AMR/amr": (["10", "100", "10", "2", "3", "2", "2", "NO_TALK"], []),
    "MPIRMA/Synch_p2p/p2p": (["10", "100", "100"], ["unknown_298_1=0"]), "MPIRMA/Stencil/stencil": (["10", "100"], ["local_norm=0"]),
    "MPIRMA/Transpose/transpose": (["10", "96", "32", "0"], ["abserr=0", "flag=0", "attr_ptr=0"]),
    "MPISHM/Synch_p2p/p2p": (["10", "100", "100"], ["unknown_310_1=0"]), "MPISHM/Stencil/stencil": (["4", "10", "100"], ["local_norm=0"]),
}
KERNEL_FLAGS = ["-DRESTRICT_KEYWORD=0", "-DVERBOSE=0", "-DLONG_IS_64BITS=1", "-DDOUBLE=1", "-DSTAR=1", "-DRADIUS=2"]


def mpitutorial(folder):
    for source in sorted(folder.rglob("*.c")):
        if source.stem in TUTORIALS:
            ranks, arguments = TUTORIALS[source.stem]
            more = sorted(source.parent.glob("tmpi_rank.c")) if source.stem == "random_rank" else []
            yield source.stem, [source, *more], ranks, arguments, [], []


def parres(folder):
    common, more = folder / "common", {"AMR/amr": ["MPI1/AMR/timestep.c"], "PIC-static/pic": ["common/random_draw.c"]}
    for name, (arguments, assumed) in KERNELS.items():
        sources = [folder / ("" if name.startswith("MPI") else "MPI1") / f"{name}.c", common / "MPI_bail_out.c", common / "wtime.c"]
        sources += [folder / s for s in more.get(name, [])]
        yield name, sources, 4, arguments, [f"-I{folder}/include", f"-I{common}", *KERNEL_FLAGS], assumed


def osu(folder):
    """Those of messages and collectives; the ones with threads are for two."""
    for kind, common in (("pt2pt", "osu_pt2pt.c"), ("collective", "osu_coll.c"), ("startup", None)):
        place = folder / "mpi" / kind
        for source in sorted(place.glob("osu_*.c")):
            if source.name != common:
                few = ["-x", "1", "-i", "4", "-m", "4096"] if kind == "collective" else []
                yield source.stem, [source] + ([place / common] if common else []), 4 if kind != "pt2pt" else 2, few, \
                    [f"-I{place}", '-DFIELD_WIDTH=18', '-DFLOAT_PRECISION=2', "-D_GNU_SOURCE"], []


def comd(folder):
    place = folder / "src-mpi"
    made = tempfile.TemporaryDirectory()  # its Makefile writes a header
    (Path(made.name) / "CoMD_info.h").write_text("".join(f'#define CoMD_{name} "unknown"\n' for name in (
        "VARIANT", "HOSTNAME", "KERNEL_NAME", "KERNEL_RELEASE", "PROCESSOR", "COMPILER", "COMPILER_VERSION", "CFLAGS",
        "LDFLAGS")), encoding="utf-8")
    yield "CoMD", sorted(place.glob("*.c")), 8, ["-i", "2", "-j", "2", "-k", "2", "-x", "8", "-y", "8", "-z", "8", "-N", "2", "-n", "1"], \
        [f"-I{place}", f"-I{made.name}", "-DDO_MPI", "-DDOUBLE"], []


def main():
    if len(sys.argv) < 4 or sys.argv[2] not in ("mpitutorial", "parres", "osu", "comd"):
        sys.exit(__doc__)
    counts = {}
    for name, sources, ranks, arguments, flags, assumed in globals()[sys.argv[2]](Path(sys.argv[3]).resolve()):
        if sys.argv[4:] and name not in sys.argv[4:]:
            continue
        with tempfile.TemporaryDirectory() as work:
            what, why = Corpus(sys.argv[1], work).judge(sources, [str(ranks)], arguments, flags, assumed)
        counts[what] = counts.get(what, 0) + 1
        print(f"{name}: {what}{' with ' + ', '.join(assumed) if assumed and what == 'predicted' else ''}"
              f"{': ' + why.splitlines()[0] if why else ''}", flush=True)
    print(", ".join(f"{counts.get(w, 0)} {w}" for w in ("predicted", "asked", "refused", "wrong", "left out")))
    return 1 if counts.get("wrong") else 0


if __name__ == "__main__":
    sys.exit(main())
