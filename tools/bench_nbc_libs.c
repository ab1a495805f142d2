/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI libraries that xylem bench nbc runs its program with: Xylem's own and installed peers. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_nbc.h"

enum { ARGUMENTS_MAX = 64, LINE_MAX_BYTES = 4096, RUN_SECONDS = 600 };

/* How a peer is compiled for and started, at its best: see docs/overlap.md. */
static const struct {
    const char *name, *compiler, *launcher;
} peers[] = {{"openmpi", "mpicc.openmpi", "mpirun.openmpi"},
             {"mpich", "mpicc.mpich", "mpiexec.mpich"}};
enum { PEERS = sizeof(peers) / sizeof(peers[0]) };

/* Files for a signal handler to remove; set before handlers are. */
static const char *left_folder;
static const char *left_files[NBC_TURNS_MAX];
static int left_count;

static void on_signal(int number)
{
    for (int i = 0; i < left_count; i++)
        unlink(left_files[i]);
    if (left_folder != NULL)
        rmdir(left_folder);
    signal(number, SIG_DFL);
    raise(number);
}

static char *find_source(void)
{
    char *path = xy_beside("../share/xylem/bench/nbc.c");

    if (path != NULL && access(path, R_OK) == 0)
        return path;
    xy_free(path);
    return xy_strdup(XYLEM_BENCH_SOURCE);
}

/* Returns whether a directory of $PATH holds the program. */
static bool is_in_path(const char *program)
{
    char *list = xy_strdup(getenv("PATH") != NULL ? getenv("PATH") : ""), *rest = list, *part;
    bool found = false;

    while (list != NULL && !found && (part = strsep(&rest, ":")) != NULL) {
        char *path = xy_sprintf("%s/%s", part, program);

        found = path != NULL && access(path, X_OK) == 0;
        xy_free(path);
    }
    xy_free(list);
    return found;
}

