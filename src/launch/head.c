/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The head: mpiexec while the processes that it has started run the ranks. It makes them meet,
 * passes signals on, looks whether they still answer, and ends all of them when one has failed,
 * with one message.
 */
#include "launch/head.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xylem.h>

#include "launch/children.h"
#include "launch/joined.h"
#include "launch/launch_live.h"
#include "launch/launch_report.h"
#include "mpi/check/check.h"
#include "process/process.h"

/* ssh ends with 255 when what it has started was ended by a signal, or is not reached. */
enum { EXIT_OF_SSH = 255, EXIT_TIME_LIMIT = 124, FRAMES_AT_ONCE = 64, GONE_SHOWN = 4 };
enum { HEAD_FDS = 4 }; /* to wait for besides the processes */
enum { CODE_TERMINATED = 128 + SIGTERM };

/* Seconds: between two looks; for a process to end after a notice; for the reason of an end to
 * become known; for a launcher that has lost a process to end by itself (Open MPI's crashes when a
 * signal comes meanwhile). */
#define LOOK_SECONDS     1.0
#define END_SECONDS      8.0
#define CAUSE_SECONDS    2.0
#define LAUNCHER_SECONDS 4.0

static struct {
    head_t base;
    bool is_ending, is_launcher_told, has_cards; /* all cards of the last exchange have come */
    int code;
    double begun, met, left, ending_since, looked; /* met: when all had come; left: had ended */
    double terminated; /* when the last one was ended by SIGTERM; or 0 */
    int signals;
    struct pollfd *fds;
    xy_vec_t said; /* of char *: lines that were printed */
} head;

static int code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static const char *plural(int n)
{
    return n == 1 ? "" : "s";
}

/* "process 1 on node7 (ranks 4-7)" */
static char *name_of(int process, char text[320])
{
    const head_process_t *p = &head.base.processes[process];
    int first = 0, n;

    for (int i = 0; i < process; i++)
        first += head.base.processes[i].ranks;
    n = snprintf(text, 320, "process %d on %.200s", process, p->host != NULL ? p->host : "?");
    if (head.base.process_of != NULL)
        snprintf(text + n, 320 - (size_t)n, " (%d rank%s)", p->ranks, plural(p->ranks));
    else if (p->ranks == 1)
        snprintf(text + n, 320 - (size_t)n, " (rank %d)", first);
    else if (p->ranks > 1)
        snprintf(text + n, 320 - (size_t)n, " (ranks %d-%d)", first, first + p->ranks - 1);
    return text;
}

/* ---- The end ---- */

/* Tell all others, which print where their ranks are if `why` is not empty; once for a job. */
static void end_job_reporting(int code, const char *why)
{
    char fields[160];
    int n = snprintf(fields, sizeof(fields), "%d%c%s", code, '\0', why);

    if (head.is_ending)
        return;
    head.is_ending = true;
    head.ending_since = xy_now();
    head.code = code;
    for (int i = 0; i < head.base.count; i++) {
        head_process_t *p = &head.base.processes[i];

        if (!p->is_reached && p->pid > 0)
            kill(p->pid, SIGTERM); /* a launcher that still tries */
        else if (!p->has_left && p->link.fd >= 0)
            xy_channel_send(&p->link, NODE_END, fields, (size_t)n + 1);
    }
}

static void end_job(int code)
{
    end_job_reporting(code, "");
}

static bool is_over(const head_process_t *p)
{
    return p->link.fd < 0 && p->pid == 0;
}

static bool all_are_over(void)
{
    for (int i = 0; i < head.base.count; i++)
        if (!is_over(&head.base.processes[i]) ||
            (head.base.processes[i].gone > 0 && !head.is_ending))
            return false;
    return head.base.launcher == 0;
}

static void end_one_by_force(head_process_t *p)
{
    xy_channel_close(&p->link);
    if (p->pid > 0)
        kill(p->pid, SIGKILL);
}

static void end_by_force(void)
{
    for (int i = 0; i < head.base.count; i++)
        end_one_by_force(&head.base.processes[i]);
    if (head.base.launcher > 0)
        kill(head.base.launcher, SIGKILL);
}

