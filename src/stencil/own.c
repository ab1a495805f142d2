/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's own stencil: its text is read, compiled, loaded and tried. */
#include "stencil/own.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

/* ---- Texts ---- */

static const char *ending_of(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot != NULL && strchr(dot, '/') == NULL ? dot : "";
}

/* The file beside one for GPUs that is for cores; NULL: there is none. The caller frees it. */
static char *beside(const char *path)
{
    char *other = xy_sprintf("%.*s.c", (int)(ending_of(path) - path), path);

    if (other != NULL && access(other, R_OK) == 0)
        return other;
    xy_free(other);
    return NULL;
}

static uint64_t print_of(uint64_t print, const char *text)
{
    for (; *text != '\0'; text++)
        print = xy_hash_u64(print ^ (unsigned char)*text);
    return print;
}

/* The grid as constants. */
static void add_constants(const xy_stencil_t *s, xy_text_t *text)
{
    xy_stencil_t copy = *s;
    stencil_shape_t h;
    int64_t extents[3];

    (void)stencil_shape(&copy, &h); /* it was good before */
    stencil_extents(&copy, &h, extents);
    xy_text_addf(text,
                 "#define XY_REAL %s\n#define XY_DIMS %d\n#define XY_POINTS %d\n"
                 "#define XY_ITERATIONS %d\n#define XY_LAYERS %lldL\n#define XY_ROWS %lldL\n"
                 "#define XY_COLUMNS %lldL\n",
                 s->is_single ? "float" : "double", s->dims, s->points, s->iterations,
                 (long long)h.layers, (long long)h.rows, (long long)h.columns);
    for (int i = 0; i < 3; i++)
        xy_text_addf(text, "#define XY_EXTENT_%d %lldL\n#define XY_SPLIT_%d %d\n", i,
                     (long long)extents[i], i, i >= 3 - s->dims && s->blocks[i - 3 + s->dims] > 1);
}

/* Joins the constants, the frame and the user's kernel to one text; the caller frees it. */
static xy_status_t make_text(const xy_stencil_t *s, const char *words, const char *before,
                             const char *path, const char *own, const char *behind, char **text_p)
{
    xy_text_t text = XY_TEXT_INIT;

    add_constants(s, &text);
    xy_text_addf(&text, "%s%s#line 1 \"%s\"\n%s\n#line 1 \"xylem\"\n%s", words, before, path, own,
                 behind);
    if (text.failed) {
        xy_text_cleanup(&text);
        return xy_fail_memory("preparing the kernel");
    }
    *text_p = text.s;
    return XY_OK;
}

xy_status_t stencil_own_gpu_text(const stencil_own_t *own, const xy_stencil_t *s,
                                 const char *driver, bool is_wide, char **text_p)
{
    const char *ending = ending_of(own->path);
    const char *other = strcmp(ending, ".cu") == 0   ? "cuda"
                        : strcmp(ending, ".cl") == 0 ? "opencl"
                                                     : driver;

    if (strcmp(other, driver) != 0)
        return xy_fail(XY_EUNSUPPORTED,
                       "'%s' is for devices of %s, and this one is used through %s; give a file "
                       "that ends in .c, which is for all of them",
                       own->path, other, driver);
    return make_text(s, is_wide ? "#define XY_INDEX long\n" : "#define XY_INDEX int\n",
                     stencil_own_before_gpu, own->path, own->text, stencil_own_behind_gpu, text_p);
}

/* ---- The compiler ---- */

typedef struct {
    char *directory, *source, *object; /* NULL: not made */
    xy_scratch_t *guards[3];
} room_t;

/* Removes the temporary directory and its files. */
static void leave(room_t *room)
{
    if (room->object != NULL)
        unlink(room->object);
    if (room->source != NULL)
        unlink(room->source);
    if (room->directory != NULL)
        rmdir(room->directory);
    for (int i = 0; i < 3; i++)
        xy_scratch_release(room->guards[i]);
    xy_free(room->object);
    xy_free(room->source);
    xy_free(room->directory);
}

