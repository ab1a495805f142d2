/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of a job through a launcher. There are two sorts: an agent is started once for each
 * host and runs a shell there (ssh HOST /bin/sh); the launcher of an MPI or of a batch system is
 * started once and starts all.
 *
 * What a process needs to find the head is in its environment. The secret is in no command line,
 * where others would read it: agents get a script on their standard input.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/head.h"

/* Options of launchers to start one process per host. %n: processes; %f: the file of hosts. */
typedef struct {
    const char *name;         /* beginning of the last part of its path */
    const char *here, *there; /* words for processes on this machine; for hosts */
    const char *each;         /* ... for a process on each line of the file; NULL: it cannot */
    const char *line;         /* of the file of hosts */
} launcher_t;

static const launcher_t launchers[] = {
    {"srun", "--ntasks=%n --export=ALL --cpu-bind=none --mpi=none",
     "--nodes=%n --ntasks=%n --ntasks-per-node=1 --export=ALL --cpu-bind=none --nodelist=%f", NULL,
     "%s\n"},
    {"mpiexec.hydra", "-n %n -genvall", "-n %n -ppn 1 -f %f -genvall", "-n %n -f %f -genvall",
     "%s:1\n"},
    {"mpiexec.mpich", "-n %n -genvall", "-n %n -ppn 1 -f %f -genvall", "-n %n -f %f -genvall",
     "%s:1\n"},
    {"mpirun.mpich", "-n %n -genvall", "-n %n -ppn 1 -f %f -genvall", "-n %n -f %f -genvall",
     "%s:1\n"},
    {"mpirun", "-n %n --oversubscribe --bind-to none -x XYLEM_NODE -x XYLEM_NODE_SECRET",
     "-n %n --hostfile %f --map-by ppr:1:node --bind-to none -x XYLEM_NODE -x XYLEM_NODE_SECRET",
     "-n %n --hostfile %f --map-by slot --bind-to none -x XYLEM_NODE -x XYLEM_NODE_SECRET",
     "%s slots=1\n"},
    {"orterun", "-n %n --oversubscribe --bind-to none -x XYLEM_NODE -x XYLEM_NODE_SECRET",
     "-n %n --hostfile %f --map-by ppr:1:node --bind-to none -x XYLEM_NODE -x XYLEM_NODE_SECRET",
     "-n %n --hostfile %f --map-by slot --bind-to none -x XYLEM_NODE -x XYLEM_NODE_SECRET",
     "%s slots=1\n"},
    {0}};

enum { MOST_WORDS = 64 };

typedef struct {
    char *words[MOST_WORDS + 1];
    int count;
    bool failed;
} words_t;

static void push(words_t *w, const char *word, size_t length)
{
    char *copy = w->count < MOST_WORDS ? xy_strndup(word, length) : NULL;

    if (copy == NULL)
        w->failed = true;
    else
        w->words[w->count++] = copy;
}

/* Words of a text, with what stands for something in its place. */
static void push_all(words_t *w, const char *text, int n, const char *file)
{
    while (*(text += strspn(text, " ")) != '\0') {
        size_t length = strcspn(text, " ");
        const char *percent = memchr(text, '%', length);
        char *word = NULL;

        if (percent == NULL)
            push(w, text, length);
        else if (percent[1] == 'n')
            word = xy_sprintf("%.*s%d", (int)(percent - text), text, n);
        else
            word = xy_sprintf("%.*s%s", (int)(percent - text), text, file);
        if (percent != NULL && word != NULL)
            push(w, word, strlen(word));
        else if (percent != NULL)
            w->failed = true;
        xy_free(word);
        text += length;
    }
}

static void words_cleanup(words_t *w)
{
    for (int i = 0; i < w->count; i++)
        xy_free(w->words[i]);
}

/* The path of this executable, which is expected at the same place everywhere. */
static char *own_path(void)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

    return n > 0 ? xy_strndup(path, (size_t)n) : NULL;
}

/* Starts it with `input` on its standard input ("": none). */
static xy_status_t start(words_t *w, const char *input, pid_t *pid_p)
{
    int ends[2];

    if (w->failed && w->count == MOST_WORDS)
        return xy_fail(XY_EUSAGE, "the launcher '%s' has more than %d words", w->words[0],
                       MOST_WORDS);
    if (w->failed)
        return xy_fail_memory("starting the processes");
    if (pipe2(ends, O_CLOEXEC) != 0)
        return xy_fail_errno(errno, "a pipe to the launcher", "make");
    *pid_p = fork();
    if (*pid_p == 0) {
        sigset_t none;

        prctl(PR_SET_PDEATHSIG, SIGTERM);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL);
        dup2(ends[0], STDIN_FILENO);
        mpi_restart_go_back();
        execvp(w->words[0], w->words);
        xy_fail_errno(errno, w->words[0], "start the launcher");
        _exit(XMPI_EXIT_NOT_FOUND);
    }
    close(ends[0]);
    /* Shorter than what a pipe holds: it never waits. */
    if (*pid_p > 0 && input[0] != '\0')
        (void)!write(ends[1], input, strlen(input));
    close(ends[1]);
    return *pid_p > 0 ? XY_OK : xy_fail_errno(errno, w->words[0], "start the launcher");
}

