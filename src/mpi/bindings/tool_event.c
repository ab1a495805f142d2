/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of the tool interface. There is one source, the clock of the machine. Actions of the rank
 * itself (sends, collectives) are reported inside their call, on its thread. A message may arrive
 * while another rank of the core runs, and a callback belongs to its rank: the event is kept, with
 * its time, until the rank next enters or leaves a call. Ranks that ask for no events pay nothing:
 * the hooks are behind those of --monitor and --trace.
 */
#include <pthread.h>
#include <string.h>

#include "mpi/bindings/calls.h"
#include "mpi/bindings/tool.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

enum { SOURCES = 1, LEVELS = 4, ELEMENTS = 3, KEPT = 256 /* a power of two */ };
#define TICKS 1000000000

/* As MPI_T_event_copy gives it. */
typedef struct {
    int number, tag;
    unsigned long long bytes;
} record_t;

static const struct {
    MPI_Aint place;
    size_t size;
} elements[ELEMENTS] = {{offsetof(record_t, number), sizeof(int)},
                        {offsetof(record_t, tag), sizeof(int)},
                        {offsetof(record_t, bytes), sizeof(unsigned long long)}};

static const struct {
    const char *name, *description;
} events[XMPI_EVENTS] = {
    [XMPI_EVENT_SENT] = {"xylem_message_sent",
                         "a message of the program is sent: the number of the "
                         "receiver in the job, tag, bytes"},
    [XMPI_EVENT_RECEIVED] = {"xylem_message_received",
                             "a message has met its receive: the number of the sender in the job, "
                             "tag, bytes"},
    [XMPI_EVENT_UNEXPECTED] = {"xylem_message_unexpected",
                               "a message has come before its receive: the number of the sender in "
                               "the job, tag, bytes"},
    [XMPI_EVENT_COLLECTIVE] = {"xylem_collective_begun",
                               "the rank begins a collective: which, root (or -1), bytes of its "
                               "part"}};

