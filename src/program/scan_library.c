/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library that call functions of the program, set pointers of it, or keep state.
 * They are read as C, so that the slice goes through them and follows their results.
 */
#include "program/scan_source.h"

/* Stable, as that of glibc: elements that compare equal stay in order. */
static const char text[] =
    "void *malloc(unsigned long);\n"
    "void free(void *);\n"
    "void *memcpy(void *, const void *, unsigned long);\n"
    "void qsort(void *base, unsigned long count, unsigned long size,\n"
    "           int (*compare)(const void *, const void *))\n"
    "{\n"
    "    char *from = base, *to = malloc(count * size), *other;\n"
    "    for (unsigned long width = 1; width < count; width *= 2) {\n"
    "        for (unsigned long left = 0; left < count; left += 2 * width) {\n"
    "            unsigned long middle = left + width < count ? left + width : count;\n"
    "            unsigned long end = middle + width < count ? middle + width : count;\n"
    "            unsigned long i = left, j = middle;\n"
    "            for (unsigned long k = left; k < end; k++)\n"
    "                if (i < middle && (j == end ||\n"
    "                                   compare(from + i * size, from + j * size) <= 0))\n"
    "                    memcpy(to + k * size, from + i++ * size, size);\n"
    "                else\n"
    "                    memcpy(to + k * size, from + j++ * size, size);\n"
    "        }\n"
    "        other = from;\n"
    "        from = to;\n"
    "        to = other;\n"
    "    }\n"
    "    if (from != base) {\n"
    "        memcpy(base, from, count * size);\n"
    "        to = from;\n"
    "    }\n"
    "    free(to);\n"
    "}\n"
    "void *bsearch(const void *key, const void *base, unsigned long count, unsigned long size,\n"
    "              int (*compare)(const void *, const void *))\n"
    "{\n"
    "    const char *first = base;\n"
    "    unsigned long low = 0, high = count;\n"
    "    while (low < high) {\n"
    "        unsigned long middle = (low + high) / 2;\n"
    "        int order = compare(key, first + middle * size);\n"
    "        if (order == 0)\n"
    "            return (void *)(first + middle * size);\n"
    "        if (order < 0)\n"
    "            high = middle;\n"
    "        else\n"
    "            low = middle + 1;\n"
    "    }\n"
    "    return (void *)0;\n"
    "}\n"
    "int posix_memalign(void **block, unsigned long alignment, unsigned long size)\n"
    "{\n"
    "    *block = malloc(size);\n"
    "    return 0;\n"
    "}\n"
    "unsigned long strcspn(const char *text, const char *letters)\n"
    "{\n"
    "    unsigned long n = 0;\n"
    "    for (; text[n] != 0; n++)\n"
    "        for (const char *l = letters; *l != 0; l++)\n"
    "            if (text[n] == *l)\n"
    "                return n;\n"
    "    return n;\n"
    "}\n"
    "unsigned long strspn(const char *text, const char *letters)\n"
    "{\n"
    "    unsigned long n = 0;\n"
    "    for (; text[n] != 0; n++) {\n"
    "        int is_found = 0;\n"
    "        for (const char *l = letters; *l != 0; l++)\n"
    "            is_found |= text[n] == *l;\n"
    "        if (!is_found)\n"
    "            return n;\n"
    "    }\n"
    "    return n;\n"
    "}\n"
    "char *strtok_r(char *text, const char *separators, char **rest)\n"
    "{\n"
    "    char *word = text != (char *)0 ? text : *rest;\n"
    "    word += strspn(word, separators);\n"
    "    *rest = word + strcspn(word, separators);\n"
    "    if (*word == 0)\n"
    "        return (char *)0;\n"
    "    if (**rest != 0) {\n"
    "        **rest = 0;\n"
    "        *rest += 1;\n"
    "    }\n"
    "    return word;\n"
    "}\n"
    "char *strtok(char *text, const char *separators)\n"
    "{\n"
    "    static char *rest;\n"
    "    return strtok_r(text, separators, &rest);\n"
    "}\n"
    "double MPI_Wtime(void);\n"
    "struct timeval { long tv_sec, tv_usec; };\n"
    "int gettimeofday(struct timeval *now, void *zone)\n"
    "{\n"
    "    double seconds = MPI_Wtime();\n"
    "    now->tv_sec = (long)seconds;\n"
    "    now->tv_usec = (long)((seconds - (double)now->tv_sec) * 1e6);\n"
    "    return 0;\n"
    "}\n"
    "struct timespec { long tv_sec, tv_nsec; };\n"
    "int clock_gettime(int clock, struct timespec *now)\n"
    "{\n"
    "    double seconds = MPI_Wtime();\n"
    "    now->tv_sec = (long)seconds;\n"
    "    now->tv_nsec = (long)((seconds - (double)now->tv_sec) * 1e9);\n"
    "    return 0;\n"
    "}\n";

