/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library in front of the processes that mpiexec starts and does not load itself: scripts,
 * interpreters, programs that are not linked with Xylem. A program that is compiled for another MPI
 * would be a job of one rank in each of them, and look like success. So it is refused when it
 * initialises that MPI, whatever has loaded it: the linker, a plug-in, dlopen. Whoever uses Xylem
 * passes through, and so do processes that the launcher of the other MPI has started.
 *
 * It is a library of its own, with the C library alone below it (LD_PRELOAD, see
 * rank_environment.c).
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef void *(*symbol_fn)(void *, const char *);
typedef long (*init_fn)(long, long, long, long);

/* The MPI libraries that are loaded. */
typedef struct {
    bool has_xylem;
    char foreign[256]; /* the name of another; "": there is none */
    const char *wanted;
    void *function; /* `wanted` in one of them */
} loaded_t;

static symbol_fn real_symbol(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    static symbol_fn found;

    for (size_t i = 0; found == NULL && i < sizeof(versions) / sizeof(versions[0]); i++)
        *(void **)&found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return found;
}

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The libraries with the C functions of Open MPI, MPICH and those made of it (libmpi.so.12). */
static bool is_foreign(const char *name)
{
    return begins_with(name, "libmpi.so.") || begins_with(name, "libmpich.so.") ||
           begins_with(name, "libmpi_ibm.so.");
}

static int look_at(struct dl_phdr_info *info, size_t size, void *argument)
{
    loaded_t *loaded = argument;
    const char *slash = strrchr(info->dlpi_name, '/'),
               *name = slash != NULL ? slash + 1 : info->dlpi_name;
    bool is_xylem = begins_with(name, "libmpi_abi.so");
    void *handle;

    (void)size;
    loaded->has_xylem |= is_xylem;
    if (is_foreign(name) && loaded->foreign[0] == '\0')
        snprintf(loaded->foreign, sizeof(loaded->foreign), "%s", name);
    if ((is_xylem || is_foreign(name)) && loaded->function == NULL) {
        handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (handle != NULL)
            loaded->function = real_symbol()(handle, loaded->wanted);
    }
    return 0;
}

static long processes(void)
{
    const char *text = getenv("PMI_SIZE");

    return text != NULL ? strtol(text, NULL, 10) : 1;
}

/* Is this one of several that Xylem's mpiexec has started, and not another launcher below it? */
static bool is_one_of_several(void)
{
    static const char *const of_others[] = {"PMIX_NAMESPACE", "PMI_FD", "PMI_PORT"};
    const char *launched = getenv("XYLEM_LAUNCHED");

    for (size_t i = 0; i < sizeof(of_others) / sizeof(of_others[0]); i++)
        if (getenv(of_others[i]) != NULL)
            return false;
    return launched != NULL && begins_with(launched, "process:") && processes() > 1;
}

/* The first process of the job here that comes; others that come soon find its name taken. */
static bool is_first(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "xylem-refused-%s",
             getenv("XYLEM_LAUNCHED"));
    return fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static void refuse(const char *library) __attribute__((noreturn));
static void refuse(const char *library)
{
    if (is_first()) {
        fprintf(stderr,
                "mpiexec: %s uses another MPI (%s), and each of its %ld processes would be a job "
                "of its own; compile it with the mpicc of Xylem, or start it with the mpirun of "
                "that MPI\n",
                program_invocation_name, library, processes());
        clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_sec = 1}, NULL);
    }
    _exit(1);
}

/* The function of that name behind this library. */
static init_fn find(const char *name)
{
    loaded_t loaded = {.wanted = name, .function = real_symbol()(RTLD_NEXT, name)};
    init_fn found;

    dl_iterate_phdr(look_at, &loaded);
    if (loaded.foreign[0] != '\0' && !loaded.has_xylem && is_one_of_several())
        refuse(loaded.foreign);
    if (loaded.function == NULL) {
        fprintf(stderr, "mpiexec: %s: no loaded library defines %s\n", program_invocation_name,
                name);
        _exit(1);
    }
    memcpy(&found, &loaded.function, sizeof(found));
    return found;
}

/* Their arguments are pointers and integers: this serves all. */
#define GUARD(name)                                                                                \
    EXPORTED long name(long a, long b, long c, long d);                                            \
    long name(long a, long b, long c, long d)                                                      \
    {                                                                                              \
        return find(#name)(a, b, c, d);                                                            \
    }

GUARD(MPI_Init)
GUARD(PMPI_Init)
GUARD(MPI_Init_thread)
GUARD(PMPI_Init_thread)
GUARD(MPI_Session_init)
GUARD(PMPI_Session_init)

static const struct {
    const char *name;
    init_fn function;
} guards[] = {
    {"MPI_Init", MPI_Init},
    {"PMPI_Init", PMPI_Init},
    {"MPI_Init_thread", MPI_Init_thread},
    {"PMPI_Init_thread", PMPI_Init_thread},
    {"MPI_Session_init", MPI_Session_init},
    {"PMPI_Session_init", PMPI_Session_init},
};

/* Without strcmp: a sanitizer that has one in front of the C library's calls dlsym before it is
 * ready. */
static bool is_same(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a == *b;
}

/* A program that asks for the functions by name gets those that guard them, where there are any.
 * The last call must be a jump: the C library looks at who calls it. */
EXPORTED void *dlsym(void *handle, const char *name)
{
    symbol_fn next = real_symbol();

    for (size_t i = 0; i < sizeof(guards) / sizeof(guards[0]); i++)
        if (is_same(name, guards[i].name) && next(handle, name) != NULL) {
            void *guard;

            memcpy(&guard, &guards[i].function, sizeof(guard));
            return guard;
        }
    return next(handle, name);
}