/* From the weakest to the strongest: one that may be called where more is forbidden. */
static const MPI_T_cb_safety levels[LEVELS] = {
    MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
enum { RESTRICTED = 1 }; /* level of a callback inside of a call */

struct MPI_T_event_registration_t {
    mpi_rank_t *owner;
    mpi_event_kind_t kind;
    struct {
        MPI_T_event_cb_function *function;
        void *data;
    } callbacks[LEVELS];
    MPI_T_event_dropped_cb_function *dropped;
    uint64_t round;                        /* of listener_t: the last in which it had its turn */
    MPI_T_event_registration next;         /* of all ranks */
    MPI_T_event_registration next_of_rank; /* the order in which they were made */
};

struct MPI_T_event_instance_t {
    MPI_Count time;
    mpi_event_kind_t kind;
    record_t record;
};

/* The registrations of one rank, and the events that were not delivered yet. */
typedef struct {
    mpi_listener_t base; /* must be first */
    MPI_T_event_registration first;
    uint64_t round; /* each registration gets an event once per round */
    bool is_telling;
    unsigned begin, end; /* of `kept` */
    MPI_Count lost[XMPI_EVENTS];
    bool has_lost;
    struct MPI_T_event_instance_t kept[KEPT];
} listener_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list: ranks have their own */
static MPI_T_event_registration registrations;

static MPI_Count ticks_now(void)
{
    return (MPI_Count)(xy_now() * (double)TICKS);
}

/* ---- While it happens ---- */

/* The next one that wants it and had no turn in this round. A callback may free any of them, and
 * make others, which have to wait for the next event. */
static MPI_T_event_registration find_wanting(const listener_t *l, mpi_event_kind_t kind)
{
    for (MPI_T_event_registration r = l->first; r; r = r->next_of_rank)
        if (r->kind == kind && r->round < l->round) {
            r->round = l->round;
            return r;
        }
    return NULL;
}

static void drop(MPI_T_event_registration to, MPI_Count count)
{
    if (to->dropped)
        to->dropped(count, to, 0, MPI_T_CB_REQUIRE_MPI_RESTRICTED, to->callbacks[0].data);
}

/* To the weakest callback that is strong enough; without one it is dropped. */
static void tell_one(MPI_T_event_registration to, MPI_T_event_instance instance)
{
    for (int i = RESTRICTED; i < LEVELS; i++)
        if (to->callbacks[i].function) {
            to->callbacks[i].function(instance, to, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                      to->callbacks[i].data);
            return;
        }
    drop(to, 1);
}

static void tell(listener_t *l, MPI_T_event_instance instance)
{
    l->round++;
    for (MPI_T_event_registration r; (r = find_wanting(l, instance->kind)) != NULL;)
        tell_one(r, instance);
}

static void tell_lost(listener_t *l)
{
    l->has_lost = false;
    l->round++;
    for (int k = 0; k < XMPI_EVENTS; k++) {
        MPI_Count lost = l->lost[k];

        l->lost[k] = 0;
        for (MPI_T_event_registration r; lost > 0 && (r = find_wanting(l, (mpi_event_kind_t)k));)
            drop(r, lost);
    }
}

/* The listener lives until the rank has ended, so that callbacks may free all registrations. */
static void tell_kept(listener_t *l)
{
    while (l->begin != l->end) {
        struct MPI_T_event_instance_t instance = l->kept[l->begin++ % KEPT];

        tell(l, &instance);
    }
    if (l->has_lost)
        tell_lost(l);
}

static void on_call(mpi_rank_t *rank)
{
    listener_t *l = (listener_t *)rank->listener;

    if (l->is_telling || (l->begin == l->end && !l->has_lost))
        return;
    l->is_telling = true;
    tell_kept(l);
    l->is_telling = false;
}

static void keep(listener_t *l, const struct MPI_T_event_instance_t *instance)
{
    if (l->end - l->begin < KEPT) {
        l->kept[l->end++ % KEPT] = *instance;
        return;
    }
    l->lost[instance->kind]++;
    l->has_lost = true;
}

/* Hook of the runtime: call the callbacks for an event, or keep it until the rank is in a call. */
static void on_event(mpi_rank_t *rank, const mpi_event_t *event)
{
    listener_t *l = (listener_t *)rank->listener;
    struct MPI_T_event_instance_t instance = {
        ticks_now(), event->kind, {event->number, event->tag, event->bytes}};

    if (l->is_telling || event->kind == XMPI_EVENT_RECEIVED ||
        event->kind == XMPI_EVENT_UNEXPECTED) {
        keep(l, &instance);
        return;
    }
    l->is_telling = true;
    tell_kept(l); /* earlier events first */
    tell(l, &instance);
    l->is_telling = false;
}

/* ---- What there is ---- */

static int check(int index, int count)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    return index >= 0 && index < count ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

int tool_event_count(void)
{
    return XMPI_EVENTS;
}

int impl_t_event_get_num(int *num_events)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    tool_set(num_events, XMPI_EVENTS);
    return MPI_SUCCESS;
}

int impl_t_event_get_index(const char *name, int *event_index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    for (int i = 0; name && i < XMPI_EVENTS; i++)
        if (strcmp(name, events[i].name) == 0) {
            tool_set(event_index, i);
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

int impl_t_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                          MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                          int *desc_len, int *bind)
{
    const MPI_Datatype types[ELEMENTS] = {MPI_INT, MPI_INT, MPI_UNSIGNED_LONG_LONG};
    int code = check(event_index, XMPI_EVENTS), room = num_elements ? *num_elements : 0;

    if (code != MPI_SUCCESS)
        return code;
    tool_text(events[event_index].name, name, name_len);
    tool_text(events[event_index].description, desc, desc_len);
    tool_set(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    for (int i = 0; i < ELEMENTS && i < room; i++) {
        if (array_of_datatypes)
            array_of_datatypes[i] = types[i];
        if (array_of_displacements)
            array_of_displacements[i] = elements[i].place;
    }
    tool_set(num_elements, ELEMENTS);
    if (enumtype)
        *enumtype = event_index == XMPI_EVENT_COLLECTIVE ? tool_collectives() : MPI_T_ENUM_NULL;
    if (info)
        *info = MPI_INFO_NULL;
    tool_set(bind, MPI_T_BIND_NO_OBJECT);
    return MPI_SUCCESS;
}

int impl_t_source_get_num(int *num_sources)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    tool_set(num_sources, SOURCES);
    return MPI_SUCCESS;
}

int impl_t_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                           MPI_T_source_order *ordering, MPI_Count *ticks_per_second,
                           MPI_Count *max_ticks, MPI_Info *info)
{
    int code = check(source_index, SOURCES);

    if (code != MPI_SUCCESS)
        return code;
    tool_text("xylem_clock", name, name_len);
    tool_text("the monotonic clock of the machine, in nanoseconds", desc, desc_len);
    if (ordering)
        *ordering = MPI_T_SOURCE_ORDERED;
    if (ticks_per_second)
        *ticks_per_second = TICKS;
    if (max_ticks)
        *max_ticks = INT64_MAX;
    if (info)
        *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int impl_t_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    int code = check(source_index, SOURCES);

    if (code == MPI_SUCCESS && timestamp)
        *timestamp = ticks_now();
    return code;
}

