/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/measure_process.h"
#include "measure/probe.h"

/* ---- Words ---- */

xy_status_t measure_words_push(xy_vec_t *words, const char *word)
{
    char *copy = xy_strdup(word);

    if (copy != NULL && xy_vec_append(words, &copy) == XY_OK)
        return XY_OK;
    xy_free(copy);
    return xy_fail_memory("starting processes");
}

void measure_words_cleanup(xy_vec_t *words)
{
    for (size_t i = 0; i < words->count; i++)
        xy_free(XY_VEC_AT(words, char *, i));
    xy_vec_cleanup(words);
}

xy_status_t measure_words_push_all(xy_vec_t *words, const char *const *list)
{
    xy_status_t st = XY_OK;

    for (; *list != NULL && st == XY_OK; list++)
        st = measure_words_push(words, *list);
    return st;
}

/* ---- Which one ---- */

static xy_status_t note_kind(void *arg, char *line)
{
    int *kind = arg;

    if (strstr(line, "Open MPI") != NULL || strstr(line, "OpenRTE") != NULL)
        *kind = COST_OPEN_MPI;
    else if (strstr(line, "HYDRA") != NULL || strstr(line, "Hydra") != NULL)
        *kind = COST_HYDRA;
    else if (strncmp(line, "slurm", 5) == 0)
        *kind = COST_SLURM;
    return XY_OK;
}

/* Recognizes the launcher `name` by its version; *is_here_p tells whether it exists. */
static bool try_launcher(measure_launcher_t *l, const char *name, bool *is_here_p)
{
    char version[] = "--version";
    char *copy = xy_strdup(name);
    char *argv[] = {copy, version, NULL};
    int kind = -1, code = 0;

    if (copy != NULL)
        measure_command_run(argv, 20, note_kind, &kind, &code);
    xy_free(copy);
    *is_here_p = code != 127;
    if (kind < 0)
        return false;
    *l = (measure_launcher_t){.kind = (measure_launcher_kind_t)kind, .per_host = 1};
    snprintf(l->command, sizeof(l->command), "%s", name);
    return true;
}

xy_status_t measure_launcher_find(const char *wanted, measure_launcher_t *launcher_p)
{
    static const char *const names[] = {"mpirun", "mpiexec", "srun", NULL};
    bool is_here;

    if (wanted != NULL && try_launcher(launcher_p, wanted, &is_here))
        return XY_OK;
    if (wanted != NULL)
        return is_here ? xy_fail(XY_ENOENT,
                                 "'%s --version' names neither Open MPI, Hydra nor Slurm; give the "
                                 "launcher of one of these",
                                 wanted)
                       : xy_fail(XY_ENOENT, "'%s' was not found; install an MPI library", wanted);
    /* Inside an allocation its own launcher knows the hosts best. */
    if (getenv("SLURM_JOB_ID") != NULL && try_launcher(launcher_p, "srun", &is_here))
        return XY_OK;
    for (size_t i = 0; names[i] != NULL; i++)
        if (try_launcher(launcher_p, names[i], &is_here))
            return XY_OK;
    return xy_fail(XY_ENOENT, "neither mpirun, mpiexec nor srun was found; install an MPI library");
}

/* ---- The probe ---- */

static xy_status_t print_text(const void *text, FILE *file)
{
    fputs(text, file);
    return XY_OK;
}

static xy_status_t ignore_line(void *arg, char *line)
{
    (void)arg, (void)line;
    return XY_OK;
}

/* Beside the source of the probe. */
static const struct {
    const char *name, *text;
} headers[COST_HEADERS] = {{"loops.h", measure_probe_loops},
                           {"pace.h", measure_probe_pace},
                           {"trips.h", measure_probe_trips},
                           {"meetings.h", measure_probe_meetings}};

