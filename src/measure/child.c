/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/child.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/kernel.h"

typedef struct {
    double n, seconds;
    double size[XY_SIZES_MAX]; /* of a kernel with several; n where there are fewer */
    measure_speed_t pace;
} request_t;

typedef struct {
    int code; /* 0; or what the kernel returned; NO_MEMORY */
    measure_pool_t pool;
    char text[128]; /* first answer: the library, or why there is none */
} answer_t;

enum { NO_MEMORY = -1000 };

/* ---- In the child ---- */

typedef int (*plugin_fn)(size_t n);

typedef struct {
    const measure_child_options_t *options;
    const measure_kernel_t *kernel; /* NULL: a plug-in */
    measure_kernel_state_t state;
    plugin_fn plugin, plugin_prepare;
} child_t;

static void set_threads(long threads)
{
    static const char *const names[] = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
                                        "MKL_NUM_THREADS", "BLIS_NUM_THREADS", NULL};
    char text[32];

    snprintf(text, sizeof(text), "%ld", threads);
    for (size_t i = 0; names[i] != NULL; i++)
        setenv(names[i], text, 1);
}

/* One that is already there (it was loaded to fit models) does not look at the environment. */
static void set_threads_of(void *library, long threads)
{
    void (*set)(int);

    *(void **)&set = dlsym(library, "openblas_set_num_threads");
    if (set != NULL)
        set((int)threads);
}

static void *open_with_symbol(const char *name, const char *symbol)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (library != NULL && dlsym(library, symbol) == NULL) {
        dlclose(library);
        return NULL;
    }
    return library;
}

/* Returns a handle of the first library with the kernel's symbol; NULL with the reason in the
 * answer. */
static void *find_library(const child_t *c, answer_t *answer)
{
    static const char *const names[] = {"libopenblas.so.0",
                                        "liblapacke.so.3",
                                        "libcblas.so.3",
                                        "libblas.so.3",
                                        "libmkl_rt.so",
                                        "libblis.so.4",
                                        NULL};
    void *library = NULL;
    const char *name = c->options->library;

    if (name != NULL)
        library = open_with_symbol(name, c->kernel->symbol);
    else
        for (size_t i = 0; library == NULL && names[i] != NULL; i++)
            library = open_with_symbol(name = names[i], c->kernel->symbol);
    if (library != NULL)
        snprintf(answer->text, sizeof(answer->text), "%s", name);
    else if (c->options->library != NULL)
        snprintf(answer->text, sizeof(answer->text), "%.60s has no %s", c->options->library,
                 c->kernel->symbol);
    else
        snprintf(answer->text, sizeof(answer->text),
                 "no installed library has %s; install libopenblas", c->kernel->symbol);
    return library;
}

/* Loads the function of a plug-in; returns false with the reason in the answer. */
static bool load_plugin(child_t *c, answer_t *answer)
{
    const measure_child_options_t *o = c->options;
    void *library = dlopen(o->library, RTLD_NOW | RTLD_LOCAL);
    char prepare[128];

    if (library == NULL) {
        snprintf(answer->text, sizeof(answer->text), "%.120s", dlerror());
        return false;
    }
    *(void **)&c->plugin = dlsym(library, o->symbol);
    snprintf(prepare, sizeof(prepare), "%s_prepare", o->symbol);
    *(void **)&c->plugin_prepare = dlsym(library, prepare);
    if (c->plugin == NULL)
        snprintf(answer->text, sizeof(answer->text), "%.60s has no function '%.40s'", o->library,
                 o->symbol);
    else
        snprintf(answer->text, sizeof(answer->text), "%.80s:%.40s", o->library, o->symbol);
    return c->plugin != NULL;
}

/* Loads the kernel of a child, with its number of threads set. */
static bool load(child_t *c, answer_t *answer)
{
    void *library;

    set_threads(c->options->threads);
    if (c->kernel == NULL)
        return load_plugin(c, answer);
    library = find_library(c, answer);
    if (library == NULL)
        return false;
    set_threads_of(library, c->options->threads);
    *(void **)&c->state.routine = dlsym(library, c->kernel->symbol);
    return true;
}

static int run_plugin(void *arg)
{
    child_t *c = arg;

    return c->plugin(c->state.n);
}

/* ---- Where to run ---- */

static bool pin(const cpu_set_t *allowed, int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return CPU_ISSET(cpu, allowed) && sched_setaffinity(0, sizeof(set), &set) == 0;
}

/* The part of a millisecond in which others are on the core we run on; 1 where it is another kind
 * of core than that of the reference. */