/* ---- Registrations ---- */

/* The rank has ended: so are its registrations. */
static void forget(mpi_rank_t *rank)
{
    pthread_mutex_lock(&lock);
    for (MPI_T_event_registration *place = &registrations; *place;) {
        MPI_T_event_registration one = *place;

        if (one->owner != rank) {
            place = &one->next;
            continue;
        }
        *place = one->next;
        xy_free(one);
    }
    pthread_mutex_unlock(&lock);
    xy_free(rank->listener);
    rank->listener = NULL;
}

static listener_t *listener_of(mpi_rank_t *rank)
{
    listener_t *l = (listener_t *)rank->listener;

    if (l)
        return l;
    l = xy_calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->base = (mpi_listener_t){.happened = on_event, .in_call = on_call, .forget = forget};
    rank->listener = &l->base;
    return l;
}

static void add(listener_t *l, MPI_T_event_registration made)
{
    MPI_T_event_registration *last = &l->first;

    while (*last)
        last = &(*last)->next_of_rank;
    *last = made;
    l->base.wants |= 1u << made->kind;
    pthread_mutex_lock(&lock);
    made->next = registrations;
    registrations = made;
    pthread_mutex_unlock(&lock);
}

/* The gate is closed while the rank changes what others look at on its worker. */
int impl_t_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                              MPI_T_event_registration *event_registration)
{
    int code = check(event_index, XMPI_EVENTS);
    mpi_rank_t *self = mpi_self;
    MPI_T_event_registration made;
    listener_t *l;

    (void)obj_handle; /* it is bound to none */
    (void)info;
    if (code != MPI_SUCCESS)
        return code;
    if (!event_registration)
        return MPI_T_ERR_INVALID;
    if (!self)
        return MPI_T_ERR_NOT_ACCESSIBLE;
    made = xy_calloc(1, sizeof *made);
    mpi_go_inside(self);
    l = made ? listener_of(self) : NULL;
    if (l) {
        made->owner = self;
        made->kind = (mpi_event_kind_t)event_index;
        made->round = l->round;
        add(l, made);
        mpi_rank_observe(self, XMPI_LOOK_RECORD);
    }
    mpi_go_outside(self);
    if (!l) {
        xy_free(made);
        return MPI_T_ERR_MEMORY;
    }
    *event_registration = made;
    return MPI_SUCCESS;
}

static MPI_T_event_registration *find(MPI_T_event_registration registration)
{
    MPI_T_event_registration *place = &registrations;

    while (*place && *place != registration)
        place = &(*place)->next;
    return place;
}

