/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about a function of MPI, by its name. */
#ifndef XY_MPI_CHECK_FACTS_H
#define XY_MPI_CHECK_FACTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The kind of order that a call gives its rank (order.h). */
typedef enum {
    CHECK_HEARS_NOTHING,
    CHECK_HEARS_MESSAGES, /* that were sent to it */
    CHECK_HEARS_MEMBERS,  /* of the collective */
    CHECK_HEARS_ALL
} check_hears_t;

/* The use of the target's memory by a one-sided operation. */
typedef enum { CHECK_READ, CHECK_WRITE, CHECK_UPDATE } check_what_t;

typedef struct {
    check_hears_t hears;
    check_what_t what;
    bool has_request; /* one-sided: MPI_Rput and its like, */
    bool is_rget;     /* ... or MPI_Rget and MPI_Rget_accumulate */
    bool returns;     /* one-sided: the origin gets data */
    bool is_standard; /* a send that may be buffered */
    bool starts;      /* a message, for a request of the program */
    bool is_window;   /* MPI_Win_... */
    bool is_hidden;   /* it makes memory through which ranks see each other */
} check_facts_t;

/* By the address of the name. A slot is never changed once it has one. */
enum { CHECK_FACT_BITS = 11, CHECK_FACT_SLOTS = 1 << CHECK_FACT_BITS };
typedef struct {
    _Atomic(const char *) call; /* released when the facts are there */
    check_facts_t facts;
} check_fact_slot_t;
extern check_fact_slot_t check_fact_slots[CHECK_FACT_SLOTS];

static inline unsigned check_fact_place(const char *call)
{
    return (unsigned)((uintptr_t)call * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CHECK_FACT_BITS));
}

const check_facts_t *check_facts_find(const char *call);

/* `call` stays where it is: names are compared once. Any thread. */
static inline const check_facts_t *check_facts_of(const char *call)
{
    const check_fact_slot_t *slot = &check_fact_slots[check_fact_place(call)];

    return atomic_load_explicit(&slot->call, memory_order_acquire) == call ? &slot->facts
                                                                           : check_facts_find(call);
}

#endif
