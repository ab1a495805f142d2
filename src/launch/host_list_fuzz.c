/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists and files of hosts from anywhere: an error, or names that can be arguments of a command. */
#include <stdlib.h>
#include <string.h>

#include "launch/host_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static void check(const mpi_hosts_t *hosts)
{
    for (size_t i = 0; i < hosts->count; i++)
        if (hosts->all[i].name[0] == '-' || hosts->all[i].name[0] == '\0' ||
            strpbrk(hosts->all[i].name, " \t\n\"'`$;&|<>()\\/*?") != NULL ||
            hosts->all[i].slots < 0)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mpi_hosts_t hosts = {0};
    char *text;

    if (size < 1 || size > 500)
        return 0;
    text = malloc(size);
    if (text == NULL)
        abort();
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    xy_error_handler_set(ignore, NULL);
    if (data[0] % 3 == 0)
        mpi_hosts_add_list(&hosts, text, "list");
    else if (data[0] % 3 == 1)
        mpi_hosts_add_file(&hosts, text, "file");
    else
        mpi_hosts_add_slurm(&hosts, text, strchr(text, ' '));
    check(&hosts);
    mpi_hosts_cleanup(&hosts);
    free(text);
    return 0;
}