static void note_end(pid_t pid, int status)
{
    for (int i = 0; i < head.base.count; i++)
        if (head.base.processes[i].pid == pid) {
            head.base.processes[i].pid = 0;
            head.base.processes[i].status = status;
        }
    if (pid == head.base.launcher) {
        head.base.launcher = 0;
        head.base.launcher_status = status;
    }
}

static void reap(void)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        note_end(pid, status);
}

/* A process has failed: end the job with this code, or continue without the process. */
static void end_or_survive(int process, int code)
{
    if (head.is_ending)
        return;
    if (!head_survives(&head.base) || !head.base.processes[process].is_running ||
        !head_survive_process(&head.base, process))
        end_job(code);
}

/* A process has gone without a word. What the system says about it may come a little later. */
static void report_death(int process)
{
    head_process_t *p = &head.base.processes[process];
    double deadline = xy_now() + CAUSE_SECONDS;
    char name[320];
    int code = 1;

    while (p->pid > 0 && xy_now() < deadline) {
        poll(NULL, 0, 5);
        reap();
    }
    name_of(process, name);
    if (p->pid == 0 && WIFSIGNALED(p->status)) {
        process_say("%s was ended by signal %d (%s)", name, WTERMSIG(p->status),
                    strsignal(WTERMSIG(p->status)));
        code = 128 + WTERMSIG(p->status);
    } else if (p->pid == 0 && WEXITSTATUS(p->status) == EXIT_OF_SSH &&
               head.base.launcher_name != NULL) {
        process_say("%s was killed, or its host has gone: '%s' ended with exit code %d", name,
                    head.base.launcher_name, EXIT_OF_SSH);
    } else if (p->pid == 0) {
        process_say("%s ended with exit code %d before its ranks did", name,
                    WEXITSTATUS(p->status));
        code = WEXITSTATUS(p->status) != 0 ? WEXITSTATUS(p->status) : 1;
    } else {
        process_say("%s has closed its connection to mpiexec", name);
    }
    end_or_survive(process, code);
}

/* ---- What processes say ---- */

/* Print a line that several hosts report once, with the name of the first. */
static void print_once(int process, const char *line)
{
    const head_process_t *p = &head.base.processes[process];
    char *copy;

    for (size_t i = 0; i < head.said.count; i++)
        if (strcmp(XY_VEC_AT(&head.said, char *, i), line) == 0)
            return;
    copy = xy_strdup(line);
    if (copy == NULL || xy_vec_append(&head.said, &copy) != XY_OK)
        xy_free(copy);
    if (head.base.is_local || p->is_running)
        process_say("%s", line);
    else
        process_say("on %s: %s", p->host, line);
}

/* A process has ended: note its code, and end the job if it says so. */
static void take_exit(int process, const xy_frame_t *frame)
{
    node_fields_t fields = node_fields(frame);
    long code = 1, ends_job = 1;

    node_field_number(&fields, 0, 255, &code);
    node_field_number(&fields, 0, 2, &ends_job);
    head.base.processes[process].has_left = true;
    head.left = xy_now();
    if (head.is_ending)
        return;
    if (ends_job == NODE_EXIT_FAILED) {
        end_or_survive(process, (int)code);
        return;
    }
    if (head.code == 0)
        head.code = (int)code;
    if (ends_job && head.base.starts_all && code == CODE_TERMINATED)
        head.terminated = head.left; /* perhaps by the launcher, because of another one */
    else if (ends_job)
        end_job((int)code);
}

static void send_job(int process)
{
    xy_text_t text = XY_TEXT_INIT;

    head_make_job(&head.base, process, &text);
    if (text.failed)
        end_job(xy_status_exit_code(xy_fail_memory("starting the processes")));
    else
        xy_channel_send(&head.base.processes[process].link, NODE_JOB, text.s, text.length);
    xy_text_cleanup(&text);
}

/* Ranks exchange bytes, so all processes are of one kind. */
static bool is_alike(int process, const char *version, const char *machine)
{
    struct utsname own;
    char name[320];

    if (strcmp(version, xylem_version()) != 0) {
        process_say("%s has Xylem %s and this mpiexec is %s; install one version everywhere",
                    name_of(process, name), version, xylem_version());
        return false;
    }
    if (uname(&own) == 0 && strcmp(machine, own.machine) != 0) {
        process_say("%s has processors of type %s and this machine %s; all hosts of a job need the "
                    "same type",
                    name_of(process, name), machine, own.machine);
        return false;
    }
    return true;
}