/* OpenMP: what decides about the threads of a team. */
static const char openmp[] = "static int xylem_threads = %ld;\n"
                             "void omp_set_num_threads(int n) { xylem_threads = n; }\n"
                             "int omp_get_max_threads(void) { return xylem_threads; }\n"
                             "double MPI_Wtime(void);\n"
                             "double omp_get_wtime(void) { return MPI_Wtime(); }\n";

/* CUDA: memory of the device is memory, and its calls end when they return. */
static const char cuda[] =
    "void *malloc(unsigned long);\n"
    "void free(void *);\n"
    "void *memcpy(void *, const void *, unsigned long);\n"
    "void *memset(void *, int, unsigned long);\n"
    "int cudaMalloc(void *p, unsigned long n) { *(void **)p = malloc(n); return 0; }\n"
    "int cudaMallocHost(void *p, unsigned long n) { *(void **)p = malloc(n); return 0; }\n"
    "int cudaMallocManaged(void *p, unsigned long n, ...) { *(void **)p = malloc(n); return 0; }\n"
    "int cudaHostAlloc(void *p, unsigned long n, unsigned f)\n"
    "{ *(void **)p = malloc(n); return 0; }\n"
    "int cudaFree(void *p) { free(p); return 0; }\n"
    "int cudaFreeHost(void *p) { free(p); return 0; }\n"
    "int cudaMemset(void *p, int c, unsigned long n) { memset(p, c, n); return 0; }\n"
    "int cudaMemcpy(void *to, const void *from, unsigned long n, int kind)\n"
    "{ memcpy(to, from, n); return 0; }\n"
    "int cudaMemcpyAsync(void *to, const void *from, unsigned long n, int kind, ...)\n"
    "{ memcpy(to, from, n); return 0; }\n"
    "int cudaSetDevice(int n) { return 0; }\n"
    "int cudaDeviceSynchronize(void) { return 0; }\n"
    "int cudaDeviceReset(void) { return 0; }\n"
    "int cudaGetLastError(void) { return 0; }\n"
    "int cudaPeekAtLastError(void) { return 0; }\n";

/* Does the program call it, and not define it? */
static bool is_missing(const xy_scan_t *scan, const char *key)
{
    const scan_decl_t *d = xy_hash_get(&scan->decls, XY_HASH_KEY(key));

    return d != NULL && d->body == NULL;
}

void scan_read_library(xy_scan_t *scan)
{
    static const char *const keys[] = {
        "c:@F@qsort",        "c:@F@bsearch",       "c:@F@posix_memalign",
        "c:@F@gettimeofday", "c:@F@clock_gettime", "c:@F@strtok",
        "c:@F@strtok_r",     "c:@F@strspn",        "c:@F@strcspn"};
    bool is_needed = false;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        is_needed |= is_missing(scan, keys[i]);
    if (is_needed)
        scan_clang_parse(scan, "the C library", text);
    for (int i = 0; i < scan->count; i++)
        if (scan_source_is_cuda(scan->paths[i])) {
            scan_clang_parse(scan, "the library of CUDA", cuda);
            break;
        }
    if (is_missing(scan, "c:@F@omp_set_num_threads") ||
        is_missing(scan, "c:@F@omp_get_max_threads") || is_missing(scan, "c:@F@omp_get_wtime")) {
        char with_threads[sizeof(openmp) + 32];

        snprintf(with_threads, sizeof(with_threads), openmp,
                 scan->options->threads > 0 ? scan->options->threads : 1);
        scan_clang_parse(scan, "the library of OpenMP", with_threads);
    }
}
