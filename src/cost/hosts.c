/* SPDX-License-Identifier: BSD-3-Clause */
#include "cost/hosts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cost/measure.h"
#include "cost/probe.h"
#include "cost/process.h"

typedef enum { OPEN_MPI, HYDRA, SLURM } launcher_kind_t;

/* One calibration under way. */
typedef struct {
    const xy_hosts_calibration_t *c;
    xy_vec_t names;   /* of char *, owned: hosts that answer, as the file calls them */
    xy_vec_t called;  /* of char *, owned: as they call themselves; empty: not asked */
    xy_vec_t rank_of; /* of uint32_t: line of the file to process */
    launcher_kind_t kind;
    char launcher[256];
    char directory[64]; /* ours, with the files below */
    char source[96], program[96], hostfile[96];
    char library[128];    /* as the MPI library calls itself */
    xy_latency_t *matrix; /* by lines of the file */
    double *by_rank;      /* the same by processes */
    xy_vec_t samples;     /* of xy_message_sample_t, of the pair in hand */
} session_t;

/* ---- Hosts ---- */

static xy_status_t add_host(session_t *s, const char *name)
{
    char *copy;

    for (size_t i = 0; i < s->names.count; i++)
        if (strcmp(XY_VEC_AT(&s->names, char *, i), name) == 0)
            return XY_OK;
    copy = xy_strdup(name);
    if (copy == NULL || xy_vec_append(&s->names, &copy) != XY_OK) {
        xy_free(copy);
        return xy_fail_memory("reading hosts");
    }
    return XY_OK;
}

static xy_status_t read_hosts(session_t *s)
{
    char *data, *save = NULL;
    size_t size;
    xy_status_t st = xy_file_read(s->c->hosts, (size_t)1 << 24, &data, &size);

    if (st != XY_OK)
        return st;
    for (char *line = strtok_r(data, "\n", &save); line != NULL && st == XY_OK;
         line = strtok_r(NULL, "\n", &save)) {
        line += strspn(line, " \t\r");
        line[strcspn(line, "# \t\r")] = '\0';
        if (*line == '-')
            st = xy_fail_at(XY_EPARSE, s->c->hosts, 0, "'%s' is no name of a host", line);
        else if (*line != '\0')
            st = add_host(s, line);
    }
    xy_free(data);
    if (st == XY_OK && s->names.count == 0)
        st = xy_fail_at(XY_EPARSE, s->c->hosts, 0, "names no hosts; write one on each line");
    return st;
}

static pid_t ask(const session_t *s, char *name)
{
    char ssh[] = "ssh", batch[] = "-oBatchMode=yes", patience[] = "-oConnectTimeout=8",
         yes[] = "true";
    char *agent = s->c->agent != NULL ? xy_strdup(s->c->agent) : NULL;
    char *with_agent[] = {agent, name, yes, NULL};
    char *with_ssh[] = {ssh, batch, patience, name, yes, NULL};
    pid_t pid = cost_command_start(agent != NULL ? with_agent : with_ssh);

    xy_free(agent);
    return pid;
}

/* All are asked at once, and have ten seconds. Those that do not answer are named and dropped. */
static xy_status_t drop_silent(session_t *s)
{
    pid_t *pids = xy_calloc(s->names.count, sizeof(*pids));
    double deadline = cost_now() + 10;
    size_t kept = 0;

    if (pids == NULL)
        return xy_fail_memory("asking hosts");
    for (size_t i = 0; i < s->names.count; i++)
        pids[i] = ask(s, XY_VEC_AT(&s->names, char *, i));
    for (size_t i = 0; i < s->names.count; i++) {
        char *name = XY_VEC_AT(&s->names, char *, i);

        if (pids[i] > 0 && cost_command_wait(pids[i], deadline) == 0) {
            XY_VEC_AT(&s->names, char *, kept++) = name;
        } else {
            xy_warn("host %s does not answer ('%s %s true' fails); it is left out", name,
                    s->c->agent != NULL ? s->c->agent : "ssh", name);
            xy_free(name);
        }
    }
    s->names.count = kept;
    xy_free(pids);
    return kept > 0 ? XY_OK : xy_fail(XY_ENOENT, "no host of %s answers", s->c->hosts);
}

static xy_status_t note_name(void *arg, char *line)
{
    char **name = arg;

    if (*name == NULL && *line != '\0')
        *name = xy_strdup(line);
    return XY_OK;
}

