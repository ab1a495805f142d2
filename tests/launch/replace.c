/* SPDX-License-Identifier: BSD-3-Clause */
/* exec, and ends of a rank that are not exit. */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

extern char **environ;

static int rank;
static char value[32];
static char popen_tag[] = "TAG=popen", vfork_tag[] = "TAG=vfork", spawn_tag[] = "TAG=spawn";
static char path_one[] = "PATH=bin1";

static void *later(void *unused)
{
    usleep(20000);
    printf("thread of %d\n", rank);
    return unused;
}

static void at_end(void)
{
    printf("end of %d\n", rank);
}

static void exec_by(const char *how)
{
    char sh[] = "sh", c[] = "-c", text[] = "echo replaced; exit 3";
    char *arguments[] = {sh, c, text, NULL};

    if (strcmp(how, "execl") == 0)
        execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    else if (strcmp(how, "execlp") == 0)
        execlp("sh", "sh", "-c", text, (char *)NULL);
    else if (strcmp(how, "execle") == 0)
        execle("/bin/sh", "sh", "-c", text, (char *)NULL, environ);
    else if (strcmp(how, "execv") == 0)
        execv("/bin/sh", arguments);
    else if (strcmp(how, "execvp") == 0)
        execvp("sh", arguments);
    else if (strcmp(how, "execve") == 0)
        execve("/bin/sh", arguments, environ);
    else
        syscall(SYS_execve, "/bin/sh", arguments, environ);
    printf("%d goes on: %s\n", rank, strerror(errno));
}

/* Children see the rank's environment, in whichever way they are made. */
static void children(void)
{
    char sh[] = "sh", c[] = "-c", text[] = "echo $MINE $TAG; exit 4";
    char *arguments[] = {sh, c, text, NULL};
    int status;
    pid_t pid;
    FILE *file;
    char line[64];

    snprintf(value, sizeof(value), "%d", rank);
    setenv("MINE", value, 1);
    putenv(popen_tag);
    file = popen(text, "r");
    if (fgets(line, sizeof(line), file) != NULL)
        printf("%s", line);
    status = pclose(file);
    printf("%d: pclose %d\n", rank, WEXITSTATUS(status));
    putenv(vfork_tag);
    fflush(stdout);
    pid = vfork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", text, (char *)NULL);
        _exit(99);
    }
    waitpid(pid, &status, 0);
    printf("%d: vfork %d\n", rank, WEXITSTATUS(status));
    putenv(spawn_tag);
    posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ);
    waitpid(pid, &status, 0);
    /* The PATH that is searched is the rank's, too. */
    if (rank == 1)
        putenv(path_one);
    pid = fork();
    if (pid == 0) {
        execlp("only1", "only1", (char *)NULL);
        _exit(98);
    }
    waitpid(pid, &status, 0);
    printf("%d: only1 %d\n", rank, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (strcmp(argv[1], "before") == 0)
        exec_by("execv");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strncmp(argv[1], "exec", 4) == 0 || strcmp(argv[1], "syscall") == 0) {
        if (rank == 1 || argc > 2)
            exec_by(argv[1]);
        MPI_Finalize();
        return 0;
    }
    if (strcmp(argv[1], "children") == 0)
        children();
    atexit(at_end);
    MPI_Finalize();
    if (strcmp(argv[1], "pthread_exit") == 0) {
        pthread_create(&thread, NULL, later, NULL);
        pthread_exit(NULL);
    }
    if (strcmp(argv[1], "thrd_exit") == 0)
        thrd_exit(0);
    if (strcmp(argv[1], "exit_group") == 0)
        syscall(SYS_exit_group, rank == 1 ? 5 : 0);
    if (strcmp(argv[1], "exit_thread") == 0)
        syscall(SYS_exit, rank == 1 ? 6 : 0);
    return 0;
}
