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

/* ---- Placing: which core runs which process. No MPI is needed. ----
 *
 *   xylem_matrix *m;
 *   xylem_placement *p;
 *   if (xylem_matrix_read("app.mat", &m) == 0 &&
 *       xylem_place(m, "16x2x8", NULL, &p) == 0)
 *       printf("rank 3 runs on core %u\n", xylem_placement_core(p, 3));
 *   xylem_placement_free(p);
 *   xylem_matrix_free(m);
 *
 * Functions that return int return 0 or a positive number; then one line on standard error said
 * why. They may be called from any thread, and nothing is shared between calls. */

typedef struct xylem_matrix xylem_matrix;
typedef struct xylem_placement xylem_placement;

/* `entries` messages from from[k] to to[k] of bytes[k] together; those of the same pair add up.
 * Ranks are below n, bytes finite and not negative. */
XYLEM_API int xylem_matrix_create(unsigned n, unsigned long entries, const unsigned *from,
                                  const unsigned *to, const double *bytes, xylem_matrix **matrix_p);
/* A file in any format that `xylem place` reads. */
XYLEM_API int xylem_matrix_read(const char *path, xylem_matrix **matrix_p);
XYLEM_API unsigned xylem_matrix_size(const xylem_matrix *m);
XYLEM_API void xylem_matrix_free(xylem_matrix *m);

/* `machine`: what `xylem place --machine` takes; NULL: the machine this runs on. `strategy`: one of
 * `xylem place`; NULL: the default. */
XYLEM_API int xylem_place(const xylem_matrix *m, const char *machine, const char *strategy,
                          xylem_placement **placement_p);
/* The logical number of the core of a rank, and what the operating system of its host calls it. */
XYLEM_API unsigned xylem_placement_core(const xylem_placement *p, unsigned rank);
XYLEM_API unsigned xylem_placement_physical(const xylem_placement *p, unsigned rank);
/* Bytes times links crossed; and the same with links that weigh 1:10:100 from the cores up. */
XYLEM_API double xylem_placement_hop_bytes(const xylem_placement *p);
XYLEM_API double xylem_placement_weighted(const xylem_placement *p);
XYLEM_API void xylem_placement_free(xylem_placement *p);

#ifdef __cplusplus
}
#endif

#endif