/* Launchers put processes in an order of their own; which is where, a host's own name tells. */
static xy_status_t ask_names(session_t *s)
{
    char ssh[] = "ssh", word[] = "uname", n[] = "-n";
    char *agent = xy_strdup(s->c->agent != NULL ? s->c->agent : ssh);
    xy_status_t st = agent != NULL ? XY_OK : xy_fail_memory("asking hosts");

    for (size_t i = 0; i < s->names.count && st == XY_OK; i++) {
        char *argv[] = {agent, XY_VEC_AT(&s->names, char *, i), word, n, NULL};
        char *name = NULL;
        int code = 0;

        st = cost_command_run(argv, 10, note_name, &name, &code);
        if (st == XY_OK && name == NULL)
            name = xy_strdup("");
        if (st == XY_OK && (name == NULL || xy_vec_append(&s->called, &name) != XY_OK))
            st = xy_fail_memory("asking hosts");
        if (st != XY_OK)
            xy_free(name);
    }
    xy_free(agent);
    return st;
}

static bool is_same_host(const char *a, const char *b)
{
    size_t n = strcspn(a, ".");

    return n > 0 && n == strcspn(b, ".") && strncmp(a, b, n) == 0;
}

/* Process `rank` runs on a host that calls itself `name`. */
static void place_rank(session_t *s, uint32_t rank, const char *name)
{
    for (size_t i = 0; i < s->called.count; i++)
        if (is_same_host(XY_VEC_AT(&s->called, char *, i), name))
            XY_VEC_AT(&s->rank_of, uint32_t, i) = rank;
}

static xy_status_t list_ranks(session_t *s)
{
    for (uint32_t i = 0; i < s->names.count; i++)
        if (xy_vec_append(&s->rank_of, &i) != XY_OK)
            return xy_fail_memory("listing processes");
    return XY_OK;
}

/* ---- The launcher and the program ---- */

static xy_status_t note_kind(void *arg, char *line)
{
    int *kind = arg;

    if (strstr(line, "Open MPI") != NULL || strstr(line, "OpenRTE") != NULL)
        *kind = OPEN_MPI;
    else if (strstr(line, "HYDRA") != NULL || strstr(line, "Hydra") != NULL)
        *kind = HYDRA;
    else if (strncmp(line, "slurm", 5) == 0)
        *kind = SLURM;
    return XY_OK;
}

static bool try_launcher(session_t *s, const char *name)
{
    char version[] = "--version";
    char *copy = xy_strdup(name);
    char *argv[] = {copy, version, NULL};
    int kind = -1, code = 0;

    if (copy != NULL)
        cost_command_run(argv, 20, note_kind, &kind, &code);
    xy_free(copy);
    if (kind < 0)
        return false;
    s->kind = (launcher_kind_t)kind;
    snprintf(s->launcher, sizeof(s->launcher), "%s", name);
    return true;
}

static xy_status_t find_launcher(session_t *s)
{
    static const char *const names[] = {"mpirun", "mpiexec", "srun", NULL};

    if (s->c->launcher != NULL)
        return try_launcher(s, s->c->launcher)
                   ? XY_OK
                   : xy_fail(XY_ENOENT, "'%s --version' names neither Open MPI, Hydra nor Slurm",
                             s->c->launcher);
    /* Inside an allocation its own launcher knows the hosts best. */
    if (getenv("SLURM_JOB_ID") != NULL && try_launcher(s, "srun"))
        return XY_OK;
    for (size_t i = 0; names[i] != NULL; i++)
        if (try_launcher(s, names[i]))
            return XY_OK;
    return xy_fail(XY_ENOENT, "there is no mpirun, mpiexec or srun here; install an MPI library");
}

static xy_status_t write_text(const char *path, const char *text)
{
    xy_out_t *out;
    xy_status_t st = xy_out_open(path, &out);

    if (st != XY_OK)
        return st;
    fputs(text, xy_out_file(out));
    return xy_out_commit(out);
}

static xy_status_t ignore_line(void *arg, char *line)
{
    (void)arg, (void)line;
    return XY_OK;
}

static xy_status_t build_program(session_t *s)
{
    char optimize[] = "-O2", quiet[] = "-w", o[] = "-o", lm[] = "-lm";
    char *compiler = xy_strdup(s->c->compiler != NULL ? s->c->compiler : "mpicc");
    char *argv[] = {compiler, optimize, quiet, o, s->program, s->source, lm, NULL};
    int code = 0;
    xy_status_t st = compiler != NULL ? write_text(s->source, cost_probe_source)
                                      : xy_fail_memory("building the probe");

    if (st == XY_OK)
        st = cost_command_run(argv, 120, ignore_line, NULL, &code);
    if (st == XY_OK && code != 0)
        st = xy_fail(XY_ENOENT, "%s could not build the program that measures (exit code %d)",
                     compiler, code);
    xy_free(compiler);
    return st;
}