static bool all_have_come(void)
{
    for (int i = 0; i < head.base.count; i++)
        if (!head.base.processes[i].has_come)
            return false;
    return true;
}

/* Ask each host for the CPU shares of its cores, where they are wanted and not known. */
static void ask_for_cpus(void)
{
    for (int i = 0; i < head.base.count && head_wants_cpus(&head.base); i++)
        if (head.base.processes[i].cpus == NULL)
            xy_channel_send(&head.base.processes[i].link, NODE_CPUS, NULL, 0);
}

/* When all is known that is wanted. */
static void place_and_send(void)
{
    xy_status_t st;

    for (int i = 0; i < head.base.count && head_wants_cpus(&head.base); i++)
        if (head.base.processes[i].cpus == NULL)
            return;
    st = head_place_ranks(&head.base);
    if (st != XY_OK)
        end_job(xy_status_exit_code(st));
    for (int i = 0; i < head.base.count && st == XY_OK; i++)
        send_job(i);
}

/* A process has come: check its version, and begin the job when all have come. */
static void take_hello(int process, const xy_frame_t *frame)
{
    head_process_t *p = &head.base.processes[process];
    node_fields_t fields = node_fields(frame);
    const char *version = node_field(&fields), *machine = node_field(&fields),
               *host = node_field(&fields);
    bool is_first = !p->has_come;
    long cores;
    xy_status_t st;

    if (host == NULL || !node_field_number(&fields, 1, 1 << 20, &cores) ||
        !is_alike(process, version, machine)) {
        end_job(1);
        return;
    }
    p->has_come = true;
    if (p->cores_there == 0)
        p->cores_there = cores;
    if (!is_first) { /* it has started itself again */
        send_job(process);
        return;
    }
    if (!all_have_come())
        return;
    head.met = xy_now();
    head_share_ranks(&head.base);
    st = head.base.is_local ? XY_OK : head_adapt(&head.base);
    if (st == XY_OK && head.base.has_children)
        st = head_children_begin(&head.base);
    if (st != XY_OK) {
        end_job(xy_status_exit_code(st));
        return;
    }
    ask_for_cpus();
    place_and_send();
}

/* When the last card has come, all get all. */
static void take_card(int process, const xy_frame_t *frame)
{
    xy_text_t text = XY_TEXT_INIT;
    head_process_t *all = head.base.processes;

    xy_free(all[process].card);
    all[process].card = xy_strdup(frame->bytes);
    head.has_cards = false;
    for (int i = 0; i < head.base.count; i++) {
        if (all[i].card == NULL) {
            xy_text_cleanup(&text);
            return;
        }
        node_field_add(&text, all[i].card);
    }
    for (int i = 0; i < head.base.count && !text.failed; i++) {
        xy_channel_send(&all[i].link, NODE_CARDS, text.s, text.length);
        xy_free(all[i].card);
        all[i].card = NULL;
    }
    head.has_cards = true;
    if (text.failed)
        end_job(xy_status_exit_code(xy_fail_memory("connecting the processes")));
    xy_text_cleanup(&text);
}

/* Another process does not reach it: its end may be noticed soon. */
static void note_lost(int process)
{
    if (process >= 0 && head.base.processes[process].lost == 0)
        head.base.processes[process].lost = xy_now();
}

