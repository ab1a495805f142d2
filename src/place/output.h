/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placements for launchers and for people.
 *
 *   xy_place_print(place, target, machine, XY_PLACE_RANKFILE, stdout);
 *
 * `machine` is what the target was made from, NULL for a torus or mesh.
 */
#ifndef XY_PLACE_OUTPUT_H
#define XY_PLACE_OUTPUT_H

#include "place/strategy.h"

typedef enum {
    XY_PLACE_CORES,       /* physical number of each rank's core, one line */
    XY_PLACE_XYLEM,       /* "RANK CPU" per line, physical: xylem run --place FILE */
    XY_PLACE_RANKFILE,    /* mpirun --rankfile FILE of Open MPI 4 */
    XY_PLACE_RANKFILE5,   /* mpirun --map-by rankfile:file=FILE of Open MPI 5 */
    XY_PLACE_MPICH,       /* arguments for mpiexec of MPICH */
    XY_PLACE_MPICH_HOSTS, /* mpiexec -f FILE of MPICH */
    XY_PLACE_SLURM,       /* SLURM_HOSTFILE for srun -m arbitrary */
    XY_PLACE_FORMATS
} xy_place_format_t;

/* Names in the order of the enumeration, NULL-terminated. */
extern const char *const xy_place_format_names[];

/* EINVAL: MPICH binds all hosts alike, and this placement does not; Xylem's file is for one host,
 * and this placement uses several. */
xy_status_t xy_place_print(const xy_place_t *p, const xy_target_t *t, const xy_machine_t *m,
                           xy_place_format_t format, FILE *file);

/* For people: what it costs, and the core of each process. */
void xy_place_print_text(const xy_place_t *p, const xy_target_t *t, FILE *file);
/* For programs: the same as one object, with the seconds that a run takes so, unless negative. */
void xy_place_print_json(const xy_place_t *p, const xy_target_t *t, double run, xy_json_t *json);

/* One matrix placed by the first `count` strategies of the registry: which costs least, and a line
 * for each. Where there is no placement (NULL), `why` is the reason. `runs`: the seconds that a run
 * takes by each; or NULL. */
void xy_place_print_table(xy_place_t *const *places, const char *const *why, const double *runs,
                          int count, FILE *file);

/* The tree with the ranks on its leaves and what crosses each level. */
xy_status_t xy_place_print_svg(const xy_place_t *p, const xy_matrix_t *m, xy_metric_t metric,
                               const xy_target_t *t, const char *machine_name, FILE *file);

#endif
