/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Announcing stacks and switches to ASan, TSan and Valgrind. All of it vanishes in a plain build,
 * but for Valgrind's client requests when stacks are made (a few instructions each).
 */
#ifndef XY_FIBER_SANITIZE_H
#define XY_FIBER_SANITIZE_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(FIBER_ASAN)
#define FIBER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(FIBER_TSAN)
#define FIBER_TSAN 1
#endif
#ifndef FIBER_ASAN
#define FIBER_ASAN 0
#endif
#ifndef FIBER_TSAN
#define FIBER_TSAN 0
#endif

#if FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/memcheck.h>
#include <valgrind/valgrind.h>
#define FIBER_VALGRIND 1
#endif
#endif
#ifndef FIBER_VALGRIND
#define FIBER_VALGRIND 0
#endif

/* Before a switch to the stack [low, high); `fake_p` keeps ASan's fake stack of the leaving fiber,
 * NULL when it never comes back. `tsan` is the TSan fiber that continues. */
static inline void fiber_sanitize_leave(void **fake_p, const void *low, const void *high,
                                        void *tsan)
{
#if FIBER_ASAN
    __sanitizer_start_switch_fiber(fake_p, low, (size_t)((const char *)high - (const char *)low));
#endif
#if FIBER_TSAN
    __tsan_switch_to_fiber(tsan, 0);
#endif
    (void)fake_p;
    (void)low;
    (void)high;
    (void)tsan;
}

/* After a switch, on the new stack; `fake` is what leave kept, NULL at the first run. */
static inline void fiber_sanitize_arrive(void *fake)
{
#if FIBER_ASAN
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
    (void)fake;
}

static inline void *fiber_sanitize_create(void)
{
#if FIBER_TSAN
    return __tsan_create_fiber(0);
#else
    return NULL;
#endif
}

static inline void *fiber_sanitize_self(void)
{
#if FIBER_TSAN
    return __tsan_get_current_fiber();
#else
    return NULL;
#endif
}

static inline void fiber_sanitize_destroy(void *tsan)
{
#if FIBER_TSAN
    __tsan_destroy_fiber(tsan);
#endif
    (void)tsan;
}

/* A stack [low, high) exists from now on; the result goes to fiber_sanitize_stack_end. */
static inline unsigned fiber_sanitize_stack_begin(void *low, void *high)
{
    (void)low;
    (void)high;
#if FIBER_VALGRIND
    return VALGRIND_STACK_REGISTER(low, high);
#else
    return 0;
#endif
}

static inline void fiber_sanitize_stack_end(unsigned id)
{
    (void)id;
#if FIBER_VALGRIND
    VALGRIND_STACK_DEREGISTER(id);
#endif
}

/* The frames of the fiber that ended on [low, high) are gone, although they did not return. */
static inline void fiber_sanitize_stack_clear(void *low, void *high)
{
#if FIBER_ASAN
    __asan_unpoison_memory_region(low, (size_t)((char *)high - (char *)low));
#endif
    (void)low;
    (void)high;
}

#endif
