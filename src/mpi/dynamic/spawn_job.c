/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that are spawned as a job of their own: on other hosts, and by ranks that are processes.
 *
 * The root opens a port and starts mpiexec with the name of the port in XYLEM_PARENT. The new ranks
 * connect to it in MPI_Init, and the root waits for that, or for the end of mpiexec. From then on
 * they are ranks of a connected job, as with MPI_Comm_accept.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mpi/dynamic/calls.h"
#include "mpi/dynamic/dynamic.h"
#include "mpi/p2p/p2p.h"

extern char **environ;

bool mpi_find_mpiexec(char path[PATH_MAX])
{
    char wanted[PATH_MAX];
    const char *slash;
    Dl_info library;

    if (dladdr((const void *)(uintptr_t)mpi_find_mpiexec, &library) == 0 ||
        library.dli_fname == NULL)
        return false;
    slash = strrchr(library.dli_fname, '/');
    snprintf(wanted, sizeof(wanted), "%.*s/../bin/mpiexec",
             slash != NULL ? (int)(slash - library.dli_fname) : 1,
             slash != NULL ? library.dli_fname : ".");
    return realpath(wanted, path) != NULL;
}

/* ---- Which ranks ---- */

static bool has_hosts(const mpi_spawn_part_t *part)
{
    return part->hostfile != NULL || (part->host != NULL && !mpi_job->spawner->is_here(part->host));
}

/* Has the job processes on several hosts? */
static bool is_on_hosts(void)
{
    for (int p = 1; mpi_job->hosts != NULL && p < mpi_job->processes; p++)
        if (strcmp(mpi_job->hosts[p], mpi_job->hosts[0]) != 0)
            return true;
    return false;
}

bool dynamic_needs_job(const mpi_spawn_part_t *parts, int count)
{
    bool is_placed = false;

    if (mpi_job->clock != NULL || mpi_job->spawner == NULL)
        return mpi_job->clock == NULL;
    for (int i = 0; i < count; i++) {
        if (has_hosts(&parts[i]))
            return true;
        is_placed |= parts[i].host != NULL;
    }
    return is_on_hosts() && !is_placed;
}

/* ---- The command ---- */

/* Words of the command; the texts that were made for it are in `made`. */
typedef struct {
    xy_vec_t words, made;
    xy_status_t st;
} command_t;

static void add(command_t *c, const char *word)
{
    if (c->st == XY_OK)
        c->st = xy_vec_append(&c->words, &word);
}

/* Add a text and own it. */
static void add_made(command_t *c, char *text)
{
    if (text == NULL || c->st != XY_OK || xy_vec_append(&c->made, &text) != XY_OK) {
        xy_free(text);
        c->st = XY_ENOMEM;
        return;
    }
    add(c, text);
}

static void command_cleanup(command_t *c)
{
    for (size_t i = 0; i < c->made.count; i++)
        xy_free(XY_VEC_AT(&c->made, char *, i));
    xy_vec_cleanup(&c->made);
    xy_vec_cleanup(&c->words);
}

/* Does another process before this one run on its host? Dead ones do not count. */
static bool is_repeated(int process)
{
    for (int p = 0; p < process; p++)
        if (strcmp(mpi_job->hosts[p], mpi_job->hosts[process]) == 0 && !mpi_survive_is_dead(p))
            return true;
    return false;
}

/* The hosts of the job, each with its part of `ranks` ranks, assigned in turn. */
static void add_own_hosts(command_t *c, int ranks)
{
    xy_text_t text = XY_TEXT_INIT;
    int hosts = 0;

    for (int turn = 0; turn < 2; turn++)
        for (int p = 0; p < mpi_job->processes; p++) {
            if (mpi_survive_is_dead(p) || is_repeated(p))
                continue;
            if (turn == 0)
                hosts++;
            else
                xy_text_addf(&text, "%s%s:%d", text.length > 0 ? "," : "", mpi_job->hosts[p],
                             (ranks + hosts - 1) / hosts);
        }
    add(c, "--map-by");
    add(c, "node");
    add(c, "--hosts");
    if (text.failed)
        xy_text_cleanup(&text);
    add_made(c, text.s);
}

