/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that move between cores (src/mpi/runtime/move.h, src/fiber/sleep.c), for exhaustive search:
 *
 *   spin -run move.pml      (asserts: one core at a time polls for a rank, packets come in order;
 *                            no invalid end state: no packet is left where all cores sleep)
 *
 * A rank moves MOVES times between two cores while a sender puts POSTS packets into its ring and
 * rings whom it takes for the reader. The sender has a store buffer of one packet, as processors
 * do. A core takes what has arrived, polls the ranks in its list, perhaps gives the rank away, and
 * sleeps: then it fences all threads (membarrier) and looks again, and stays awake if a rank has
 * come.
 *
 * Defining NO_FENCE (of the sleeper), NO_AGAIN (it sleeps although a rank has come after the fence), 
 * NO_READER (the ring names the first core for ever), EARLY (the rank is in a list before it was
 * taken), BOTH (it stays in the list that it leaves), NO_RING (of the core that it goes to) or
 * BEFORE (the sender reads the reader before it writes) breaks one part; each lets the search find
 * an error.
 */
#ifndef MOVES
#define MOVES 2
#endif
#ifndef POSTS
#define POSTS 3
#endif

byte ring;           /* packets that all see */
bool buffered;       /* and one that is in the sender's store buffer */
byte handled, sent;
byte reader;         /* the core that senders ring */
bool here[2];        /* is the rank in the list of the core? */
bool arrived[2];     /* is it in the mailbox of the core? */
bool asleep[2], rests[2];
bool is_done;        /* the sender */
byte polling, moves;

inline drain()
{
    if
    :: buffered -> buffered = false; ring++
    :: else
    fi
}

inline wake(core)
{
    if
    :: asleep[core] -> asleep[core] = false
    :: else
    fi
}

/* The store buffer reaches memory at any time. */
active proctype buffer()
{
end:
    do
    :: atomic { buffered -> buffered = false; ring++ }
    od
}

active proctype sender()
{
    byte to;

    do
    :: sent < POSTS ->
#ifdef BEFORE
        to = reader;
#endif
        atomic { !buffered -> buffered = true; sent++ };
#ifndef BEFORE
        to = reader;
#endif
        /* The exchange of a word that is set empties the buffer. */
        if
        :: asleep[to] -> atomic { drain(); wake(to) }
        :: !asleep[to]
        fi
    :: else -> break
    od;
    is_done = true
}

inline take(me)
{
    if
    :: arrived[me] ->
#ifndef NO_READER
        reader = me;
#endif
        arrived[me] = false;
        here[me] = true;
        has_taken = true
    :: else -> has_taken = false
    fi
}

inline look(me)
{
    if
    :: here[me] ->
        atomic { polling++; assert(polling == 1) };
        do
        :: atomic { ring > 0 -> ring--; handled++ }
        :: ring == 0 -> break
        od;
        polling--
    :: else
    fi
}

inline give(me, to)
{
#ifndef BOTH
    here[me] = false;
#endif
    moves++;
#ifdef EARLY
    here[to] = true;
#endif
    arrived[to] = true;
#ifndef NO_RING
    wake(to)
#endif
}

proctype core(byte me)
{
    bool has_taken;

    do
    :: take(me);
        look(me);
        if
        :: here[me] && moves < MOVES -> give(me, 1 - me)
        :: true
        fi;
        if
        :: asleep[me] = true;
#ifndef NO_FENCE
            atomic { drain() };
#endif
            take(me);
            look(me);
#ifndef NO_AGAIN
            if
            :: has_taken -> asleep[me] = false
            :: else
            fi;
#endif
            if
            :: asleep[me] -> rests[me] = true
            :: else
            fi;
end:        atomic { !asleep[me] -> rests[me] = false }
        :: true
        fi
    od
}

/* All rest, and nobody is about to ring: then all packets have been handled. */
active proctype check()
{
    atomic {
        rests[0] && rests[1] && asleep[0] && asleep[1] && is_done && !buffered ->
        assert(ring == 0 && handled == POSTS && !arrived[0] && !arrived[1])
    }
}

init
{
    here[0] = true;
    atomic { run core(0); run core(1) }
}
