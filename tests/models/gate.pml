/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The gate of src/mpi/runtime/gate.c, for exhaustive search:
 *
 *   spin -run gate.pml     (asserts: worker and helper never match at the same time; no packet is
 *                           left in the ring while the worker computes and the helper is idle)
 *
 * A sender puts packets into the ring of a worker and tells the communication core, the helper,
 * about each. The worker makes CALLS calls of the library and then computes for good. A call looks
 * into the ring when it likes, here once or not at all. All accesses to the flags are sequentially
 * consistent, so each statement on one flag is one step.
 *
 * Defining NO_PENDING, NO_RETRY, NO_AWAIT, NO_REOPEN, LATE_CLEAR or NO_FENCE breaks one part; each lets
 * the search find an error.
 */
#ifndef CALLS
#define CALLS 2
#endif
#ifndef POSTS
#define POSTS 2
#endif

bool is_inside, is_helping, is_pending;
byte ring;     /* packets that wait for the worker */
byte told;     /* messages to the helper that it has not read yet */
byte matching; /* processes that match just now */

inline match()
{
    atomic { matching++; assert(matching == 1) };
    ring = 0;
    matching--
}

inline close_gate()
{
#ifdef NO_FENCE
    /* The store waits in the store buffer until the load is over. */
    if
    :: is_helping -> is_inside = true; !is_helping
    :: else -> is_inside = true
    fi
#else
    is_inside = true;
#ifndef NO_AWAIT
    !is_helping
#endif
#endif
}

/* Open, and as long as the helper came in vain meanwhile: close, match, open again. */
inline open_gate()
{
    is_inside = false;
#ifndef NO_REOPEN
    do
    :: is_pending ->
        close_gate();
#ifdef LATE_CLEAR
        match();
        is_pending = false;
#else
        is_pending = false;
        match();
#endif
        is_inside = false
    :: else -> break
    od
#endif
}

active proctype worker()
{
    byte calls;

    do
    :: calls < CALLS ->
        close_gate();
        if
        :: match()
        :: skip
        fi;
        open_gate();
        calls++
    :: else -> break
    od
}

active proctype sender()
{
    byte posts;

    do
    :: posts < POSTS -> ring++; told++; posts++
    :: else -> break
    od
}

active proctype helper()
{
end:
    do
    :: told > 0 ->
        told--;
again:  is_helping = true;
        if
        :: !is_inside -> match(); is_helping = false
        :: else ->
            is_helping = false;
#ifndef NO_PENDING
            is_pending = true;
#endif
#ifndef NO_RETRY
            if
            :: !is_inside -> goto again
            :: else
            fi
#endif
        fi
    od
}

init {
    timeout -> assert(ring == 0)
}
