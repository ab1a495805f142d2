/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/discover.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "measure/launcher.h"
#include "measure/measure_process.h"
#include "measure/timing.h"

/* ---- The file ---- */

/* Adds a host name, unless it is known. */
static xy_status_t add_host(measure_discovery_t *hosts, const char *name)
{
    char *copy;

    for (size_t i = 0; i < hosts->names.count; i++)
        if (strcmp(XY_VEC_AT(&hosts->names, char *, i), name) == 0)
            return XY_OK;
    copy = xy_strdup(name);
    if (copy == NULL || xy_vec_append(&hosts->names, &copy) != XY_OK) {
        xy_free(copy);
        return xy_fail_memory("reading hosts");
    }
    return XY_OK;
}

xy_status_t measure_discovery_read(const char *path, measure_discovery_t *hosts)
{
    char *data, *save = NULL;
    xy_status_t st = xy_file_read_text(path, (size_t)1 << 24, &data);

    if (st != XY_OK)
        return st;
    for (char *line = strtok_r(data, "\n", &save); line != NULL && st == XY_OK;
         line = strtok_r(NULL, "\n", &save)) {
        line += strspn(line, " \t\r");
        line[strcspn(line, "# \t\r")] = '\0';
        if (*line == '-')
            st = xy_fail_at(XY_EPARSE, path, 0, "'%s' is not a host name", line);
        else if (*line != '\0')
            st = add_host(hosts, line);
    }
    xy_free(data);
    if (st == XY_OK && hosts->names.count == 0)
        st = xy_fail_at(XY_EPARSE, path, 0, "has no hosts; write one per line");
    return st;
}

/* ---- Questions ---- */

/* One question in progress. */
typedef struct {
    pid_t pid;
    int out; /* its answer; -1: none */
} question_t;

static void ask(const char *agent, double patience, char *name, question_t *q)
{
    char ssh[] = "ssh", batch[] = "-oBatchMode=yes", limit[48], uname[] = "uname", n[] = "-n";
    char *copy = agent != NULL ? xy_strdup(agent) : NULL;
    char *with_agent[] = {copy, name, uname, n, NULL};
    char *with_ssh[] = {ssh, batch, limit, name, uname, n, NULL};

    snprintf(limit, sizeof(limit), "-oConnectTimeout=%.0f", ceil(patience));
    *q = (question_t){.pid = -1, .out = -1};
    if (agent == NULL || copy != NULL)
        q->pid = measure_command_start(agent != NULL ? with_agent : with_ssh, &q->out);
    xy_free(copy);
}

/* The last line that a finished command printed: earlier ones may come from the host's shell. */
static char *read_answer(int fd)
{
    char text[4096], *line = text;
    ssize_t n = read(fd, text, sizeof(text) - 1);

    text[n > 0 ? n : 0] = '\0';
    for (size_t i = strlen(text); i > 0 && strchr(" \t\r\n", text[i - 1]) != NULL; i--)
        text[i - 1] = '\0';
    if (strrchr(text, '\n') != NULL)
        line = strrchr(text, '\n') + 1;
    return *line != '\0' ? xy_strdup(line) : NULL;
}

/* Its own name, owned by the caller; NULL: it does not answer. */
static char *await_answer(question_t *q, double deadline)
{
    char *name = NULL;

    if (q->pid > 0 && measure_command_wait(q->pid, deadline) == 0)
        name = read_answer(q->out);
    if (q->out >= 0)
        close(q->out);
    return name;
}

/* The host that calls itself like this one; NULL: there is none yet. */
static const char *find_same(const measure_discovery_t *hosts, const char *called)
{
    for (size_t i = 0; i < hosts->called.count; i++)
        if (strcmp(XY_VEC_AT(&hosts->called, char *, i), called) == 0)
            return XY_VEC_AT(&hosts->names, char *, i);
    return NULL;
}

/* Keep a host, or say why not. It is owned here; `kept` come before it. */
static xy_status_t judge(measure_discovery_t *hosts, const char *agent, char *name, char *called,
                         size_t *kept)
{
    const char *same = called != NULL ? find_same(hosts, called) : NULL;

    if (called != NULL && same == NULL) {
        if (xy_vec_append(&hosts->called, &called) == XY_OK) {
            XY_VEC_AT(&hosts->names, char *, (*kept)++) = name;
            return XY_OK;
        }
        xy_free(called);
        xy_free(name);
        return xy_fail_memory("asking hosts");
    }
    if (called == NULL)
        xy_warn("host %s does not answer ('%s %s uname -n' fails); it is left out", name,
                agent != NULL ? agent : "ssh", name);
    else
        xy_warn("host %s is left out: it calls itself %s, and so does %s", name, called, same);
    xy_free(called);
    xy_free(name);
    return XY_OK;
}

xy_status_t measure_discover(const char *path, const char *agent, double patience,
                             measure_discovery_t *hosts)
{
    size_t count = hosts->names.count, kept = 0;
    question_t *questions = xy_calloc(count, sizeof(*questions));
    double deadline = measure_now() + patience;
    xy_status_t st = XY_OK;

    if (questions == NULL)
        return xy_fail_memory("asking hosts");
    for (size_t i = 0; i < count; i++)
        ask(agent, patience, XY_VEC_AT(&hosts->names, char *, i), &questions[i]);
    for (size_t i = 0; i < count; i++) {
        char *name = XY_VEC_AT(&hosts->names, char *, i);
        char *called = await_answer(&questions[i], deadline);

        if (st == XY_OK) {
            st = judge(hosts, agent, name, called, &kept);
        } else {
            xy_free(name);
            xy_free(called);
        }
    }
    hosts->names.count = kept;
    xy_free(questions);
    if (st == XY_OK && kept == 0)
        st = xy_fail(XY_ENOENT, "no host of %s answers", path);
    return st;
}

void measure_discovery_cleanup(measure_discovery_t *hosts)
{
    measure_words_cleanup(&hosts->names);
    measure_words_cleanup(&hosts->called);
}