/* Add the options about hosts of this job's launcher. */
static void add_options(command_t *c)
{
    const char *at = getenv(XMPI_SPAWN_OPTIONS);

    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, "\n");

        add_made(c, xy_sprintf("%.*s", (int)length, at));
        at += length + (at[length] != '\0');
    }
}

/* Where the ranks go: one place for all programs. */
static void add_hosts(command_t *c, const mpi_spawn_part_t *parts, int count, int ranks)
{
    for (int i = 0; i < count; i++) {
        if (parts[i].host == NULL && parts[i].hostfile == NULL)
            continue;
        add(c, parts[i].hostfile != NULL ? "--hostfile" : "--hosts");
        add(c, parts[i].hostfile != NULL ? parts[i].hostfile : parts[i].host);
        add_options(c);
        return;
    }
    if (is_on_hosts()) {
        add_own_hosts(c, ranks);
        add_options(c);
    }
}

/* One program, as it is written on a command line. */
static void add_part(command_t *c, const mpi_spawn_part_t *part)
{
    add(c, "-n");
    add_made(c, xy_sprintf("%d", part->count));
    if (part->path != NULL) {
        const char *path = getenv("PATH");

        add(c, "-env");
        add(c, "PATH");
        add_made(c, xy_sprintf("%s:%s", part->path, path != NULL ? path : ""));
    }
    add(c, "--");
    add(c, part->command);
    for (int i = 0; part->argv != NULL && part->argv[i] != NULL; i++)
        add(c, part->argv[i]);
}

/* mpiexec with the hosts and programs of a spawn. */
static xy_status_t make_command(command_t *c, const char *mpiexec, const mpi_spawn_part_t *parts,
                                int count)
{
    int ranks = 0;

    *c = (command_t){XY_VEC_INIT(const char *), XY_VEC_INIT(char *), XY_OK};
    for (int i = 0; i < count; i++)
        ranks += parts[i].count;
    add(c, mpiexec);
    add_hosts(c, parts, count, ranks);
    for (int i = 0; i < count; i++) {
        if (i > 0)
            add(c, ":");
        else if (parts[0].wdir != NULL) {
            add(c, "--wdir");
            add(c, parts[0].wdir);
        }
        add_part(c, &parts[i]);
    }
    add(c, NULL);
    return c->st;
}

/* A fault of the wish that mpiexec would not name as one. */
static bool is_refused(const mpi_spawn_part_t *parts, int count, dynamic_found_t *found)
{
    for (int i = 0; i < count; i++) {
        const char *wdir = parts[i].wdir, *first = parts[0].wdir;

        if ((wdir == NULL) != (first == NULL) || (wdir != NULL && strcmp(wdir, first) != 0))
            dynamic_fail(found, MPI_ERR_SPAWN,
                         "the info key wdir differs between the programs, which make one job");
        for (int k = 0; parts[i].argv != NULL && parts[i].argv[k] != NULL; k++)
            if (strcmp(parts[i].argv[k], ":") == 0)
                dynamic_fail(found, MPI_ERR_SPAWN,
                             "an argument of '%.200s' is ':', which separates programs",
                             parts[i].command);
    }
    return found->code != MPI_SUCCESS;
}

/* ---- Starting it ---- */

/* The environment of the rank with `entry` in front. Strings stay those of the environment; NULL:
 * memory ran out. */
static char **with_entry(char *entry)
{
    size_t count = 0;
    char **list;

    while (environ != NULL && environ[count] != NULL)
        count++;
    list = xy_malloc((count + 2) * sizeof(*list));
    if (list == NULL)
        return NULL;
    list[0] = entry;
    if (count > 0)
        memcpy(list + 1, environ, count * sizeof(*list));
    list[count + 1] = NULL;
    return list;
}