/* Makes a temporary directory for compiling; leave() removes it, also after a failure. */
static xy_status_t enter(room_t *room)
{
    const char *under = getenv("TMPDIR");
    char *directory =
        xy_sprintf("%s/xylem-kernel.XXXXXX", under != NULL && *under != '\0' ? under : "/tmp");

    if (directory == NULL)
        return xy_fail_memory("compiling the kernel");
    if (mkdtemp(directory) == NULL) {
        xy_status_t st = xy_fail_errno(errno, directory, "create it, to compile a kernel");

        xy_free(directory);
        return st;
    }
    room->directory = directory;
    room->source = xy_sprintf("%s/kernel.c", directory);
    room->object = xy_sprintf("%s/kernel.so", directory);
    if (room->source == NULL || room->object == NULL)
        return xy_fail_memory("compiling the kernel");
    room->guards[0] = xy_scratch_guard(room->source);
    room->guards[1] = xy_scratch_guard(room->object);
    room->guards[2] = xy_scratch_guard(directory);
    return XY_OK;
}

static xy_status_t write_text(const void *text, FILE *file)
{
    fputs(text, file);
    return XY_OK;
}

/* Run a command; *said_p is what it wrote to its standard error, the caller's. Its exit status;
 * -1: it could not be run. */
static int run_command(char *const argv[], char **said_p)
{
    posix_spawn_file_actions_t actions;
    xy_text_t said = XY_TEXT_INIT;
    char buffer[4096];
    int ends[2], status = -1;
    bool is_started;
    ssize_t n;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    is_started = argv[0] != NULL && posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (is_started &&
           ((n = read(ends[0], buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            xy_text_add_bytes(&said, buffer, (size_t)n);
    close(ends[0]);
    if (is_started && waitpid(pid, &status, 0) == pid)
        status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    *said_p = said.s;
    return is_started ? status : -1;
}

/* The line of the first error, which begins with the file and the line. */
static xy_status_t fail_compiler(const char *path, const char *compiler, const char *said)
{
    const char *line = said != NULL ? strstr(said, "error:") : NULL;

    if (line == NULL)
        return xy_fail(XY_EPARSE, "'%s' does not compile: '%s' gave no reason", path, compiler);
    while (line > said && line[-1] != '\n')
        line--;
    if (strncmp(line, "xylem:", 6) == 0) /* behind the text of the user */
        line = strstr(line, "error:");
    return xy_fail(XY_EPARSE, "'%s' does not compile: %.*s", path, (int)strcspn(line, "\r\n"),
                   line);
}

/* As make takes CC: options or another command may stand in it. A file is one word. */
static int split_compiler(char *text, char **argv, int most)
{
    int n = 0;

    if (text == NULL)
        return 0;
    if (access(text, X_OK) == 0)
        argv[n++] = text;
    else
        for (char *word; n < most && (word = strsep(&text, " \t")) != NULL;)
            if (*word != '\0')
                argv[n++] = word;
    return n;
}

/* Compiles the kernel to a shared object, with $CC or cc. */
static xy_status_t compile(const char *path, const room_t *room)
{
    const char *named = getenv("CC");
    const char *compiler = named != NULL && named[strspn(named, " \t")] != '\0' ? named : "cc";
    char flags[] = "-O3\0-w\0-std=gnu11\0-ffp-contract=off\0-fPIC\0-shared\0-fvisibility=hidden\0"
#ifdef __x86_64__
                   "-march=native\0"
#endif
                   "-fno-diagnostics-show-caret\0-fdiagnostics-color=never\0";
    char output[] = "-o", library[] = "-lm", *argv[60], *said = NULL;
    char *words = xy_strdup(compiler);
    int count = split_compiler(words, argv, 20), n = count, status;
    xy_status_t st = XY_OK;

    if (words == NULL)
        return xy_fail_memory("compiling the kernel");
    for (char *flag = flags; *flag != '\0'; flag += strlen(flag) + 1)
        argv[n++] = flag;
    for (int i = 1; i < count; i++) /* the last one counts: options of the user win */
        if (argv[i][0] == '-')
            argv[n++] = argv[i];
    argv[n++] = output;
    argv[n++] = room->object;
    argv[n++] = room->source;
    argv[n++] = library;
    argv[n] = NULL;
    status = run_command(argv, &said);
    if (status < 0 || status == 127)
        st = xy_fail(XY_EUNSUPPORTED,
                     "'%s' cannot be compiled: there is no compiler '%s'; install one (gcc or "
                     "clang), or name one with CC=...",
                     path, compiler);
    else if (status != 0)
        st = fail_compiler(path, compiler, said);
    xy_free(said);
    xy_free(words);
    return st;
}

/* Loads the compiled kernel and its functions. */
static xy_status_t load_object(stencil_own_t *own, const char *path, const char *object)
{
    stencil_own_first_fn *(*first)(void);
    const int *facts;

    own->object = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (own->object == NULL)
        return xy_fail(XY_EPARSE, "'%s' cannot be loaded: %s", path, dlerror());
    facts = dlsym(own->object, "xylem_own_facts");
    *(void **)&own->update = dlsym(own->object, "xylem_own_update");
    *(void **)&own->plain = dlsym(own->object, "xylem_own_plain");
    *(void **)&first = dlsym(own->object, "xylem_own_first");
    if (facts == NULL || own->update == NULL || own->plain == NULL || first == NULL)
        return xy_fail(XY_EPARSE, "'%s' does not compile to a kernel", path);
    own->radius = facts[0];
    own->levels = facts[1];
    own->first = first();
    return XY_OK;
}

/* Compiles and loads a kernel for cores. */
static xy_status_t build(stencil_own_t *own, const char *path, const char *text,
                         const xy_stencil_t *s)
{
    room_t room = {0};
    char *whole = NULL;
    xy_status_t st =
        make_text(s, "", stencil_own_before_c, path, text, stencil_own_behind_c, &whole);

    if (st == XY_OK)
        st = enter(&room);
    if (st == XY_OK)
        st = xy_out_write(room.source, write_text, whole);
    if (st == XY_OK)
        st = compile(path, &room);
    if (st == XY_OK)
        st = load_object(own, path, room.object);
    leave(&room);
    xy_free(whole);
    return st;
}

/* ---- Does it fit? ---- */

/* Checks radius and levels of a kernel against the grid. */
static xy_status_t check_fit(const stencil_own_t *own, const xy_stencil_t *s)
{
    xy_stencil_t copy = *s;
    stencil_shape_t shape;

    (void)stencil_shape(&copy, &shape);
    if (own->radius < 1 || own->radius > STENCIL_OWN_RADIUS_MAX)
        return xy_fail(XY_EINVAL, "'%s' has an XY_RADIUS of %d; it is from 1 to %d", own->path,
                       own->radius, STENCIL_OWN_RADIUS_MAX);
    if (own->levels < 1 || own->levels > 2)
        return xy_fail(XY_EINVAL, "'%s' has %d for XY_LEVELS; it is 1 or 2", own->path,
                       own->levels);
    if (own->levels == 2 && s->graph != XY_STENCIL_JACOBI)
        return xy_fail(XY_EINVAL,
                       "'%s' reads two iterations (XY_LEVELS 2), and %s order keeps one; add "
                       "--graph jacobi",
                       own->path, xy_stencil_graph_name(s->graph));
    for (int d = 0; d < s->dims; d++)
        if (s->blocks[d] > 1 && copy.cells[d] < own->radius)
            return xy_fail(XY_EINVAL,
                           "'%s' has radius %d, and blocks have %lld cells in dimension %d; give "
                           "at least %d with --cells",
                           own->path, own->radius, (long long)copy.cells[d], d + 1, own->radius);
    return XY_OK;
}

/* Reports a read outside the radius, the dimensions or the axes of the stencil. */
static xy_status_t fail_read(const stencil_own_t *own, const xy_stencil_t *s, const long *offset)
{
    long far = 0;
    char where[64] = "";
    int n = 0;

    for (int i = 0; i < 3; i++)
        far = labs(offset[i]) > far ? labs(offset[i]) : far;
    for (int i = 3 - s->dims; i < 3; i++)
        n += snprintf(where + n, sizeof(where) - (size_t)n, "%s%ld", n > 0 ? ", " : "", offset[i]);
    for (int i = 0; i < 3 - s->dims; i++)
        if (offset[i] != 0)
            return xy_fail(XY_EINVAL, "'%s' reads in more than the %d dimension%s of the grid",
                           own->path, s->dims, s->dims == 1 ? "" : "s");
    if (far > own->radius)
        return xy_fail(XY_EINVAL,
                       "'%s' reads the cell at offset (%s), and its XY_RADIUS is %d; define it as "
                       "%ld",
                       own->path, where, own->radius, far);
    return xy_fail(
        XY_EINVAL, "'%s' reads the cell at offset (%s), which is on no axis%s", own->path, where,
        s->dims == 2 ? "; add --points 9" : "; it may do so only in 2D, with --points 9");
}

xy_status_t stencil_own_check(const stencil_own_t *own, const xy_stencil_t *s)
{
    return atomic_load(&own->is_wrong) ? fail_read(own, s, own->wrong + 1) : XY_OK;
}

enum { TRIED = 4096 /* cells at each end of a row */ };

/* The first, the middle and the last that is computed. */
static int64_t pick(int which, int64_t low, int64_t extent)
{
    return which == 0 ? low : which == 1 ? extent / 2 : extent - 1 - low;
}

/* Try at the corners and in the middle which cells the function reads, before a block is harmed. */
static xy_status_t try_cells(const stencil_own_t *own, const xy_stencil_t *s)
{
    const long origin[3] = {0};
    int64_t extents[3], low[3];
    xy_stencil_t copy = *s;
    stencil_shape_t shape;

    (void)stencil_shape(&copy, &shape);
    stencil_extents(s, &shape, extents);
    for (int i = 0; i < 3; i++) {
        int d = i - 3 + s->dims;

        low[i] = d < 0 ? 0 : s->blocks[d] > 1 ? copy.cells[d] : own->radius;
        if (extents[i] <= 2 * low[i])
            return XY_OK; /* all cells keep their values */
    }
    for (int which = 0; which < 27; which++) {
        long wrong[4] = {0}, at[3];
        int64_t inside = extents[2] - 2 * low[2], count = inside < TRIED ? inside : TRIED;

        for (int i = 0; i < 2; i++)
            at[i] = (long)pick(i == 0 ? which / 9 : which / 3 % 3, low[i], extents[i]);
        at[2] = (long)(which % 3 == 2 ? extents[2] - low[2] - count : low[2]);
        own->plain(at, (long)count, origin, NULL, NULL, NULL, which % 3, wrong);
        if (wrong[0] != 0)
            return fail_read(own, s, wrong + 1);
    }
    return XY_OK;
}

/* ---- Making and unmaking ---- */

/* Checks the ending of a kernel file against the kind of run. */
static xy_status_t check_ending(const char *path, bool is_on_gpus)
{
    const char *ending = ending_of(path);
    bool is_gpu = strcmp(ending, ".cu") == 0 || strcmp(ending, ".cl") == 0;

    if (!is_gpu && strcmp(ending, ".c") != 0)
        return xy_fail(
            XY_EINVAL,
            "'%s' is not a kernel file; its name must end in .c (for cores and all GPUs), .cu "
            "(CUDA) or .cl (OpenCL)",
            path);
    if (is_gpu && !is_on_gpus)
        return xy_fail(XY_EINVAL, "'%s' is for GPUs; add --gpus 1, or give a file that ends in .c",
                       path);
    return XY_OK;
}

static xy_status_t check_words(const char *path, const char *text)
{
    return strstr(text, "XY_CELL") != NULL
               ? XY_OK
               : xy_fail(XY_EPARSE,
                         "'%s' has no XY_CELL; write XY_CELL { return ...; }, the new value of a "
                         "cell",
                         path);
}

/* The text for cores, from the same file or from the one beside it. */
static xy_status_t build_cores(stencil_own_t *own, const xy_stencil_t *s)
{
    char *other = strcmp(ending_of(own->path), ".c") != 0 ? beside(own->path) : NULL, *text = NULL;
    xy_status_t st = other != NULL ? xy_file_read_text(other, TEXT_MAX, &text) : XY_OK;

    if (st == XY_OK && text != NULL)
        st = check_words(other, text);
    if (st == XY_OK)
        st = build(own, other != NULL ? other : own->path, text != NULL ? text : own->text, s);
    if (st == XY_OK && text != NULL)
        own->print = print_of(own->print, text);
    xy_free(text);
    xy_free(other);
    return st;
}

xy_status_t stencil_own_load(const char *path, const xy_stencil_t *s, bool is_on_gpus,
                             stencil_own_t **own_p)
{
    stencil_own_t *own;
    xy_status_t st = check_ending(path, is_on_gpus);

    if (st != XY_OK)
        return st;
    own = xy_calloc(1, sizeof(*own));
    if (own == NULL)
        return xy_fail_memory("loading the kernel");
    own->path = path;
    st = xy_file_read_text(path, TEXT_MAX, &own->text);
    if (st == XY_OK)
        st = check_words(path, own->text);
    if (st == XY_OK) {
        own->print = print_of(0, own->text);
        st = build_cores(own, s);
    }
    if (st == XY_OK)
        st = check_fit(own, s);
    if (st == XY_OK)
        st = try_cells(own, s);
    if (st == XY_OK)
        *own_p = own;
    else
        stencil_own_destroy(own);
    return st;
}

void stencil_own_destroy(stencil_own_t *own)
{
    if (own == NULL)
        return;
    if (own->object != NULL)
        dlclose(own->object);
    xy_free(own->text);
    xy_free(own);
}
