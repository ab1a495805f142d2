/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that a job spawns (mpi/dynamic/spawn_job.c): what mpiexec hands to them, and takes over. */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch/launch.h"
#include "mpi/dynamic/dynamic.h"

/* Append an option as two lines. */
static void add(xy_text_t *text, const char *option, const char *value)
{
    if (value != NULL)
        xy_text_addf(text, "%s%s\n%s", text->length > 0 ? "\n" : "", option, value);
}

char *mpi_launch_for_spawned(const mpi_launch_values_t *v)
{
    xy_text_t text = XY_TEXT_INIT;
    char seconds[32];

    xy_text_addf(&text, "%s=", XMPI_SPAWN_OPTIONS);
    snprintf(seconds, sizeof(seconds), "%gs", v->heartbeat);
    xy_text_addf(&text, "--heartbeat\n%s", seconds);
    if (v->net_plain)
        xy_text_add(&text, "\n--net-plain");
    add(&text, "--launcher", v->launcher);
    add(&text, "--net-interface", v->net_interface);
    if (text.failed)
        xy_text_cleanup(&text);
    return text.s;
}

/* The threads of the job that has started this process are bound to cores: take all of them. */
static void take_cores(void)
{
    char path[64];
    cpu_set_t all, one;
    DIR *threads;

    snprintf(path, sizeof(path), "/proc/%ld/task", (long)getppid());
    threads = opendir(path);
    CPU_ZERO(&all);
    for (const struct dirent *d; threads != NULL && (d = readdir(threads)) != NULL;)
        if (d->d_name[0] != '.' && sched_getaffinity(atoi(d->d_name), sizeof(one), &one) == 0)
            CPU_OR(&all, &all, &one);
    if (threads != NULL)
        closedir(threads);
    if (CPU_COUNT(&all) > 0)
        sched_setaffinity(0, sizeof(all), &all);
}

void mpi_launch_as_spawned(void)
{
    static const char *const of_parent[] = {"XYLEM_TRACE",     "XYLEM_REPORT",  "XYLEM_MONITOR",
                                            "XYLEM_PROCESSES", "XYLEM_MATRIX",  "XYLEM_PLACE",
                                            "XYLEM_CORES",     "XYLEM_SURVIVE", "XYLEM_WORKERS"};

    if (getenv(XMPI_PARENT) == NULL)
        return;
    for (size_t i = 0; i < sizeof(of_parent) / sizeof(of_parent[0]); i++)
        unsetenv(of_parent[i]);
    take_cores();
}
