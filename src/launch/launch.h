/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpiexec: from a command line to an exit code. The executable has only a call of this function and
 * a block of thread-local memory (main.c).
 */
#ifndef XY_LAUNCH_LAUNCH_H
#define XY_LAUNCH_LAUNCH_H

#include <sched.h>

#include "launch/options.h"
#include "mpi/object/object.h"
#include "place/place.h"
#include "process/process.h"

__attribute__((visibility("default"))) int mpi_launch_main(int argc, char **argv);

/* ---- Between the files of this part ---- */

enum { XMPI_EXIT_NOT_EXECUTABLE = 126, XMPI_EXIT_NOT_FOUND = 127 };

/* One program of the job. */
typedef struct {
    const mpi_launch_values_t *values;
    int argc;
    char **argv;
    char *path;
    int first, count;          /* ranks */
    int own_first, count_here; /* of this process: where they begin in its list */
    xy_bitset_t shown;         /* ranks that debuggers know, in a job of several processes */
    char **environment;
    process_program_t *program;
    bool is_mpi;
    bool is_fixed;
    const char *other_mpi; /* another MPI that is linked into the program; or NULL */
} mpi_part_t;

/* The file that a name means, as the shell finds it, and then in the working directory. On failure
 * *code_p is the exit code. */
xy_status_t mpi_launch_find(const char *name, char **path_p, int *code_p);
/* Is it linked with this library, directly or through a library of its own? Is another MPI linked
 * into it statically? */
xy_status_t mpi_launch_inspect(mpi_part_t *part);

/* How this process connects to others of the job. */
xy_status_t mpi_launch_set_rules(const mpi_launch_values_t *v);

/* The libraries that --privatize and --share name, of all programs. */
typedef struct {
    xy_vec_t privat, shared; /* of const char * */
} mpi_library_lists_t;

xy_status_t mpi_launch_libraries(const xy_vec_t *parts, mpi_library_lists_t *lists);

/* The program of that name in PATH or the working directory; NULL: there is none, or no memory. */
char *mpi_launch_search(const char *name);

/* Jobs that this one spawns (spawned_job.c): XMPI_SPAWN_OPTIONS=..., for the ranks' environment;
 * and in the mpiexec of a spawned job, first: what of its parent does not hold for it. */
char *mpi_launch_for_spawned(const mpi_launch_values_t *v);
void mpi_launch_as_spawned(void);

/* The environment of a part: this process's, with what was set, and XYLEM_LAUNCHED, which says what
 * its ranks are (bindings.h). Strings live for ever. */
xy_status_t mpi_launch_environment(mpi_part_t *part, const mpi_launch_values_t *first,
                                   const char *launched);
/* The same with the variables that tell a rank who it is; in fresh memory. `first` and `count` are
 * the ranks of its machine. */
char **mpi_launch_rank_environment(const mpi_part_t *part, int rank, int size, int first,
                                   int count);

/* Run a program in place of this process, as the only rank; returns only if that fails. */
xy_status_t mpi_launch_become(mpi_part_t *part, const mpi_launch_values_t *values);

/* Starting again with other libraries preloaded (restart.c). First note how this process was
 * started, then the directory that -wdir leaves. */
xy_status_t mpi_restart_note(int argc, char **argv);
void mpi_restart_keep_directory(void);
/* The preloaded libraries of the dynamic linker, or NULL. */
const char *mpi_restart_preloaded(void);
/* Does not return where -x LD_PRELOAD asks for other libraries than those of this process; or where
 * `libraries` (char *) must be added to them. */
xy_status_t mpi_restart_if_asked(const xy_vec_t *parts);
xy_status_t mpi_restart_if_needed(const xy_vec_t *libraries, bool is_verbose);
/* Start again with more thread-local memory set aside, for the program at `path`. */
xy_status_t mpi_restart_larger(const char *path, size_t size, size_t align);

/* To the directory that -wdir has left. */
void mpi_restart_go_back(void);
/* The command line, and the directory it was typed in (free it; NULL: not known). */
char *const *mpi_restart_arguments(void);
char *mpi_restart_directory(void);
/* The same command line as a process of the job. Returns only when it fails (reported). */
void mpi_restart_as_node(void);

/* Where ranks run. */
typedef struct {
    xy_cores_t cores; /* that workers are bound to */
    int *worker_of;   /* [ranks] */
    int workers;      /* for ranks, then communication cores */
    int comm_workers;
    int *
        *thread_worker_of; /* of progress threads: see mpi_job_config_t; NULL: none are asked for */
    int *cpus;             /* [workers] */
    int *node_core_of;     /* [workers]: see mpi_node_t */
    int numas, numa_cores;
    cpu_set_t *rank_set; /* [workers] for the threads of ranks */
    int network_cpu;     /* of the thread that drives the network; -1: any */
    int threads;         /* for OpenMP */
} mpi_placement_t;

/* `program` is the first one of the job, for --comm-cores auto. `slots`: where ranks run, as parts
 * of the cores, each of `ranks`; NULL: by --place. */
xy_status_t mpi_placement_make(const mpi_launch_values_t *values, const mpi_settings_t *settings,
                               int ranks, const int *slots, const char *program,
                               mpi_placement_t *p);
void mpi_placement_cleanup(mpi_placement_t *p);
/* Tell the ranks where they run (tell_machine.c): `core_of` [ranks] in virtual time, else NULL. */
xy_status_t mpi_launch_tell_machine(const mpi_launch_values_t *values, const mpi_placement_t *p,
                                    const int32_t *core_of, int ranks, int processes);
