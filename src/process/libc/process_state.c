/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/libc/process_state.h"
#include "process/libc/turns.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "fiber/fiber.h"

#include "process/libc/device_wait.h"
#include "process/libc/directory.h"

_Thread_local process_t *process_self, *process_main;
pid_t process_pid;
bool process_is_child;
_Atomic unsigned process_switch_more;

typedef int (*main_fn)(int, char **, char **);

static void *shared_variable(const process_program_t *program, char *image,
                             process_variable_t variable)
{
    static const char *const names[PROCESS_VARIABLES] = {
        [PROCESS_VARIABLE_OPTARG] = "optarg",    [PROCESS_VARIABLE_OPTIND] = "optind",
        [PROCESS_VARIABLE_OPTERR] = "opterr",    [PROCESS_VARIABLE_OPTOPT] = "optopt",
        [PROCESS_VARIABLE_TZNAME] = "tzname",    [PROCESS_VARIABLE_TIMEZONE] = "timezone",
        [PROCESS_VARIABLE_DAYLIGHT] = "daylight"};

    return program->variable_at[variable] != 0 ? image + program->variable_at[variable]
                                               : dlsym(RTLD_DEFAULT, names[variable]);
}

/* With one image for all, all processes share the variables of getopt and of the time zone. */
static void choose_variables(process_t *process)
{
    const process_program_t *program = process->program;
    void *own[PROCESS_VARIABLES] = {
        [PROCESS_VARIABLE_STDIN] = &process->own.streams[0],
        [PROCESS_VARIABLE_STDOUT] = &process->own.streams[1],
        [PROCESS_VARIABLE_STDERR] = &process->own.streams[2],
        [PROCESS_VARIABLE_ENVIRON] = &process->own.environment,
        [PROCESS_VARIABLE_OPTARG] = &process->own.optarg,
        [PROCESS_VARIABLE_OPTIND] = &process->own.optind,
        [PROCESS_VARIABLE_OPTERR] = &process->own.opterr,
        [PROCESS_VARIABLE_OPTOPT] = &process->own.optopt,
        [PROCESS_VARIABLE_TZNAME] = process->own.tzname,
        [PROCESS_VARIABLE_TIMEZONE] = &process->own.timezone,
        [PROCESS_VARIABLE_DAYLIGHT] = &process->own.daylight,
    };

    memcpy(process->variables, own, sizeof(own));
    if (program->is_shared) {
        for (int v = PROCESS_VARIABLE_OPTARG; v < PROCESS_VARIABLES; v++)
            process->variables[v] = shared_variable(program, process->image, (process_variable_t)v);
        return;
    }
    for (int v = 0; v < PROCESS_VARIABLES; v++)
        if (program->variable_at[v] != 0)
            process->variables[v] = process->image + program->variable_at[v];
}

/* Give a process its image, relocated and with fresh getopt variables, or the common one of a
 * shared program. */
static xy_status_t place_image(process_t *process, int index)
{
    xy_status_t st = XY_OK;

    if (process->program->is_shared) {
        process->image = process->program->region;
        choose_variables(process);
        return XY_OK;
    }
    st = process_image_place(process->program, index, &process->image);
    if (st != XY_OK)
        return st;
    choose_variables(process);
    process_image_fix(process->program, process->image, process->variables);
    PROCESS_VARIABLE(process, int, PROCESS_VARIABLE_OPTIND) = 1;
    PROCESS_VARIABLE(process, int, PROCESS_VARIABLE_OPTERR) = 1;
    PROCESS_VARIABLE(process, int, PROCESS_VARIABLE_OPTOPT) = '?';
    return XY_OK;
}

/* Programs write into their arguments: each process has its own, in one piece. */
static xy_status_t copy_arguments(process_t *process, int argc, char **argv)
{
    size_t bytes = 0;
    char *text;

    for (int i = 0; i < argc; i++)
        bytes += strlen(argv[i]) + 1;
    process->argv = xy_malloc(((size_t)argc + 1) * sizeof(char *) + bytes);
    if (process->argv == NULL)
        return xy_fail_memory("starting a rank");
    text = (char *)(process->argv + argc + 1);
    for (int i = 0; i < argc; i++) {
        size_t n = strlen(argv[i]) + 1;

        process->argv[i] = memcpy(text, argv[i], n);
        text += n;
    }
    process->argv[argc] = NULL;
    process->argc = argc;
    return XY_OK;
}

xy_status_t process_init(process_t *process, const process_config_t *config)
{
    xy_status_t st;

    process->program = config->program;
    process->number = config->number;
    process->cores = config->cores;
    process->atexit = XY_VEC_INIT(process_atexit_t);
    process->plugins = XY_VEC_INIT(const process_program_t *);
    st = place_image(process, config->index);
    if (st == XY_OK)
        st = copy_arguments(process, config->argc, config->argv);
    if (st == XY_OK)
        st = process_environment_init(process, config->environment);
    if (st == XY_OK)
        st = process_streams_open(process);
    if (st == XY_OK)
        process_own_malloc_find(process);
    return st == XY_OK ? process_locals_init(process) : st;
}

