/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executables rarely export their functions, so the dynamic linker knows little. The line is in the
 * program's debugging information, which addr2line of the compiler's own tools reads: reports are
 * rare and end the job, so a process for each place costs nothing that matters.
 */
#include "mpi/runtime/caller.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_SIZE = 160, REMEMBERED = 32 };

/* The places described last. */
static struct {
    size_t offset;
    uint64_t program; /* a hash of its name */
    char text[TEXT_SIZE];
} remembered[REMEMBERED];
static int remembered_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; text != NULL && *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

/* The first line that a command prints; false: it could not run or failed. */
static bool first_line(char *const argv[], char *line, size_t size)
{
    posix_spawn_file_actions_t actions;
    char *empty[] = {NULL};
    int ends[2], status;
    size_t length = 0;
    ssize_t n;
    pid_t pid;
    bool started;

    if (pipe(ends) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    started = posix_spawn(&pid, argv[0], &actions, NULL, argv, empty) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (started && length < size - 1 &&
           (n = read(ends[0], line + length, size - 1 - length)) > 0)
        length += (size_t)n;
    close(ends[0]);
    line[length] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return started && waitpid(pid, &status, 0) == pid && status == 0 && line[0] != '\0';
}

/* "ring.c:25"; false: the program has no line numbers, or they cannot be read. */
static bool find_line(const char *program, size_t offset, char *line, size_t size)
{
    char number[32];
    char command[] = "/usr/bin/addr2line", basename_only[] = "-s", of[] = "-e";
    char *argv[] = {command, basename_only, of, (char *)(uintptr_t)program, number, NULL};

    snprintf(number, sizeof(number), "0x%zx", offset);
    if (!first_line(argv, line, size))
        return false;
    line[strcspn(line, " ")] = '\0'; /* " (discriminator 2)" */
    return line[0] != '?' && strchr(line, ':') != NULL && strstr(line, ":?") == NULL;
}

/* As mpi_caller_describe, for an address that is known to belong to `info`. */
static void describe(const char *address, const Dl_info *info, char *text, size_t size)
{
    size_t offset = (size_t)(address - (const char *)info->dli_fbase);
    uint64_t program = hash_of(info->dli_fname);
    char line[TEXT_SIZE - 4];

    for (int i = 0; i < remembered_count; i++)
        if (remembered[i].offset == offset && remembered[i].program == program) {
            snprintf(text, size, "%s", remembered[i].text);
            return;
        }
    if (info->dli_fname != NULL && find_line(info->dli_fname, offset, line, sizeof(line)))
        snprintf(text, size, "at %s", line);
    else if (info->dli_sname != NULL)
        snprintf(text, size, "in %s+0x%zx", info->dli_sname,
                 (size_t)(address - (const char *)info->dli_saddr));
    else
        snprintf(text, size, "at offset 0x%zx of the program", offset);
    if (remembered_count < REMEMBERED) {
        remembered[remembered_count].offset = offset;
        remembered[remembered_count].program = program;
        snprintf(remembered[remembered_count++].text, TEXT_SIZE, "%s", text);
    }
}

void mpi_caller_describe(const void *site, char *text, size_t size)
{
    const char *address;
    Dl_info info;

    text[0] = '\0';
    if (site == NULL)
        return;
    address = (const char *)site - 1; /* in the call, not after it */
    if (dladdr(address, &info) == 0 || info.dli_fbase == NULL)
        return;
    pthread_mutex_lock(&lock);
    describe(address, &info, text, size);
    pthread_mutex_unlock(&lock);
}
