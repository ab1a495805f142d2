/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why no rank can move, where ranks are in several processes: each process says what its ranks wait
 * for, in lines of text behind its report, and process 0 puts them together.
 *
 *   3 0 0 0 0<TAB>rank 3 waits for a message with tag 7 from rank 0<TAB>
 *   M 5 0 1 2 3
 *
 * A rank, the one that it points at, whether it has called MPI_Finalize, takes a message from any
 * rank, waits in a collective (of which communicator); then sentences about it. M: the members of a
 * communicator in whose collective some wait.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/check/check.h"
#include "mpi/check/wait.h"
#include "mpi/object/object.h"

static bool is_collective(const check_wait_t *wait)
{
    return wait->kind == CHECK_WAIT_COLLECTIVE && !wait->is_part;
}

/* `finds`: whom it waits for in a collective is found out by the one that reads it. */
static void write_rank(FILE *out, const check_graph_t *graph, int r, bool finds)
{
    const check_wait_t *wait = &graph->wait[r];
    char link[CHECK_SENTENCE] = "", other[CHECK_SENTENCE] = "", *tail;

    if (wait->kind != CHECK_WAIT_NONE) {
        check_graph_add_link(link, graph, r);
        check_graph_add_other(other, graph, r);
    }
    tail = is_collective(wait) ? strstr(link, " for any rank") : NULL;
    if (tail != NULL)
        *tail = '\0';
    fprintf(out, "%d %d %d %d %u\t%s\t%s\n", r, graph->next[r],
            check_is_ending(&graph->job->ranks[r]),
            wait->kind == CHECK_WAIT_RECEIVE && wait->peer == MPI_ANY_SOURCE,
            finds && is_collective(wait) ? wait->comm->context + 1 : 0, link, other);
}

static void write_members(FILE *out, const mpi_comm_t *comm)
{
    fprintf(out, "M %u", comm->context + 1);
    for (int i = 0; i < comm->size; i++)
        fprintf(out, " %d", mpi_comm_world_rank(comm, i));
    fputc('\n', out);
}

/* Write what the ranks of this process wait for, and the members of communicators in whose
 * collectives they wait. */
static void write_graph(FILE *out, const check_graph_t *graph)
{
    uint32_t last = 0;

    for (int r = 0; r < graph->job->size; r++) {
        const check_wait_t *wait = &graph->wait[r];

        if (!mpi_rank_is_here(graph->job, r) || graph->job->ranks[r].worker == NULL)
            continue;
        write_rank(out, graph, r, true);
        if (is_collective(wait) && wait->comm->context + 1 != last) {
            write_members(out, wait->comm);
            last = wait->comm->context + 1;
        }
    }
}

void check_told_write(FILE *out)
{
    check_graph_t graph;

    if (check_graph_init(&graph, mpi_job)) {
        check_graph_fill(&graph);
        write_graph(out, &graph);
    }
    check_graph_cleanup(&graph);
}

void check_told_write_knot(FILE *out, const check_graph_t *graph, const bool *stuck)
{
    for (int r = 0; r < graph->job->size; r++)
        if (stuck[r] && mpi_rank_is_here(graph->job, r))
            write_rank(out, graph, r, false);
}

/* ---- Reading ---- */

static long next_number(const char **at)
{
    char *end;
    long value = strtol(*at, &end, 10);

    *at = end;
    return value;
}

/* Read what a rank of another process waits for; lines that are cut or wrong are ignored. */
static void read_rank(check_graph_t *graph, const char *line)
{
    const char *at = line;
    long r = next_number(&at), next = next_number(&at);
    check_told_t told = {.is_known = true};
    char *other;

    told.is_ending = next_number(&at) != 0;
    told.takes_any = next_number(&at) != 0;
    told.collective = (uint32_t)next_number(&at);
    if (*at != '\t' || r < 0 || r >= graph->job->size || next >= graph->job->size ||
        graph->told[r].is_known)
        return;
    told.text = xy_strdup(at + 1);
    other = told.text != NULL ? strchr(told.text, '\t') : NULL;
    if (other == NULL) { /* cut */
        xy_free(told.text);
        return;
    }
    *other = '\0';
    told.link = told.text;
    told.other = other + 1;
    graph->told[r] = told;
    graph->next[r] = (int)next;
}

/* Let ranks that wait in a collective point at the first member that does not. */
static void read_members(check_graph_t *graph, const char *line)
{
    const check_told_t *told = graph->told;
    char *at;
    unsigned long context = strtoul(line + 2, &at, 10);
    int missing = -1;

    while (*at == ' ' && missing < 0) {
        long r = strtol(at, &at, 10);

        if (r < 0 || r >= graph->job->size || !told[r].is_known)
            return;
        if (told[r].collective != context || told[r].is_ending)
            missing = (int)r;
    }
    for (int r = 0; r < graph->job->size; r++)
        if (told[r].is_known && told[r].collective == context && !told[r].is_ending)
            graph->next[r] = missing;
}

static void for_lines(check_graph_t *graph, char *text,
                      void (*fn)(check_graph_t *graph, const char *line), bool has_members)
{
    char *rest = text;

    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        if ((line[0] == 'M') == has_members && rest != NULL) /* else it is cut */
            fn(graph, line);
        if (rest != NULL)
            rest[-1] = '\n'; /* it is read twice */
    }
}

bool check_told_read(check_graph_t *graph, char *own, char *const *reports)
{
    const mpi_job_t *job = graph->job;

    graph->told = xy_calloc((size_t)job->numbers, sizeof(*graph->told));
    for (int pass = 0; pass < 2 && graph->told != NULL && own != NULL; pass++)
        for (int p = 0; p < job->processes; p++) {
            char *text = p == job->process ? own : reports[p];

            if (text != NULL && p != job->process)
                text = strchr(text, CHECK_TOLD_MARK);
            if (text != NULL)
                for_lines(graph, text + (p != job->process), pass == 0 ? read_rank : read_members,
                          pass == 1);
        }
    for (int r = 0; graph->told != NULL && r < job->numbers; r++)
        if (graph->told[r].link == NULL)
            graph->told[r].link = graph->told[r].other = "";
    return graph->told != NULL;
}

void check_told_cleanup(check_graph_t *graph)
{
    for (int r = 0; graph->told != NULL && r < graph->job->numbers; r++)
        xy_free(graph->told[r].text);
    xy_free(graph->told);
    graph->told = NULL;
}