/* Without the signal mask of a worker, and without input. Returns an errno. */
static int start(pid_t *pid, char *const argv[], char *const environment[])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int code;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    code = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (code == 0)
        code = posix_spawn(pid, argv[0], &actions, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Start mpiexec for the ranks; `port` is where they find the root. */
static pid_t start_job(const mpi_spawn_part_t *parts, int count, const char *port,
                       dynamic_found_t *found)
{
    char mpiexec[PATH_MAX], entry[sizeof(XMPI_PARENT) + MPI_MAX_PORT_NAME + 1], **environment;
    command_t command;
    pid_t pid = -1;
    int code = ENOENT;

    if (!mpi_find_mpiexec(mpiexec)) {
        dynamic_fail(found, MPI_ERR_SPAWN, "no mpiexec was found beside the library of Xylem");
        return -1;
    }
    snprintf(entry, sizeof(entry), "%s=%s", XMPI_PARENT, port);
    environment = with_entry(entry);
    if (make_command(&command, mpiexec, parts, count) != XY_OK || environment == NULL) {
        dynamic_fail(found, MPI_ERR_NO_MEM, "memory ran out for the new ranks");
    } else {
        code = start(&pid, command.words.data, environment);
        if (code != 0)
            dynamic_fail(found, MPI_ERR_SPAWN, "cannot start %.200s: %s", mpiexec, strerror(code));
    }
    xy_free(environment);
    command_cleanup(&command);
    return code == 0 ? pid : -1;
}

static bool has_ended(pid_t pid, int *status_p)
{
    return waitpid(pid, status_p, WNOHANG) == pid;
}

/* The mpiexecs of connected jobs that this process has started, the newest ones. */
enum { STARTED_MOST = 64, LOOKS = 100, LOOK_NS = 10000000 };
static _Atomic pid_t started[STARTED_MOST];
static _Atomic unsigned started_count;
static atomic_bool is_other_starter; /* another process has started one, and looks at how it ends */

/* The exit code of one that has failed; ended ones are forgotten. 0: some still run; -1: none does.
 */
static int look_for_failed(void)
{
    int status, code = -1;

    for (int i = 0; i < STARTED_MOST; i++) {
        pid_t pid = atomic_load(&started[i]);

        if (pid <= 0)
            continue;
        if (!has_ended(pid, &status)) {
            code = 0;
            continue;
        }
        atomic_store(&started[i], 0);
        if (status != 0)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return code;
}

void dynamic_spawned_by_other(void)
{
    atomic_store(&is_other_starter, true);
}

/* Another process that has started the job ends this one with its exit code meanwhile. */
int dynamic_spawned_code(void)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    int code = look_for_failed();
    int looks = atomic_load(&is_other_starter) ? 2 * LOOKS : code == 0 ? LOOKS : 0;

    for (int i = 0; i < looks && code <= 0; i++) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        code = look_for_failed();
    }
    return code > 0 ? code : -1;
}

/* Is mpiexec still there? Its exit code otherwise. */
static bool is_running(void *arg, dynamic_found_t *found)
{
    int status;

    if (!has_ended(*(const pid_t *)arg, &status))
        return true;
    dynamic_fail(found, MPI_ERR_SPAWN,
                 "the mpiexec of the new ranks has ended before they have called MPI_Init (%s %d)",
                 WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return false;
}

void dynamic_spawn_job(mpi_comm_t *comm, const mpi_spawn_part_t *parts, int count,
                       dynamic_found_t *found)
{
    char port[MPI_MAX_PORT_NAME];
    pid_t pid;

    if (is_refused(parts, count, found))
        return;
    found->is_job = true;
    found->code = impl_open_port(comm->owner, MPI_INFO_NULL, port);
    if (found->code != MPI_SUCCESS)
        return;
    fflush(NULL);
    pid = start_job(parts, count, port, found);
    if (pid > 0)
        dynamic_port_await(comm, port, is_running, &pid, found);
    if (pid > 0 && found->code == MPI_SUCCESS)
        atomic_store(&started[atomic_fetch_add(&started_count, 1) % STARTED_MOST], pid);
    impl_close_port(comm->owner, port);
}

/* ---- Ranks of such a job ---- */

int dynamic_parent_meet(mpi_rank_t *self)
{
    const char *port = getenv(XMPI_PARENT);
    char name[MPI_MAX_PORT_NAME];
    int code;

    if (port == NULL)
        return MPI_SUCCESS;
    snprintf(name, sizeof(name), "%s", port);
    unsetenv(XMPI_PARENT); /* programs that the rank starts are not spawned */
    code = dynamic_port_connect(self->comm_world, name, &self->parent);
    if (code == MPI_SUCCESS)
        strcpy(self->parent->name, DYNAMIC_PARENT_NAME);
    return code;
}
