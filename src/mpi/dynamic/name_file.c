/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Published names as files of a directory: "PORT\nHOST PID\n", readable by the user alone, since
 * the name of a port has the secret of its job. A file appears whole, by a link to one that was
 * written before, and that of a process that has died on this machine may be replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/dynamic/dynamic.h"

enum { SHOWN = 80, PATH_TEXT = 4096 };

/* Shortened names are distinguished by a number. False: there is no directory. */
static bool path_of(const char *service, char path[PATH_TEXT])
{
    const char *directory = getenv("XYLEM_NAMES");
    uint64_t hash = 14695981039346656037u;
    char shown[3 * SHOWN + 1], *at = shown;

    if (!directory || !directory[0] || mpi_job->clock) /* others have another time */
        return false;
    for (const char *c = service; *c; c++) {
        bool is_plain = (*c >= '0' && *c <= '9') || ((*c | 32) >= 'a' && (*c | 32) <= 'z');

        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        if (c - service < SHOWN)
            at += snprintf(at, 4, is_plain ? "%c" : "%%%02x", (unsigned char)*c);
    }
    *at = '\0';
    return snprintf(path, PATH_TEXT, "%s/%s-%016llx", directory, shown, (unsigned long long)hash) <
           PATH_TEXT;
}

/* The whole file; false: it is none of a name. */
static bool read_file(const char *path, char port[MPI_MAX_PORT_NAME], char host[64], long *pid_p)
{
    char text[MPI_MAX_PORT_NAME + 128], *end;
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;

    if (file)
        fclose(file);
    text[size] = '\0';
    end = strchr(text, '\n');
    if (!end || end - text >= MPI_MAX_PORT_NAME || sscanf(end + 1, "%63s %ld", host, pid_p) != 2)
        return false;
    memcpy(port, text, (size_t)(end - text));
    port[end - text] = '\0';
    return true;
}

static void own_host(char host[64])
{
    if (gethostname(host, 64) != 0)
        snprintf(host, 64, "unknown");
    host[63] = '\0';
}

/* Is it of a process that has died? */
static bool is_left_over(const char *path)
{
    char port[MPI_MAX_PORT_NAME], host[64], own[64];
    long pid;

    own_host(own);
    return read_file(path, port, host, &pid) && strcmp(host, own) == 0 && pid > 0 &&
           kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static bool write_file(const char *path, const char *port)
{
    char host[64];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool is_written = fd >= 0;

    own_host(host);
    if (is_written)
        is_written = dprintf(fd, "%s\n%s %ld\n", port, host, (long)getpid()) > 0;
    if (fd >= 0)
        is_written = close(fd) == 0 && is_written;
    return is_written;
}

bool dynamic_name_file_write(const char *service, const char *port, char why[DYNAMIC_NAME_WHY])
{
    char path[PATH_TEXT], made[PATH_TEXT + 48];
    static _Atomic unsigned count;
    bool is_there;

    why[0] = '\0';
    if (!path_of(service, path))
        return false;
    snprintf(made, sizeof made, "%s.%ld.%u", path, (long)getpid(), count++);
    if (!write_file(made, port)) {
        snprintf(why, DYNAMIC_NAME_WHY, "cannot write %.200s: %s; XYLEM_NAMES must be a directory",
                 made, strerror(errno));
        return false;
    }
    is_there = link(made, path) == 0;
    if (!is_there && errno == EEXIST && is_left_over(path)) {
        unlink(path);
        is_there = link(made, path) == 0;
    }
    if (!is_there)
        snprintf(why, DYNAMIC_NAME_WHY, "the name '%.80s' is taken by another job: %.200s", service,
                 path);
    unlink(made);
    return is_there;
}

bool dynamic_name_file_read(const char *service, char port[MPI_MAX_PORT_NAME])
{
    char path[PATH_TEXT], host[64];
    long pid;

    return path_of(service, path) && !is_left_over(path) && read_file(path, port, host, &pid);
}

void dynamic_name_file_remove(const char *service, const char *port)
{
    char path[PATH_TEXT], found[MPI_MAX_PORT_NAME], host[64];
    long pid;

    if (path_of(service, path) && read_file(path, found, host, &pid) && strcmp(found, port) == 0)
        unlink(path);
}