/* Strings of the environment that the program has put there are left. */
void process_cleanup(process_t *process)
{
    process_streams_close(process);
    process_directory_drop(process);
    xy_free(process->argv);
    xy_free(process->environment);
    xy_free(process->random);
    xy_free(process->affinity);
    xy_free(process->thread_locals);
    xy_free(process->library_locals);
    xy_free(process->keys);
    xy_free(process->key_values);
    xy_free(process->dl_error);
    xy_free(process->dl_error_read);
    xy_vec_cleanup(&process->plugins);
    xy_vec_cleanup(&process->atexit);
    memset(process, 0, sizeof(*process));
    process->has_ended = true;
}

void process_run(void *argument)
{
    process_t *process = argument;
    const process_program_t *program = process->program;
    char **environment = PROCESS_VARIABLE(process, char **, PROCESS_VARIABLE_ENVIRON);
    main_fn run = (main_fn)process_image_at(process->image, program->main);

    process->thread = pthread_self();
    process->tid = gettid();
    XY_RUNTIME_CALL(begin, process);
    if (!program->is_shared)
        process_image_construct(program, process->image, process->argc, process->argv, environment);
    process_exit(process, run(process->argc, process->argv, environment));
}

static void call(const process_atexit_t *entry, int code)
{
    if (entry->kind == PROCESS_ATEXIT_ON_EXIT)
        ((void (*)(int, void *))entry->function)(code, entry->argument);
    else
        ((void (*)(void *, int))entry->function)(entry->argument, code);
}

/* Functions that are called may add more: the list is read anew each time. */
void process_run_atexit(process_t *process, unsigned kinds, const void *dso, int code)
{
    for (size_t i = process->atexit.count; i-- > 0;) {
        process_atexit_t entry = XY_VEC_AT(&process->atexit, process_atexit_t, i);

        if (entry.function == NULL || (kinds & (1u << entry.kind)) == 0 ||
            (dso != NULL && entry.dso != dso))
            continue;
        XY_VEC_AT(&process->atexit, process_atexit_t, i).function = NULL;
        call(&entry, code);
        i = process->atexit.count;
    }
}

void process_exit(process_t *process, int code)
{
    process->is_exiting = true;
    process->last_frame = __builtin_frame_address(0);
    process_run_atexit(process, 1u << PROCESS_ATEXIT_THREAD, NULL, code);
    process_run_atexit(process, 1u << PROCESS_ATEXIT_CXA | 1u << PROCESS_ATEXIT_ON_EXIT, NULL,
                       code);
    for (size_t i = process->plugins.count; i-- > 0;) {
        const process_program_t *plugin =
            XY_VEC_AT(&process->plugins, const process_program_t *, i);

        process_image_destruct(plugin, process_image_of_plugin(plugin, process->image));
    }
    if (!process->program->is_shared)
        process_image_destruct(process->program, process->image);
    process_exit_now(process, code);
}

void process_exit_now(process_t *process, int code)
{
    process_streams_flush(process);
    process_end(process, code);
}

void process_switch_all(process_t *previous, process_t *next, unsigned more)
{
    if ((more & PROCESS_SWITCH_DEVICES) != 0)
        process_device_leave(previous);
    process_locals_switch(next);
    if ((more & PROCESS_SWITCH_DEVICES) != 0)
        process_device_enter(next);
    if ((more & PROCESS_SWITCH_DIRECTORIES) != 0)
        process_directory_enter(next);
}

void process_forget(void)
{
    process_self = process_main = NULL;
    XY_RUNTIME_CALL(forget);
}

void process_give(process_t *process)
{
    unsigned more = atomic_load_explicit(&process_switch_more, memory_order_relaxed);
    bool ran_last = process_main == process;

    if (ran_last && (more & PROCESS_SWITCH_DEVICES) != 0)
        process_device_leave(process);
    process_locals_give(process);
    if (process_sanitizer_has_stacks())
        process_sanitizer_give(process);
    if (ran_last)
        process_forget();
}

void process_take(void *process, void *low, void *high)
{
    process_t *self = process;

    self->thread = pthread_self();
    self->tid = gettid();
    process_locals_follow(process, low, high);
}

void process_end(process_t *process, int code)
{
    process->exit_code = code & 0377;
    XY_RUNTIME_CALL(end, process, process->exit_code);
    process_sanitizer_end(process);
    process->has_ended = true;
    process_turns_end(process);
    XY_RUNTIME_CALL(leave, process);
    /* No process's code runs on this thread until the next switch. */
    process_forget();
    process_locals_drop();
    if (process->ended != NULL)
        process->ended(process);
    xy_fiber_exit();
}
