/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMI-1 over the connection that the launcher has left in this process: Hydra (MPICH, Intel MPI)
 * and Slurm's plugin pmi2. Lines of NAME=VALUE in both directions, each request with one answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/pmi_protocol.h"

enum { LINE = 2048 };

bool pmi_wire_field(const char *line, const char *name, char *value, size_t room)
{
    size_t length = strlen(name);

    for (const char *at = line; *at != '\0'; at += strcspn(at, " \n"), at += strspn(at, " \n")) {
        size_t n;

        if (strncmp(at, name, length) != 0 || at[length] != '=')
            continue;
        at += length + 1;
        n = strcspn(at, " \n");
        if (n >= room)
            return false;
        memcpy(value, at, n);
        value[n] = '\0';
        return true;
    }
    return false;
}

static bool is_there(void)
{
    return pmi_number("PMI_FD") >= 0 && pmi_number("PMI_RANK") >= 0 && pmi_number("PMI_SIZE") > 0;
}

/* Sends a line; false: the launcher is gone. */
static bool say(const xy_pmi_t *pmi, const char *line)
{
    size_t left = strlen(line);

    while (left > 0) {
        ssize_t n = send(pmi->fd, line, left, MSG_NOSIGNAL);

        if (n < 0 && errno == ENOTSOCK)
            n = write(pmi->fd, line, left);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            line += n;
            left -= (size_t)n;
        }
    }
    return true;
}

/* Reads a line; false: the launcher is gone, or what it says is no line. */
static bool hear(const xy_pmi_t *pmi, char line[LINE])
{
    size_t got = 0;

    while (got + 1 < LINE) {
        ssize_t n = read(pmi->fd, line + got, 1);

        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        if (n > 0 && line[got++] == '\n') {
            line[got] = '\0';
            return true;
        }
    }
    return false;
}

/* Asks, and reads the answer, which is of that kind and reports no error. */
static bool ask(const xy_pmi_t *pmi, const char *request, const char *kind, char answer[LINE])
{
    char word[64];

    return say(pmi, request) && hear(pmi, answer) &&
           pmi_wire_field(answer, "cmd", word, sizeof(word)) && strcmp(word, kind) == 0 &&
           (!pmi_wire_field(answer, "rc", word, sizeof(word)) || strcmp(word, "0") == 0);
}

/* Connect to the launcher by the PMI-1 protocol on the descriptor PMI_FD. */
static xy_status_t open_wire(xy_pmi_t *pmi)
{
    char answer[LINE], version[16] = "";

    pmi->fd = (int)pmi_number("PMI_FD");
    pmi->rank = (int)pmi_number("PMI_RANK");
    pmi->size = (int)pmi_number("PMI_SIZE");
    if (fcntl(pmi->fd, F_GETFD) < 0)
        return xy_fail(XY_EIO,
                       "PMI_FD is %d, which is not open: start the program by the launcher "
                       "itself, or unset PMI_FD",
                       pmi->fd);
    fcntl(pmi->fd, F_SETFD, FD_CLOEXEC);
    if (!ask(pmi, "cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init", answer))
        return xy_fail(XY_EIO, "the launcher that started this process does not speak PMI-1; set "
                               "XYLEM_PMI to another interface");
    if (!pmi_wire_field(answer, "pmi_version", version, sizeof(version)) ||
        strcmp(version, "1") != 0)
        return xy_fail(XY_EUNSUPPORTED,
                       "the launcher that started this process speaks PMI-%s, and "
                       "not PMI-1; set XYLEM_PMI to another interface",
                       version);
    if (!ask(pmi, "cmd=get_my_kvsname\n", "my_kvsname", answer) ||
        !pmi_wire_field(answer, "kvsname", pmi->space, sizeof(pmi->space)))
        return xy_fail(XY_EIO, "the launcher that started this process has no key-value space");
    return XY_OK;
}

static bool put(xy_pmi_t *pmi, const char *key, const char *value)
{
    char line[LINE], answer[LINE];

    snprintf(line, sizeof(line), "cmd=put kvsname=%s key=%s value=%s\n", pmi->space, key, value);
    return ask(pmi, line, "put_result", answer);
}

static bool fence(xy_pmi_t *pmi)
{
    char answer[LINE];

    return ask(pmi, "cmd=barrier_in\n", "barrier_out", answer);
}

static bool get(xy_pmi_t *pmi, int rank, const char *key, char value[PMI_VALUE + 1])
{
    char line[LINE], answer[LINE];

    (void)rank;
    snprintf(line, sizeof(line), "cmd=get kvsname=%s key=%s\n", pmi->space, key);
    return ask(pmi, line, "get_result", answer) &&
           pmi_wire_field(answer, "value", value, PMI_VALUE + 1);
}

static void abort_wire(xy_pmi_t *pmi, int code)
{
    char line[64];

    snprintf(line, sizeof(line), "cmd=abort exitcode=%d\n", code);
    say(pmi, line);
}

static void close_wire(xy_pmi_t *pmi)
{
    char answer[LINE];

    ask(pmi, "cmd=finalize\n", "finalize_ack", answer);
    close(pmi->fd);
}

const pmi_protocol_t pmi_wire = {
    .name = "pmi1",
    .is_there = is_there,
    .open = open_wire,
    .put = put,
    .fence = fence,
    .get = get,
    .abort = abort_wire,
    .close = close_wire,
    .describe = "PMI-1 over the connection of PMI_FD: mpiexec.hydra, srun --mpi=pmi2",
};
