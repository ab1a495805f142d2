/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/launch/libc/process.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "fiber/fiber.h"

#include "mpi/launch/libc/directory.h"

_Thread_local mpi_process_t *mpi_process_self, *mpi_process_main;
pid_t mpi_process_pid;
bool mpi_process_is_child;
_Atomic unsigned mpi_switch_more;

typedef int (*main_fn)(int, char **, char **);

static void *shared_variable(const mpi_program_t *program, char *image, mpi_variable_t variable)
{
    static const char *const names[XMPI_VARIABLES] = {
        [XMPI_VARIABLE_OPTARG] = "optarg",    [XMPI_VARIABLE_OPTIND] = "optind",
        [XMPI_VARIABLE_OPTERR] = "opterr",    [XMPI_VARIABLE_OPTOPT] = "optopt",
        [XMPI_VARIABLE_TZNAME] = "tzname",    [XMPI_VARIABLE_TIMEZONE] = "timezone",
        [XMPI_VARIABLE_DAYLIGHT] = "daylight"};

    return program->variable_at[variable] != 0 ? image + program->variable_at[variable]
                                               : dlsym(RTLD_DEFAULT, names[variable]);
}

/* With one image for all, all ranks share the variables of getopt and of the time zone. */
static void choose_variables(mpi_process_t *process)
{
    const mpi_program_t *program = process->program;
    void *own[XMPI_VARIABLES] = {
        [XMPI_VARIABLE_STDIN] = &process->own.streams[0],
        [XMPI_VARIABLE_STDOUT] = &process->own.streams[1],
        [XMPI_VARIABLE_STDERR] = &process->own.streams[2],
        [XMPI_VARIABLE_ENVIRON] = &process->own.environment,
        [XMPI_VARIABLE_OPTARG] = &process->own.optarg,
        [XMPI_VARIABLE_OPTIND] = &process->own.optind,
        [XMPI_VARIABLE_OPTERR] = &process->own.opterr,
        [XMPI_VARIABLE_OPTOPT] = &process->own.optopt,
        [XMPI_VARIABLE_TZNAME] = process->own.tzname,
        [XMPI_VARIABLE_TIMEZONE] = &process->own.timezone,
        [XMPI_VARIABLE_DAYLIGHT] = &process->own.daylight,
    };

    memcpy(process->variables, own, sizeof(own));
    if (program->is_shared) {
        for (int v = XMPI_VARIABLE_OPTARG; v < XMPI_VARIABLES; v++)
            process->variables[v] = shared_variable(program, process->image, (mpi_variable_t)v);
        return;
    }
    for (int v = 0; v < XMPI_VARIABLES; v++)
        if (program->variable_at[v] != 0)
            process->variables[v] = process->image + program->variable_at[v];
}

static xy_status_t place_image(mpi_process_t *process, int index)
{
    xy_status_t st = XY_OK;

    if (process->program->is_shared) {
        process->image = process->program->region;
        choose_variables(process);
        return XY_OK;
    }
    st = mpi_image_place(process->program, index, &process->image);
    if (st != XY_OK)
        return st;
    choose_variables(process);
    mpi_image_fix(process->program, process->image, process->variables);
    XMPI_PROCESS_VARIABLE(process, int, XMPI_VARIABLE_OPTIND) = 1;
    XMPI_PROCESS_VARIABLE(process, int, XMPI_VARIABLE_OPTERR) = 1;
    XMPI_PROCESS_VARIABLE(process, int, XMPI_VARIABLE_OPTOPT) = '?';
    return XY_OK;
}

/* Programs write into their arguments: each rank has its own, in one piece. */
static xy_status_t copy_arguments(mpi_process_t *process, int argc, char **argv)
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