/* ---- Agents ---- */

/* As one word of a shell. */
static char *quote(const char *path)
{
    xy_text_t text = XY_TEXT_INIT;

    xy_text_add(&text, "'");
    for (; *path != '\0'; path++)
        if (*path == '\'')
            xy_text_add(&text, "'\\''");
        else
            xy_text_add_bytes(&text, path, 1);
    xy_text_add(&text, "'");
    if (text.failed)
        xy_text_cleanup(&text);
    return text.s;
}

/* The shell script that starts a process on a host; the caller owns it. NULL without memory. */
static char *script_of(const head_t *head, int process, const char *card)
{
    char secret[2 * XY_SECRET_BYTES + 1];
    char *path = own_path(), *quoted = path != NULL ? quote(path) : NULL, *script = NULL;

    xy_secret_write(head->secret, secret);
    if (quoted != NULL)
        script = xy_sprintf("%s='%d %d %s' XYLEM_NODE_SECRET=%s\n"
                            "export %s XYLEM_NODE_SECRET\n"
                            "xylem_path=%s\n"
                            "[ -x \"$xylem_path\" ] || { echo \"mpiexec: '$xylem_path' is not on "
                            "$(hostname); install Xylem at the same place on all hosts\" >&2; exit "
                            "127; }\n"
                            "exec \"$xylem_path\" </dev/null\n",
                            XMPI_NODE_VARIABLE, process, head->count, card, secret,
                            XMPI_NODE_VARIABLE, quoted);
    xy_free(path);
    xy_free(quoted);
    return script;
}

/* Start one agent per host, such as ssh, with the script on its standard input. */
static xy_status_t start_by_agent(head_t *head, const char *agent, const char *card)
{
    static const char ssh[] = "ssh -x -o BatchMode=yes -o StrictHostKeyChecking=accept-new";
    xy_status_t st = XY_OK;

    for (int p = 0; p < head->count && st == XY_OK; p++) {
        const char *host = head->processes[p].host;
        char *script = script_of(head, p, card);
        words_t w = {0};

        push_all(&w, strcmp(agent, "ssh") == 0 ? ssh : agent, 0, "");
        push(&w, host, strlen(host));
        push(&w, "/bin/sh", 7);
        w.failed |= script == NULL;
        st = start(&w, script, &head->processes[p].pid);
        words_cleanup(&w);
        xy_free(script);
    }
    return st;
}

/* ---- Launchers of all ---- */

static xy_status_t print_text(const void *text, FILE *file)
{
    fputs(text, file);
    return XY_OK;
}

/* Are there several processes on a host, each a process of the installed MPI? */
static bool has_each(const head_t *head)
{
    return head->has_children && node_is_over_mpi(head->values->net) && !head->is_local;
}

/* An empty file for the hosts, in TMPDIR or /tmp. */
static xy_status_t make_host_file(head_t *head)
{
    const char *under = getenv("TMPDIR");
    char *path =
        xy_sprintf("%s/xylem-hosts-XXXXXX", under != NULL && *under != '\0' ? under : "/tmp");
    int fd = path != NULL ? mkstemp(path) : -1;
    xy_status_t st = path == NULL ? xy_fail_memory("starting the processes")
                     : fd < 0     ? xy_fail_errno(errno, path, "create it, for the list of hosts")
                                  : XY_OK;

    if (fd >= 0)
        close(fd);
    if (st == XY_OK)
        head->host_file = path;
    else
        xy_free(path);
    return st;
}

/* Slurm takes the hosts themselves, the others a file, which is removed at the end. */
static xy_status_t hosts_of(head_t *head, const launcher_t *l, bool is_slurm, char **hosts_p)
{
    xy_text_t text = XY_TEXT_INIT;
    xy_status_t st;

    for (int p = 0; p < head->count; p++)
        if (is_slurm)
            xy_text_addf(&text, "%s%s", p > 0 ? "," : "", head->processes[p].host);
        else
            xy_text_addf(&text,
                         strcmp(l->line, "%s:1\n") == 0                   ? "%s:1\n"
                         : strcmp(l->line, "%s\n") == 0 || has_each(head) ? "%s\n"
                                                                          : "%s slots=1\n",
                         head->processes[p].host);
    if (is_slurm && !text.failed) {
        *hosts_p = text.s;
        return XY_OK;
    }
    st = text.failed ? xy_fail_memory("starting the processes") : make_host_file(head);
    if (st == XY_OK)
        st = xy_out_write(head->host_file, print_text, text.s);
    xy_text_cleanup(&text);
    *hosts_p = st == XY_OK ? xy_strdup(head->host_file) : NULL;
    return st;
}

