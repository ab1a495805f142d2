/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in two files. */
#ifndef SEVERAL_H
#define SEVERAL_H

#include <mpi.h>

typedef struct {
    int rank, size, block;
} layout_t;

extern int exchanges;
void layout_init(layout_t *layout, int n);
void exchange(const layout_t *layout, double *data);

#endif
