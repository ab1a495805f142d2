/* SPDX-License-Identifier: BSD-3-Clause */
#include "launch/spawn_ranks.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/host_list.h"
#include "launch/rank_process.h"
#include "launch/virtual_time.h"
#include "mpi/runtime/runtime.h"

enum { FEWEST_IMAGES = 16 };

/* A file, loaded once or more: each time with images for more ranks. */
typedef struct loaded {
    char *path;
    dev_t device;
    ino_t file;
    struct timespec changed;
    process_program_t *program;
    int *free, free_count; /* images that no rank has */
    struct loaded *next;
} loaded_t;

typedef enum { SLOT_FREE, SLOT_USED } slot_state_t;

typedef struct {
    _Atomic int state;
    loaded_t *loaded; /* the program of `image`, also while the slot is free; or NULL */
    int image;
    char **environment;
} slot_t;

static mpi_spawn_setup_t setup;
static slot_t *slots;
static int used_slots; /* the first ones: others were never used */
static loaded_t *all_loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const xy_bitset_t nobody; /* debuggers do not know these ranks */

/* ---- Programs ---- */

static xy_status_t cannot_preload(const xy_vec_t *libraries, bool is_verbose)
{
    (void)is_verbose;
    if (libraries->count == 0)
        return XY_OK;
    return xy_fail(XY_EUNSUPPORTED,
                   "it needs %s from the beginning, and the job runs already; start mpiexec with "
                   "LD_PRELOAD=%s",
                   XY_VEC_AT(libraries, char *, 0), XY_VEC_AT(libraries, char *, 0));
}

static xy_status_t cannot_reserve(const char *path, size_t size, size_t align)
{
    return xy_fail(XY_ELIMIT,
                   "'%s' has %zu bytes of thread-local variables, aligned to %zu, and the job was "
                   "started with room for fewer; start one rank of it with the job (mpiexec ... : "
                   "-n 1 %s), or link it without them",
                   path, size, align, path);
}

static bool is_same(const loaded_t *loaded, const char *path, const struct stat *about)
{
    return strcmp(loaded->path, path) == 0 && loaded->device == about->st_dev &&
           loaded->file == about->st_ino && loaded->changed.tv_sec == about->st_mtim.tv_sec &&
           loaded->changed.tv_nsec == about->st_mtim.tv_nsec;
}

static xy_status_t check_program(const char *path, const char *name)
{
    mpi_part_t part = {.path = (char *)(uintptr_t)path};
    xy_status_t st = mpi_launch_inspect(&part);

    if (st == XY_OK && !part.is_mpi)
        st = xy_fail(XY_EUNSUPPORTED,
                     "'%s' is not linked with Xylem's MPI, so that it cannot be a rank; compile it "
                     "with mpicc",
                     name);
    return st;
}

static void loaded_destroy(loaded_t *loaded)
{
    xy_free(loaded->path);
    xy_free(loaded->free);
    xy_free(loaded);
}

/* With `images` that are free. */
static xy_status_t load(const char *path, const struct stat *about, int images, loaded_t **loaded_p)
{
    process_program_config_t config = setup.program;
    loaded_t *loaded = xy_calloc(1, sizeof(*loaded));
    xy_status_t st = check_program(path, path);

    if (loaded == NULL)
        return xy_fail_memory("loading the program");
    loaded->path = xy_strdup(path);
    loaded->free = xy_malloc((size_t)images * sizeof(int));
    if (st == XY_OK && (loaded->path == NULL || loaded->free == NULL))
        st = xy_fail_memory("loading the program");
    config.images = images;
    config.first = 0;
    config.shown = &nobody;
    config.is_verbose = false;
    config.must_preload = cannot_preload;
    config.must_reserve = cannot_reserve;
    pthread_mutex_lock(&process_loading);
    if (st == XY_OK)
        st = process_program_load(path, &config, &loaded->program);
    if (st == XY_OK)
        st = process_locals_extend(NULL);
    pthread_mutex_unlock(&process_loading);
    if (st != XY_OK) {
        loaded_destroy(loaded);
        return st;
    }
    loaded->device = about->st_dev;
    loaded->file = about->st_ino;
    loaded->changed = about->st_mtim;
    for (int i = images; i-- > 0;)
        loaded->free[loaded->free_count++] = i;
    loaded->next = all_loaded;
    all_loaded = loaded;
    *loaded_p = loaded;
    return XY_OK;
}

/* A program at `path` with a free image; with `count` of them, if it has to be loaded. */
static xy_status_t get_loaded(const char *path, int count, loaded_t **loaded_p)
{
    struct stat about;
    int before = 0;

    if (stat(path, &about) != 0)
        return xy_fail_errno(errno, path, "open");
    for (loaded_t *loaded = all_loaded; loaded != NULL; loaded = loaded->next) {
        if (!is_same(loaded, path, &about))
            continue;
        *loaded_p = loaded;
        if (loaded->free_count > 0)
            return XY_OK;
        before += loaded->program->images;
    }
    if (count < before)
        count = before;
    return load(path, &about, count > FEWEST_IMAGES ? count : FEWEST_IMAGES, loaded_p);
}