/* One that was made and not freed. */
static int check_registration(MPI_T_event_registration registration)
{
    bool is_there;

    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    is_there = registration && *find(registration);
    pthread_mutex_unlock(&lock);
    return is_there ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

/* By its rank: no other has the handle, unless it was handed over. */
static void remove_from_rank(MPI_T_event_registration registration)
{
    mpi_rank_t *owner = registration->owner;
    listener_t *l = (listener_t *)owner->listener;
    MPI_T_event_registration *place = &l->first;

    if (owner == mpi_self)
        mpi_go_inside(owner);
    while (*place != registration)
        place = &(*place)->next_of_rank;
    *place = registration->next_of_rank;
    l->base.wants = 0;
    for (MPI_T_event_registration r = l->first; r; r = r->next_of_rank)
        l->base.wants |= 1u << r->kind;
    if (owner == mpi_self)
        mpi_go_outside(owner);
}

int impl_t_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                             MPI_T_event_free_cb_function free_cb_function)
{
    int code = check_registration(event_registration);

    if (code != MPI_SUCCESS)
        return code;
    remove_from_rank(event_registration);
    pthread_mutex_lock(&lock);
    *find(event_registration) = event_registration->next;
    pthread_mutex_unlock(&lock);
    if (free_cb_function)
        free_cb_function(event_registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED, user_data);
    xy_free(event_registration);
    return MPI_SUCCESS;
}

static int level_of(MPI_T_cb_safety safety)
{
    for (int i = 0; i < LEVELS; i++)
        if (levels[i] == safety)
            return i;
    return -1;
}

int impl_t_event_register_callback(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
                                   MPI_T_event_cb_function event_cb_function)
{
    int code = check_registration(event_registration), level = level_of(cb_safety);

    (void)info;
    if (code == MPI_SUCCESS && level < 0)
        code = MPI_T_ERR_INVALID;
    if (code != MPI_SUCCESS)
        return code;
    event_registration->callbacks[level].data = user_data;
    event_registration->callbacks[level].function = event_cb_function;
    return MPI_SUCCESS;
}

int impl_t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                     MPI_T_event_dropped_cb_function dropped_cb_function)
{
    int code = check_registration(event_registration);

    if (code == MPI_SUCCESS)
        event_registration->dropped = dropped_cb_function;
    return code;
}

/* No hint changes anything: those in use are none. */
static int give_info(int code, MPI_Info *info_used)
{
    mpi_info_t *made;

    if (code != MPI_SUCCESS || !info_used)
        return code;
    made = mpi_info_copy(NULL);
    if (!made)
        return MPI_T_ERR_MEMORY;
    *info_used = (MPI_Info)(void *)made;
    return MPI_SUCCESS;
}

int impl_t_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)
{
    return give_info(check_registration(event_registration), info_used);
}

int impl_t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
    (void)info;
    return check_registration(event_registration);
}

static int check_callback(MPI_T_event_registration registration, MPI_T_cb_safety safety)
{
    int code = check_registration(registration);

    return code == MPI_SUCCESS && level_of(safety) < 0 ? MPI_T_ERR_INVALID : code;
}

int impl_t_event_callback_get_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info *info_used)
{
    return give_info(check_callback(event_registration, cb_safety), info_used);
}

int impl_t_event_callback_set_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info)
{
    (void)info;
    return check_callback(event_registration, cb_safety);
}

/* ---- Instances, inside of a callback ---- */

static int check_instance(MPI_T_event_instance instance, const void *buffer)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!instance)
        return MPI_T_ERR_INVALID_HANDLE;
    return buffer ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int impl_t_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
    int code = check_instance(event_instance, buffer);

    if (code == MPI_SUCCESS && (element_index < 0 || element_index >= ELEMENTS))
        code = MPI_T_ERR_INVALID_INDEX;
    if (code == MPI_SUCCESS)
        memcpy(buffer, (const char *)&event_instance->record + elements[element_index].place,
               elements[element_index].size);
    return code;
}

int impl_t_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    int code = check_instance(event_instance, buffer);

    if (code == MPI_SUCCESS)
        memcpy(buffer, &event_instance->record, sizeof event_instance->record);
    return code;
}

int impl_t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
    int code = check_instance(event_instance, event_timestamp);

    if (code == MPI_SUCCESS)
        *event_timestamp = event_instance->time;
    return code;
}

int impl_t_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
    int code = check_instance(event_instance, source_index);

    if (code == MPI_SUCCESS)
        *source_index = 0;
    return code;
}
