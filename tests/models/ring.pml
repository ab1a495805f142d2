/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings that are full in both directions (src/mpi/runtime/packet.c), for exhaustive search:
 *
 *   spin -run ring.pml               (no invalid end state: no two workers wait for each other)
 *
 * Each of two workers sends REQUESTS packets to the other, and answers every one it gets. A rank
 * that finds its ring full polls. A handler that finds it full spills; the polls move the spill on.
 *
 * WAIT_IN_HANDLER: a handler waits for room instead, and handles more packets meanwhile. The ring it
 * reads is given back when the outermost handler ends. The search then finds two that wait.
 * NO_UNSPILL: polls leave the spill where it is.
 */
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef REQUESTS
#define REQUESTS 3
#endif
#define REQUEST 1
#define ANSWER 2

byte kind[4];               /* [2 * SLOTS] with SLOTS 2: the packets of ring r are at r * SLOTS */
byte tail[2], next[2], head[2]; /* of ring r, which worker r writes and the other reads */
byte spilled[2];            /* answers in the spill of ring r */
byte answers[2];            /* that worker r got */

#define full(r) (tail[r] - head[r] == SLOTS)
#define unread(r) (tail[r] - next[r] > 0)

inline put(r, what)
{
    kind[r * SLOTS + tail[r] % SLOTS] = what;
    tail[r]++
}

/* One packet of the other's ring, if there is one. `open` counts handlers that wait. */
inline handle(w)
{
    if
    :: unread(1 - w) ->
        if
        :: kind[(1 - w) * SLOTS + next[1 - w] % SLOTS] == ANSWER -> answers[w]++
        :: else ->
#ifdef WAIT_IN_HANDLER
            open++
#else
            if
            :: full(w) || spilled[w] > 0 -> spilled[w]++
            :: else -> put(w, ANSWER)
            fi
#endif
        fi;
        next[1 - w]++;
        if
        :: open == 0 -> head[1 - w] = next[1 - w]
        :: else
        fi
    :: else
    fi
}

/* A poll in which something can be done. */
#define can_handle(w) unread(1 - w)
#define can_unspill(w) (spilled[w] > 0 && !full(w))
#define can_answer(w) (open > 0 && !full(w))

proctype worker(byte w)
{
    byte left = REQUESTS, open = 0;

    do
    :: atomic { left > 0 && !full(w) && spilled[w] == 0 && open == 0 -> put(w, REQUEST); left-- }
    :: atomic { can_handle(w) -> handle(w) }
#ifndef NO_UNSPILL
    :: atomic { can_unspill(w) -> put(w, ANSWER); spilled[w]-- }
#endif
    :: atomic { can_answer(w) ->
           put(w, ANSWER);
           open--;
           if
           :: open == 0 -> head[1 - w] = next[1 - w]
           :: else
           fi }
    :: atomic { left == 0 && open == 0 && spilled[w] == 0 && answers[w] == REQUESTS &&
                answers[1 - w] == REQUESTS -> break }
    od
}

init {
    atomic {
        run worker(0);
        run worker(1)
    }
}
