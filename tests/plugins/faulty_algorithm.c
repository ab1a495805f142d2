/* SPDX-License-Identifier: BSD-3-Clause */
/* An allreduce that is the contribution of rank 0, which shows that it ran; or the mistake that is
 * defined. */
#include <xylem_plugin.h>

static xylem_spot receive(int32_t rank)
{
    return (xylem_spot){rank, XYLEM_PLUGIN_RECEIVE, 0};
}

static void build(xylem_coll_builder *b)
{
    uint64_t bytes = b->request->count * b->request->element;

#if defined(READS_BEYOND)
    b->copy(b, receive(0), receive(1), bytes + 1);
#elif defined(WRITES_INPUT)
    b->copy(b, receive(0), (xylem_spot){1, XYLEM_PLUGIN_SEND, 0}, bytes);
#elif defined(NO_SUCH_RANK)
    b->copy(b, receive(0), receive(b->request->ranks), bytes);
#elif defined(PART_OF_ELEMENT)
    b->reduce(b, receive(0), receive(1), 1, 0);
#endif
    for (int32_t r = 0; r < b->request->ranks; r++)
        b->copy(b, b->input(b, 0), receive(r), bytes);
}

static int applies(const xylem_coll_request *request)
{
#ifdef FOR_LONG
    return request->count >= 100;
#else
    return request->count > 0;
#endif
}

const xylem_algorithm xylem_plugin_algorithm = {
    .version = XYLEM_PLUGIN_VERSION,
#ifdef UNKNOWN_COLLECTIVE
    .collective = "allsum",
#else
    .collective = "allreduce",
#endif
    .applies = applies,
#ifndef NO_BUILD
    .build = build,
#endif
};