/* The machine that ranks are reordered for (--machine), before they are placed. */
xy_status_t mpi_launch_imagine(const char *text);
/* The GPUs of ranks, by --gpu-bind and --gpus-per-rank (gpu_bind.c). */
xy_status_t mpi_gpu_bind(const mpi_launch_values_t *values, const mpi_placement_t *p, int ranks);
/* Only which of `cores` each rank gets, by --place and --matrix. `machine`: theirs, whose cores
 * cores->cpu counts through; NULL: they are this machine's. */
xy_status_t mpi_placement_place(const mpi_launch_values_t *values, const xy_cores_t *cores,
                                const xy_machine_t *machine, int ranks, int *core_of);
/* The cost of messages when the ranks of `m` are placed by it, relative to a strategy without a
 * matrix: at most 1. */
xy_status_t mpi_placement_gain(const xy_matrix_t *m, const xy_cores_t *cores,
                               const xy_machine_t *machine, const char *usual, double *gain_p);
#define XMPI_PLACE_USUAL "scatter_numa"
/* Where progress threads live; may add communication cores. EUNSUPPORTED: the machine lacks what
 * the placement needs (reported). */
xy_status_t mpi_placement_threads(const mpi_launch_values_t *values, const mpi_settings_t *settings,
                                  int ranks, mpi_placement_t *p);
/* The PU of the thread that drives the network, for a process of a job that has several. */
xy_status_t mpi_placement_network(const mpi_launch_values_t *values, int ranks, mpi_placement_t *p);
/* How many cores may be used. */
xy_status_t mpi_placement_cores(const mpi_launch_values_t *values, xy_cores_t *cores);

/* --comm-cores auto: how many of the cores, by the model and what earlier runs of the program have
 * measured. `work` is the computation of all cores between a start and its Wait, in transfers; 0:
 * the model's own. */
int mpi_comm_auto(const mpi_launch_values_t *values, int cores, int ranks, const char *program);
int mpi_comm_auto_cores(int cores, int ranks, double work);
/* Store the measurement for the next run, unless it is 0. Failure is a warning. */
void mpi_comm_auto_note(const char *program, int ranks, double work);

/* Options about standard streams (launch_output.c): check them, with the rank that reads standard
 * input; and apply them, in a process that has ranks. `size` 0: not known yet. */
struct mpi_node_job;
xy_status_t mpi_launch_output_check(const mpi_launch_values_t *values, int size, bool is_several,
                                    int *input_p);
/* Must mpiexec stay the parent of a program instead of replacing itself by it? */
bool mpi_launch_output_is_watched(const mpi_launch_values_t *values);
xy_status_t mpi_launch_output(const mpi_launch_values_t *values, int size,
                              const struct mpi_node_job *node);

/* How nonblocking collectives move, by the options (launch_parse.c). */
xy_status_t mpi_launch_settings(const mpi_launch_values_t *values, mpi_settings_t *settings);

/* --adapt (adapt.c): choose before ranks are placed. *adapted and *settings are changed by what was
 * chosen. A history that cannot be read is reported, and nothing is chosen. */
xy_status_t mpi_launch_adapt(const xy_vec_t *parts, int size, mpi_launch_values_t *adapted,
                             mpi_settings_t *settings);
/* ... for a job of several processes: where it runs. `processes` says which ones, as a text that
 * differs when they do; NULL: this one. */
typedef struct {
    int ranks, cores, nodes;
    int node_cores; /* of the smallest */
    const char *processes;
} mpi_adapt_place_t;
xy_status_t mpi_launch_adapt_at(const xy_vec_t *parts, const mpi_adapt_place_t *place,
                                mpi_launch_values_t *adapted, mpi_settings_t *settings);
/* The plan that the head has chosen, as a word; and, in the other processes, do it. */
const char *mpi_launch_adapt_plan(void);
xy_status_t mpi_launch_adapt_told(const char *plan, bool counts, mpi_launch_values_t *adapted,
                                  mpi_settings_t *settings);
/* Say what was chosen, once it is known that mpiexec does not start itself again. */
void mpi_launch_adapt_say(void);
/* Is this the run whose calls and messages are counted? */
bool mpi_launch_adapt_counts(void);
/* All ranks have ended well: store the time of the run. Nothing to do without --adapt learn. A
 * failed write is reported and has no other effect. */
void mpi_launch_adapt_note(const mpi_launch_values_t *values, mpi_job_t *job);
/* In a process of several: what it has counted of collectives, and the network. */
struct mpi_profile;
xy_status_t mpi_launch_adapt_counted(mpi_job_t *job, struct mpi_profile *profile_p);
/* In the head, when all ranks have ended well: what all have counted, and their matrix; NULL where
 * nothing was. */
void mpi_launch_adapt_ended(const struct mpi_profile *profile, const xy_matrix_t *m,
                            double seconds);
/* Seconds that the busiest sender of a matrix needs for its messages, inside a process and between
 * them. `process_of` NULL: all are in one. */
double mpi_launch_sending(const xy_matrix_t *m, const xy_coll_link_t *here,
                          const xy_coll_link_t *between, const int *process_of);

/* Bytes of a rank's stack: what --stack-size says, or the limit that the shell has set, in bounds.
 */
size_t mpi_launch_stack_size(const mpi_launch_values_t *values, int ranks);
/* For debuggers: the ranks of a list, as --debug-ranks has it; and make them known when their
 * images are placed. */
xy_status_t mpi_launch_choose_shown(const char *list, int size, xy_bitset_t *ranks);
xy_status_t mpi_launch_show(const xy_vec_t *parts);
/* A word about programs compiled for a profiler that does not see ranks. */
void mpi_launch_warn_profiler(const xy_vec_t *parts);

/* Programs without MPI: `size` processes, those of this host. The exit code. */
struct mpi_node_job;
int mpi_launch_children(const xy_vec_t *parts, int size, const struct mpi_node_job *node);

#endif