/* ---- Slots ---- */

static int number_of(const slot_t *slot)
{
    return setup.first + (int)(slot - slots);
}

static void give_image_back(slot_t *slot)
{
    if (slot->loaded != NULL)
        slot->loaded->free[slot->loaded->free_count++] = slot->image;
    slot->loaded = NULL;
}

/* Free the memory that the last rank of the slot has left. */
static void empty(slot_t *slot)
{
    process_t *process = &setup.processes[number_of(slot)];

    if (slot->loaded != NULL) {
        for (size_t i = 0; i < process->plugins.count; i++)
            process_image_clear(XY_VEC_AT(&process->plugins, const process_program_t *, i),
                                slot->image);
        process_cleanup(process);
        process_signals_forget(number_of(slot));
        process_image_clear(slot->loaded->program, slot->image);
    }
    give_image_back(slot);
    xy_free(slot->environment);
    slot->environment = NULL;
}

/* NULL: all are in use. The acquire pairs with the release of the rank that ended. */
static slot_t *get_slot(void)
{
    for (int i = 0; i < used_slots; i++)
        if (atomic_load_explicit(&slots[i].state, memory_order_acquire) == SLOT_FREE &&
            (mpi_job->clock == NULL || mpi_virtual_is_over(number_of(&slots[i])))) {
            empty(&slots[i]);
            return &slots[i];
        }
    return used_slots < setup.room ? &slots[used_slots++] : NULL;
}

/* From here on its rank may be another one. */
static void free_slot(slot_t *slot)
{
    atomic_store_explicit(&slot->state, SLOT_FREE, memory_order_release);
}

/* The rank has ended. Where others may still send to it, its number is not used again. */
static void end_slot(process_t *process)
{
    slot_t *slot = &slots[process->number - setup.first];
    const mpi_rank_t *rank = mpi_rank_of(process);

    for (const mpi_comm_t *comm = rank->comms; comm != NULL; comm = comm->next)
        if (comm->mark == XMPI_COMM_LIVE && comm != rank->comm_world && comm != rank->comm_self)
            return;
    if (process->thread_count == 0 && !mpi_thread_has_left(rank))
        free_slot(slot);
}

/* ---- Finding the program ---- */

/* Find the program of MPI_Comm_spawn in the directories of the info key `path`, or as mpiexec does;
 * the caller owns *path_p. */
static xy_status_t search(const char *command, const char *list, char **path_p)
{
    while (list != NULL && *list != '\0' && strchr(command, '/') == NULL) {
        size_t n = strcspn(list, ":;");
        char *path = xy_sprintf("%.*s%s%s", (int)n, list, n > 0 ? "/" : "./", command);

        if (path == NULL)
            return xy_fail_memory("finding the program");
        if (access(path, X_OK) == 0) {
            *path_p = path;
            return XY_OK;
        }
        xy_free(path);
        list += n;
        list += *list != '\0';
    }
    return mpi_launch_find(command, path_p, &(int){0});
}

/* ---- Making ranks ---- */

/* The arguments with the command in front, in one array. */
static char **with_command(const mpi_spawn_part_t *part, int *argc_p)
{
    int n = 0;
    char **list;

    while (part->argv != NULL && part->argv[n] != NULL)
        n++;
    list = xy_calloc((size_t)n + 2, sizeof(*list));
    if (list == NULL)
        return NULL;
    list[0] = (char *)(uintptr_t)part->command;
    for (int i = 0; i < n; i++)
        list[i + 1] = part->argv[i];
    *argc_p = n + 1;
    return list;
}

typedef struct {
    const mpi_spawn_part_t *part;
    const char *path;
    int argc;
    char **argv;
    int first, size;         /* place of its first rank in their world, and the size of that */
    const process_t *parent; /* the rank that spawns */
} making_t;

/* Rank `place` of the new world, in a slot of its own. */
static xy_status_t make_rank(const making_t *m, int place, int *number_p)
{
    slot_t *slot = get_slot();
    process_config_t config = {.argc = m->argc, .argv = m->argv};
    process_t *process;
    xy_status_t st;

    if (slot == NULL)
        return xy_fail(XY_ELIMIT,
                       "%d spawned ranks are alive already, the maximum; ranks that have ended "
                       "count until both sides have called MPI_Comm_disconnect",
                       setup.room);
    st = get_loaded(m->path, m->part->count, &slot->loaded);
    if (st != XY_OK) {
        slot->loaded = NULL;
        return st;
    }
    slot->image = slot->loaded->free[--slot->loaded->free_count];
    slot->environment = mpi_launch_rank_environment(setup.part, place, m->size, 0, m->size);
    config.program = slot->loaded->program;
    config.index = slot->image;
    config.number = number_of(slot);
    config.environment = slot->environment;
    config.cores = &setup.rank_set[mpi_job->home[config.number]];
    process = &setup.processes[config.number];
    st = slot->environment != NULL ? process_init(process, &config)
                                   : xy_fail_memory("starting a rank");
    if (st == XY_OK)
        st = process_directory_give(process, m->parent, m->part->wdir);
    if (st != XY_OK) {
        empty(slot);
        return st;
    }
    mpi_rank_give_process(&mpi_job->ranks[config.number], process);
    process->ended = end_slot;
    atomic_store_explicit(&slot->state, SLOT_USED, memory_order_release);
    *number_p = config.number;
    return XY_OK;
}