static xy_status_t write_hostfile(session_t *s)
{
    xy_text_t text = XY_TEXT_INIT;
    xy_status_t st;

    for (size_t i = 0; i < s->names.count; i++)
        xy_text_addf(&text, "%s%s\n", XY_VEC_AT(&s->names, char *, i),
                     s->kind == OPEN_MPI ? " slots=1" : "");
    st = text.failed ? xy_fail_memory("writing hosts") : write_text(s->hostfile, text.s);
    xy_text_cleanup(&text);
    return st;
}

/* A list of words, each in fresh memory. */
static void push(xy_vec_t *words, bool *failed, const char *word)
{
    char *copy = xy_strdup(word);

    if (copy == NULL || xy_vec_append(words, &copy) != XY_OK) {
        xy_free(copy);
        *failed = true;
    }
}

static void push_launcher(const session_t *s, xy_vec_t *words, bool *failed)
{
    char count[16];

    snprintf(count, sizeof(count), "%zu", s->names.count);
    push(words, failed, s->launcher);
    if (s->kind == OPEN_MPI) {
        if (geteuid() == 0)
            push(words, failed, "--allow-run-as-root");
        push(words, failed, "--hostfile");
        push(words, failed, s->hostfile);
        push(words, failed, "-np");
        push(words, failed, count);
        if (s->c->agent != NULL) {
            push(words, failed, "--mca");
            push(words, failed, "plm_rsh_agent");
            push(words, failed, s->c->agent);
        }
    } else if (s->kind == HYDRA) {
        push(words, failed, "-f");
        push(words, failed, s->hostfile);
        push(words, failed, "-n");
        push(words, failed, count);
        push(words, failed, "-ppn");
        push(words, failed, "1");
        if (s->c->agent != NULL) {
            push(words, failed, "-launcher");
            push(words, failed, "ssh");
            push(words, failed, "-launcher-exec");
            push(words, failed, s->c->agent);
        }
    } else {
        setenv("SLURM_HOSTFILE", s->hostfile, 1);
        push(words, failed, "--distribution=arbitrary");
        push(words, failed, "--ntasks");
        push(words, failed, count);
    }
    for (size_t i = 0; s->c->extra != NULL && i < s->c->extra->count; i++)
        push(words, failed, XY_VEC_AT(s->c->extra, const char *, i));
    push(words, failed, s->program);
}

/* Run the program on all hosts with these words. */
static xy_status_t launch(session_t *s, const xy_vec_t *arguments, double seconds,
                          cost_line_fn line)
{
    xy_vec_t words = XY_VEC_INIT(char *);
    bool failed = false;
    char *end = NULL, limit[32];
    int code = 0;
    xy_status_t st;

    push_launcher(s, &words, &failed);
    for (size_t i = 0; i < arguments->count; i++)
        push(&words, &failed, XY_VEC_AT(arguments, char *, i));
    /* The launcher's daemons on other hosts are out of reach of a signal: the probe ends itself. */
    snprintf(limit, sizeof(limit), "%.0f", ceil(seconds) + 5);
    push(&words, &failed, limit);
    if (failed || xy_vec_append(&words, &end) != XY_OK)
        st = xy_fail_memory("starting processes");
    else
        st = cost_command_run(words.data, seconds, line, s, &code);
    for (size_t i = 0; i < words.count; i++)
        xy_free(XY_VEC_AT(&words, char *, i));
    xy_vec_cleanup(&words);
    if (st == XY_OK && code != 0)
        st = xy_fail(XY_EIO, code == 124 ? "%s did not end within %g s" : "%s failed", s->launcher,
                     seconds);
    return st;
}

/* ---- What it says ---- */

static xy_status_t read_latency(void *arg, char *line)
{
    session_t *s = arg;
    uint32_t i, j, n = s->matrix->count;
    double seconds;
    char name[256];

    if (sscanf(line, "library %127[^\n]", s->library) == 1)
        return XY_OK;
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "host %u %255s", &i, name) == 2) {
        place_rank(s, i, name);
        return XY_OK;
    }
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "latency %u %u %lf", &i, &j, &seconds) != 3)
        return XY_OK;
    if (i >= n || j >= n || !(seconds >= 0))
        return xy_fail(XY_EIO, "the probe said '%s', which makes no sense", line);
    s->by_rank[(size_t)i * n + j] = s->by_rank[(size_t)j * n + i] = seconds;
    return XY_OK;
}

