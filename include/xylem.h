/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Xylem for programs: what libxylem.so offers.
 *
 *   #include <xylem.h>
 *
 *   printf("built with %s, runs with %s\n", XYLEM_VERSION, xylem_version());
 *
 * Compile and link with `pkg-config --cflags --libs xylem`, or from CMake with
 * find_package(xylem) and target_link_libraries(... xylem::xylem).
 */
#ifndef XYLEM_H
#define XYLEM_H

#ifdef __cplusplus
extern "C" {
#endif

/* What is declared with it is exported; everything else in the library is hidden. */
#define XYLEM_API __attribute__((visibility("default")))

/* The version of this header. A change of the first number means that programs must be rebuilt;
 * until 1.0 a change of the second means it too. */
#define XYLEM_VERSION_MAJOR 0
#define XYLEM_VERSION_MINOR 1
#define XYLEM_VERSION_PATCH 0
#define XYLEM_VERSION       "0.1.0"

/* The version of the library that is loaded, such as "0.1.0". Static text; any thread. */
XYLEM_API const char *xylem_version(void);

/* Whether the loaded library serves programs that were built with version major.minor of this
 * header: xylem_is_compatible(XYLEM_VERSION_MAJOR, XYLEM_VERSION_MINOR). Any thread. */
XYLEM_API int xylem_is_compatible(int major, int minor);

#ifdef __cplusplus
}
#endif

#endif
