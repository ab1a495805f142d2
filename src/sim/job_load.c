/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies where the memory has a limit: how long one takes depends on those that begin later, so the
 * core does the item by the clock. First the seconds that are no copies, then one copy after the
 * other through its domain. Where no limit can be reached, items are done ahead of the clock.
 */
#include "sim/job_internal.h"

/* Takes up the work that has come while the core copied. */
static void catch_up(xy_vjob_t *job, job_copier_t *copier)
{
    while (copier->item == NULL && copier->first != NULL) {
        job_item_t *item = copier->first;

        copier->first = item->next;
        job_work(job, item);
    }
}

/* Begins the next copy, or ends the item. */
static void copy_next(job_copier_t *copier)
{
    xy_vjob_t *job = copier->event.owner;
    job_item_t *item = copier->item;
    job_load_t load;

    if (!item->load(job, item, copier->seconds, copier->next++, &load)) {
        copier->item = NULL;
        copier->over(job, copier, item);
        catch_up(job, copier);
    } else if (sim_memory_is_limited(&job->memory, load.domain)) {
        copier->user.weight = (double)load.weight;
        xy_share_start(&job->memory.domains[load.domain], &copier->user, load.seconds);
    } else {
        xy_vclock_set(&job->clock, &copier->event, job->clock.now + load.seconds);
    }
}

void job_load_due(xy_event_t *event)
{
    xy_vjob_t *job = event->owner;

    job->totals.events++;
    copy_next(&job->cores[event->index].copier);
}

static void copied(xy_share_user_t *user)
{
    copy_next((job_copier_t *)user);
}

void job_load_begin(xy_vjob_t *job, int32_t core, int32_t who, job_item_t *item, double start,
                    void (*over)(xy_vjob_t *job, job_copier_t *copier, job_item_t *item))
{
    job_copier_t *copier = &job->cores[core].copier;
    double seconds = item->seconds(job, item, start), first = seconds;
    job_load_t load;

    copier->user.done = copied;
    copier->item = item;
    copier->who = who;
    copier->next = 0;
    copier->start = start;
    copier->seconds = seconds;
    copier->over = over;
    for (int32_t i = 0; item->load(job, item, seconds, i, &load); i++)
        first -= load.seconds;
    xy_vclock_set(&job->clock, &copier->event, fmax(job->clock.now, start + first));
}

void job_load_keep(job_core_t *core, job_item_t *item)
{
    item->next = NULL;
    if (core->copier.first == NULL)
        core->copier.last = &core->copier.first;
    *core->copier.last = item;
    core->copier.last = &item->next;
}
