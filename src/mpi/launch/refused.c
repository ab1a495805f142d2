/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of the job that turn out to be MPI programs: a wrapper, a script or an interpreter
 * stands between mpiexec and the program. What to type instead is found in the command line.
 */
#include "mpi/launch/refused.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "mpi/launch/launch.h"

/* The kernel chooses the name: an abstract one, which leaves no file behind. */
char *mpi_refused_open(int *fd_p)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t size = sizeof(name);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;

    *fd_p = fd;
    if (fd < 0)
        return xy_strdup("process:");
    if (bind(fd, (struct sockaddr *)&name, sizeof(sa_family_t)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) != 0 ||
        getsockname(fd, (struct sockaddr *)&name, &size) != 0) {
        close(fd);
        *fd_p = -1;
        return xy_strdup("process:");
    }
    return xy_sprintf("process:%.*s", (int)(size - offsetof(struct sockaddr_un, sun_path) - 1),
                      name.sun_path + 1);
}

/* A message of this user; its size, or 0. */
static size_t receive(int fd, char *text, size_t size)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec piece = {.iov_base = text, .iov_len = size - 1};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    struct ucred sender;

    if (header == NULL || header->cmsg_type != SCM_CREDENTIALS)
        return 0;
    memcpy(&sender, CMSG_DATA(header), sizeof(sender));
    if (sender.uid != getuid())
        return 0;
    text[n] = '\0';
    return (size_t)n;
}

static bool is_same_file(const char *a, const char *b)
{
    char *first = realpath(a, NULL), *second = realpath(b, NULL);
    bool is_same = first != NULL && second != NULL && strcmp(first, second) == 0;

    free(first);
    free(second);
    return is_same;
}

/* The argument that is the program; 0: none is. */
static int find_argument(const mpi_part_t *part, const char *file)
{
    for (int i = 1; i < part->argc; i++) {
        char *path = NULL;
        bool is_found = is_same_file(part->argv[i], file);

        if (!is_found && strchr(part->argv[i], '/') == NULL)
            path = mpi_launch_search(part->argv[i]);
        is_found |= path != NULL && is_same_file(path, file);
        xy_free(path);
        if (is_found)
            return i;
    }
    return 0;
}

static void add_argument(xy_text_t *text, const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./=:,+@%^";

    if (argument[0] != '\0' && argument[strspn(argument, plain)] == '\0') {
        xy_text_add(text, argument);
        return;
    }
    xy_text_add(text, "'");
    for (; *argument != '\0'; argument++)
        if (*argument == '\'')
            xy_text_add(text, "'\\''");
        else
            xy_text_add_bytes(text, argument, 1);
    xy_text_add(text, "'");
}

static void add_arguments(xy_text_t *text, const mpi_part_t *part, int from, int to)
{
    for (int i = from; i < to; i++) {
        add_argument(text, part->argv[i]);
        if (i + 1 < to)
            xy_text_add(text, " ");
    }
}

/* "valgrind -q ./a.out": the program is an argument, and so the wrapper can run mpiexec. */
static void advise_wrapper(xy_text_t *text, const mpi_part_t *part, int program)
{
    xy_text_addf(text,
                 "%s runs %s as %d processes, each of which would be a job of its own; type: ",
                 part->argv[0], part->argv[program], part->count);
    add_arguments(text, part, 0, program);
    xy_text_addf(text, " mpiexec -n %d ", part->count);
    add_arguments(text, part, program, part->argc);
}

/* An interpreter, perhaps behind a script of the same name that chooses the version. */
static bool is_itself(const mpi_part_t *part, const char *file, const char *name)
{
    return is_same_file(part->path, file) || strcmp(basename(part->argv[0]), basename(name)) == 0;
}

static void advise(xy_text_t *text, const mpi_part_t *part, const char *file, const char *name)
{
    int program = find_argument(part, file);

    if (program > 0)
        advise_wrapper(text, part, program);
    else if (is_itself(part, file, name))
        xy_text_addf(text,
                     "%s loads MPI while it runs, as %d processes, each of which would be a job of "
                     "its own; several ranks need a program that is linked with mpicc or mpicxx "
                     "(one rank runs: mpiexec -n 1)",
                     part->argv[0], part->count);
    else
        xy_text_addf(text,
                     "%s runs %s as %d processes, each of which would be a job of its own; start "
                     "%s without mpiexec, and in it write: mpiexec -n %d %s",
                     part->argv[0], name, part->count, part->argv[0], part->count, name);
}

/* Several programs: what stands before one of them cannot stand before mpiexec. */
static void advise_several(xy_text_t *text, const xy_vec_t *parts, const char *name)
{
    const mpi_part_t *last = &XY_VEC_AT(parts, mpi_part_t, parts->count - 1);

    xy_text_addf(text,
                 "%s is one of %d processes, each of which would be a job of its own; name the MPI "
                 "programs themselves: mpiexec -n N PROGRAM : -n N PROGRAM",
                 name, last->first + last->count);
}

bool mpi_refused_take(int fd, const xy_vec_t *parts)
{
    char message[8192], *file, *name;
    size_t size = receive(fd, message, sizeof(message)), used;
    xy_text_t text = XY_TEXT_INIT;

    if (size == 0)
        return false;
    file = message;
    used = strlen(file) + 1;
    name = used < size ? message + used : file;
    if (parts->count > 1)
        advise_several(&text, parts, name);
    else
        advise(&text, &XY_VEC_AT(parts, mpi_part_t, 0), file, name);
    if (!text.failed)
        mpi_launch_say("%s", text.s);
    xy_text_cleanup(&text);
    return true;
}
