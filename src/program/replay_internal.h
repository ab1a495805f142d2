/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a replay, between the files that make it and the one that runs it. */
#ifndef XY_PROGRAM_REPLAY_INTERNAL_H
#define XY_PROGRAM_REPLAY_INTERNAL_H

#include "program/replay.h"

struct xy_replay {
    xy_script_t *script;
    double scale; /* the run takes so many times what is replayed of it */
    bool has_computation;
};

/* NULL: memory ran out, in silence. */
xy_replay_t *replay_new(int32_t procs);

#endif
