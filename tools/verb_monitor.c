/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem monitor: run a program under another MPI and count who sends how much to whom. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place/place.h"
#include "report/report.h"
#include "site_line.h"
#include "verbs.h"

typedef struct {
    const char *only, *heatmap, *mpi, *metric;
    double slice;
} values_t;

static const char *const kinds[] = {"all", "program", "collectives", NULL};
static const char *const metrics[] = {"size", "msg", "avg", NULL};
static const char *const libraries[] = {"openmpi", "mpich", NULL};

static const xy_option_t options[] = {
    {"only", 0, XY_OPT_CHOICE, "KIND", offsetof(values_t, only), XY_COMMON("options"),
     .help = "choose which messages a file counts; all, those of the program, or those inside "
             "collectives",
     .preset = "all", .choices = kinds},
    {"mpi", 0, XY_OPT_CHOICE, "MPI", offsetof(values_t, mpi), XY_COMMON("options"),
     .help = "name the launcher's MPI library; openmpi or mpich (default: detected)",
     .choices = libraries},
    {"heatmap", 0, XY_OPT_STRING, "FILE", offsetof(values_t, heatmap), XY_COMMON("options"),
     .help = "also draw the matrix as a heat map", .complete = "file"},
    {"metric", 0, XY_OPT_CHOICE, "METRIC", offsetof(values_t, metric), .needs = "heatmap",
     XY_COMMON("options"),
     .help = "with --heatmap: choose the metric; bytes (size), messages (msg), or the mean size of "
             "a message (avg)",
     .preset = "size", .choices = metrics},
    {"slice", 0, XY_OPT_SECONDS, "TIME", offsetof(values_t, slice), XY_COMMON("options"),
     .help = "also write a matrix for each TIME of the run; into the directory"},
    {0}};

/* Find the MPI of a launcher by its --version; NULL: it does not say. */
static const char *ask_launcher(char **argv)
{
    char said[4096] = "";
    size_t length = 0, got;
    int ends[2];
    pid_t child;
    FILE *file;

    if (pipe(ends) != 0)
        return NULL;
    child = fork();
    if (child == 0) {
        char *const ask[] = {argv[0], (char[]){"--version"}, NULL};

        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execvp(ask[0], ask);
        _exit(127);
    }
    close(ends[1]);
    file = fdopen(ends[0], "r");
    while (file != NULL && (got = fread(said + length, 1, sizeof(said) - 1 - length, file)) > 0)
        length += got;
    if (file != NULL)
        fclose(file);
    if (child > 0)
        waitpid(child, NULL, 0);
    said[length] = '\0';
    if (strstr(said, "Open MPI") != NULL || strstr(said, "OpenRTE") != NULL)
        return "openmpi";
    return strstr(said, "HYDRA") != NULL || strstr(said, "MPICH") != NULL ? "mpich" : NULL;
}

/* The library beside this program: bin/../lib/xylem. The caller frees. */
static xy_status_t find_library(const char *mpi, char **path_p)
{
    char *relative = xy_sprintf("../lib/xylem/libxylem-monitor-%s.so", mpi);
    char *path = relative != NULL ? xy_beside(relative) : NULL;

    xy_free(relative);
    if (path == NULL)
        return xy_fail_memory("starting the monitor");
    if (access(path, R_OK) != 0) {
        xy_fail(XY_EUNSUPPORTED,
                "no monitor for %s: %s is missing; install mpicc.%s and build again", mpi, path,
                mpi);
        xy_free(path);
        return XY_EUNSUPPORTED;
    }
    *path_p = path;
    return XY_OK;
}

/* Run the launcher with the library in front of the MPI; its exit code goes to *code_p. */
static xy_status_t run_program(char **argv, const char *library, const char *directory,
                               double slice, bool is_profiled, int *code_p)
{
    const char *before = getenv("LD_PRELOAD");
    char *preload = before != NULL && *before != '\0' ? xy_sprintf("%s:%s", library, before)
                                                      : xy_strdup(library);
    char seconds[32];
    int status = 0;
    pid_t child;

    snprintf(seconds, sizeof(seconds), "%.9g", slice);
    if (preload == NULL)
        return xy_fail_memory("starting the monitor");
    fflush(NULL);
    child = fork();
    if (child == 0) {
        setenv("LD_PRELOAD", preload, 1);
        setenv("XYLEM_MONITOR_DIRECTORY", directory, 1);
        setenv("XYLEM_MONITOR_SLICE", seconds, 1);
        if (is_profiled)
            setenv("XYLEM_MONITOR_PROFILE", "1", 1);
        execvp(argv[0], argv);
        xy_fail_errno(errno, argv[0], "run");
        _exit(errno == ENOENT ? 127 : 126);
    }
    xy_free(preload);
    if (child < 0)
        return xy_fail_errno(errno, argv[0], "run");
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    *code_p = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return XY_OK;
}

