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
    "#define __align__(n) __attribute__((aligned(n)))\n"
    "struct dim { unsigned x, y, z; };\n"
    "static thread_local dim threadIdx, blockIdx, blockDim;\n"
    "extern \"C\" char *(*fake_reach)(unsigned long long);\n"
    "char *(*fake_reach)(unsigned long long);\n"
    /* Tables of addresses, which are the only ones that kernels get. */
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
    "inline void *operator new(unsigned long, void *p) noexcept { return p; }\n"
    "template <class... A> static void *keep(void (*)(A...), void **v)\n"
    "{ return new (__builtin_malloc(sizeof(list<A...>))) list<A...>(v); }\n"
    "template <class... A> static void run(void (*f)(A...), void *p, const unsigned *g,\n"
    "                                      const unsigned *b)\n"
    "{\n"
    "    blockDim = {b[0], b[1], b[2]};\n"
    "    for (unsigned i = 0; i < g[0]; i++)\n"
    "        for (unsigned j = 0; j < b[0]; j++) {\n"
    "            blockIdx = {i, 0, 0};\n"
    "            threadIdx = {j, 0, 0};\n"
    "            ((list<A...> *)p)->call(f);\n"
    "        }\n"
    "    __builtin_free(p);\n"
    "}\n";

static const char after[] = "\nextern \"C\" void *keep_%s(void **v) { return keep(%s, v); }\n"
                            "extern \"C\" void run_%s(void *p, const unsigned *g, const unsigned "
                            "*b) { run(%s, p, g, b); }\n";

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

/* The first kernel of the text. */
static void find_kernel(const char *text, char name[64])
{
    const char *at = text;
    size_t n = 0;

    while ((at = strstr(at, "\nXY_KERNEL ")) != NULL && at[11] == '\0')
        at++;
    name[0] = '\0';
    for (at = at != NULL ? at + 11 : ""; n < 63 && (isalnum((unsigned char)at[n]) || at[n] == '_');)
        n++;
    memcpy(name, at, n);
    name[n] = '\0';
}

int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    program_t *p = program;
    char kernel[64], source[80], command[512];
    FILE *file;

    (void)count;
    (void)options;
    find_kernel(p->text, kernel);
    snprintf(p->name, sizeof(p->name), "/tmp/kernel-XXXXXX");
    if (mkdtemp(p->name) == NULL)
        return 1;
    snprintf(source, sizeof(source), "%s/k.cc", p->name);
    file = fopen(source, "w");
    if (file == NULL)
        return 1;
    fputs(before, file);
    fputs(p->text, file);
    fprintf(file, after, kernel, kernel, kernel, kernel);
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
