/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loading Open MPI or MPICH. The names of both are hidden from the program (RTLD_LOCAL), which has
 * Xylem's; and the library prefers its own (RTLD_DEEPBIND), except where that hurts: with another
 * malloc in front of the C library's, or a sanitizer.
 *
 * Handles are pointers in one and 32-bit numbers in the other: as arguments both are words, of
 * which the latter reads the lower half.
 */
#include "net/mpi_host.h"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* All calls are made under one lock. Asked for more, both libraries lock inside every call, too. */
enum { THREAD_SERIALIZED = 2, STATUS_WORDS = 16 };
/* Bytes of a short message before the library was measured. Up to here both send at once over
 * sockets and fast networks. Through shared memory they ask the receiver first from a few KiB on,
 * which takes no longer than asking it ourselves. */
enum { SHORT_LIMIT = 32000 + XY_NET_HEADS };

struct host_mpi {
    const char *name;
    uintptr_t world, byte;
    int any_source;
    void *ignore;  /* instead of a status */
    size_t handle; /* bytes of a request */
    size_t short_limit;
    int rank;
    int pmi; /* the connection of MPICH to Hydra; -1: there is none */
    int (*init)(int *, char ***, int, int *);
    int (*comm_rank)(uintptr_t, int *);
    int (*comm_size)(uintptr_t, int *);
    int (*isend)(const void *, int, uintptr_t, int, int, uintptr_t, void *);
    int (*issend)(const void *, int, uintptr_t, int, int, uintptr_t, void *);
    int (*irecv)(void *, int, uintptr_t, int, int, uintptr_t, void *);
    int (*test)(void *, int *, void *);
    int (*testsome)(int, void *, int *, int *, void *);
    int (*cancel)(void *);
    int (*wait)(void *, void *);
    int (*finalize)(void);
};

static bool has_sanitizer(void)
{
    return dlsym(RTLD_DEFAULT, "__asan_init") != NULL || dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
}

