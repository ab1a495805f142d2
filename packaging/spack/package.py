# SPDX-License-Identifier: BSD-3-Clause
# A recipe for Spack: put this directory's file into a repository as packages/xylem/package.py.
# packaging/README.md says what was tried. A released archive needs `url` and a checksum here.
from spack.package import *


class Xylem(CMakePackage):
    """Runs, places, overlaps and predicts parallel programs; its MPI has user-level threads as ranks."""

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("partitioners", default=True, description="strategies scotch and metis of xylem place")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    depends_on("hwloc@2:")
    depends_on("libxml2")
    depends_on("openblas")
    depends_on("netlib-lapack+lapacke", type="run")
    depends_on("scotch@7:~mpi", type="run", when="+partitioners")
    depends_on("metis", when="+partitioners")

    provides("mpi")

    generator("ninja")

    def cmake_args(self):
        return [self.define("XYLEM_WITH_CMOCKA", False), self.define("XYLEM_TESTS", False)]

    def setup_run_environment(self, env):
        env.set("MPICC", self.prefix.bin.mpicc)
        env.set("MPICXX", self.prefix.bin.mpicxx)

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = self.prefix.bin.mpicc
        self.spec.mpicxx = self.prefix.bin.mpicxx