/* Compiles the measuring program with `wanted` or mpicc. */
static xy_status_t build_program(measure_launcher_t *l, const char *wanted)
{
    char optimize[] = "-O2", quiet[] = "-w", o[] = "-o", lm[] = "-lm";
    char *compiler = xy_strdup(wanted != NULL ? wanted : "mpicc");
    char *argv[] = {compiler, optimize, quiet, o, l->program, l->source, lm, NULL};
    int code = 0;
    xy_status_t st = compiler != NULL ? xy_out_write(l->source, print_text, measure_probe_source)
                                      : xy_fail_memory("building the probe");

    for (int i = 0; i < COST_HEADERS && st == XY_OK; i++)
        st = xy_out_write(l->headers[i], print_text, headers[i].text);
    if (st == XY_OK)
        st = measure_command_run(argv, 120, ignore_line, NULL, &code);
    if (st == XY_OK && code != 0)
        st = xy_fail(XY_ENOENT, "%s could not compile the measuring program (exit code %d)",
                     compiler, code);
    xy_free(compiler);
    return st;
}

/* Homes are shared between hosts where anything is; /tmp is not. */
static xy_status_t make_directory(measure_launcher_t *l)
{
    const char *home = getenv("HOME");
    bool has_home = home != NULL && *home != '\0' && strlen(home) < 32;

    snprintf(l->directory, sizeof(l->directory), "%s/.xylem-probe-XXXXXX",
             has_home ? home : "/tmp");
    if (mkdtemp(l->directory) == NULL) {
        xy_fail_errno(errno, l->directory, "make the directory");
        l->directory[0] = '\0';
        return XY_EIO;
    }
    snprintf(l->source, sizeof(l->source), "%s/probe.c", l->directory);
    for (int i = 0; i < COST_HEADERS; i++)
        snprintf(l->headers[i], sizeof(l->headers[i]), "%s/%s", l->directory, headers[i].name);
    snprintf(l->program, sizeof(l->program), "%s/probe", l->directory);
    snprintf(l->hostfile, sizeof(l->hostfile), "%s/hosts", l->directory);
    l->guards[0] = xy_scratch_guard(l->directory);
    l->guards[1] = xy_scratch_guard(l->source);
    l->guards[2] = xy_scratch_guard(l->program);
    l->guards[3] = xy_scratch_guard(l->hostfile);
    for (int i = 0; i < COST_HEADERS; i++)
        l->guards[5 + i] = xy_scratch_guard(l->headers[i]);
    snprintf(l->hostfile, sizeof(l->hostfile), "%s/host", l->directory);
    l->guards[4] = xy_scratch_guard(l->hostfile);
    l->hostfile[0] = '\0';
    return XY_OK;
}

/* Slurm wants one line for each process. */
static void add_host(const measure_launcher_t *l, const char *host, xy_text_t *text)
{
    if (l->kind == COST_OPEN_MPI)
        xy_text_addf(text, "%s slots=%d\n", host, l->per_host);
    else
        for (int k = 0; k < (l->kind == COST_SLURM ? l->per_host : 1); k++)
            xy_text_addf(text, "%s\n", host);
}

static xy_status_t write_hosts(measure_launcher_t *l, const char *name, const xy_vec_t *hosts)
{
    xy_text_t text = XY_TEXT_INIT;
    xy_status_t st;

    snprintf(l->hostfile, sizeof(l->hostfile), "%s/%s", l->directory, name);
    for (size_t i = 0; i < hosts->count; i++)
        add_host(l, XY_VEC_AT(hosts, char *, i), &text);
    st = text.failed ? xy_fail_memory("writing hosts")
                     : xy_out_write(l->hostfile, print_text, text.s);
    xy_text_cleanup(&text);
    return st;
}

xy_status_t measure_launcher_prepare(measure_launcher_t *l, const char *compiler,
                                     const xy_vec_t *hosts)
{
    xy_status_t st = make_directory(l);

    if (st == XY_OK)
        st = build_program(l, compiler);
    return st == XY_OK && hosts != NULL ? write_hosts(l, "hosts", hosts) : st;
}

