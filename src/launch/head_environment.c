/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of a process on another host before it is the mpiexec of its host: the command
 * line, the directory, and a part of the environment. Ranks need what users and modules have set;
 * they cannot use the terminal, the display, the agents and the sockets of the session that mpiexec
 * runs in, and passwords and tokens stay where they are unless the user asks for them with -x.
 */
#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

#include "launch/head.h"

/* Patterns of names, in the order in which they are tried. '+' in front: sent. */
static const char *const patterns[] = {
    "+XYLEM_*",
    /* the session and the machine */
    "SSH_*", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_*", "XDG_RUNTIME_DIR",
    "XDG_SESSION_*", "XDG_SEAT", "XDG_VTNR", "SESSION_MANAGER", "GPG_AGENT_INFO", "KRB5CCNAME",
    "INVOCATION_ID", "JOURNAL_STREAM", "NOTIFY_SOCKET", "SYSTEMD_*", "SUDO_*", "WINDOWID", "TMUX*",
    "STY", "GNOME_*", "VTE_*", "MAIL", "HOSTNAME", "OLDPWD", "_",
    /* secrets */
    "*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*SECRET*", "*TOKEN*", "*CREDENTIAL*", "*_KEY",
    "*APIKEY*", "*_PAT", "*_AUTH", "*_COOKIE", NULL};

static bool is_asked_for(const xy_vec_t *parts, const char *name)
{
    for (size_t i = 0; i < parts->count; i++) {
        const xy_vec_t *x = &XY_VEC_AT(parts, mpi_part_t, i).values->x;

        for (size_t k = 0; k < x->count; k++)
            if (strcmp(XY_VEC_AT(x, const char *, k), name) == 0)
                return true;
    }
    return false;
}

/* Whether an environment entry is sent to other hosts. */
static bool is_for_hosts(const xy_vec_t *parts, const char *entry)
{
    size_t length = strcspn(entry, "=");
    char name[256];

    if (length >= sizeof(name))
        return true;
    snprintf(name, sizeof(name), "%.*s", (int)length, entry);
    for (int i = 0; patterns[i] != NULL; i++) {
        bool is_sent = patterns[i][0] == '+';

        if (fnmatch(patterns[i] + is_sent, name, 0) == 0)
            return is_sent || is_asked_for(parts, name);
    }
    return true;
}

bool head_send_start(const head_t *head, head_process_t *p)
{
    char *const *argv = mpi_restart_arguments();
    char *directory = mpi_restart_directory();
    xy_text_t text = XY_TEXT_INIT;
    int argc = 0;
    bool is_sent;

    while (argv[argc] != NULL)
        argc++;
    node_field_add(&text, directory != NULL ? directory : "/");
    node_field_add_number(&text, argc);
    for (int i = 0; i < argc; i++)
        node_field_add(&text, argv[i]);
    for (char **entry = environ; *entry != NULL; entry++)
        if (is_for_hosts(head->job->parts, *entry))
            node_field_add(&text, *entry);
    is_sent = !text.failed && xy_channel_send(&p->link, NODE_START, text.s, text.length);
    xy_text_cleanup(&text);
    xy_free(directory);
    return is_sent;
}