static void remove_directory(const char *directory)
{
    DIR *d = opendir(directory);
    const struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(d), entry->d_name, 0);
    if (d != NULL)
        closedir(d);
    rmdir(directory);
}

/* A matrix on its way to a file. */
typedef struct {
    const xy_matrix_t *matrix;
    const char *path, *metric, *title;
} matrix_file_t;

static xy_status_t print_matrix(const void *arg, FILE *file)
{
    const matrix_file_t *f = arg;

    return xy_matrix_write(f->matrix, xy_matrix_guess(f->path, "source"), file);
}

static xy_status_t print_heatmap(const void *arg, FILE *file)
{
    const matrix_file_t *f = arg;
    xy_metric_t metric = XY_METRIC_SIZE;

    xy_metric_parse(f->metric, &metric);
    return xy_matrix_print_svg(f->matrix, metric, f->title, file);
}

/* A name with the ending of a matrix is a file; any other is a directory. */
static bool is_file(const char *path)
{
    static const char *const endings[] = {".csv", ".mat", ".mtx", ".graph"};
    size_t length = strlen(path);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t n = strlen(endings[i]);

        if (length > n && strcmp(path + length - n, endings[i]) == 0)
            return true;
    }
    return strcmp(path, "-") == 0;
}

/* Writes the counted traffic as a matrix, a directory or a heatmap. */
static xy_status_t collect(const values_t *v, const char *directory, const char *path)
{
    xy_traffic_choice_t choice = {
        .program = strcmp(v->only, "collectives") != 0,
        .collectives = strcmp(v->only, "program") != 0,
        .phase = XY_TRAFFIC_ANY,
        .slice = XY_TRAFFIC_ANY,
        .communicator = XY_TRAFFIC_ANY,
    };
    xy_matrix_t *m = NULL;
    xy_traffic_t t;
    xy_status_t st = xy_traffic_read(directory, &t);

    if (st != XY_OK)
        return st;
    st = xy_traffic_matrix(&t, &choice, &m);
    if (st == XY_OK)
        st = is_file(path) ? xy_out_write(path, print_matrix, &(matrix_file_t){m, path, NULL, NULL})
                           : xy_traffic_write(&t, path);
    if (st == XY_OK)
        st = xy_out_write(v->heatmap, print_heatmap, &(matrix_file_t){m, NULL, v->metric, path});
    xy_matrix_destroy(m);
    xy_traffic_cleanup(&t);
    return st;
}

/* ---- Profiles ---- */

/* A name with the ending of a profile: where the time goes is asked for, not the matrix. */
static bool is_profile(const char *path)
{
    size_t length = strlen(path);

    return length > 4 && strcmp(path + length - 4, ".xyp") == 0;
}

/* Replaces the addresses of call sites by source lines, as far as they are known. */
static void find_lines(xy_profile_t *p)
{
    for (size_t i = 1; i < p->sites.count; i++) {
        xy_profile_site_t *site = &XY_VEC_AT(&p->sites, xy_profile_site_t, i);
        const char *slash = strrchr(site->place, '/'), *shorter;
        char text[160];

        if (site_line_find(site->place, text, sizeof(text)))
            shorter = xy_arena_strndup(p->arena, text, strlen(text));
        else
            shorter = slash != NULL ? slash + 1 : NULL;
        if (shorter != NULL)
            site->place = shorter;
    }
}

/* Each rank has written a profile of its own. */
static xy_status_t merge_profiles(const char *directory, xy_profile_t **all_p)
{
    xy_vec_t ones = XY_VEC_INIT(xy_profile_t *);
    xy_status_t st = XY_OK;
    size_t count = 1;

    for (size_t i = 0; i < count && st == XY_OK; i++) {
        char *path = xy_sprintf("%s/%zu.xyp", directory, i);
        xy_profile_t **one = xy_vec_push(&ones);

        st = path != NULL && one != NULL ? XY_OK : xy_fail_memory("collecting profiles");
        if (one != NULL)
            *one = NULL;
        if (st == XY_OK)
            st = xy_profile_read(path, one);
        if (st == XY_OK)
            count = (*one)->ranks.count;
        xy_free(path);
    }
    if (st == XY_OK)
        st = xy_profile_join(ones.data, ones.count, all_p);
    for (size_t i = 0; i < ones.count; i++)
        xy_profile_destroy(XY_VEC_AT(&ones, xy_profile_t *, i));
    xy_vec_cleanup(&ones);
    return st;
}