/* Dispatch a frame from a process; unknown kinds are ignored. */
static void take_frame(int process, const xy_frame_t *frame)
{
    switch (frame->kind) {
    case NODE_HELLO:
        take_hello(process, frame);
        break;
    case NODE_CARD:
        take_card(process, frame);
        break;
    case NODE_SAY:
        if (!head.is_ending)
            print_once(process, frame->bytes);
        break;
    case NODE_EXIT:
        take_exit(process, frame);
        break;
    case NODE_READY:
        head.base.processes[process].is_running = true;
        head_ask_time(&head.base, process);
        break;
    case NODE_PONG:
        head_take_time(&head.base, process, frame);
        break;
    case NODE_CPUS:
        head_take_cpus(&head.base.processes[process], frame);
        place_and_send();
        break;
    case NODE_TRACE:
        head_take_trace(process, frame);
        break;
    case NODE_TRAFFIC:
        head_take_traffic(&head.base, process, frame);
        break;
    case NODE_PROFILE:
        head_take_profile(&head.base.processes[process], frame);
        break;
    case NODE_REPORT:
        mpi_report_take(process, head.base.count, frame->bytes, frame->size);
        break;
    case NODE_LOOK:
        head_live_take(&head.base, process, frame);
        break;
    case NODE_FOUND:
        mpi_check_take(frame->bytes, frame->size);
        break;
    case NODE_INPUT_TAKEN:
        head.base.is_input_away = false;
        break;
    case NODE_LOST:
    case NODE_FAILED:
    case NODE_REVOKE:
    case NODE_AGREE:
        note_lost(head_survive_take(&head.base, process, frame));
        break;
    case NODE_JOIN:
    case NODE_CHILD:
        if (!head.is_ending && !head_children_take(&head.base, process, frame))
            end_job(1);
        break;
    default:
        break;
    }
}

/* Read and handle some frames of a process; the end of its connection may be a death. */
static void listen_to(int process)
{
    head_process_t *p = &head.base.processes[process];
    xy_frame_t frame;
    xy_channel_answer_t answer = XY_CHANNEL_FRAME;

    for (int i = 0; i < FRAMES_AT_ONCE && answer == XY_CHANNEL_FRAME; i++) {
        answer = xy_channel_read(&p->link, &frame);
        if (answer == XY_CHANNEL_FRAME) {
            p->heard = xy_now();
            take_frame(process, &frame);
            xy_frame_free(&frame);
        }
    }
    if (answer != XY_CHANNEL_END)
        return;
    xy_channel_close(&p->link);
    if (p->has_left || head.is_ending)
        return;
    if (head.base.starts_all)
        p->gone = xy_now();
    else
        report_death(process);
}

/* ---- What the user and the clock say ---- */

/* Send a signal to all processes, through their connection or directly. */
static void forward(int number)
{
    char field[16];
    int n = snprintf(field, sizeof(field), "%d", number);

    for (int i = 0; i < head.base.count; i++) {
        head_process_t *p = &head.base.processes[i];

        if (p->is_running && p->link.fd >= 0 && !(head.base.is_local && p->pid > 0))
            xy_channel_send(&p->link, NODE_SIGNAL, field, (size_t)n + 1);
        else if (p->pid > 0)
            kill(p->pid, number);
    }
}

static void take_signals(void)
{
    struct signalfd_siginfo info;

    while (read(head.signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGCHLD)
            reap();
        else if (info.ssi_code != SI_KERNEL || !head.base.is_local) /* else all have had it */
            forward((int)info.ssi_signo);
    }
}

/* Does every process still answer? After a stop of mpiexec itself the count begins anew. */
static void look_for_silence(double now)
{
    double limit = head.base.values->heartbeat;
    bool was_away = now - head.looked > fmin(5 * LOOK_SECONDS, fmax(2 * LOOK_SECONDS, limit / 2));
    char name[320];

    head.looked = now;
    for (int i = 0; i < head.base.count && limit > 0; i++) {
        head_process_t *p = &head.base.processes[i];

        if (!p->is_running || p->has_left || p->link.fd < 0 || head.is_ending)
            continue;
        if (was_away || p->heard == 0)
            p->heard = now;
        if (now - p->heard > limit) {
            process_say("%s has not answered for %g s: it is stopped, or its machine is no longer "
                        "reachable (--heartbeat 0 waits forever)",
                        name_of(i, name), limit);
            end_or_survive(i, 1);
            end_one_by_force(p);
            return;
        }
        head_ask_time(&head.base, i);
    }
}

/* A process that lives, and that another one does not reach, fails. */
static void look_for_lost(double now)
{
    char name[320];

    for (int i = 0; i < head.base.count; i++) {
        const head_process_t *p = &head.base.processes[i];

        if (p->lost == 0 || now - p->lost < CAUSE_SECONDS || p->has_failed || p->has_left ||
            head.is_ending)
            continue;
        process_say("%s is no longer reachable by another process", name_of(i, name));
        end_or_survive(i, 1);
    }
}

