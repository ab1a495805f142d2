/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks spawned by MPI_Comm_spawn: their images, processes and numbers.
 *
 * Their numbers are slots: each slot belongs to one worker, and is reused when its rank has ended
 * and was disconnected from all others. Programs stay loaded: the next spawn of the same file takes
 * images that are free.
 */
#ifndef XY_LAUNCH_SPAWN_H
#define XY_LAUNCH_SPAWN_H

#include "launch/launch.h"
#include "launch/launch_node.h"
#include "process/process.h"

/* The most that live at once, in each process. */
enum { XMPI_SPAWN_ROOM = 4096, XMPI_SPAWN_ROOM_NODE = 1024 };

typedef struct {
    process_program_config_t program; /* how programs of the job are loaded */
    process_t *processes;             /* [capacity] by number */
    const cpu_set_t *rank_set;        /* of the workers, for threads of ranks */
    const mpi_part_t *part;           /* the part whose environment new ranks get */
    int first, room;                  /* numbers of the slots of this process */
    bool is_verbose;
} mpi_spawn_setup_t;

/* The numbers of ranks that may be spawned: they follow those of the job, `room` for each process.
 */
typedef struct {
    int size;                   /* of the job */
    int cores;                  /* of the job, or of the machine in virtual time */
    int placed;                 /* ranks that have a core, with those that --usize expects */
    int room;                   /* 0: none can be spawned */
    const mpi_node_job_t *node; /* or NULL */
    const mpi_placement_t *placement;
} mpi_spawn_numbers_t;

/* The first one of this process. */
int mpi_spawn_first(const mpi_spawn_numbers_t *numbers);
/* Set capacity, worker_of (to be freed) and process_of. */
xy_status_t mpi_spawn_number(const mpi_spawn_numbers_t *numbers, mpi_job_config_t *config);
/* MPI_UNIVERSE_SIZE: what --usize says, or as many ranks as there are cores. */
int mpi_spawn_universe(const mpi_spawn_numbers_t *numbers, long usize);
/* The number of the job, the same in all its processes; in virtual time, in all jobs. */
uint64_t mpi_spawn_job_id(const mpi_node_job_t *node, bool is_virtual);

/* Before ranks run. What it points to lives as long as the job. */
void mpi_spawn_setup(const mpi_spawn_setup_t *setup);

extern const mpi_spawner_t mpi_spawner;

#endif