static xy_status_t write_profile(const void *p, FILE *file)
{
    xy_profile_write(p, file);
    return XY_OK;
}

/* Merges the profiles of all processes into one file and prints its finding. */
static xy_status_t collect_profile(const char *directory, const char *path)
{
    xy_profile_t *p = NULL;
    xy_analysis_t *a;
    xy_status_t st = merge_profiles(directory, &p);

    if (st == XY_OK) {
        find_lines(p);
        st = xy_profile_settle(p);
    }
    if (st == XY_OK)
        st = xy_out_write(path, write_profile, p);
    if (st == XY_OK && xy_analyse(p, 0, &a) == XY_OK) {
        xy_report_brief(a, stderr);
        xy_analysis_destroy(a);
    }
    xy_profile_destroy(p);
    return st;
}

/* Entry point of 'xylem monitor'; ends with the code of the launcher if that fails. */
static xy_status_t run(const xy_command_t *command, const void *values, int argc, char **argv)
{
    const values_t *v = values;
    char directory[] = "/tmp/xylem-monitor-XXXXXX", *library = NULL;
    char **program = argv + 1;
    const char *mpi;
    int code = 0;
    xy_status_t st;

    (void)command;
    if (argc > 1 && strcmp(argv[1], "--") == 0)
        program++;
    argv[argc] = NULL; /* where options were taken out, the last word stands twice */
    if (*program == NULL)
        return xy_fail(XY_EUSAGE,
                       "a program is expected after OUT: xylem monitor OUT -- mpirun -n 8 ./app");
    mpi = v->mpi != NULL ? v->mpi : ask_launcher(program);
    if (mpi == NULL)
        return xy_fail(XY_EUNSUPPORTED,
                       "%s does not say whether it is Open MPI's or MPICH's; give --mpi",
                       program[0]);
    st = find_library(mpi, &library);
    if (st == XY_OK && mkdtemp(directory) == NULL)
        st = xy_fail_errno(errno, directory, "create");
    if (st == XY_OK) {
        st = run_program(program, library, directory, v->slice, is_profile(argv[0]), &code);
        if (st == XY_OK && code == 0)
            st = is_profile(argv[0]) ? collect_profile(directory, argv[0])
                                     : collect(v, directory, argv[0]);
        remove_directory(directory);
    }
    xy_free(library);
    if (st == XY_OK && code != 0)
        exit(code); /* the launcher said why; its code is ours */
    return st;
}

const xy_command_t verb_monitor = {
    .name = "monitor",
    .summary = "count the messages or the time of a run under Open MPI or MPICH",
    .synopsis = "OUT -- MPIRUN ARGUMENTS...",
    .description =
        "Runs the launcher with a library that intercepts MPI calls and counts what every rank "
        "sends, and writes the communication matrix to OUT in the format of its name (.csv, .mat, "
        ".mtx or .graph). Any other OUT is a directory with matrices of all messages, of the "
        "program, of the collectives, of each phase (MPI_Pcontrol begins one), time slice and "
        "communicator, and a page with their heat maps. The program is not changed; it must "
        "end with MPI_Finalize.\n\n"
        "An OUT that ends in .xyp is a profile of where the time goes, for 'xylem report'.\n\n"
        "Collective operations are counted as the messages of the algorithms that both libraries "
        "document: binomial trees, recursive doubling, rings and pairwise exchange.",
    .examples = "xylem monitor app.csv -- mpirun -n 8 ./app\n    the matrix of a run\n"
                "xylem monitor talk --slice 0.5 -- mpirun -n 8 ./app\n    a directory of matrices: "
                "every half "
                "second, phase and communicator\n"
                "xylem monitor app.xyp -- mpirun -n 8 ./app\n    where the time of a run goes\n"
                "xylem monitor app.csv --only program -- mpiexec -n 8 ./app\n    without the "
                "messages inside collectives\n",
    .options = options,
    .values_size = sizeof(values_t),
    .positional_min = 1,
    .positional_max = -1,
    .complete = "file",
    .run = run,
};