static double look_around(const measure_speed_t *reference)
{
    enum { LOOKS = 60 };
    long busy = 0, slow = 0;

    for (int i = 0; i < LOOKS; i++) {
        measure_speed_t now = measure_speed_now();

        busy += !measure_speed_is_alone(&now, reference);
        slow += now.latency > 1.2 * reference->latency;
    }
    return slow > LOOKS / 2 ? 1 : (double)busy / LOOKS;
}

/* A kernel of one thread stays on one PU, so that it does not migrate in the middle of a run; here
 * a quiet one is chosen before each visit, the one that we are on first. */
static void choose_place(const cpu_set_t *allowed, const measure_speed_t *reference)
{
    enum { PLACES_MAX = 8 };
    int here = sched_getcpu(), best = here, tried = 0;
    double least = 2;

    if (here < 0)
        return;
    for (int i = 0; i < CPU_SETSIZE && tried < PLACES_MAX && least > 0.05; i++) {
        int cpu = (here + i) % CPU_SETSIZE;
        double busy;

        if (!pin(allowed, cpu))
            continue;
        tried++;
        busy = reference != NULL ? look_around(reference) : 0;
        if (busy < least) {
            least = busy;
            best = cpu;
        }
    }
    pin(allowed, best);
}

/* Measures a kernel at the requested size; returns the kernel's error code, 0 on success. */
static int measure(child_t *c, const request_t *request, measure_pool_t *pool)
{
    const measure_limits_t limits = {
        .tight = 0.005,
        .seconds_max = request->seconds,
        .runs_min = 1,
        .is_threaded = c->options->threads > 1 || c->options->is_raw,
        /* Routines of a BLAS call nothing that could be interrupted; a plug-in may sleep. */
        .may_interrupt = c->kernel != NULL && c->options->threads == 1,
        .reference = request->pace.latency > 0 ? &request->pace : NULL};
    int code = 0;

    c->state.n = (size_t)request->n;
    for (size_t i = 0; i < XY_SIZES_MAX; i++)
        c->state.size[i] = (size_t)request->size[i];
    if (c->kernel == NULL) {
        if (c->plugin_prepare != NULL)
            code = c->plugin_prepare(c->state.n);
        return code != 0 ? code : measure_repeat(run_plugin, NULL, c, &limits, pool);
    }
    if (!c->kernel->prepare(&c->state))
        code = NO_MEMORY;
    else
        code = measure_repeat(c->kernel->run, c->kernel->before, &c->state, &limits, pool);
    measure_kernel_release(&c->state);
    return code;
}

