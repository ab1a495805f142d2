/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Models of messages (private to the component). Each is one file message_NAME.c that ends in one
 * table, listed in message_model.c.
 */
#ifndef XY_COST_MESSAGE_INTERNAL_H
#define XY_COST_MESSAGE_INTERNAL_H

#include "cost/message_model.h"

typedef struct {
    const char *name;
    const char *describe;
    /* Called once the samples are in order; models later in the list see what earlier ones found.
     */
    xy_status_t (*fit)(xy_message_model_t *model);
    bool (*is_measured)(const xy_message_model_t *model, xy_message_kind_t kind);
    double (*seconds)(const xy_message_model_t *model, xy_message_kind_t kind, double bytes);
} message_model_t;

/* The measured time of a kind at a sample; 0: not measured. */
double message_time(const xy_message_sample_t *sample, xy_message_kind_t kind);

bool message_kind_is_measured(const xy_message_model_t *model, xy_message_kind_t kind);

#endif
