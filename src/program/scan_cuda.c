/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA C. Functions of the device are not read: a kernel is a call that takes the time of its
 * model, and what it writes is not known. Before clang reads a source, in the same place and
 * length:
 *
 *   __global__ void add(float *x, int n) { ... }     becomes    __global__ void add(float *x, int
 * n) ; dim3 grid(n / 256);                               nothing add<<<grid, 256>>>(x, n); add (x,
 * n);
 *
 * The language is C: a source with templates or classes does not parse.
 */
#include <ctype.h>
#include <string.h>

#include "program/scan_source.h"

const char scan_cuda_h[] =
    "#pragma once\n"
    "#pragma GCC system_header\n"
    "#include <stddef.h>\n"
    "#include <stdbool.h>\n"
    "#define __global__\n#define __device__\n#define __host__\n#define __constant__ static\n"
    "#define __shared__\n#define __managed__\n#define __forceinline__ inline\n"
    "#define __launch_bounds__(...)\n"
    "typedef enum { cudaSuccess, cudaErrorUnknown = 999 } cudaError_t;\n"
    "typedef enum { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,\n"
    "    cudaMemcpyDeviceToDevice, cudaMemcpyDefault } cudaMemcpyKind;\n"
    "typedef struct xylem_cuda_stream *cudaStream_t;\n"
    "typedef struct xylem_cuda_event *cudaEvent_t;\n"
    "typedef struct { unsigned x, y, z; } dim3;\n"
    "cudaError_t cudaMalloc(void *, size_t), cudaMallocHost(void *, size_t);\n"
    "cudaError_t cudaMallocManaged(void *, size_t, ...), cudaHostAlloc(void *, size_t, unsigned);\n"
    "cudaError_t cudaFree(void *), cudaFreeHost(void *), cudaMemset(void *, int, size_t);\n"
    "cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);\n"
    "cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, ...);\n"
    "cudaError_t cudaDeviceSynchronize(void), cudaGetLastError(void), cudaPeekAtLastError(void);\n"
    "cudaError_t cudaSetDevice(int), cudaGetDevice(int *), cudaGetDeviceCount(int *);\n"
    "cudaError_t cudaDeviceReset(void), cudaStreamCreate(cudaStream_t *);\n"
    "cudaError_t cudaStreamSynchronize(cudaStream_t), cudaStreamDestroy(cudaStream_t);\n"
    "cudaError_t cudaEventCreate(cudaEvent_t *), cudaEventDestroy(cudaEvent_t);\n"
    "cudaError_t cudaEventRecord(cudaEvent_t, ...), cudaEventSynchronize(cudaEvent_t);\n"
    "cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);\n"
    "const char *cudaGetErrorString(cudaError_t);\n";

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void blank(char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != '\n')
            *from = ' ';
}

static char *skip_space(char *s, long *line_p)
{
    while (isspace((unsigned char)*s) || (s[0] == '/' && (s[1] == '/' || s[1] == '*')))
        if (*s == '/') {
            s = scan_skip_token(s, line_p);
        } else {
            *line_p += *s == '\n';
            s++;
        }
    return s;
}

/* Behind the bracket that closes the one at `s`. */
static char *skip_brackets(char *s, long *line_p)
{
    int depth = 0;

    do {
        depth += (*s == '(' || *s == '{') - (*s == ')' || *s == '}');
        *line_p += *s == '\n';
        s = scan_skip_token(s, line_p);
    } while (*s != '\0' && depth > 0);
    return s;
}

static void note_kernel(xy_scan_t *scan, const char *path, long line, const char *name,
                        size_t length)
{
    char *copy = xy_arena_strndup(scan->arena, name, length);

    for (size_t i = 0; copy != NULL && i < scan->cuda_kernels.count; i++)
        if (strcmp(XY_VEC_AT(&scan->cuda_kernels, char *, i), copy) == 0)
            return; /* declared before */
    if (copy == NULL || xy_vec_append(&scan->cuda_kernels, &copy) != XY_OK)
        scan_leave(scan, xy_fail_memory("reading CUDA"));
    xy_warn("%s:%ld: the kernel '%s' is not read: 'xylem predict' takes its time from a model of "
            "this name, or from --cost %s=TIME",
            path, line, copy, copy);
}

/* A function of the device from its qualifier on: its body becomes a semicolon. */
static char *drop_function(xy_scan_t *scan, const char *path, char *s, bool is_kernel, long *line_p)
{
    char *name = s;
    size_t length = 0;

    for (s = skip_space(s, line_p); *s != '\0' && *s != ';' && *s != '=' && *s != '{';
         s = skip_space(s, line_p)) {
        if (*s == '(') {
            bool is_bounds = length == strlen("__launch_bounds__") &&
                             strncmp(name, "__launch_bounds__", length) == 0;

            s = skip_brackets(s, line_p);
            if (!is_bounds)
                break;
        } else if (is_letter(*s)) {
            for (name = s; is_letter(*s); s++)
                ;
            length = (size_t)(s - name);
        } else {
            s++;
        }
    }
    if (is_kernel && length > 0)
        note_kernel(scan, path, *line_p, name, length);
    s = skip_space(s, line_p);
    if (*s == '{') {
        char *end = skip_brackets(s, line_p);

        blank(s, end);
        *s = ';';
        s = end;
    }
    return s;
}

static bool is_word(const char *s, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(s, word, length) == 0;
}

/* A word of the source, which ends at `end`: what begins with it is changed. */
static char *read_word(xy_scan_t *scan, const char *path, char *s, char *end, long *line_p)
{
    size_t length = (size_t)(end - s);
    long line = *line_p;
    char *next;

    if (is_word(s, length, "__global__"))
        return drop_function(scan, path, end, true, line_p);
    if (is_word(s, length, "__host__")) { /* also a function of the host */
        next = skip_space(end, &line);
        if (strncmp(next, "__device__", strlen("__device__")) != 0)
            return end;
        *line_p = line;
        return next + strlen("__device__");
    }
    if (is_word(s, length, "__device__")) {
        next = skip_space(end, &line);
        if (strncmp(next, "__host__", strlen("__host__")) != 0)
            return drop_function(scan, path, end, false, line_p);
        *line_p = line;
        return next + strlen("__host__");
    }
    if (is_word(s, length, "dim3")) {
        for (next = end; *next != '\0' && *next != ';';) {
            *line_p += *next == '\n';
            next = scan_skip_token(next, line_p);
        }
        blank(s, next);
        return next;
    }
    return end;
}

void scan_cuda_rewrite(xy_scan_t *scan, const char *path, char *text)
{
    long line = 1;

    for (char *s = text; *s != '\0';) {
        char *end = s;

        while (is_letter(*end))
            end++;
        if (end > s) {
            s = read_word(scan, path, s, end, &line);
        } else if (strncmp(s, "<<<", 3) == 0 && strstr(s, ">>>") != NULL) {
            end = strstr(s, ">>>") + 3;
            for (char *c = s; c < end; c++)
                line += *c == '\n';
            blank(s, end);
            s = end;
        } else {
            line += *s == '\n';
            s = scan_skip_token(s, &line);
        }
    }
}