static const char *words_of(const head_t *head, const launcher_t *l)
{
    return head->is_local ? l->here : has_each(head) ? l->each : l->there;
}

/* Start all processes by one command of a launcher; the secret is passed in the environment. */
static xy_status_t start_all(head_t *head, const launcher_t *l, const char *command,
                             const char *card)
{
    char secret[2 * XY_SECRET_BYTES + 1], *path = own_path();
    char *file = head->is_local ? xy_strdup("") : NULL;
    char *where = xy_sprintf("* %d %s", head->count, card);
    words_t w = {0};
    xy_status_t st = XY_OK;

    xy_secret_write(head->secret, secret);
    if (!head->is_local)
        st = hosts_of(head, l, strcmp(l->name, "srun") == 0, &file);
    if (st != XY_OK)
        ; /* it has said why */
    else if (path == NULL || file == NULL || where == NULL ||
             setenv(XMPI_NODE_VARIABLE, where, 1) != 0 || setenv(XMPI_NODE_SECRET, secret, 1) != 0)
        st = xy_fail_memory("starting the processes");
    if (st == XY_OK) {
        push_all(&w, command, 0, "");
        if (geteuid() == 0 && (strcmp(l->name, "mpirun") == 0 || strcmp(l->name, "orterun") == 0))
            push(&w, "--allow-run-as-root", 19);
        push_all(&w, words_of(head, l), head->count, file);
        push(&w, path, strlen(path));
        st = start(&w, "", &head->launcher);
    }
    unsetenv(XMPI_NODE_VARIABLE);
    unsetenv(XMPI_NODE_SECRET);
    words_cleanup(&w);
    xy_free(path);
    xy_free(file);
    xy_free(where);
    return st;
}

/* ---- Which ---- */

static const launcher_t *known(const char *command)
{
    char program[256];
    const char *name;

    snprintf(program, sizeof(program), "%.*s", (int)strcspn(command, " "), command);
    name = strrchr(program, '/') != NULL ? strrchr(program, '/') + 1 : program;
    for (const launcher_t *l = launchers; l->name != NULL; l++)
        if (strncmp(name, l->name, strlen(l->name)) == 0)
            return l;
    return NULL;
}

/* The launcher: that of --launcher, of an installed MPI, srun in a Slurm allocation, or ssh. */
static const char *choose(const head_t *head)
{
    static const char *const of_mpi[] = {"mpirun.openmpi", "mpiexec.hydra", NULL};
    char *path = NULL;
    bool is_slurm = getenv("SLURM_JOB_ID") != NULL && (path = mpi_launch_search("srun")) != NULL;

    xy_free(path);
    if (head->values->launcher != NULL)
        return head->values->launcher;
    if (node_is_over_mpi(head->values->net))
        for (int i = 0; of_mpi[i] != NULL; i++)
            if ((path = mpi_launch_search(of_mpi[i])) != NULL) {
                xy_free(path);
                return of_mpi[i];
            }
    return is_slurm ? "srun" : "ssh";
}

/* In the directory that the command was typed in. */
static xy_status_t find(const char *command)
{
    char *word = xy_strndup(command, strcspn(command, " ")), *path = NULL;
    xy_status_t st = XY_OK;

    mpi_restart_go_back();
    path = word != NULL ? mpi_launch_search(word) : NULL;
    if (path == NULL)
        st = xy_fail(XY_ENOENT,
                     "the launcher '%s' was not found; install it, or name another with --launcher",
                     word != NULL ? word : command);
    xy_free(word);
    xy_free(path);
    return st;
}

bool head_needs_launcher(const head_t *head)
{
    return !head->is_local || head->values->launcher != NULL || node_is_over_mpi(head->values->net);
}

xy_status_t head_start_by_launcher(head_t *head)
{
    const char *command = choose(head);
    const launcher_t *l = known(command);
    char *card, why[XY_WHY_SIZE];
    xy_status_t st = find(command);

    if (st == XY_OK && l != NULL && words_of(head, l) == NULL)
        st = xy_fail(XY_EUNSUPPORTED,
                     "--net mpi: '%s' cannot start a process for each rank of a program that is "
                     "not linked with Xylem's MPI; use --net tcp, or another --launcher",
                     command);
    if (st == XY_OK && !head->is_local && !head->values->net_plain && !xy_seal_is_there(why))
        st = xy_fail(XY_EUNSUPPORTED,
                     "connections between hosts are encrypted, and %s; or use --net-plain, where "
                     "only trusted users reach the network",
                     why);
    if (st != XY_OK)
        return st;
    st = xy_listener_open(head->secret, head->count, head->count, head->is_local, &head->listener);

    if (st != XY_OK)
        return st;
    card = xy_listener_card(head->listener, NULL);
    if (card == NULL)
        return xy_fail_memory("starting the processes");
    head->starts_all = l != NULL;
    st = l != NULL ? start_all(head, l, command, card) : start_by_agent(head, command, card);
    head->launcher_name = command;
    xy_free(card);
    return st;
}
