/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plug-ins: tables of the user in shared objects, beside the built-in ones.
 *
 *   if (xy_plugin_is_path(name))
 *       st = xy_plugin_load(name, "policy", "xylem_plugin_policy", &table);
 *
 * A table begins with its version, an int. include/xylem_plugin.h is the header for plug-ins.
 */
#ifndef XY_BASE_PLUGIN_H
#define XY_BASE_PLUGIN_H

#include <pthread.h>
#include <stdbool.h>

#include "base/status.h"

/* Is it a file, not a name? It has a slash, or ends in ".so". */
bool xy_plugin_is_path(const char *name);

/* The table `symbol` of a shared object, which stays loaded; the same path gives the same table.
 * `kind` is what messages call it. XY_ENOENT: there is no such file. XY_EINVAL: it cannot be
 * loaded, lacks the symbol, or was built for another version (all reported). Any thread. */
xy_status_t xy_plugin_load(const char *path, const char *kind, const char *symbol,
                           const void **table_p);

/* Objects that a component makes of its plug-ins: one for each path, never freed, as results and
 * settings point to them. */
typedef struct {
    pthread_mutex_t lock;
    struct xy_plugin_object *first;
} xy_plugin_objects_t;
#define XY_PLUGIN_OBJECTS_INIT                                                                     \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, NULL                                                            \
    }

/* The object of a path, made by `make` when it is first asked for. `make` may keep its `path`. Any
 * thread. */
xy_status_t xy_plugin_find(xy_plugin_objects_t *objects, const char *path,
                           xy_status_t (*make)(const char *path, void **object_p), void **object_p);

#endif
