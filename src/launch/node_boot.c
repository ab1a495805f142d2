/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that a launcher has started on some host: find the head, get the command line, the
 * directory and the environment of the user's mpiexec from it, and become what that would be here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch_node.h"

enum { MOST_PROCESSES = 1 << 16, CONNECT_SECONDS = 60 };

/* The number of this process: as given, or by the launcher that has started several. */
static bool own_number(const char *text, long *number_p)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID", NULL};
    char word[16];

    if (*text != '*') {
        snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, " "), text);
        return xy_parse_long(word, number_p);
    }
    for (int i = 0; names[i] != NULL; i++)
        if (getenv(names[i]) != NULL)
            return xy_parse_long(getenv(names[i]), number_p);
    return false;
}

/* Variables that the launcher has set for this process stay; the others are the user's. */
static bool is_of_launcher(const char *entry)
{
    static const char *const prefixes[] = {"OMPI_",  "PMI_",  "PMIX_", "PRTE_",
                                           "HYDRA_", "HYDI_", "MPIR_", "MPIEXEC_",
                                           "SLURM_", "UCX_",  NULL};

    for (int i = 0; prefixes[i] != NULL; i++)
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static xy_status_t fail_there(xy_channel_t *link, const char *what, const char *path)
{
    char *line = xy_sprintf("%s '%s': %s", what, path, strerror(errno));

    if (line != NULL)
        xy_channel_send(link, NODE_SAY, line, strlen(line));
    xy_free(line);
    xy_channel_send(link, NODE_EXIT, "1\0001", 4);
    return XY_EIO;
}

/* Fields: the directory, the number of arguments and they, then the environment. */
static xy_status_t become(xy_channel_t *link, const xy_frame_t *frame)
{
    node_fields_t fields = node_fields(frame);
    const char *directory = node_field(&fields), *entry;
    xy_vec_t argv = XY_VEC_INIT(const char *), environment = XY_VEC_INIT(const char *);
    const char *secret;
    char number[32];
    long argc = 0;

    if (directory == NULL || !node_field_number(&fields, 1, 1 << 20, &argc))
        return xy_fail(XY_EPARSE, "cannot understand the job sent by mpiexec; do all parts "
                                  "of Xylem have the same version?");
    for (long i = 0; i <= argc; i++) {
        const char *word = i < argc ? node_field(&fields) : NULL;

        if ((word == NULL && i < argc) || xy_vec_append(&argv, &word) != XY_OK)
            return xy_fail_memory("starting a process");
    }
    for (char **own = environ; *own != NULL; own++)
        if (is_of_launcher(*own) && xy_vec_append(&environment, own) != XY_OK)
            return xy_fail_memory("starting a process");
    while ((entry = node_field(&fields)) != NULL)
        if (!is_of_launcher(entry) && xy_vec_append(&environment, &entry) != XY_OK)
            return xy_fail_memory("starting a process");
    entry = node_link_text(link, number, sizeof(number))
                ? xy_sprintf("%s=%s", XMPI_NODE_VARIABLE, number)
                : NULL;
    secret = xy_sprintf("%s=%s", XMPI_NODE_SECRET, getenv(XMPI_NODE_SECRET));
    if (entry == NULL || xy_vec_append(&environment, &entry) != XY_OK || secret == NULL ||
        xy_vec_append(&environment, &secret) != XY_OK || xy_vec_push(&environment) == NULL)
        return xy_fail_memory("starting a process");
    if (chdir(directory) != 0)
        return fail_there(link, "cannot change to the directory", directory);
    fcntl(link->fd, F_SETFL, 0);
    fcntl(link->fd, F_SETFD, 0);
    execve("/proc/self/exe", argv.data, environment.data);
    return fail_there(link, "cannot execute", "/proc/self/exe");
}

xy_status_t mpi_node_boot(const char *where)
{
    const char *text = getenv(XMPI_NODE_SECRET), *card = strchr(where, ' '), *head;
    uint8_t secret[XY_SECRET_BYTES];
    char why[XY_WHY_SIZE], host[256] = "";
    xy_channel_t link;
    xy_seal_t *seal;
    xy_frame_t frame;
    long number, count;
    int fd;
    xy_status_t st;

    /* "NUMBER COUNT PORT ADDRESS...": the head is behind all processes. */
    if (card == NULL || text == NULL || !xy_secret_read(text, secret) ||
        !own_number(where, &number) || (head = strchr(card + 1, ' ')) == NULL ||
        (count = strtol(card + 1, NULL, 10)) <= 0 || count > MOST_PROCESSES)
        return xy_fail(XY_EUSAGE,
                       "%s is set to '%s', which is for processes that mpiexec starts; unset it",
                       XMPI_NODE_VARIABLE, where);
    gethostname(host, sizeof(host) - 1);
    fd = xy_card_connect(head + 1, secret, (int)count, (int)number,
                         xy_clock_seconds(CLOCK_MONOTONIC) + CONNECT_SECONDS, &seal, why);
    if (fd < 0)
        return xy_fail(XY_EIO, "%s cannot connect to mpiexec (port and addresses: %s): %s", host,
                       head + 1, why);
    if (!xy_channel_init(&link, fd, seal))
        return xy_fail_memory("connecting to mpiexec");
    st = xy_channel_await(&link, CONNECT_SECONDS, &frame) == XY_CHANNEL_FRAME &&
                 frame.kind == NODE_START
             ? XY_OK
             : xy_fail(XY_EIO, "%s: the mpiexec that started this process has ended", host);
    return st == XY_OK ? become(&link, &frame) : st;
}
