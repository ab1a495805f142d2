/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the C library that descriptions may call. */
#ifndef XY_PROGRAM_C_LIBRARY_H
#define XY_PROGRAM_C_LIBRARY_H

#include "program/process.h"

typedef struct {
    const char *name;
    char result;      /* 'd' double, 'i' int, 'l' long, 'u' size_t, 'p' pointer, 'v' nothing */
    const char *args; /* of the same letters; at the end '.': pointers, ',': numbers and pointers;
                         LIBRARY_SCANNED with those in front */
    int64_t (*run)(process_t *p, const int64_t *args);
} library_t;

extern const library_t library[];
/* The number of the function, or -1. */
int library_find(const char *name, size_t length);

enum { LIBRARY_SCANNED = 16 }; /* arguments of sscanf() and sprintf() at most */

int64_t library_getopt(process_t *p, const int64_t *args);
int64_t library_getopt_long(process_t *p, const int64_t *args);
int64_t library_sscanf(process_t *p, const int64_t *args);
int64_t library_sprintf(process_t *p, const int64_t *args);
int64_t library_snprintf(process_t *p, const int64_t *args);
/* Is it a format that they know? */
bool library_can_scan(const char *format);
bool library_can_print(const char *format);

#endif
