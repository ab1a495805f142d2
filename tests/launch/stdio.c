/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard streams of ranks, function by function. */
#include <err.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <locale.h>
#include <mpi.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

static int rank;

/* Each rank's streams lead to its own files; the others' stay. */
static void reopen(void)
{
    char name[32];
    FILE *before = stdout;

    printf("before %d\n", rank);
    snprintf(name, sizeof(name), "out.%d", rank);
    if (rank != 0 && freopen(name, "w", stdout) != before)
        printf("freopen of stdout: %s\n", strerror(errno));
    snprintf(name, sizeof(name), "err.%d", rank);
    if (rank != 0 && freopen(name, "w", stderr) == NULL)
        printf("freopen of stderr: %s\n", strerror(errno));
    printf("printed by %d\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    putc_unlocked('x', stdout);
    puts(" and more");
    fprintf(stderr, "complained by %d\n", rank);
    if (rank != 0)
        dprintf(fileno(stdout), "%s", "");
    if (rank == 1 && (ftell(stdout) != 24 || fileno(stdout) < 3))
        fprintf(stderr, "ftell %ld fileno %d\n", ftell(stdout), fileno(stdout));
    if (rank == 1 && fflush(stdout) == 0 && write(STDOUT_FILENO, "written\n", 8) != 8)
        fprintf(stderr, "write\n");
    if (rank == 2 && freopen("out.2", "a", stdout) != NULL)
        puts("appended");
    if (rank == 3) {
        if (freopen("no/such/directory", "w", stdout) != NULL || errno != ENOENT)
            fprintf(stderr, "freopen of nothing: %s\n", strerror(errno));
        if (printf("lost\n") > 0 && fflush(stdout) == 0)
            fprintf(stderr, "a closed stream takes text\n");
    }
}

/* freopen(NULL, ...) keeps the file. */
static void reopen_same(void)
{
    if (freopen(NULL, "w", stdout) != stdout)
        fprintf(stderr, "freopen(NULL, \"w\"): %s\n", strerror(errno));
    if (freopen(NULL, "r", stderr) != NULL)
        fprintf(stderr, "standard error can be read\n");
    printf("same %d\n", rank);
}

/* Standard input from a file of the rank's own. */
static void reopen_input(void)
{
    char line[32] = "";
    FILE *file;

    snprintf(line, sizeof(line), "in.%d", rank);
    file = fopen(line, "w");
    fprintf(file, "%d\nline of %d\n", 10 * rank, rank);
    fclose(file);
    if (freopen(line, "r", stdin) != stdin)
        printf("freopen of stdin: %s\n", strerror(errno));
    if (scanf("%d\n", &(int){0}) != 1 || fgets(line, sizeof(line), stdin) == NULL)
        strcpy(line, "nothing\n");
    printf("%d has %s", rank, line);
    rewind(stdin);
    printf("%d again %c\n", rank, getchar_unlocked());
}

static void wide(void)
{
    wchar_t word[16] = L"";

    setlocale(LC_ALL, "C.UTF-8");
    if (fwide(stdout, 0) != 0 || fwide(stdout, 1) != 1)
        fprintf(stderr, "fwide\n");
    if (wprintf(L"%d: \u00fc%ls", rank, L"ml") < 0 || putwchar(L'\u00e4') != L'\u00e4' ||
        fputws(L"ut\n", stdout) < 0 || fwprintf(stderr, L"%d\u20ac\n", rank) < 0)
        fprintf(stderr, "wide output fails\n");
    if (rank == 0) {
        if (wscanf(L"%15ls", word) != 1 || fgetwc(stdin) != L'\n' || getwchar() != L'\u00f6')
            fprintf(stderr, "wide input fails\n");
        while (getwchar() != WEOF)
            ;
    } else if (getwchar() != WEOF) {
        fprintf(stderr, "there is wide input\n");
    }
    wprintf(L"%d got %ls, end %d\n", rank, word, feof(stdin) != 0);
}

/* The output of a child made by fork is its own, and appears once. */
static void children(void)
{
    pid_t pid;

    setvbuf(stdout, NULL, _IOFBF, 4096);
    printf("kept by %d\n", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        fflush(stdout);
        pid = fork();
        if (pid == 0) {
            usleep(1000);
            printf("child");
            exit(0);
        }
        waitpid(pid, NULL, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Functions that name the program, in lines of the rank's. */
static void complain(void)
{
    errno = ENOENT;
    warn("w%d", rank);
    warnx("x%d", rank);
    error(0, EACCES, "e%d", rank);
    error_at_line(0, 0, "file", 12, "l%d", rank);
    errno = ENOENT;
    perror("p");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        errx(7, "the end");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Errors of output are seen by the program as well. */
static void full(void)
{
    int n = printf("lost\n");

    fprintf(stderr, "%d %s %s\n", rank, n < 0 || fflush(stdout) != 0 ? "failed" : "printed",
            ferror(stdout) ? "error" : "fine");
}

static void closed(void)
{
    char byte;
    int c = getchar();

    fprintf(stderr, "%d read %d, %zd\n", rank, c, rank == 0 ? read(0, &byte, 1) : -1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"reopen", reopen}, {"same", reopen_same},  {"input", reopen_input},
               {"wide", wide},     {"children", children}, {"complain", complain},
               {"full", full},     {"closed", closed}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(argv[1], all[i].name) == 0)
            all[i].run();
    MPI_Finalize();
    return 0;
}