xy_status_t measure_launcher_one_host(const measure_launcher_t *l, const char *host, int count,
                                      measure_launcher_t *one_p)
{
    xy_vec_t hosts = XY_VEC_INIT(const char *);
    measure_launcher_t one = *l;
    xy_status_t st = xy_vec_append(&hosts, &host) == XY_OK ? XY_OK : xy_fail_memory("naming hosts");

    one.per_host = count;
    if (st == XY_OK)
        st = write_hosts(&one, "host", &hosts);
    if (st == XY_OK)
        *one_p = one;
    xy_vec_cleanup(&hosts);
    return st;
}

void measure_launcher_cleanup(measure_launcher_t *l)
{
    char one[96];

    if (l->directory[0] == '\0')
        return;
    snprintf(one, sizeof(one), "%s/host", l->directory);
    unlink(one);
    unlink(l->source);
    for (int i = 0; i < COST_HEADERS; i++)
        unlink(l->headers[i]);
    unlink(l->program);
    if (l->hostfile[0] != '\0')
        unlink(l->hostfile);
    rmdir(l->directory);
    for (size_t i = 0; i < sizeof(l->guards) / sizeof(l->guards[0]); i++)
        xy_scratch_release(l->guards[i]);
    l->directory[0] = '\0';
}

/* ---- Its command line ---- */

/* Appends the command line of Open MPI's launcher. */
static xy_status_t push_open_mpi(const measure_launcher_t *l, const char *count, const char *agent,
                                 xy_vec_t *words)
{
    const char *const first[] = {l->command, "-np", count, NULL};
    const char *const root[] = {"--allow-run-as-root", NULL};
    const char *const hosts[] = {"--hostfile", l->hostfile, NULL};
    const char *const reach[] = {"--mca", "plm_rsh_agent", agent, NULL};
    xy_status_t st = measure_words_push_all(words, first);

    if (st == XY_OK && geteuid() == 0)
        st = measure_words_push_all(words, root);
    if (st == XY_OK && l->hostfile[0] != '\0')
        st = measure_words_push_all(words, hosts);
    if (st == XY_OK && agent != NULL)
        st = measure_words_push_all(words, reach);
    return st;
}

/* Appends the command line of Hydra, MPICH's launcher. */
static xy_status_t push_hydra(const measure_launcher_t *l, const char *count, const char *agent,
                              xy_vec_t *words)
{
    const char *const first[] = {l->command, "-n", count, NULL};
    char each[16];
    const char *const hosts[] = {"-f", l->hostfile, "-ppn", each, NULL};
    const char *const reach[] = {"-launcher", "ssh", "-launcher-exec", agent, NULL};
    xy_status_t st = measure_words_push_all(words, first);

    snprintf(each, sizeof(each), "%d", l->per_host);

    if (st == XY_OK && l->hostfile[0] != '\0')
        st = measure_words_push_all(words, hosts);
    if (st == XY_OK && agent != NULL)
        st = measure_words_push_all(words, reach);
    return st;
}

static xy_status_t push_slurm(const measure_launcher_t *l, const char *count, xy_vec_t *words)
{
    const char *const first[] = {l->command, "--ntasks", count, NULL};
    const char *const hosts[] = {"--distribution=arbitrary", NULL};
    xy_status_t st = measure_words_push_all(words, first);

    if (st == XY_OK && l->hostfile[0] != '\0') {
        setenv("SLURM_HOSTFILE", l->hostfile, 1);
        st = measure_words_push_all(words, hosts);
    }
    return st;
}

xy_status_t measure_launcher_words(const measure_launcher_t *l, size_t count, const char *agent,
                                   const xy_vec_t *extra, xy_vec_t *words)
{
    char number[24];
    xy_status_t st;

    snprintf(number, sizeof(number), "%zu", count);
    if (l->kind == COST_OPEN_MPI)
        st = push_open_mpi(l, number, agent, words);
    else if (l->kind == COST_HYDRA)
        st = push_hydra(l, number, agent, words);
    else
        st = push_slurm(l, number, words);
    for (size_t i = 0; st == XY_OK && extra != NULL && i < extra->count; i++)
        st = measure_words_push(words, XY_VEC_AT(extra, const char *, i));
    return st == XY_OK ? measure_words_push(words, l->program) : st;
}