/* Is malloc neither the C library's nor Xylem's? The C library's, or of Xylem in front of it. */
static bool has_other_malloc(void)
{
    void *address = dlsym(RTLD_DEFAULT, "malloc");
    const char *name;
    Dl_info info;

    if (address == NULL || dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return false;
    name = strrchr(info.dli_fname, '/') != NULL ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname;
    return strncmp(name, "libc.so", 7) != 0 && strncmp(name, "libc-", 5) != 0 &&
           strncmp(name, "libmpi_abi", 10) != 0;
}

/* Load the MPI library of the launcher, or the one in XYLEM_HOST_MPI; NULL if there is none. */
static void *open_library(const char *launcher)
{
    static const char *const of_open_mpi[] = {"libmpi.so.40", "libmpi.so.80", NULL};
    static const char *const of_mpich[] = {"libmpich.so.12", "libmpi.so.12", "libmpich.so", NULL};
    const char *wanted = getenv("XYLEM_HOST_MPI");
    bool is_open_mpi = launcher != NULL ? strcmp(launcher, "openmpi") == 0
                                        : getenv("OMPI_COMM_WORLD_SIZE") != NULL;
    const char *const *names = is_open_mpi ? of_open_mpi : of_mpich;
    int flags = RTLD_NOW | RTLD_LOCAL;
    void *library = NULL;

    if (!has_sanitizer() && !has_other_malloc())
        flags |= RTLD_DEEPBIND;
    if (wanted != NULL)
        return dlopen(wanted, flags);
    for (int i = 0; names[i] != NULL && library == NULL; i++)
        library = dlopen(names[i], flags);
    return library;
}

/* Look up the MPI functions in use; false if one is missing. */
static bool find_functions(void *library, host_mpi_t *h)
{
    const struct {
        const char *name;
        void **slot;
    } all[] = {{"MPI_Init_thread", (void **)&h->init},    {"MPI_Comm_rank", (void **)&h->comm_rank},
               {"MPI_Comm_size", (void **)&h->comm_size}, {"MPI_Isend", (void **)&h->isend},
               {"MPI_Issend", (void **)&h->issend},       {"MPI_Irecv", (void **)&h->irecv},
               {"MPI_Test", (void **)&h->test},           {"MPI_Testsome", (void **)&h->testsome},
               {"MPI_Cancel", (void **)&h->cancel},       {"MPI_Wait", (void **)&h->wait},
               {"MPI_Finalize", (void **)&h->finalize}};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if ((*all[i].slot = dlsym(library, all[i].name)) == NULL)
            return false;
    return true;
}

/* Set the handles and constants of Open MPI or MPICH, whichever the library is. */
static void learn_abi(void *library, host_mpi_t *h)
{
    void *world = dlsym(library, "ompi_mpi_comm_world");

    if (world != NULL) {
        h->name = "Open MPI";
        h->world = (uintptr_t)world;
        h->byte = (uintptr_t)dlsym(library, "ompi_mpi_byte");
        h->any_source = -1;
        h->ignore = NULL;
        h->handle = sizeof(void *);
    } else {
        h->name = "MPICH";
        h->world = 0x44000000;
        h->byte = 0x4c00010d;
        h->any_source = -2;
        h->ignore = (void *)(uintptr_t)1;
        h->handle = sizeof(int);
    }
    h->short_limit = SHORT_LIMIT;
}

/* Signals are the program's: both libraries and UCX take some when they are loaded. Functions that
 * map memory are the sanitizer's where there is one: UCX, which replaces them, crashes then. */
static void keep_hands_off(void)
{
    if (has_sanitizer()) {
        setenv("UCX_MEM_EVENTS", "n", 0);
        setenv("UCX_MEM_MMAP_HOOK_MODE", "none", 0);
    }
    setenv("UCX_ERROR_SIGNALS", "", 0);
    setenv("UCX_DEBUG_SIGNO", "", 0);
    setenv("OMPI_MCA_opal_signal", "", 0);
}

/* The descriptor that Hydra gives to each process, where MPICH uses it. */
static int connection_of(const host_mpi_t *h)
{
    const char *text = getenv("PMI_FD");
    long fd;

    if (text == NULL || strcmp(h->name, "MPICH") != 0 || !xy_parse_long(text, &fd) || fd < 3 ||
        fd > 1 << 20)
        return -1;
    return (int)fd;
}

/* Initialize the installed MPI, keep our signal handlers, and check its thread level and size. */
static xy_status_t start(host_mpi_t *h, int processes)
{
    struct sigaction before[NSIG];
    int level = 0, size = 0, code;

    for (int s = 1; s < NSIG; s++)
        sigaction(s, NULL, &before[s]);
    code = h->init(NULL, NULL, THREAD_SERIALIZED, &level);
    for (int s = 1; s < NSIG; s++)
        if (s != SIGCHLD)
            sigaction(s, &before[s], NULL);
    if (code != 0 || h->comm_rank(h->world, &h->rank) != 0 || h->comm_size(h->world, &size) != 0)
        return xy_fail(XY_EIO, "--net mpi: %s cannot be initialised (code %d)", h->name, code);
    if (level < THREAD_SERIALIZED)
        return xy_fail(
            XY_EUNSUPPORTED,
            "--net mpi: %s does not let several threads call it (level %d); use --net tcp", h->name,
            level);
    if (size != processes)
        return xy_fail(XY_EUNSUPPORTED,
                       "--net mpi: %s has started %d process%s and the job has %d; its launcher "
                       "belongs to another MPI: name the right one with --launcher",
                       h->name, size, size == 1 ? "" : "es", processes);
    return XY_OK;
}

xy_status_t host_open(int processes, const char *launcher, const host_mpi_t **host_p)
{
    static host_mpi_t host;
    void *library;
    xy_status_t st;

    if (getenv("OMPI_COMM_WORLD_SIZE") == NULL && getenv("PMI_SIZE") == NULL &&
        getenv("PMI_RANK") == NULL)
        return xy_fail(XY_EUNSUPPORTED,
                       "--net mpi: this process was not started by the launcher of an MPI; give "
                       "--launcher mpirun or mpiexec.hydra, or --net tcp");
    keep_hands_off();
    library = open_library(launcher);
    if (library == NULL)
        return xy_fail(XY_ENOENT,
                       "--net mpi: no Open MPI or MPICH is found (%s); XYLEM_HOST_MPI names its "
                       "library, and --net tcp needs none",
                       dlerror());
    if (!find_functions(library, &host))
        return xy_fail(XY_EUNSUPPORTED, "--net mpi: the library lacks functions of MPI");
    learn_abi(library, &host);
    host.pmi = connection_of(&host);
    st = start(&host, processes);
    if (st == XY_OK)
        *host_p = &host;
    return st;
}

int host_rank(const host_mpi_t *host)
{
    return host->rank;
}

const char *host_name(const host_mpi_t *host)
{
    return host->name;
}

size_t host_short_limit(const host_mpi_t *host)
{
    return host->short_limit;
}

void host_send(const host_mpi_t *h, const void *bytes, size_t size, int to, int tag,
               uint64_t *request)
{
    *request = 0;
    h->isend(bytes, (int)size, h->byte, to, tag, h->world, request);
}

void host_send_matched(const host_mpi_t *h, const void *bytes, size_t size, int to, int tag,
                       uint64_t *request)
{
    *request = 0;
    h->issend(bytes, (int)size, h->byte, to, tag, h->world, request);
}

void host_receive(const host_mpi_t *h, void *bytes, size_t size, int from, int tag,
                  uint64_t *request)
{
    *request = 0;
    h->irecv(bytes, (int)size, h->byte, from == HOST_ANY ? h->any_source : from, tag, h->world,
             request);
}

bool host_test(const host_mpi_t *h, uint64_t *request)
{
    int flag = 0;

    return h->test(request, &flag, h->ignore) == 0 && flag;
}

/* ---- Sets ---- */

xy_status_t host_set_reserve(host_set_t *set, int more)
{
    int room = set->room > 0 ? set->room : 16;
    void *requests, **tokens;
    int *done;

    while (room < set->count + more)
        room *= 2;
    if (room == set->room)
        return XY_OK;
    requests = xy_realloc_array(set->requests, (size_t)room, sizeof(uint64_t));
    if (requests == NULL)
        return XY_ENOMEM;
    set->requests = requests;
    tokens = xy_realloc_array(set->tokens, (size_t)room, sizeof(*tokens));
    if (tokens == NULL)
        return XY_ENOMEM;
    set->tokens = tokens;
    done = xy_realloc_array(set->done, (size_t)room, sizeof(*done));
    if (done == NULL)
        return XY_ENOMEM;
    set->done = done;
    set->room = room;
    return XY_OK;
}

static char *request_at(const host_mpi_t *h, const host_set_t *set, int i)
{
    return (char *)set->requests + (size_t)i * h->handle;
}

/* A handle that is shorter than its word is written to the beginning of it. */
void host_set_add(const host_mpi_t *h, host_set_t *set, uint64_t request, void *token)
{
    memcpy(request_at(h, set, set->count), &request, h->handle);
    set->tokens[set->count++] = token;
}

/* Both libraries name them in ascending order, which is not promised. */
static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

void host_set_test(const host_mpi_t *h, host_set_t *set, void (*over)(void *arg, void *token),
                   void *arg)
{
    int n = 0;

    if (set->count == 0 || h->testsome(set->count, set->requests, &n, set->done, h->ignore) != 0 ||
        n <= 0)
        return;
    if (n > 1)
        qsort(set->done, (size_t)n, sizeof(int), compare);
    while (n-- > 0) {
        int i = set->done[n];

        over(arg, set->tokens[i]);
        set->count--;
        memmove(request_at(h, set, i), request_at(h, set, set->count), h->handle);
        set->tokens[i] = set->tokens[set->count];
    }
}

void host_set_cleanup(host_set_t *set)
{
    xy_free(set->requests);
    xy_free(set->tokens);
    xy_free(set->done);
    *set = (host_set_t){.count = 0};
}

void host_cancel(const host_mpi_t *h, uint64_t *request)
{
    int words[STATUS_WORDS];

    if (h->cancel(request) == 0)
        h->wait(request, words);
}

/* ---- The end ---- */

/* Objects that are loaded; dlopen is not called while the list is walked. */
enum { OBJECTS_MOST = 1024 };

typedef struct {
    char *names[OBJECTS_MOST];
    int count;
} objects_t;

static int add_object(struct dl_phdr_info *info, size_t size, void *user)
{
    objects_t *objects = user;

    (void)size;
    if (objects->count < OBJECTS_MOST && info->dlpi_name != NULL && info->dlpi_name[0] != '\0') {
        objects->names[objects->count] = xy_strdup(info->dlpi_name);
        objects->count += objects->names[objects->count] != NULL;
    }
    return 0;
}

/* Open MPI unloads its parts, and what only their variables refer to would be leaks of the program:
 * they stay. What is lost in the end itself is not looked at either. */
static void hide_leaks(void)
{
    objects_t *objects = xy_calloc(1, sizeof(*objects));
    void (*pause)(void);

    *(void **)&pause = dlsym(RTLD_DEFAULT, "__lsan_disable");
    if (pause != NULL)
        pause();
    if (objects == NULL)
        return;
    dl_iterate_phdr(add_object, objects);
    for (int i = 0; i < objects->count; i++) {
        (void)dlopen(objects->names[i], RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
        xy_free(objects->names[i]);
    }
    xy_free(objects);
}

static void *finalize(void *host)
{
    if (has_sanitizer())
        hide_leaks();
    ((const host_mpi_t *)host)->finalize();
    return NULL;
}

/* Say at the connection to Hydra that this process has ended, as MPICH does at the end of its
 * Finalize (PMI 1). False: it is another launcher. */
static bool leave_hydra(const host_mpi_t *h, double seconds)
{
    static const char word[] = "cmd=finalize\n";
    struct pollfd fd = {.fd = h->pmi, .events = POLLIN};
    char answer[64];

    if (h->pmi < 0 ||
        send(h->pmi, word, sizeof(word) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(word) - 1)
        return false;
    if (poll(&fd, 1, (int)(seconds * 1000)) == 1)
        (void)!read(h->pmi, answer, sizeof(answer));
    return true;
}

/* Finalize of MPICH over UCX hangs in every second job of four hosts: a process closes its
 * connections, for which it needs others that wait for it at the launcher already. No message is in
 * flight, so only the launcher is notified. That of Open MPI may hang, too; the process ends all
 * the same. */
void host_close(const host_mpi_t *host, double seconds)
{
    struct timespec until;
    pthread_t thread;

    if (leave_hydra(host, seconds))
        return;
    if (pthread_create(&thread, NULL, finalize, (void *)(uintptr_t)host) != 0)
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds;
    if (pthread_timedjoin_np(thread, NULL, &until) != 0)
        pthread_detach(thread);
}
