/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <xylem_plugin.h>

#include "base/memory.h"
#include "base/text.h"

bool xy_plugin_is_path(const char *name)
{
    size_t n = strlen(name);

    return strchr(name, '/') != NULL || (n > 3 && strcmp(name + n - 3, ".so") == 0);
}

/* The linker searches its own directories for a name without a slash. */
static void *open_object(const char *path)
{
    xy_text_t here = XY_TEXT_INIT;
    void *object = NULL;

    if (strchr(path, '/') != NULL)
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    xy_text_addf(&here, "./%s", path);
    if (here.s != NULL)
        object = dlopen(here.s, RTLD_NOW | RTLD_LOCAL);
    xy_text_cleanup(&here);
    return object;
}

xy_status_t xy_plugin_load(const char *path, const char *kind, const char *symbol,
                           const void **table_p)
{
    const int *version;
    const char *why;
    void *object;

    if (access(path, R_OK) != 0)
        return xy_fail_errno(errno, path, "loading the plug-in");
    object = open_object(path);
    if (object == NULL) {
        why = dlerror();
        return xy_fail(XY_EINVAL, "cannot load %s '%s': %s", kind, path,
                       why != NULL ? why : "the dynamic linker gives no reason");
    }
    version = dlsym(object, symbol);
    if (version == NULL)
        return xy_fail(XY_EINVAL, "'%s' has no %s; it must define '%s' (xylem_plugin.h)", path,
                       kind, symbol);
    if (*version != XYLEM_PLUGIN_VERSION)
        return xy_fail(XY_EINVAL,
                       "%s '%s' was built for version %d of xylem_plugin.h; this Xylem has "
                       "version %d: build it again",
                       kind, path, *version, XYLEM_PLUGIN_VERSION);
    *table_p = version;
    return XY_OK;
}

typedef struct xy_plugin_object {
    struct xy_plugin_object *next;
    void *object;
    char path[];
} object_t;

/* With the lock held. */
static xy_status_t add(xy_plugin_objects_t *objects, const char *path,
                       xy_status_t (*make)(const char *path, void **object_p), object_t **added_p)
{
    size_t size = strlen(path) + 1;
    object_t *o = xy_malloc(sizeof(*o) + size);
    xy_status_t st;

    if (o == NULL)
        return xy_fail_memory("loading a plug-in");
    memcpy(o->path, path, size);
    st = make(o->path, &o->object);
    if (st != XY_OK) {
        xy_free(o);
        return st;
    }
    o->next = objects->first;
    objects->first = *added_p = o;
    return XY_OK;
}

xy_status_t xy_plugin_find(xy_plugin_objects_t *objects, const char *path,
                           xy_status_t (*make)(const char *path, void **object_p), void **object_p)
{
    xy_status_t st = XY_OK;
    object_t *o;

    pthread_mutex_lock(&objects->lock);
    o = objects->first;
    while (o != NULL && strcmp(o->path, path) != 0)
        o = o->next;
    if (o == NULL)
        st = add(objects, path, make, &o);
    if (st == XY_OK)
        *object_p = o->object;
    pthread_mutex_unlock(&objects->lock);
    return st;
}