/* End the job if a process has not come within --start-timeout. */
static void look_for_absent(double now)
{
    double limit = head.base.values->start_timeout;
    char name[320];

    if (head.is_ending || limit <= 0 || now - head.begun < limit || all_have_come())
        return;
    for (int i = 0; i < head.base.count; i++)
        if (!head.base.processes[i].has_come) {
            process_say("%s has not started within %g s (--start-timeout)", name_of(i, name),
                        limit);
            break;
        }
    end_job(1);
}

/* All have come, and one does not get ready: the first that the others wait for. */
static void look_for_unready(double now)
{
    double limit = head.base.values->start_timeout;
    int found = -1;
    char name[320];

    if (head.is_ending || limit <= 0 || head.met == 0 || now - head.met < limit)
        return;
    for (int i = head.base.count - 1; i >= 0; i--) {
        const head_process_t *p = &head.base.processes[i];

        if (!p->is_running && (found < 0 || p->card == NULL || head.has_cards))
            found = i;
    }
    if (found < 0)
        return;
    process_say("%s has connected, but was not ready within %g s (--start-timeout): it is stopped, "
                "or cannot reach the others",
                name_of(found, name), limit);
    end_job(1);
    end_one_by_force(&head.base.processes[found]);
}

static bool has_links(void)
{
    for (int i = 0; i < head.base.count; i++)
        if (head.base.processes[i].link.fd >= 0)
            return true;
    return false;
}

/* Check all time limits: of the job, the start, silent processes and the end itself. */
static void look_at_clock(void)
{
    double now = xy_now(), limit = head.base.values->timeout;
    char why[80];

    if (limit > 0 && now - head.begun > limit && !head.is_ending) {
        snprintf(why, sizeof(why), "the time limit of %g s has passed", limit);
        process_say("%s", why);
        if (head.base.has_children && head.met > 0)
            mpi_joined_report();
        end_job_reporting(EXIT_TIME_LIMIT, why);
    }
    look_for_lost(now);
    look_for_absent(now);
    look_for_unready(now);
    if (now - head.looked >= LOOK_SECONDS)
        look_for_silence(now);
    if (head.is_ending && head.base.launcher > 0 && !head.is_launcher_told && !has_links() &&
        now - head.ending_since > LAUNCHER_SECONDS) {
        head.is_launcher_told = true;
        kill(head.base.launcher, SIGTERM);
    }
    if (head.is_ending && now - head.ending_since > END_SECONDS)
        end_by_force();
}

/* Ranks that are processes of their own: do others wait for one that is gone? */
static void look_at_children(void)
{
    int code = head.base.has_children && head.met > 0 && !head.is_ending ? mpi_joined_judge() : -1;

    if (code >= 0)
        end_job(code);
}

/* The process whose link closed first, without a word and not reported; NULL: none. */
static head_process_t *first_gone(void)
{
    head_process_t *first = NULL;

    for (int i = 0; i < head.base.count; i++) {
        head_process_t *p = &head.base.processes[i];

        if (p->gone > 0 && (first == NULL || p->gone < first->gone))
            first = p;
    }
    return first;
}

/* Report the processes that have gone, of those that a launcher has started. It ends all when one
 * ends, by SIGTERM or at once, and their links close in any order: one that is left may say why,
 * until its link closes, too, or for some time. */
static void look_for_gone(void)
{
    head_process_t *p = first_gone();
    char name[320], others[GONE_SHOWN * 320] = "";
    size_t used = 0;
    int count = 0;

    if ((p == NULL && head.terminated == 0) || head.is_ending ||
        (has_links() && xy_now() - (p != NULL ? p->gone : head.terminated) < CAUSE_SECONDS))
        return;
    if (p == NULL) {
        end_job(CODE_TERMINATED);
        return;
    }
    name_of((int)(p - head.base.processes), name);
    p->gone = 0;
    for (; (p = first_gone()) != NULL && count < GONE_SHOWN; count++, p->gone = 0) {
        char other[320];

        used += (size_t)snprintf(others + used, sizeof(others) - used, "%s%s",
                                 count == 0 ? "; so has " : ", ",
                                 name_of((int)(p - head.base.processes), other));
    }
    process_say("%s has ended or was killed%s%s", name, others, p != NULL ? ", and more" : "");
    end_job(1);
}

