/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduling policies: the next task, and its place. This is the header that others include:
 *
 *   task.h      the inputs and decisions of a policy; the list of policies
 *   policy_list.h      lists of tasks or data, linked by their numbers
 *   policy_record.h    a trace of what tasks did, the same from both engines
 *
 * Both engines (src/tasks/sim, src/tasks/exec) ask a policy from one thread at a time; its state
 * belongs to one run.
 */
#ifndef XY_TASKS_POLICY_POLICY_H
#define XY_TASKS_POLICY_POLICY_H

#include "tasks/policy/policy_list.h"
#include "tasks/policy/policy_record.h"
#include "tasks/policy/task.h"

#endif