static xy_status_t read_message(void *arg, char *line)
{
    session_t *s = arg;
    xy_message_sample_t m = {0};
    unsigned i, j;

    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(line, "message %u %u %lf %lf %lf %lf %lf %lf", &i, &j, &m.bytes, &m.blocking,
               &m.nonblocking, &m.send, &m.receive, &m.gap) != 8)
        return XY_OK;
    return xy_vec_append(&s->samples, &m) == XY_OK ? XY_OK : xy_fail_memory("reading messages");
}

static uint32_t rank(const session_t *s, uint32_t host)
{
    return XY_VEC_AT(&s->rank_of, uint32_t, host);
}

static xy_status_t measure_latencies(session_t *s)
{
    xy_vec_t words = XY_VEC_INIT(char *);
    bool failed = false;
    xy_status_t st = xy_latency_create((uint32_t)s->names.count, &s->matrix);

    if (st != XY_OK)
        return st;
    s->by_rank = xy_calloc(s->names.count * s->names.count, sizeof(*s->by_rank));
    if (s->by_rank == NULL)
        return xy_fail_memory("measuring latencies");
    for (uint32_t i = 0; i < s->matrix->count; i++) {
        char *name = xy_strdup(XY_VEC_AT(&s->names, char *, i));

        if (name == NULL)
            return xy_fail_memory("naming hosts");
        xy_free(s->matrix->name[i]);
        s->matrix->name[i] = name;
    }
    push(&words, &failed, "latency");
    push(&words, &failed, "20");
    st = failed ? xy_fail_memory("starting processes")
                : launch(s, &words, 120 + (double)s->names.count, read_latency);
    for (uint32_t i = 0; st == XY_OK && i < s->matrix->count; i++)
        for (uint32_t j = 0; j < s->matrix->count; j++)
            s->matrix->second[(size_t)i * s->matrix->count + j] =
                s->by_rank[(size_t)rank(s, i) * s->matrix->count + rank(s, j)];
    for (size_t i = 0; i < words.count; i++)
        xy_free(XY_VEC_AT(&words, char *, i));
    xy_vec_cleanup(&words);
    return st;
}

static void report_messages(const session_t *s, const xy_message_cost_t *m)
{
    const xy_message_lines_t *k = &m->model.kind[XY_MESSAGE_BLOCKING];
    char latency[32], rate[32];
    double slope = k->time.line[k->time.count - 1].a;

    if (s->c->report != NULL)
        fprintf(s->c->report, "%s - %s: %s, %s, %zu samples, %zu intervals, error %.2g %%\n",
                m->cluster1, m->cluster2, xy_format_seconds(k->latency, latency),
                slope > 0 ? xy_format_bandwidth(1 / slope, rate) : "no bandwidth", m->model.count,
                k->time.count, 100 * k->error_mean);
}

/* Messages between two processes whose hosts stand for their clusters. */
static xy_status_t measure_pair(session_t *s, uint32_t a, uint32_t b, uint32_t ca, uint32_t cb,
                                xy_costs_t *costs)
{
    xy_vec_t words = XY_VEC_INIT(char *);
    xy_message_cost_t m = {.cluster1 = xy_sprintf("C%u", ca + 1),
                           .cluster2 = xy_sprintf("C%u", cb + 1),
                           .library = xy_strdup(s->library)};
    double numbers[] = {s->c->largest > 0 ? s->c->largest : 4 << 20,
                        s->c->seconds > 0 ? s->c->seconds : 0.05, a < b ? a : b, a < b ? b : a};
    bool failed = false;
    xy_status_t st;

    push(&words, &failed, "pairs");
    for (size_t i = 0; i < 4; i++) {
        char text[32];

        push(&words, &failed, xy_format_double(numbers[i], text));
    }
    s->samples.count = 0;
    st = failed ? xy_fail_memory("starting processes") : launch(s, &words, 600, read_message);
    for (size_t i = 0; i < words.count; i++)
        xy_free(XY_VEC_AT(&words, char *, i));
    xy_vec_cleanup(&words);
    if (st == XY_OK)
        st = xy_message_fit(s->samples.data, s->samples.count, &m.model);
    if (st == XY_OK) {
        report_messages(s, &m);
        return xy_costs_set_message(costs, &m);
    }
    xy_message_cost_cleanup(&m);
    return st;
}