static void drop(const int *ranks, int count)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++)
        free_slot(&slots[ranks[i] - setup.first]);
    pthread_mutex_unlock(&lock);
}

/* Create the ranks of one command of a spawn and count them in *made_p, also when a later one
 * fails. */
static xy_status_t make_part(making_t m, int *ranks, int *made_p)
{
    const mpi_spawn_part_t *part = m.part;
    char *path = NULL;
    xy_status_t st = search(part->command, part->path, &path);

    m.path = path;
    m.argv = st == XY_OK ? with_command(part, &m.argc) : NULL;
    if (st == XY_OK && m.argv == NULL)
        st = xy_fail_memory("starting a rank");
    for (int i = 0; i < part->count && st == XY_OK; i++) {
        st = make_rank(&m, m.first + i, &ranks[m.first + i]);
        *made_p += st == XY_OK;
    }
    xy_free(m.argv);
    xy_free(path);
    return st;
}

/* Create the ranks of all commands of a spawn; *made_p says how many there are, also on failure. */
static xy_status_t make_all(const process_t *parent, const mpi_spawn_part_t *parts, int count,
                            int *ranks, int *made_p)
{
    making_t m = {.parent = parent};
    xy_status_t st = XY_OK;

    for (int i = 0; i < count; i++)
        m.size += parts[i].count;
    if (setup.program.is_shared)
        return xy_fail(XY_EUNSUPPORTED, "a job with --share-globals has the ranks that it was "
                                        "started with; leave that option out");
    for (int i = 0; i < count && st == XY_OK; m.first += parts[i++].count) {
        m.part = &parts[i];
        st = make_part(m, ranks, made_p);
    }
    return st;
}

/* The rank that calls is none meanwhile: what is done here is not its own. */
static xy_status_t make(const mpi_spawn_part_t *parts, int count, int *ranks,
                        char why[XMPI_SPAWN_WHY])
{
    process_t *self = process_self;
    int made = 0;
    xy_status_t st;

    pthread_mutex_lock(&lock);
    process_self = NULL;
    why[0] = '\0';
    process_report_catch(why, XMPI_SPAWN_WHY);
    st = make_all(self, parts, count, ranks, &made);
    if (st == XY_OK && mpi_job->clock != NULL)
        st = mpi_virtual_place(ranks, made);
    process_report_catch(NULL, 0);
    process_self = self;
    for (int i = 0; i < made && st == XY_OK; i++)
        mpi_job_know(mpi_job, ranks[i]);
    pthread_mutex_unlock(&lock);
    if (st != XY_OK)
        drop(ranks, made);
    return st;
}

/* ---- Starting, on the worker of the rank ---- */

/* Ranks of this worker neither end nor begin meanwhile. What another worker makes is not in use. */
static bool is_in_use(int rank)
{
    return rank < setup.first || atomic_load_explicit(&slots[rank - setup.first].state,
                                                      memory_order_acquire) == SLOT_USED;
}

static void forget_alone(const mpi_rank_t *rank)
{
    int home = mpi_job->home[rank->world];

    for (int r = 0; r < mpi_job->size; r++)
        if (mpi_job->home[r] == home && is_in_use(r))
            setup.processes[r].sharing = PROCESS_SHARING_UNKNOWN;
}

/* Print where a spawned rank runs (--verbose). */
static void say(const mpi_rank_t *rank, const process_t *process)
{
    const int32_t *core_of;
    char where[160] = "";

    if (mpi_job->clock != NULL) {
        const xy_machine_t *machine = mpi_virtual_machine(&core_of);

        snprintf(where, sizeof(where), ", on core %d of %.100s", (int)core_of[rank->world],
                 machine->name);
    }
    process_say("rank %d is spawned: it runs '%s', as rank %d of %d%s", rank->world,
                process->program->path, rank->comm_world->rank, rank->comm_world->size, where);
}

static xy_status_t start(mpi_rank_t *rank)
{
    process_t *process = &setup.processes[rank->world];

    process->has_ended = false;
    mpi_rank_take_process(rank, process);
    forget_alone(rank);
    if (setup.is_verbose)
        say(rank, process);
    return mpi_rank_start(mpi_job, rank->world, process_run, process);
}

void mpi_spawn_setup(const mpi_spawn_setup_t *given)
{
    setup = *given;
    slots = xy_calloc((size_t)setup.room, sizeof(*slots));
    if (slots == NULL)
        setup.room = 0;
}

const mpi_spawner_t mpi_spawner = {
    .make = make, .drop = drop, .start = start, .is_here = mpi_host_is_here};