/* Something that was started and ended before it has come: a launcher that could not. */
static void look_for_early_ends(void)
{
    bool has_no_launcher = head.base.listener != NULL && head.base.launcher == 0;
    char name[320];

    for (int i = 0; i < head.base.count && !head.is_ending; i++) {
        const head_process_t *p = &head.base.processes[i];
        int status = p->status != 0 ? p->status : head.base.launcher_status;

        if (p->pid != 0 || p->link.fd >= 0 || p->is_reached || (p->status == 0 && !has_no_launcher))
            continue;
        process_say("%s could not be started: '%s' ended with exit code %d", name_of(i, name),
                    head.base.launcher_name != NULL ? head.base.launcher_name : "mpiexec",
                    code_of(status));
        end_job(1);
    }
}

/* ---- Processes that a launcher has started ---- */

/* When all are there, nobody else is heard. */
static void close_door(void)
{
    for (int i = 0; i < head.base.count; i++)
        if (!head.base.processes[i].is_reached)
            return;
    xy_listener_close(head.base.listener);
    head.base.listener = NULL;
}

/* Accept connections of processes; second ones, and all at the end of the job, are closed. */
static void accept_all(void)
{
    xy_seal_t *seal;
    int process, fd;

    while ((fd = xy_listener_accept(head.base.listener, &process, &seal)) >= 0) {
        head_process_t *p = &head.base.processes[process];

        if (p->is_reached || head.is_ending) {
            close(fd);
            xy_seal_free(seal);
            continue;
        }
        p->is_reached = true;
        if (!xy_channel_init(&p->link, fd, seal) || !head_send_start(&head.base, p))
            xy_channel_close(&p->link);
    }
    close_door();
}

/* ---- The loop ---- */