static uint32_t second_of(const xy_eco_t *eco, uint32_t c)
{
    for (uint32_t i = eco->cluster[c].first + 1; i < eco->machines; i++)
        if (eco->cluster_of[i] == c)
            return i;
    return eco->cluster[c].first;
}

static xy_status_t measure_clusters(session_t *s, const xy_eco_t *eco, xy_costs_t *costs)
{
    xy_status_t st = XY_OK;

    for (uint32_t i = 0; i < eco->clusters && st == XY_OK; i++)
        for (uint32_t j = i; j < eco->clusters && st == XY_OK; j++) {
            uint32_t a = eco->cluster[i].first,
                     b = i == j ? second_of(eco, i) : eco->cluster[j].first;

            if (a != b)
                st = measure_pair(s, rank(s, a), rank(s, b), i, j, costs);
        }
    return st;
}

static xy_status_t store_hosts(const session_t *s, const xy_eco_t *eco, xy_costs_t *costs)
{
    xy_status_t st = XY_OK;

    for (uint32_t i = 0; i < eco->machines && st == XY_OK; i++) {
        char cluster[16];

        snprintf(cluster, sizeof(cluster), "C%u", eco->cluster_of[i] + 1);
        st = xy_costs_set_host(costs, s->matrix->name[i], cluster);
    }
    return st;
}

static xy_status_t calibrate(session_t *s, xy_costs_t *costs)
{
    xy_eco_t *eco;
    xy_status_t st = read_hosts(s);

    if (st == XY_OK)
        st = find_launcher(s);
    if (st == XY_OK && s->kind != SLURM)
        st = drop_silent(s);
    if (st == XY_OK && s->kind != SLURM)
        st = ask_names(s);
    if (st == XY_OK)
        st = list_ranks(s);
    if (st == XY_OK)
        st = build_program(s);
    if (st == XY_OK)
        st = write_hostfile(s);
    if (st == XY_OK)
        st = measure_latencies(s);
    if (st == XY_OK)
        st = xy_eco_compute(s->matrix, s->c->rho > 0 ? s->c->rho : 1.20, &eco);
    if (st != XY_OK)
        return st;
    if (s->c->report != NULL)
        xy_eco_print(eco, s->matrix, s->c->report);
    st = store_hosts(s, eco, costs);
    if (st == XY_OK)
        st = measure_clusters(s, eco, costs);
    xy_eco_destroy(eco);
    return st;
}

/* Homes are shared between hosts where anything is; /tmp is not. */
static xy_status_t make_directory(session_t *s)
{
    const char *home = getenv("HOME");
    bool has_home = home != NULL && *home != '\0' && strlen(home) < 32;

    snprintf(s->directory, sizeof(s->directory), "%s/.xylem-probe-XXXXXX",
             has_home ? home : "/tmp");
    if (mkdtemp(s->directory) == NULL)
        return xy_fail_errno(errno, s->directory, "make the directory");
    snprintf(s->source, sizeof(s->source), "%s/probe.c", s->directory);
    snprintf(s->program, sizeof(s->program), "%s/probe", s->directory);
    snprintf(s->hostfile, sizeof(s->hostfile), "%s/hosts", s->directory);
    return XY_OK;
}

xy_status_t xy_calibrate_hosts(const xy_hosts_calibration_t *c, xy_costs_t *costs)
{
    session_t s = {.c = c,
                   .names = XY_VEC_INIT(char *),
                   .called = XY_VEC_INIT(char *),
                   .rank_of = XY_VEC_INIT(uint32_t),
                   .samples = XY_VEC_INIT(xy_message_sample_t)};
    xy_status_t st = make_directory(&s);

    if (st != XY_OK)
        return st;
    st = calibrate(&s, costs);
    unlink(s.source);
    unlink(s.program);
    unlink(s.hostfile);
    rmdir(s.directory);
    for (size_t i = 0; i < s.names.count; i++)
        xy_free(XY_VEC_AT(&s.names, char *, i));
    for (size_t i = 0; i < s.called.count; i++)
        xy_free(XY_VEC_AT(&s.called, char *, i));
    xy_vec_cleanup(&s.names);
    xy_vec_cleanup(&s.called);
    xy_vec_cleanup(&s.rank_of);
    xy_free(s.by_rank);
    xy_vec_cleanup(&s.samples);
    xy_latency_destroy(s.matrix);
    return st;
}
