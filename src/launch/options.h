/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of mpiexec: options, then a program and its arguments, then perhaps ':' and the
 * same again for other ranks of the same job.
 */
#ifndef XY_LAUNCH_OPTIONS_H
#define XY_LAUNCH_OPTIONS_H

#include "base/base.h"

typedef struct {
    long n;
    long usize; /* ranks with those that are spawned; 0: not given */
    const char *wdir;
    xy_vec_t x;   /* VAR or VAR=value */
    xy_vec_t env; /* names and values in turn */
    xy_vec_t genv;
    const char *host, *hostfile;
    long ppn; /* ranks on each host; 0: as many as it has room for */
    const char *launcher;
    long processes;  /* on this machine; 0: ranks run in this one */
    const char *net; /* the transport between processes */
    const char *net_place;
    const char *net_interface, *net_ports; /* or NULL */
    bool net_plain;                        /* connections between hosts are not encrypted */
    double heartbeat, start_timeout;
    bool survive; /* failures of processes */
    bool prepend_rank, tag_output;
    bool quiet, verbose, version;
    bool has_time, is_merged;           /* of output */
    bool each_thread, no_oversubscribe; /* hardware threads count as cores; one rank on each */
    bool shows_map;                     /* print where ranks run */
    double timeout, deadlock_after, polling_after;
    xy_vec_t privatize, share; /* each a list with commas */
    bool share_globals;
    const char *place;    /* a strategy or a file; NULL: the default */
    const char *gpu_bind; /* close, round or a list; NULL: the default */
    long gpus_per_rank;   /* 0: not given */
    const char *matrix;   /* a file */
    long threads_per_rank;
    uint64_t stack_size, eager;
    bool has_eager; /* it was given, or is in the environment */
    double spin;
    long workers;
    const char *cores;
    const char *comm_cores; /* a number or a list */
    const char *progress, *progress_place, *progress_order;
    long progress_priority;
    const char *split;
    xy_vec_t algorithm;  /* each a list with commas */
    const char *monitor; /* a directory */
    double monitor_slice;
    const char *report;          /* a file, or "": print only; NULL: none */
    const char *trace;           /* a file */
    const char *trace_messages;  /* selected messages; NULL: all */
    const char *machine;         /* for reordering */
    const char *virtual_machine; /* run in virtual time on it; NULL: in real time */
    const char *compute, *library, *costs, *costs_here, *json;
    xy_vec_t compute_call; /* NAME=SECONDS, each a list with commas */
    uint64_t share_data;   /* bytes; 0: not */
    double spawn_time;     /* seconds */
    bool oversubscribe;
    const char *adapt; /* on, off or learn */
    const char *check; /* a list, or ""; NULL: nothing is checked besides what is always */
    const char *check_json, *check_sarif, *check_suppress; /* files */
    const char *let_arrive;
    const char *balance;     /* off, or what for */
    const char *debug_ranks; /* a list, all or none; NULL: the first 64 */
    xy_vec_t ignored_pairs;
    /* As other launchers have them: */
    const char *cpu_set;                    /* of cores, as the job counts them */
    const char *map_by, *rank_by, *bind_to; /* as they were given (mapping.h) */
    const char *rankfile;
    const char *stdin_to; /* a rank, "none" or "all"; NULL: rank 0 */
    const char *output_directory, *output_pattern, *error_pattern;
    const char *app_file; /* replaced by its contents before other options are read */
} mpi_launch_values_t;

/* The command as a table: help and man page come from it. */
extern const xy_option_t mpi_launch_options[];
extern const char mpi_launch_description[];
extern const char mpi_launch_exit_status[];
extern const char mpi_launch_examples[];
extern const xy_command_t mpi_launch_command;

/* One program of the job, with its options. */
typedef struct {
    mpi_launch_values_t values;
    bool has_n;
    int argc;
    char **argv;
} mpi_launch_context_t;

/* Parse; argv is permuted. On success *contexts (of mpi_launch_context_t) has at least one element
 * with a program, unless *is_done: help or version was printed. The caller cleans up in all cases.
 */
xy_status_t mpi_launch_parse(int argc, char **argv, xy_vec_t *contexts, bool *is_done);
/* Replace --app FILE by the programs in FILE, a line each, with ':' between them. Both stay as they
 * are where there is none; otherwise the new list lives for ever. */
xy_status_t mpi_launch_expand(int *argc_p, char ***argv_p);
void mpi_launch_parse_cleanup(xy_vec_t *contexts);

#endif
