# SPDX-License-Identifier: BSD-3-Clause
"""HPC Challenge: HPL, PTRANS, RandomAccess, FFT, STREAM and DGEMM, with the results checked."""
import re
import shutil
import subprocess

SOURCE = "hpcc"
WHAT = "all of its benchmarks with its own input file, OpenBLAS, 4 ranks"
SETTINGS = """
ARCH = xylem
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -sf
MKDIR = mkdir -p
RM = /bin/rm -f
TOUCH = touch
F2CDEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle
HPL_INCLUDES = -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) {blas} -lm
HPL_DEFS = $(F2CDEFS) $(HPL_INCLUDES)
CC = mpicc
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) -O2
LINKER = mpicc
LINKFLAGS = $(CCFLAGS)
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
"""


def blas():
    """The library itself: its package for development may be missing."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], text=True, capture_output=True, check=True).stdout
    found = re.search(r"libopenblas\.so\S* .*=> (\S+)", known)
    return found.group(1) if found else "-lopenblas"


def run(job):
    (job.tree / "hpl/Make.xylem").write_text(SETTINGS.format(blas=blas()), encoding="utf-8")
    job.need("make", "arch=xylem")
    shutil.copy(job.tree / "_hpccinf.txt", job.tree / "hpccinf.txt")
    job.check("exit code", *job.ranks(4, "./hpcc"))
    output = job.tree / "hpccoutf.txt"
    for name, good in (("HPL", r"^ +1 tests completed and passed residual checks"),
                       ("PTRANS", r"^WALL( +\S+){7} PASSED"),
                       ("RandomAccess on all ranks", r"^MPIRandomAccess_ErrorsFraction=0(\.0+)?(e.0+)?$"),
                       ("FFT on all ranks", r"^MPIFFT_maxErr=\d\.\d+e-1[3-9]"),
                       ("all parts", r"^Success=1$")):
        job.check(name, "python3", "-c",
                  f"import re,sys; sys.exit(not re.search({good!r}, open({str(output)!r}).read(), re.M))")
