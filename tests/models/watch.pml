/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The looks for deadlocks of src/mpi/check/watch.c, for exhaustive search:
 *
 *   spin -run watch.pml     (asserts: two ranks that exchange messages are never taken for stuck)
 *
 * Rank 0 sends and receives, rank 1 receives and sends, ROUNDS times; each has a worker of its own.
 * A rank that finds no message parks. Its worker polls then, when it likes, and answers a look when
 * it likes; that of a rank that runs answers in its next call. The thread that looks does not wait
 * for answers.
 *
 * Defining NO_MARK (parked is parked), NO_ERASE (a park leaves the mark) or NO_DRAIN (an answer without
 * a look into the ring) breaks one part; each lets the search find an error. That a worker's answer
 * counts only if it had answered the look before is for the order of memory, which no statement of
 * this model leaves open: what was sent before that answer is seen by those who answer the next.
 */
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef LOOKS
#define LOOKS 3
#endif

byte ring[2];      /* messages to this rank that its worker has not handled */
byte kept[2];      /* that it has handled, and the rank has not received */
bool parked[2];
bool seen[2];      /* the mark */
bool counts[2];    /* the record of the last answer: parked, and not run since an earlier one */
byte answered[2];
byte asked;

/* What has arrived readies a rank that waits for it. */
inline drain(i)
{
    atomic {
        kept[i] = kept[i] + ring[i];
        ring[i] = 0;
        parked[i] = parked[i] && kept[i] == 0
    }
}

inline look(i)
{
    byte a;

    if
    :: asked != answered[i] ->
        a = asked;
        atomic {
#ifndef NO_DRAIN
            kept[i] = kept[i] + ring[i];
            ring[i] = 0;
            parked[i] = parked[i] && kept[i] == 0;
#endif
#ifdef NO_MARK
            counts[i] = parked[i];
#else
            counts[i] = parked[i] && seen[i];
            seen[i] = parked[i];
#endif
            answered[i] = a;
            a = 0
        }
    :: else
    fi
}

inline call(i)
{
    if
    :: look(i)
    :: skip
    fi
}

inline send(i)
{
    call(i);
    ring[1 - i]++
}

inline receive(i)
{
    call(i);
    drain(i);
    if
    :: kept[i] == 0 ->
        atomic {
            parked[i] = true;
#ifndef NO_ERASE
            seen[i] = false
#endif
        }
        do
        :: !parked[i] -> break
        :: parked[i] && ring[i] > 0 -> drain(i)
        :: parked[i] && asked != answered[i] -> look(i)
        od
    :: else
    fi;
    kept[i]--
}

proctype rank(byte i)
{
    byte round;

    do
    :: round == ROUNDS -> break
    :: round < ROUNDS && i == 0 -> send(0); receive(0); round++
    :: round < ROUNDS && i == 1 -> receive(1); send(1); round++
    od
}

proctype watch()
{
    bool in_time[2];
    byte k;

    do
    :: k == LOOKS -> break
    :: k < LOOKS ->
        atomic {
            in_time[0] = answered[0] == asked;
            in_time[1] = answered[1] == asked;
            asked++
        }
        atomic {
            in_time[0] = in_time[0] && answered[0] == asked;
            in_time[1] = in_time[1] && answered[1] == asked;
            assert(!(in_time[0] && counts[0] && in_time[1] && counts[1]));
            k++
        }
    od
}

init
{
    atomic {
        run rank(0);
        run rank(1);
        run watch()
    }
}