/* Sends `size` bytes; returns false if the connection ends. */
static bool send_all(int fd, const void *data, size_t size)
{
    for (const char *p = data; size > 0;) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

/* Receives `size` bytes; returns false if the connection ends. */
static bool receive_all(int fd, void *data, size_t size)
{
    for (char *p = data; size > 0;) {
        ssize_t n = read(fd, p, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

/* Loads a kernel and answers requests until the socket closes; does not return. */
static void serve(const measure_child_options_t *options, int socket)
{
    child_t c = {.options = options};
    answer_t answer = {0};
    request_t request;
    cpu_set_t allowed;
    bool stays = options->threads == 1 && sched_getaffinity(0, sizeof(allowed), &allowed) == 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    /* A plug-in that prints must not print into our answers. */
    dup2(STDERR_FILENO, STDOUT_FILENO);
    for (int s = 1; s < 32; s++)
        signal(s, s == SIGINT || s == SIGPIPE ? SIG_IGN : SIG_DFL);
    if (options->symbol == NULL)
        c.kernel = measure_kernel_find(options->name);
    answer.code = load(&c, &answer) ? 0 : 1;
    if (!send_all(socket, &answer, sizeof(answer)) || answer.code != 0)
        _exit(0);
    measure_warm_up(0.2);
    while (receive_all(socket, &request, sizeof(request))) {
        answer = (answer_t){0};
        if (stays)
            choose_place(&allowed, request.pace.latency > 0 ? &request.pace : NULL);
        answer.code = measure(&c, &request, &answer.pool);
        if (!send_all(socket, &answer, sizeof(answer)))
            break;
    }
    _exit(0);
}

/* ---- In the parent ---- */

/* Waits for a child that ended by itself and reports its signal or exit code. */
static void say_end(measure_child_t *w, double n)
{
    int status = 0;

    close(w->socket);
    waitpid(w->pid, &status, 0);
    w->pid = 0;
    if (WIFSIGNALED(status))
        xy_fail(XY_EINVAL, "kernel %s crashed at size %g (signal %d, %s); it gets no model",
                w->options.name, n, WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        xy_fail(XY_EINVAL,
                "kernel %s ended the process at size %g (exit code %d); it gets no model",
                w->options.name, n, WEXITSTATUS(status));
}

/* An answer within `seconds`; said otherwise. */
static xy_status_t await(measure_child_t *w, double n, double seconds, answer_t *answer)
{
    struct pollfd p = {.fd = w->socket, .events = POLLIN};
    double end = measure_now() + seconds;

    for (double left = seconds; left > 0; left = end - measure_now()) {
        int ready = poll(&p, 1, (int)(left * 1000) + 1);

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            break;
        if (receive_all(w->socket, answer, sizeof(*answer)))
            return XY_OK;
        say_end(w, n);
        return XY_EINVAL;
    }
    measure_child_stop(w);
    return xy_fail(XY_EINVAL, "kernel %s did not end within %g s at size %g; it gets no model",
                   w->options.name, seconds, n);
}

/* Starts a child process with a socket to it. */
static xy_status_t spawn(const measure_child_options_t *options, measure_child_t *w)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return xy_fail_errno(errno, "a pair of sockets", "make");
    fflush(stdout);
    w->pid = fork();
    if (w->pid == 0) {
        close(ends[0]);
        serve(options, ends[1]);
    }
    close(ends[1]);
    w->socket = ends[0];
    if (w->pid > 0)
        return XY_OK;
    close(w->socket);
    return xy_fail_errno(errno, "a process", "start");
}

static double patience(const measure_child_t *w)
{
    return w->options.patience > 0 ? w->options.patience : 60;
}

xy_status_t measure_child_start(const measure_child_options_t *options, measure_child_t *worker_p)
{
    measure_child_t w = {.options = *options};
    answer_t answer;
    xy_status_t st;

    if (options->symbol == NULL && measure_kernel_find(options->name) == NULL)
        return xy_fail(XY_ENOENT, "unknown kernel '%s'; 'xylem calibrate --list' lists them",
                       options->name);
    st = spawn(options, &w);
    if (st == XY_OK)
        st = await(&w, 0, patience(&w), &answer);
    if (st != XY_OK)
        return st;
    if (answer.code != 0) {
        measure_child_stop(&w);
        return xy_fail(XY_ENOENT, "kernel %s: %.*s", options->name, (int)sizeof(answer.text) - 1,
                       answer.text);
    }
    memcpy(w.library, answer.text, sizeof(w.library));
    *worker_p = w;
    return XY_OK;
}

/* `n` stands for all sizes in messages. */
static xy_status_t ask(measure_child_t *w, double n, const double size[XY_SIZES_MAX],
                       double seconds, measure_pool_t *pool_p)
{
    request_t request = {.n = n, .seconds = seconds, .pace = w->options.pace};
    answer_t answer;
    xy_status_t st;

    if (w->pid <= 0)
        return XY_EINVAL;
    memcpy(request.size, size, sizeof(request.size));
    if (!send_all(w->socket, &request, sizeof(request))) {
        say_end(w, n);
        return XY_EINVAL;
    }
    st = await(w, n, seconds + patience(w), &answer);
    if (st != XY_OK)
        return st;
    if (answer.code == NO_MEMORY)
        return xy_fail(XY_ENOMEM, "kernel %s: no memory for size %g", w->options.name, n);
    if (answer.code != 0)
        return xy_fail(XY_EINVAL, "kernel %s returned %d at size %g; it gets no model",
                       w->options.name, answer.code, n);
    *pool_p = answer.pool;
    return XY_OK;
}

xy_status_t measure_child_measure(measure_child_t *w, double n, double seconds,
                                  measure_pool_t *pool_p)
{
    const double size[XY_SIZES_MAX] = {n, n, n};

    return ask(w, n, size, seconds, pool_p);
}

xy_status_t measure_child_measure_sizes(measure_child_t *w, const double *sizes, size_t count,
                                        double seconds, measure_pool_t *pool_p)
{
    double size[XY_SIZES_MAX] = {sizes[0], sizes[0], sizes[0]};

    for (size_t i = 1; i < count && i < XY_SIZES_MAX; i++)
        size[i] = sizes[i];
    return ask(w, sizes[0], size, seconds, pool_p);
}

void measure_child_stop(measure_child_t *w)
{
    if (w->pid <= 0)
        return;
    close(w->socket);
    kill(w->pid, SIGKILL);
    waitpid(w->pid, NULL, 0);
    w->pid = 0;
}
