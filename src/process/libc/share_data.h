/* SPDX-License-Identifier: BSD-3-Clause */
/* --share-data: see share_data.c. */
#ifndef XY_PROCESS_LIBC_SHARE_DATA_H
#define XY_PROCESS_LIBC_SHARE_DATA_H

#include <stddef.h>

/* Blocks of so many bytes and more; at least a page. Before processes run. */
void process_share_data_from(size_t least);
/* The function for a symbol of the C library: malloc and its relatives are replaced. */
void *process_share_data_substitute(const char *name, void *found);

#endif
