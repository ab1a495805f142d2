/* SPDX-License-Identifier: BSD-3-Clause */
/* NVIDIA's compiler as a library, loaded when the first kernel is compiled. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "gpu/gpu_internal.h"

typedef int result_t; /* nvrtcResult */
enum { SUCCESS = 0 };

#define FUNCTIONS(X)                                                                               \
    X(create, "nvrtcCreateProgram",                                                                \
      (void **, const char *, const char *, int, const char *const *, const char *const *))        \
    X(destroy, "nvrtcDestroyProgram", (void **))                                                   \
    X(compile, "nvrtcCompileProgram", (void *, int, const char *const *))                          \
    X(log_size, "nvrtcGetProgramLogSize", (void *, size_t *))                                      \
    X(log, "nvrtcGetProgramLog", (void *, char *))                                                 \
    X(image_size, "nvrtcGetCUBINSize", (void *, size_t *))                                         \
    X(image, "nvrtcGetCUBIN", (void *, char *))

#define MEMBER(member, symbol, arguments) result_t(*member) arguments;
static struct {
    pthread_once_t once;
    bool is_there;
    FUNCTIONS(MEMBER)
} nvrtc = {.once = PTHREAD_ONCE_INIT};

static bool find_functions(void *library)
{
#define SYMBOL(member, symbol, arguments) {(void **)&nvrtc.member, symbol},
    static const gpu_symbol_t list[] = {FUNCTIONS(SYMBOL)};

    return gpu_symbols_find(library, list, sizeof(list) / sizeof(list[0]));
}

/* Load the compiler library from the first place that has one with all functions. */
static void load(void)
{
    static const char *const names[] = {"libnvrtc.so.13",
                                        "libnvrtc.so.12",
                                        "libnvrtc.so.11.2",
                                        "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so",
                                        NULL};

    for (int i = 0; names[i] != NULL && !nvrtc.is_there; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);

        nvrtc.is_there = library != NULL && find_functions(library);
    }
}

/* Report the messages of the compiler about a program. */
static xy_status_t fail_log(const xy_gpu_device_t *gpu, const char *name, void *program)
{
    size_t size = 0;
    char *log = NULL;
    xy_status_t st;

    if (nvrtc.log_size(program, &size) == SUCCESS)
        log = xy_calloc(size + 1, 1);
    if (log != NULL)
        nvrtc.log(program, log);
    st = gpu_text_fail(gpu, name, log != NULL ? log : "");
    xy_free(log);
    return st;
}

/* Copy the image of a compiled program; the caller owns *image_p. */
static xy_status_t take_image(void *program, char **image_p)
{
    size_t size = 0;
    char *image = NULL;

    if (nvrtc.image_size(program, &size) == SUCCESS && size > 0)
        image = xy_malloc(size);
    if (image == NULL || nvrtc.image(program, image) != SUCCESS) {
        xy_free(image);
        return xy_fail_memory("compiling a kernel");
    }
    *image_p = image;
    return XY_OK;
}

xy_status_t gpu_nvrtc_compile(const xy_gpu_device_t *gpu, const char *name, const char *text,
                              char **image_p)
{
    char arch[32];
    const char *const options[] = {arch, "--fmad=false", "--std=c++11"};
    void *program = NULL;
    xy_status_t st;

    pthread_once(&nvrtc.once, load);
    if (!nvrtc.is_there)
        return xy_fail(XY_EUNSUPPORTED,
                       "libnvrtc, which compiles kernels for %s, is not installed; it is part of "
                       "CUDA 11.2 or later (cuda-nvrtc)",
                       gpu->info.name);
    snprintf(arch, sizeof(arch), "--gpu-architecture=sm_%d", gpu->capability);
    if (nvrtc.create(&program, text, name, 0, NULL, NULL) != SUCCESS)
        return xy_fail_memory("compiling a kernel");
    st = nvrtc.compile(program, sizeof(options) / sizeof(options[0]), options) == SUCCESS
             ? take_image(program, image_p)
             : fail_log(gpu, name, program);
    nvrtc.destroy(&program);
    return st;
}
