/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events: what the library tells while it happens. There is one source, the clock of the machine,
 * and one event, a message of the program that is sent. A callback runs inside the call that sends,
 * on the thread that made it, before the message leaves. Ranks that ask for no events pay nothing:
 * the hook is behind that of --monitor and --trace.
 */
#include <pthread.h>
#include <string.h>

#include "mpi/bindings/calls.h"
#include "mpi/bindings/tool.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

enum { EVENTS = 1, SOURCES = 1, LEVELS = 4, ELEMENTS = 3, MOST_AT_ONCE = 16 };
#define TICKS 1000000000

/* As MPI_T_event_copy gives it. */
typedef struct {
    int to, tag;
    unsigned long long bytes;
} sent_t;

static const struct {
    MPI_Aint place;
    size_t size;
} elements[ELEMENTS] = {{offsetof(sent_t, to), sizeof(int)},
                        {offsetof(sent_t, tag), sizeof(int)},
                        {offsetof(sent_t, bytes), sizeof(unsigned long long)}};

static const char event_name[] = "xylem_message_sent";

/* From the weakest to the strongest: one that may be called where more is forbidden. */
static const MPI_T_cb_safety levels[LEVELS] = {
    MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
enum { RESTRICTED = 1 }; /* what a callback may do inside of a send */

struct MPI_T_event_registration_t {
    const mpi_rank_t *owner;
    struct {
        MPI_T_event_cb_function *function;
        void *data;
    } callbacks[LEVELS];
    MPI_T_event_dropped_cb_function *dropped;
    MPI_T_event_registration next;
};

struct MPI_T_event_instance_t {
    MPI_Count time;
    sent_t sent;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list: ranks have their own */
static MPI_T_event_registration registrations;

static MPI_Count ticks_now(void)
{
    return (MPI_Count)(xy_now() * (double)TICKS);
}

/* ---- While it happens ---- */

/* To the weakest callback that is strong enough; without one it is dropped. */
static void tell(MPI_T_event_registration to, MPI_T_event_instance instance)
{
    for (int i = RESTRICTED; i < LEVELS; i++)
        if (to->callbacks[i].function) {
            to->callbacks[i].function(instance, to, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                      to->callbacks[i].data);
            return;
        }
    if (to->dropped)
        to->dropped(1, to, 0, MPI_T_CB_REQUIRE_MPI_RESTRICTED, to->callbacks[0].data);
}

static void on_sent(const mpi_rank_t *self, int to, int tag, uint64_t bytes)
{
    struct MPI_T_event_instance_t instance = {ticks_now(), {to, tag, bytes}};
    MPI_T_event_registration mine[MOST_AT_ONCE];
    int count = 0;

    pthread_mutex_lock(&lock);
    for (MPI_T_event_registration r = registrations; r && count < MOST_AT_ONCE; r = r->next)
        if (r->owner == self)
            mine[count++] = r;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < count; i++)
        tell(mine[i], &instance);
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
    return EVENTS;
}

int impl_t_event_get_num(int *num_events)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    tool_set(num_events, EVENTS);
    return MPI_SUCCESS;
}

int impl_t_event_get_index(const char *name, int *event_index)
{
    if (!tool_is_ready())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!name || strcmp(name, event_name) != 0)
        return MPI_T_ERR_INVALID_NAME;
    tool_set(event_index, 0);
    return MPI_SUCCESS;
}

int impl_t_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                          MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                          int *desc_len, int *bind)
{
    const MPI_Datatype types[ELEMENTS] = {MPI_INT, MPI_INT, MPI_UNSIGNED_LONG_LONG};
    int code = check(event_index, EVENTS), room = num_elements ? *num_elements : 0;

    if (code != MPI_SUCCESS)
        return code;
    tool_text(event_name, name, name_len);
    tool_text("a message of the program is sent: the number of the receiver in the job, tag, bytes",
              desc, desc_len);
    tool_set(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    for (int i = 0; i < ELEMENTS && i < room; i++) {
        if (array_of_datatypes)
            array_of_datatypes[i] = types[i];
        if (array_of_displacements)
            array_of_displacements[i] = elements[i].place;
    }
    tool_set(num_elements, ELEMENTS);
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
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

int impl_t_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                              MPI_T_event_registration *event_registration)
{
    int code = check(event_index, EVENTS);
    MPI_T_event_registration made;

    (void)obj_handle; /* it is bound to none */
    (void)info;
    if (code != MPI_SUCCESS)
        return code;
    if (!event_registration)
        return MPI_T_ERR_INVALID;
    if (!mpi_self)
        return MPI_T_ERR_NOT_ACCESSIBLE;
    made = xy_calloc(1, sizeof *made);
    if (!made)
        return MPI_T_ERR_MEMORY;
    made->owner = mpi_self;
    pthread_mutex_lock(&lock);
    made->next = registrations;
    registrations = made;
    mpi_sent_event = on_sent;
    pthread_mutex_unlock(&lock);
    mpi_self->is_watched = true;
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

int impl_t_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                             MPI_T_event_free_cb_function free_cb_function)
{
    int code = check_registration(event_registration);

    if (code != MPI_SUCCESS)
        return code;
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
        memcpy(buffer, (const char *)&event_instance->sent + elements[element_index].place,
               elements[element_index].size);
    return code;
}

int impl_t_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    int code = check_instance(event_instance, buffer);

    if (code == MPI_SUCCESS)
        memcpy(buffer, &event_instance->sent, sizeof event_instance->sent);
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
