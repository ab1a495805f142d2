/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that are compiled with -fsanitize=address. Their runtime is in the host from
 * the start (image/sanitizer_runtime.c), and is to know three things: on which stack a thread is
 * when a process runs, where the data of all images is when it looks for leaks (unwind.c), and
 * whose error it was that ends the job.
 *
 * A switch is announced in two parts, before and after it. Both are made before it here, so that
 * switches of all other programs cost nothing: between the second and the switch itself runs no
 * code that the sanitizer watches.
 */
#include <dlfcn.h>
#include <execinfo.h>

#include "process/libc/process_state.h"

static struct {
    void (*start)(void **fake, const void *bottom, size_t size);
    void (*finish)(void *fake, const void **bottom, size_t *size);
    void (*unpoison)(const void *from, size_t size);
    void (*register_root)(const void *from, size_t size);
    void (*end_pause)(void);
    const void *base; /* where its file begins */
    bool is_there, has_stacks, watches_threads;
} runtime;

/* The process of this thread whose stack was announced last, and its own stack. */
static _Thread_local struct {
    process_t *announced;
    const void *bottom;
    size_t size;
} here;

bool process_sanitizer_is_there(void)
{
    return runtime.is_there;
}

bool process_sanitizer_has_stacks(void)
{
    return runtime.has_stacks;
}

bool process_sanitizer_watches_threads(void)
{
    return runtime.watches_threads;
}

/* The runtime has printed its report and is about to end the process. */
static void say_whose(void)
{
    const process_t *process = process_self;

    if (process != NULL)
        process_say("%s %d: the sanitizer has found an error, and ends the job",
                    process_runtime.noun, process->number);
    process_self = NULL;
    XY_RUNTIME_CALL(flush);
}

static void *find(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

/* Where the file begins that an address belongs to; NULL: it belongs to none. */
static const void *base_of(const void *address)
{
    Dl_info info;

    return dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

const void *process_sanitizer_caller(const void *caller)
{
    enum { FRAMES = 16 };
    void *frames[FRAMES];
    int count, i = 0;

    if (runtime.base == NULL || base_of(caller) != runtime.base)
        return caller;
    count = backtrace(frames, FRAMES);
    while (i < count && frames[i] != caller) /* the runtime stands in front of backtrace(), too */
        i++;
    while (i < count && base_of(frames[i]) == runtime.base)
        i++;
    return i < count ? frames[i] : caller;
}

/* Let leaks be looked for in processes only: memory of the launcher itself is left to the end of
 * the host. */
void process_sanitizer_setup(void)
{
    void (*pause)(void);
    void (*set_death)(void (*)(void));

    runtime.watches_threads = find("__tsan_init") != NULL;
    *(void **)&pause = find("__lsan_disable");
    if (pause == NULL)
        return;
    runtime.is_there = true;
    *(void **)&runtime.end_pause = find("__lsan_enable");
    *(void **)&runtime.start = find("__sanitizer_start_switch_fiber");
    *(void **)&runtime.finish = find("__sanitizer_finish_switch_fiber");
    *(void **)&runtime.unpoison = find("__asan_unpoison_memory_region");
    *(void **)&runtime.register_root = find("__lsan_register_root_region");
    *(void **)&set_death = find("__sanitizer_set_death_callback");
    runtime.has_stacks =
        runtime.start != NULL && runtime.finish != NULL && runtime.unpoison != NULL;
    runtime.base = base_of(*(void **)&pause);
    if (set_death != NULL)
        set_death(say_whose);
    pause();
}

void process_sanitizer_enter(void)
{
    if (runtime.end_pause != NULL)
        runtime.end_pause();
}

void process_sanitizer_add_root(const void *from, size_t size)
{
    if (runtime.register_root != NULL)
        runtime.register_root(from, size);
}

/* Frames of a process that has called exit have not returned: what they refer to is not lost, and
 * another fiber may get the stack. */
void process_sanitizer_end(const process_t *process)
{
    const char *here_now = __builtin_frame_address(0), *frames = process->last_frame;
    void *low, *high;

    if (!runtime.is_there)
        return;
    xy_fiber_stack(*process->fiber, &low, &high);
    if (here_now < (char *)low || here_now >= (char *)high)
        return;
    if (runtime.has_stacks)
        runtime.unpoison(here_now, (size_t)((char *)high - here_now));
    if (frames != NULL)
        process_sanitizer_add_root(frames, (size_t)((char *)high - frames));
}

void process_sanitizer_switch(process_t *next)
{
    process_t *previous = here.announced;
    bool is_first = previous == NULL;
    const void *bottom;
    void *low, *high;
    size_t size;

    if (next == previous)
        return;
    xy_fiber_stack(*next->fiber, &low, &high);
    runtime.start(is_first || previous->has_ended ? NULL : &previous->sanitizer_stack, low,
                  (size_t)((char *)high - (char *)low));
    runtime.finish(next->sanitizer_stack, &bottom, &size);
    if (is_first) {
        here.bottom = bottom;
        here.size = size;
    }
    here.announced = next;
}

void process_sanitizer_give(process_t *process)
{
    if (here.announced != process)
        return;
    runtime.start(&process->sanitizer_stack, here.bottom, here.size);
    runtime.finish(NULL, NULL, NULL);
    here.announced = NULL;
}

void process_sanitizer_leave(void)
{
    if (here.announced == NULL)
        return;
    runtime.start(NULL, here.bottom, here.size);
    runtime.finish(NULL, NULL, NULL);
    here.announced = NULL;
}
