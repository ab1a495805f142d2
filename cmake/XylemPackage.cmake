# SPDX-License-Identifier: BSD-3-Clause
# Packages (make package), and the files that put an installed tree first: a module file and env.sh.

configure_file(${PROJECT_SOURCE_DIR}/packaging/xylem.modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile RENAME ${PROJECT_VERSION}
  DESTINATION ${CMAKE_INSTALL_DATADIR}/xylem/modulefiles/xylem)
configure_file(${PROJECT_SOURCE_DIR}/packaging/env.sh.in ${PROJECT_BINARY_DIR}/env.sh @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/env.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/xylem)
install(FILES README.md NEWS.md LICENSE SECURITY.md SUPPORTED.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR}) # help texts name pages of docs

set(CPACK_PACKAGE_VENDOR "The Xylem project")
set(CPACK_PACKAGE_CONTACT "The Xylem project <xylem@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME xylem-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_STRIP_FILES OFF) # debuggers read the names of ranks' frames
# Packages of a system go below /opt, clear of another MPI; an archive is a tree that runs anywhere.
file(WRITE ${PROJECT_BINARY_DIR}/package.cmake "if(CPACK_GENERATOR MATCHES \"DEB|RPM\")
  set(CPACK_PACKAGING_INSTALL_PREFIX /opt/xylem)
endif()
")
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/package.cmake)
set(CPACK_GENERATOR TGZ DEB)
find_program(XYLEM_RPMBUILD rpmbuild)
mark_as_advanced(XYLEM_RPMBUILD)
if(XYLEM_RPMBUILD)
  list(APPEND CPACK_GENERATOR RPM)
endif()

# dpkg-shlibdeps finds the libraries that programs are linked with. A library that every job loads when it
# is needed is a dependency, too; those of single commands, and the compilers of mpicc, are recommended.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libdw1 | libdw1t64, libssl3 | libssl3t64")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc, libc6-dev, g++, gfortran, python3, liblapacke, \
libopenblas0-pthread | libopenblas0, libscotch-7.0 | libscotch-7.0t64, libmetis5, libclang-19-dev, gdb")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ocl-icd-libopencl1, valgrind, openssh-client")
# Alternatives of mpicc, mpirun and xylem, below those of Open MPI and MPICH.
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/postinst
                                       ${PROJECT_SOURCE_DIR}/packaging/debian/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# dpkg removes empty directories of a package with it; /opt belongs to the system.
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/leave_opt.cmake)
set(CPACK_RPM_PACKAGE_LICENSE BSD-3-Clause)
set(CPACK_RPM_PACKAGE_AUTOREQPROV ON)
# Its libmpi.so is for its own programs and must not satisfy those of others.
set(CPACK_RPM_PACKAGE_AUTOPROV OFF)
set(CPACK_RPM_SPEC_MORE_DEFINE "%define __requires_exclude ^(libmpi|libxylem)")
include(CPack)
