/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The doorbell and the stuck check of src/fiber/sleep.c, for exhaustive search:
 *
 *   spin -run sleep.pml              (asserts: no false alarm; no invalid end state: no lost wake)
 *
 * Workers pass TOKENS tokens until POSTS posts have been made; a token is posted to a mailbox. Each
 * worker has a store buffer of one post, as processors do: P1 may become visible after P2 has read.
 * The sleeper's membarrier empties all of them. A worker without a token sleeps. When POSTS is used
 * up the tokens stay where they are, all workers sleep, and exactly then the check must say stuck.
 *
 * Defining NO_FENCE, NO_SCAN or NO_REREAD leaves out one part; each lets the search find an error.
 */
#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef POSTS
#define POSTS 4
#endif
#ifndef TOKENS
#define TOKENS 1
#endif
#define NOBODY 255

byte mail[WORKERS];     /* tokens in the mailbox, visible to all */
byte buffered[WORKERS]; /* to whom the post in this worker's store buffer goes; NOBODY: empty */
bool asleep[WORKERS];
byte count;             /* sleepers, low half */
byte wakes;             /* sleepers, high half */
byte posts_left = POSTS;
byte held;              /* tokens in the hands of workers that may still post */
bool said;

/* The store buffer of w reaches memory. */
inline drain(w)
{
    if
    :: buffered[w] != NOBODY -> mail[buffered[w]]++; buffered[w] = NOBODY
    :: else
    fi
}

proctype buffer(byte w)
{
end:
    do
    :: atomic { buffered[w] != NOBODY -> mail[buffered[w]]++; buffered[w] = NOBODY }
    od
}

/* P1 .. P3 */
inline post(w, to)
{
    atomic { buffered[w] == NOBODY -> buffered[w] = to; posts_left--; held-- };
    if
    :: asleep[to] -> atomic { drain(w); asleep[to] = false } /* the exchange empties the buffer */
    :: !asleep[to]
    fi
}

proctype worker(byte w; byte tokens)
{
    byte i, to, my_wakes;
    bool stuck;

    do
    :: tokens > 0 && posts_left > 0 ->
        atomic {
            if
            :: posts_left > 0 -> select(to : 0 .. WORKERS - 1);
               if
               :: to == w -> to = (w + 1) % WORKERS
               :: else
               fi;
               tokens--
            :: else -> goto next
            fi
        };
        post(w, to)
    :: atomic { tokens > 0 && posts_left == 0 -> held = held - tokens; tokens = 0 }
    :: atomic { mail[w] > 0 -> tokens = tokens + mail[w]; held = held + mail[w]; mail[w] = 0 }
    :: tokens == 0 && mail[w] == 0 ->
        asleep[w] = true; /* S1, in a buffer of its own until the fence */
#ifndef NO_FENCE
        atomic { i = 0; do :: i < WORKERS -> drain(i); i++ :: else -> break od; i = 0 }; /* S2 */
#endif
        if
        :: mail[w] > 0 -> asleep[w] = false; goto next /* S3 */
        :: mail[w] == 0
        fi;
        atomic { count++; my_wakes = wakes; stuck = (count == WORKERS) };
        i = 0;
        do
        :: i < WORKERS && stuck ->
#ifndef NO_SCAN
            stuck = asleep[i];
#endif
            i++
        :: else -> break
        od;
        atomic {
#ifdef NO_REREAD
            if
            :: stuck
#else
            if
            :: stuck && count == WORKERS && wakes == my_wakes
#endif
               -> /* no token is held by a worker, in a mailbox or under way */
                assert(held == 0);
                i = 0;
                do
                :: i < WORKERS -> assert(mail[i] == 0 && buffered[i] == NOBODY); i++
                :: else -> break
                od;
                said = true
            :: else
            fi;
            i = 0
        };
end:    !asleep[w]; /* S4 */
        atomic { count--; wakes++ };
next:   skip
    od
}

init {
    byte w = 0;

    atomic {
        do
        :: w < WORKERS ->
            buffered[w] = NOBODY;
            run buffer(w);
            w++
        :: else -> break
        od;
        held = TOKENS;
        w = 0;
        do
        :: w < WORKERS ->
            if
            :: w < TOKENS -> run worker(w, 1)
            :: else -> run worker(w, 0)
            fi;
            w++
        :: else -> break
        od
    };
    /* When nothing moves any more, no token lies in a mailbox (a lost wake) and stuck was said. */
    timeout -> assert(said);
    w = 0;
    do
    :: w < WORKERS -> assert(mail[w] == 0); w++
    :: else -> break
    od
}