static int peer_index(const char *name)
{
    for (int i = 0; i < PEERS; i++)
        if (strcmp(peers[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- Running ---- */

/* Starts a command with standard output to `output`, unless it is -1; returns its process id, -1 on
 * failure. */
static pid_t start_child(char *const *argv, const char *peer, int output)
{
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child != 0)
        return child;
    if (peer != NULL && strcmp(peer, "mpich") == 0)
        setenv("UCX_TLS", "posix,sysv,self", 1);
    if (output >= 0)
        dup2(output, STDOUT_FILENO);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execvp(argv[0], argv);
    xy_fail_errno(errno, argv[0], "execute");
    _exit(127);
}

/* Whole lines of what comes from `fd` until its end; false: not in time. */
static bool read_lines(int fd, nbc_line_fn line, void *arg)
{
    char text[LINE_MAX_BYTES];
    size_t length = 0;
    double deadline = xy_clock_seconds(CLOCK_MONOTONIC) + RUN_SECONDS;

    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int left = (int)((deadline - xy_clock_seconds(CLOCK_MONOTONIC)) * 1000);
        ssize_t n;
        char *end;

        if (left <= 0 || poll(&p, 1, left) == 0)
            return false;
        n = read(fd, text + length, sizeof(text) - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return true;
        length += (size_t)n;
        text[length] = '\0';
        while ((end = strchr(text, '\n')) != NULL) {
            *end = '\0';
            line(arg, text);
            length -= (size_t)(end + 1 - text);
            memmove(text, end + 1, length + 1);
        }
        if (length == sizeof(text) - 1)
            length = 0; /* no line of ours */
    }
}

static int wait_child(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Translate the options for our own launcher; split-tree is threads with the model's S. */
static size_t own_line(const nbc_study_t *study, const nbc_library_t *library, char numbers[3][16],
                       const char **argv, size_t n)
{
    const nbc_values_t *v = study->values;
    bool is_split = strcmp(library->progress, "split-tree") == 0;
    bool is_off = strcmp(v->split, "off") == 0;
    bool has_threads = is_split || strcmp(library->progress, "threads") == 0;
    const char *const pairs[][2] = {
        {"--comm-cores", numbers[1]},
        {"--progress", is_split ? "threads" : library->progress},
        {"--let-arrive", v->let_arrive},
        {"--progress-place", has_threads ? v->threads : NULL},
        {"--progress-order", has_threads ? v->order : NULL},
        {"--progress-priority", has_threads ? numbers[2] : NULL},
        {"--split", is_split && is_off ? "auto" : v->split},
        {"--algorithm", study->algorithms},
    };

    snprintf(numbers[2], 16, "%ld", v->priority);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i][1] != NULL) {
            argv[n++] = pairs[i][0];
            argv[n++] = pairs[i][1];
        }
    return n;
}

/* The command line up to the program. */
static size_t launch_line(const nbc_study_t *study, const nbc_library_t *library, int ranks,
                          char numbers[3][16], const char **argv)
{
    bool is_crowded = ranks > study->cores;
    size_t n = 1; /* the launcher comes first */

    snprintf(numbers[0], 16, "%d", ranks);
    snprintf(numbers[1], 16, "%d", strcmp(library->progress, "none") == 0 ? 0 : study->comm_cores);
    argv[n++] = "-n";
    argv[n++] = numbers[0];
    if (library->peer == NULL) {
        n = own_line(study, library, numbers, argv, n);
    } else if (strcmp(library->peer, "openmpi") == 0) {
        static const char *const always[] = {"--allow-run-as-root", "--oversubscribe", "--mca",
                                             "btl_vader_single_copy_mechanism"};
        static const char *const crowded[] = {"--mca", "mpi_yield_when_idle", "1", "--bind-to",
                                              "none"};

        memcpy((void *)(argv + n), (const void *)always, sizeof(always));
        n += sizeof(always) / sizeof(always[0]);
        argv[n++] = ranks == 2 ? "none" : "cma";
        memcpy((void *)(argv + n), (const void *)crowded, is_crowded ? sizeof(crowded) : 0);
        n += is_crowded ? sizeof(crowded) / sizeof(crowded[0]) : 0;
    }
    return n;
}

xy_status_t nbc_library_run(const nbc_study_t *study, const nbc_library_t *library, int ranks,
                            char *const *arguments, nbc_line_fn line, void *arg, bool *is_good_p)
{
    const char *argv[ARGUMENTS_MAX] = {NULL};
    char numbers[3][16];
    size_t n = launch_line(study, library, ranks, numbers, argv);
    char *own = xy_beside("mpiexec");
    int ends[2];
    pid_t child;

    argv[0] = library->peer == NULL ? own : peers[peer_index(library->peer)].launcher;
    argv[n++] = library->program;
    for (; *arguments != NULL && n < ARGUMENTS_MAX - 1; arguments++)
        argv[n++] = *arguments;
    if (own == NULL || pipe(ends) != 0) {
        xy_free(own);
        return xy_fail_memory("running the benchmark");
    }
    child = start_child((char *const *)(uintptr_t)argv, library->peer, ends[1]);
    close(ends[1]);
    *is_good_p = child > 0 && read_lines(ends[0], line, arg);
    close(ends[0]);
    if (child > 0 && !*is_good_p)
        kill(child, SIGTERM);
    *is_good_p = child > 0 && wait_child(child) == 0 && *is_good_p;
    xy_free(own);
    return XY_OK;
}

/* ---- Making ---- */

/* Compiles the benchmark for a library; the program is removed at the end. */
static xy_status_t compile(nbc_study_t *study, nbc_library_t *library)
{
    char *compiler = library->peer == NULL ? xy_beside("mpicc")
                                           : xy_strdup(peers[peer_index(library->peer)].compiler);
    char *source = find_source();
    const char *argv[] = {compiler, "-O2", "-o", NULL, source, "-lm", NULL};
    xy_status_t st = XY_OK;

    library->program = xy_sprintf("%s/nbc-%s", study->folder, library->name);
    argv[3] = library->program;
    if (compiler == NULL || source == NULL || library->program == NULL) {
        st = xy_fail_memory("compiling the benchmark");
    } else {
        left_files[left_count] = library->program;
        left_count += left_count < NBC_TURNS_MAX - 1;
        if (wait_child(start_child((char *const *)(uintptr_t)argv, NULL, STDERR_FILENO)) != 0)
            st = xy_fail(XY_EIO, "cannot compile '%s' with '%s'; its messages are above", source,
                         compiler);
    }
    xy_free(compiler);
    xy_free(source);
    return st;
}

static xy_status_t add(nbc_study_t *study, const char *name, const char *peer, const char *progress)
{
    nbc_library_t library = {.name = name, .peer = peer, .progress = progress};

    return xy_vec_append(&study->libraries, &library) == XY_OK
               ? XY_OK
               : xy_fail_memory("reading the list of libraries");
}

/* Adds the libraries of --against; one that is not installed is left out with a warning. */
static xy_status_t add_peers(nbc_study_t *study)
{
    const char *list = study->values->against;
    xy_status_t st = XY_OK;

    while (list != NULL && *list != '\0' && st == XY_OK) {
        size_t length = strcspn(list, ",");
        char *name = xy_strndup(list, length);
        int i = name != NULL ? peer_index(name) : -1;

        list += length + (list[length] == ',');
        if (name == NULL)
            st = xy_fail_memory("reading the list of libraries");
        else if (i < 0)
            st = xy_fail(XY_EUSAGE, "--against '%s': there are openmpi and mpich", name);
        else if (!is_in_path(peers[i].compiler) || !is_in_path(peers[i].launcher))
            xy_warn("%s is not installed (no %s and %s in PATH): left out", peers[i].name,
                    peers[i].compiler, peers[i].launcher);
        else
            st = add(study, peers[i].name, peers[i].name, "");
        xy_free(name);
    }
    return st;
}

static xy_status_t add_own(nbc_study_t *study)
{
    const xy_vec_t *list = &study->values->progress;
    xy_status_t st = list->count == 0 ? add(study, "xylem", NULL, "tasks") : XY_OK;

    for (size_t i = 0; i < list->count && st == XY_OK; i++) {
        const char *way = XY_VEC_AT(list, const char *, i);

        st = add(study, list->count == 1 ? "xylem" : way, NULL, way);
    }
    return st;
}

xy_status_t nbc_libraries_make(nbc_study_t *study)
{
    const char *base = getenv("TMPDIR");
    xy_status_t st;

    study->folder = xy_sprintf("%s/xylem-nbc-XXXXXX", base != NULL ? base : "/tmp");
    if (study->folder == NULL)
        return xy_fail_memory("compiling the benchmark");
    if (mkdtemp(study->folder) == NULL) {
        st = xy_fail_errno(errno, study->folder, "make the directory");
        xy_free(study->folder);
        study->folder = NULL;
        return st;
    }
    left_folder = study->folder;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    st = add_own(study);
    if (st == XY_OK)
        st = add_peers(study);
    for (size_t i = 0; i < study->libraries.count && st == XY_OK; i++)
        st = compile(study, &XY_VEC_AT(&study->libraries, nbc_library_t, i));
    return st;
}

void nbc_libraries_cleanup(nbc_study_t *study)
{
    left_count = 0;
    left_folder = NULL;
    for (size_t i = 0; i < study->libraries.count; i++) {
        char *program = XY_VEC_AT(&study->libraries, nbc_library_t, i).program;

        if (program != NULL)
            unlink(program);
        xy_free(program);
    }
    if (study->folder != NULL)
        rmdir(study->folder);
    xy_free(study->folder);
    xy_vec_cleanup(&study->libraries);
}
