/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of one rank each that the launcher of another MPI or of a batch system has started:
 * srun, mpirun, mpiexec.hydra. Its key-value space takes the place of mpiexec, and the environment
 * that of mpiexec's options. The launcher ends all processes when one of them fails.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/bindings/join.h"

/* The options of mpiexec that such a process has, with their names and presets. */
typedef struct {
    const char *net, *interface, *ports;
    bool plain;
    double start_timeout, deadlock_after, polling_after, heartbeat;
    long ranks;
} values_t;

#define AT(field) .offset = offsetof(values_t, field)

static const xy_option_t options[] = {
    {"net", 0, XY_OPT_STRING, "TRANSPORT", AT(net), .env = "XYLEM_NET", .preset = "auto"},
    {"net-plain", 0, XY_OPT_FLAG, NULL, AT(plain), .env = "XYLEM_NET_PLAIN"},
    {"net-interface", 0, XY_OPT_STRING, "NAME", AT(interface), .env = "XYLEM_NET_INTERFACE"},
    {"net-ports", 0, XY_OPT_STRING, "LOW-HIGH", AT(ports), .env = "XYLEM_NET_PORTS"},
    {"start-timeout", 0, XY_OPT_SECONDS, "SECONDS", AT(start_timeout), .env = "XYLEM_START_TIMEOUT",
     .preset = "300s"},
    {"deadlock-after", 0, XY_OPT_SECONDS, "SECONDS", AT(deadlock_after),
     .env = "XYLEM_DEADLOCK_AFTER", .preset = "5s"},
    {"polling-after", 0, XY_OPT_SECONDS, "SECONDS", AT(polling_after), .env = "XYLEM_POLLING_AFTER",
     .preset = "10s"},
    {"heartbeat", 0, XY_OPT_SECONDS, "SECONDS", AT(heartbeat), .env = "XYLEM_HEARTBEAT",
     .preset = "30s"},
    {"ranks-per-process", 0, XY_OPT_LONG, "N", AT(ranks), .env = "XYLEM_RANKS_PER_PROCESS",
     .preset = "1", .min = 1, .max = 1 << 20},
    {0}};

static const xy_command_t command = {
    .name = "MPI_Init", .options = options, .values_size = sizeof(values_t)};

static xy_pmi_t *pmi;

/* The rules of connections, as mpiexec has them. */
static xy_status_t set_rules(const values_t *v)
{
    xy_net_rules_t rules = {.seal = v->plain ? XY_SEAL_NEVER : XY_SEAL_BETWEEN_HOSTS,
                            .patience = v->heartbeat > 0 ? v->heartbeat : -1};

    if (v->ports != NULL && !xy_net_rules_ports(v->ports, &rules))
        return xy_fail(XY_EUSAGE, "XYLEM_NET_PORTS: '%s' are not ports; give LOW-HIGH", v->ports);
    if (v->interface != NULL && strlen(v->interface) >= sizeof(rules.interface))
        return xy_fail(XY_EUSAGE, "XYLEM_NET_INTERFACE: '%s' is not the name of an interface",
                       v->interface);
    snprintf(rules.interface, sizeof(rules.interface), "%s",
             v->interface != NULL ? v->interface : "");
    xy_net_rules_set(&rules);
    return XY_OK;
}

/* Read the settings of a job without mpiexec from the environment; several ranks per process are
 * refused. */
static xy_status_t read_settings(values_t *v)
{
    char *none[] = {NULL};
    xy_help_t help = XY_HELP_NONE;
    int count = 0;
    xy_status_t st = xy_options_parse(&command, 0, none, v, &count, &help);

    if (st == XY_OK && v->ranks > 1)
        st = xy_fail(XY_EUNSUPPORTED,
                     "XYLEM_RANKS_PER_PROCESS is %ld, and this program is not linked with the MPI "
                     "library: it can be one rank per process only; unset it",
                     v->ranks);
    return st == XY_OK ? set_rules(v) : st;
}

xy_status_t mpi_launcher_meet(mpi_others_t *others, mpi_join_facts_t *facts)
{
    xy_pmi_meeting_t meeting;
    values_t v;
    xy_status_t st = read_settings(&v);

    if (st == XY_OK)
        st = xy_pmi_open(v.start_timeout, &pmi);
    if (st != XY_OK)
        return st;
    others->rank = xy_pmi_rank(pmi);
    others->size = xy_pmi_size(pmi);
    st = xy_pmi_meet(pmi, v.plain, &meeting);
    if (st != XY_OK)
        return st;
    *facts = (mpi_join_facts_t){.transport = v.net,
                                .hosts = meeting.hosts, /* for ever */
                                .is_local = meeting.is_local,
                                .deadlock_after = v.deadlock_after,
                                .polling_after = v.polling_after};
    memcpy(facts->secret, meeting.secret, sizeof(facts->secret));
    explicit_bzero(meeting.secret, sizeof(meeting.secret));
    return XY_OK;
}

xy_status_t mpi_launcher_exchange(void *unused, const char *card, char **cards)
{
    (void)unused;
    return xy_pmi_exchange(pmi, card, cards);
}

bool mpi_launcher_is_there(void)
{
    return pmi != NULL;
}

void mpi_launcher_abort(int code)
{
    xy_pmi_abort(pmi, code);
}

void mpi_launcher_leave(void)
{
    xy_pmi_close(pmi);
    pmi = NULL;
}