/* Open a descriptor for the signals that the head handles; ignored signals stay ignored. */
static xy_status_t watch_signals(void)
{
    static const int wanted[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    struct sigaction now;
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        /* Signals that the shell ignores (nohup) stay ignored. */
        if (sigaction(wanted[i], NULL, &now) != 0 || now.sa_handler != SIG_IGN ||
            wanted[i] == SIGCHLD)
            sigaddset(&set, wanted[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    head.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return head.signals >= 0 ? XY_OK : xy_fail_errno(errno, "signals", "watch");
}

/* Event loop: connections, signals, input and clocks, until all processes have ended. */
static void serve(void)
{
    int n = head.base.count;

    while (!all_are_over()) {
        for (int i = 0; i < n; i++)
            head.fds[i] = (struct pollfd){.fd = head.base.processes[i].link.fd, .events = POLLIN};
        head.fds[n] = (struct pollfd){.fd = head.signals, .events = POLLIN};
        head.fds[n + 1] = (struct pollfd){
            .fd = head.base.listener != NULL ? xy_listener_fd(head.base.listener) : -1,
            .events = POLLIN};
        head.fds[n + 2] = (struct pollfd){.fd = head_input_fd(&head.base), .events = POLLIN};
        head.fds[n + 3] = (struct pollfd){.fd = head_live_fd(), .events = POLLIN};
        if (poll(head.fds, (nfds_t)n + HEAD_FDS, 250) > 0) {
            take_signals();
            for (int i = 0; i < n; i++)
                if (head.fds[i].fd >= 0 && head.fds[i].revents != 0)
                    listen_to(i);
            if (head.fds[n + 1].revents != 0)
                accept_all();
            if (head.fds[n + 2].revents != 0)
                head_input_read(&head.base);
            if (head.fds[n + 3].revents != 0)
                head_live_accept(&head.base);
        }
        reap();
        look_for_early_ends();
        look_at_children();
        look_for_gone();
        look_at_clock();
        head_live_look(&head.base);
    }
}

/* Set the host name and slots of each process. */
static xy_status_t name_hosts(const mpi_hosts_t *hosts)
{
    char own[256] = "";

    gethostname(own, sizeof(own) - 1);
    for (int i = 0; i < head.base.count; i++) {
        head_process_t *p = &head.base.processes[i];

        xy_channel_init(&p->link, -1, NULL);
        p->slots = hosts->count > 0 ? hosts->all[i].slots : 0;
        p->host = xy_strdup(hosts->count > 0 ? hosts->all[i].name : own);
        if (p->host == NULL)
            return xy_fail_memory("starting the processes");
    }
    return XY_OK;
}

/* There may be more of them then. */
static xy_status_t split_processes(void)
{
    xy_status_t st = head_children_split(&head.base);
    struct pollfd *fds =
        xy_realloc_array(head.fds, (size_t)head.base.count + HEAD_FDS, sizeof(*fds));

    if (st == XY_OK && fds == NULL)
        return xy_fail_memory("starting the processes");
    if (fds != NULL)
        head.fds = fds;
    return st;
}

/* Initialize the head for a job: processes, hosts, cores and secret. */
static xy_status_t begin(const mpi_head_job_t *job)
{
    const mpi_hosts_t *hosts = job->hosts;
    int size = job->size;
    int n = hosts->count > 0 ? (int)hosts->count : (int)job->values->processes;
    xy_status_t st;

    head.base.values = job->values;
    head.base.job = job;
    head.base.size = size;
    head.base.is_local = hosts->count == 0;
    head.base.has_children = job->has_children;
    head.said = XY_VEC_INIT(char *);
    head.begun = head.looked = xy_now();
    if (size < n && head.base.is_local)
        return xy_fail(XY_EUSAGE,
                       "--processes %d: the job has only %d rank%s; each process needs one", n,
                       size, plural(size));
    head.base.processes = xy_calloc((size_t)n, sizeof(*head.base.processes));
    head.fds = xy_calloc((size_t)n + HEAD_FDS, sizeof(*head.fds));
    if (head.base.processes == NULL || head.fds == NULL)
        return xy_fail_memory("starting the processes");
    head.base.count = n;
    st = name_hosts(hosts);
    if (st == XY_OK && head.base.is_local)
        st = head_share_cores(&head.base);
    if (st == XY_OK && !head.base.is_local)
        head_leave_out(&head.base);
    if (st == XY_OK && head.base.has_children)
        st = split_processes();
    if (st == XY_OK && head.base.is_local)
        st = head_adapt(&head.base); /* else when all have come */
    if (st == XY_OK)
        st = head_tools_begin(&head.base);
    return st == XY_OK ? xy_secret_make(head.base.secret) : st;
}

/* Start all processes, here or through a launcher, and prepare standard input. */
static xy_status_t start_all(void)
{
    xy_status_t st;

    fflush(NULL);
    st = mpi_launch_output_check(head.base.values, head.base.size, true, &head.base.input_rank);
    if (st != XY_OK)
        return st;
    head.base.is_input_sent =
        head.base.input_rank >= 0 &&
        (head_needs_launcher(&head.base) || head_places(&head.base) || head.base.input_rank > 0);
    head_input_begin(&head.base);
    if (mpi_pmi_is_head())
        st = head_start_by_pmi(&head.base);
    else
        st = head_needs_launcher(&head.base) ? head_start_by_launcher(&head.base)
                                             : head_start_here(&head.base);
    return st == XY_OK ? head_survive_check(&head.base) : st;
}

int mpi_head_run(const mpi_head_job_t *job)
{
    xy_status_t st = begin(job), written;

    if (st == XY_OK)
        st = watch_signals();
    if (st == XY_OK)
        st = start_all();
    if (st == XY_OK) {
        head_live_open(&head.base);
        serve();
    } else {
        end_by_force();
    }
    if (head.base.has_children && head.met > 0 && !head.is_ending && head.code == 0)
        head.code = mpi_joined_code();
    if (head.base.host_file != NULL)
        unlink(head.base.host_file);
    if (mpi_checks.is_on && !mpi_checks.has_seed)
        mpi_checks.seed = mpi_node_seed(head.base.secret);
    written = head_tools_end(&head.base);
    if (written == XY_OK && head.code == 0)
        written = mpi_report_end(head.base.values->quiet);
    if (head.code == 0 && written != XY_OK)
        head.code = xy_status_exit_code(written);
    if (st == XY_OK && head.code == 0 && !head.is_ending)
        head_adapt_end(&head.base, head.left - head.met);
    return mpi_launch_checks_collect(head.base.size,
                                     st == XY_OK ? head.code : xy_status_exit_code(st));
}