xy_status_t mpi_process_init(mpi_process_t *process, const mpi_process_config_t *config)
{
    xy_status_t st;

    process->program = config->program;
    process->world = config->world;
    process->cores = config->cores;
    process->atexit = XY_VEC_INIT(mpi_atexit_t);
    process->plugins = XY_VEC_INIT(const mpi_program_t *);
    st = place_image(process, config->index);
    if (st == XY_OK)
        st = copy_arguments(process, config->argc, config->argv);
    if (st == XY_OK)
        st = mpi_environment_init(process, config->environment);
    if (st == XY_OK)
        st = mpi_streams_open(process);
    if (st == XY_OK)
        mpi_own_malloc_find(process);
    return st == XY_OK ? mpi_locals_init(process) : st;
}

/* Strings of the environment that the program has put there are left. */
void mpi_process_cleanup(mpi_process_t *process)
{
    mpi_streams_close(process);
    mpi_directory_drop(process);
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

void mpi_process_run(void *argument)
{
    mpi_process_t *process = argument;
    const mpi_program_t *program = process->program;
    char **environment = XMPI_PROCESS_VARIABLE(process, char **, XMPI_VARIABLE_ENVIRON);
    main_fn run = (main_fn)mpi_image_at(process->image, program->main);

    process->thread = pthread_self();
    process->tid = gettid();
    XY_RUNTIME_CALL(begin, process);
    if (!program->is_shared)
        mpi_image_construct(program, process->image, process->argc, process->argv, environment);
    mpi_process_exit(process, run(process->argc, process->argv, environment));
}

static void call(const mpi_atexit_t *entry, int code)
{
    if (entry->kind == XMPI_ATEXIT_ON_EXIT)
        ((void (*)(int, void *))entry->function)(code, entry->argument);
    else
        ((void (*)(void *, int))entry->function)(entry->argument, code);
}

/* Functions that are called may add more: the list is read anew each time. */
void mpi_process_run_atexit(mpi_process_t *process, unsigned kinds, const void *dso, int code)
{
    for (size_t i = process->atexit.count; i-- > 0;) {
        mpi_atexit_t entry = XY_VEC_AT(&process->atexit, mpi_atexit_t, i);

        if (entry.function == NULL || (kinds & (1u << entry.kind)) == 0 ||
            (dso != NULL && entry.dso != dso))
            continue;
        XY_VEC_AT(&process->atexit, mpi_atexit_t, i).function = NULL;
        call(&entry, code);
        i = process->atexit.count;
    }
}

void mpi_process_exit(mpi_process_t *process, int code)
{
    process->is_exiting = true;
    process->last_frame = __builtin_frame_address(0);
    mpi_process_run_atexit(process, 1u << XMPI_ATEXIT_THREAD, NULL, code);
    mpi_process_run_atexit(process, 1u << XMPI_ATEXIT_CXA | 1u << XMPI_ATEXIT_ON_EXIT, NULL, code);
    for (size_t i = process->plugins.count; i-- > 0;) {
        const mpi_program_t *plugin = XY_VEC_AT(&process->plugins, const mpi_program_t *, i);

        mpi_image_destruct(plugin, mpi_image_of_plugin(plugin, process->image));
    }
    if (!process->program->is_shared)
        mpi_image_destruct(process->program, process->image);
    mpi_process_exit_now(process, code);
}

void mpi_process_exit_now(mpi_process_t *process, int code)
{
    mpi_streams_flush(process);
    mpi_process_end(process, code);
}

void mpi_process_forget(void)
{
    mpi_process_self = mpi_process_main = NULL;
    XY_RUNTIME_CALL(forget);
}

void mpi_process_end(mpi_process_t *process, int code)
{
    process->exit_code = code & 0377;
    XY_RUNTIME_CALL(end, process, process->exit_code);
    mpi_sanitizer_end(process);
    process->has_ended = true;
    XY_RUNTIME_CALL(leave, process);
    /* No rank's code runs on this thread until the next switch. */
    mpi_process_forget();
    mpi_locals_drop();
    if (process->ended != NULL)
        process->ended(process);
    xy_fiber_exit();
}
