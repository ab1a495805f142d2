/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A compiler of kernels for tests, built as libnvrtc.so.13, beside cuda.c: kernels become C++ for
 * this machine, and addresses of devices in their arguments those that the driver can reach. An
 * image is the name of a shared object.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    char *text, name[64];
    char *log;
} program_t;

static const char before[] =
    "#define __global__\n"
    "#define __device__\n"
    "#define __forceinline__ inline\n"
    "#define __shared__ static thread_local\n"
    "#define __syncthreads() abort_barrier()\n"
    "static void abort_barrier() { __builtin_abort(); }\n" /* threads run one after the other */
    "#define __align__(n) __attribute__((aligned(n)))\n"
    "struct dim { unsigned x, y, z; };\n"
    "static thread_local dim threadIdx, blockIdx, blockDim;\n"
    "extern \"C\" char *(*fake_reach)(unsigned long long);\n"
    "char *(*fake_reach)(unsigned long long);\n"
    /* Addresses, and tables of them. */
    "template <class T> static void turn(T *&p, int)\n"
    "{ p = (T *)fake_reach((unsigned long long)p); }\n"
    "template <class T> static auto turn(T &t, int) -> decltype(t.blocks[0][0], void())\n"
    "{ for (auto &row : t.blocks) for (auto &p : row) turn(p, 0); }\n"
    "template <class T> static auto turn(T &t, int) -> decltype(t.p[0], void())\n"
    "{ for (auto &p : t.p) p = (long)fake_reach((unsigned long long)p); }\n"
    "template <class T> static void turn(T &, long) {}\n"
    "template <class... A> struct list;\n"
    "template <> struct list<> {\n"
    "    list(void **) {}\n"
    "    template <class F, class... B> void call(F f, B &...b) { f(b...); }\n"
    "};\n"
    "template <class A, class... R> struct list<A, R...> {\n"
    "    A value;\n"
    "    list<R...> rest;\n"
    "    list(void **v) : value(*(A *)v[0]), rest(v + 1) { turn(value, 0); }\n"
    "    template <class F, class... B> void call(F f, B &...b) { rest.call(f, b..., value); }\n"
    "};\n"
    "template <class... A> static unsigned long size_of(void (*)(A...), unsigned long i)\n"
    "{ unsigned long s[] = {sizeof(A)..., 0}; return i < sizeof...(A) ? s[i] : 0; }\n"
    "inline void *operator new(unsigned long, void *p) noexcept { return p; }\n"
    "template <class... A> static void *keep(void (*)(A...), void **v)\n"
    "{ return new (__builtin_malloc(sizeof(list<A...>))) list<A...>(v); }\n"
    "template <class... A> static void run(void (*f)(A...), void *p, const unsigned *g,\n"
    "                                      const unsigned *b)\n"
    "{\n"
    "    blockDim = {b[0], b[1], b[2]};\n"
    "    for (unsigned long i = 0; i < 1ul * g[0] * g[1] * g[2]; i++)\n"
    "        for (unsigned j = 0; j < b[0] * b[1] * b[2]; j++) {\n"
    "            blockIdx = {unsigned(i % g[0]), unsigned(i / g[0] % g[1]),\n"
    "                        unsigned(i / g[0] / g[1])};\n"
    "            threadIdx = {j % b[0], j / b[0] % b[1], j / b[0] / b[1]};\n"
    "            ((list<A...> *)p)->call(f);\n"
    "        }\n"
    "    __builtin_free(p);\n"
    "}\n";

static const char after[] = "\nextern \"C\" void *keep_%s(void **v) { return keep(%s, v); }\n"
                            "extern \"C\" void run_%s(void *p, const unsigned *g, const unsigned "
                            "*b) { run(%s, p, g, b); }\n"
                            "extern \"C\" unsigned long size_%s(unsigned long i)\n"
                            "{ return size_of(%s, i); }\n";

int nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return 0;
}

int nvrtcCreateProgram(void **program, const char *text, const char *name, int headers,
                       const char *const *sources, const char *const *names)
{
    program_t *p = calloc(1, sizeof(*p));

    (void)name;
    (void)headers;
    (void)sources;
    (void)names;
    p->text = strdup(text);
    *program = p;
    return 0;
}

int nvrtcDestroyProgram(void **program)
{
    program_t *p = *program;

    free(p->text);
    free(p->log);
    free(p);
    return 0;
}

/* For all kernels of the text; one may be there twice, for two languages. */
static void write_kernels(const char *text, FILE *file)
{
    for (const char *at = text; (at = strstr(at, "\nXY_KERNEL ")) != NULL; at++) {
        char name[64], first[80];
        size_t n = 0;

        for (; n < 63 && (isalnum((unsigned char)at[11 + n]) || at[11 + n] == '_'); n++)
            name[n] = at[11 + n];
        name[n] = '\0';
        snprintf(first, sizeof(first), "\nXY_KERNEL %s(", name);
        if (strstr(text, first) == at)
            fprintf(file, after, name, name, name, name, name, name);
    }
}

int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    program_t *p = program;
    char source[80], command[512];
    FILE *file;

    (void)count;
    (void)options;
    snprintf(p->name, sizeof(p->name), "/tmp/kernel-XXXXXX");
    if (mkdtemp(p->name) == NULL)
        return 1;
    snprintf(source, sizeof(source), "%s/k.cc", p->name);
    file = fopen(source, "w");
    if (file == NULL)
        return 1;
    fputs(before, file);
    fputs(p->text, file);
    write_kernels(p->text, file);
    fclose(file);
    snprintf(
        command, sizeof(command),
        "c++ -w -O0 -ffp-contract=off -shared -fPIC -std=c++14 -o %s.so %s 2>%s/log && rm -r %s",
        p->name, source, p->name, p->name);
    if (system(command) != 0) {
        fprintf(stderr, "a kernel does not compile: see %s/log\n", p->name);
        return 6;
    }
    strcat(p->name, ".so");
    return 0;
}

int nvrtcGetProgramLogSize(void *program, size_t *size)
{
    (void)program;
    *size = 32;
    return 0;
}

int nvrtcGetProgramLog(void *program, char *log)
{
    (void)program;
    strcpy(log, "error: it does not compile");
    return 0;
}

int nvrtcGetCUBINSize(void *program, size_t *size)
{
    *size = strlen(((program_t *)program)->name) + 1;
    return 0;
}

int nvrtcGetCUBIN(void *program, char *image)
{
    strcpy(image, ((program_t *)program)->name);
    return 0;
}
