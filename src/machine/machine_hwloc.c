/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines from hwloc: the live one, and its XML files.
 *
 * hwloc keeps NUMA nodes beside the tree, as memory of an object. Here they are a level of it: a
 * NUMA node that belongs to P stands between P and P's children. Several that belong to the same P
 * (fast and slow memory near the same cores) are nested, which keeps both memories and their
 * numbers.
 */
#include "machine/machine_internal.h"
#include "machine/sysfs.h"

#if XYLEM_HAVE_HWLOC

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REHEARSAL_SECONDS = 60 }; /* of a processor, for a file of the largest size */

/* The PCI plugin keeps what libpciaccess gave it and is unloaded: a leak that is not ours, and that
 * LeakSanitizer could not name to suppress it. */
#if defined(__SANITIZE_ADDRESS__)
#define XY_HAVE_LSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XY_HAVE_LSAN 1
#endif
#endif
#ifdef XY_HAVE_LSAN
#include <sanitizer/lsan_interface.h>
#endif

static int load_topology(hwloc_topology_t t)
{
    int rc;

#ifdef XY_HAVE_LSAN
    __lsan_disable();
#endif
    rc = hwloc_topology_load(t);
#ifdef XY_HAVE_LSAN
    __lsan_enable();
#endif
    return rc;
}

typedef struct {
    hwloc_topology_t topology;
    const char *path; /* for messages */
    machine_builder_t builder;
    const xy_bitset_t *affinity; /* NULL: not this process's machine */
} import_t;

/* Sets the type of an hwloc object; returns false for skipped types. */
static bool type_of(hwloc_obj_t o, uint8_t *type_p)
{
    switch (o->type) {
    case HWLOC_OBJ_PACKAGE:
        *type_p = XY_OBJ_PACKAGE;
        return true;
    case HWLOC_OBJ_DIE:
    case HWLOC_OBJ_GROUP:
        *type_p = XY_OBJ_GROUP;
        return true;
    case HWLOC_OBJ_L3CACHE:
        *type_p = XY_OBJ_L3;
        return true;
    case HWLOC_OBJ_L2CACHE:
        *type_p = XY_OBJ_L2;
        return true;
    case HWLOC_OBJ_L1CACHE:
        *type_p = XY_OBJ_L1;
        return true;
    case HWLOC_OBJ_CORE:
        *type_p = XY_OBJ_CORE;
        return true;
    case HWLOC_OBJ_PU:
        *type_p = XY_OBJ_PU;
        return true;
    default: /* L4, L5 and what may come: their children take their place */
        return false;
    }
}

static uint8_t excluded(const import_t *in, hwloc_obj_t pu)
{
    uint8_t flags = 0;

    if (!hwloc_bitmap_isset(hwloc_topology_get_allowed_cpuset(in->topology), pu->os_index))
        flags |= XY_EXCLUDED_CGROUP;
    /* PUs excluded by the cgroup are never in the mask: one reason is enough. */
    else if (in->affinity != NULL && !xy_bitset_has(in->affinity, pu->os_index))
        flags |= XY_EXCLUDED_AFFINITY;
    return flags;
}

static xy_status_t open_one(import_t *in, machine_draft_t *d, int *opened)
{
    uint32_t index;
    xy_status_t st;

    if (in->builder.drafts.count >= machine_objects_limit)
        return xy_fail_at(XY_ELIMIT, in->path, 0, "more than %u objects", machine_objects_limit);
    if (in->builder.depth >= XY_MACHINE_DEPTH_MAX)
        return xy_fail_at(XY_ELIMIT, in->path, 0, "more than %d levels", XY_MACHINE_DEPTH_MAX);
    st = machine_builder_open(&in->builder, d, &index);
    *opened += st == XY_OK;
    return st;
}

/* Opens an object for an hwloc object; *opened counts the objects to close. */
static xy_status_t open_object(import_t *in, hwloc_obj_t o, int *opened)
{
    machine_draft_t d = {.physical = XY_OBJ_NONE};

    if (!type_of(o, &d.type))
        return XY_OK;
    if (o->os_index != HWLOC_UNKNOWN_INDEX && machine_type_is_numbered(d.type))
        d.physical = o->os_index;
    if (xy_obj_type_is_cache(d.type))
        d.bytes = o->attr->cache.size;
    if (d.type == XY_OBJ_PU)
        d.flags = excluded(in, o);
    return open_one(in, &d, opened);
}

/* Opens a NUMA node for each memory attached to an hwloc object. */
static xy_status_t open_memory(import_t *in, hwloc_obj_t o, int *opened)
{
    xy_status_t st = XY_OK;

    for (hwloc_obj_t c = o->memory_first_child; st == XY_OK && c != NULL; c = c->next_sibling) {
        machine_draft_t d = {.type = XY_OBJ_NUMA, .physical = XY_OBJ_NONE};
        hwloc_obj_t numa = c;

        /* A memory-side cache stands before its NUMA node. */
        while (numa != NULL && numa->type != HWLOC_OBJ_NUMANODE)
            numa = numa->memory_first_child;
        if (numa == NULL)
            continue;
        if (numa->os_index != HWLOC_UNKNOWN_INDEX)
            d.physical = numa->os_index;
        d.bytes = numa->attr->numanode.local_memory;
        st = open_one(in, &d, opened);
    }
    return st;
}

/* Returns the name of a PCI device's coprocessor, or NULL, and sets its memory if hwloc knows
 * it. */
static const char *memory_info(hwloc_obj_t pci, uint64_t *bytes_p)
{
    const char *name = NULL;

    for (hwloc_obj_t c = pci->io_first_child; c != NULL; c = c->next_sibling) {
        const char *kib = hwloc_obj_get_info_by_name(c, "CUDAGlobalMemorySize");
        long value;

        if (kib == NULL)
            kib = hwloc_obj_get_info_by_name(c, "NVIDIAMemorySize");
        if (kib == NULL)
            kib = hwloc_obj_get_info_by_name(c, "OpenCLGlobalMemorySize");
        if (kib == NULL)
            kib = hwloc_obj_get_info_by_name(c, "RSMIVRAMSize");
        if (kib != NULL && xy_parse_long(kib, &value) && value > 0)
            *bytes_p = (uint64_t)value * 1024;
        if (c->type == HWLOC_OBJ_OS_DEVICE && c->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC)
            name = c->name;
    }
    return name;
}

/* A GPU is a 3D controller, an accelerator, or a display that also computes. */
static bool is_gpu(hwloc_obj_t pci)
{
    unsigned class_id = pci->attr->pcidev.class_id;
    uint64_t ignored;

    return class_id == 0x0302 || class_id >> 8 == 0x12 ||
           (class_id >> 8 == 0x03 && memory_info(pci, &ignored) != NULL);
}

/* Adds a GPU with the bandwidth of its PCI link, in a group made on first use. */
static xy_status_t add_gpu(import_t *in, hwloc_obj_t pci, bool *has_group)
{
    xy_gpu_t gpu = {.physical = XY_OBJ_NONE};
    double bandwidth = (double)pci->attr->pcidev.linkspeed * 1e9;
    const char *name = memory_info(pci, &gpu.memory);
    xy_status_t st = XY_OK;

    gpu.in.bandwidth = gpu.out.bandwidth = bandwidth;
    if (!*has_group)
        st = machine_builder_gpu_group(&in->builder, &(xy_gpu_group_t){0});
    *has_group = true;
    if (st == XY_OK && name == NULL)
        name = hwloc_obj_get_info_by_name(pci, "PCIDevice");
    if (st == XY_OK && name != NULL)
        st = machine_builder_name(&in->builder, name, &gpu.name);
    return st == XY_OK ? machine_builder_gpu(&in->builder, &gpu) : st;
}

static xy_status_t add_gpus(import_t *in, hwloc_obj_t o, bool *has_group)
{
    xy_status_t st = XY_OK;

    for (hwloc_obj_t c = o->io_first_child; st == XY_OK && c != NULL; c = c->next_sibling) {
        if (c->type == HWLOC_OBJ_PCI_DEVICE && is_gpu(c))
            st = add_gpu(in, c, has_group);
        else
            st = add_gpus(in, c, has_group);
    }
    return st;
}

/* Imports an hwloc object with its GPUs, memories and children. */
static xy_status_t import_object(import_t *in, hwloc_obj_t o)
{
    int opened = 0;
    bool has_group = false;
    xy_status_t st = open_object(in, o, &opened);

    if (st == XY_OK)
        st = add_gpus(in, o, &has_group);
    if (st == XY_OK)
        st = open_memory(in, o, &opened);
    for (hwloc_obj_t c = o->first_child; st == XY_OK && c != NULL; c = c->next_sibling)
        st = import_object(in, c);
    while (opened-- > 0)
        machine_builder_close(&in->builder);
    return st;
}

/* Imports the topology as one node, named by its host. */
static xy_status_t import_node(import_t *in)
{
    hwloc_obj_t root = hwloc_get_root_obj(in->topology);
    const char *host = hwloc_obj_get_info_by_name(root, "HostName");
    machine_draft_t d = {.type = XY_OBJ_NODE, .physical = XY_OBJ_NONE};
    int opened = 0;
    xy_status_t st = XY_OK;

    if (host != NULL)
        st = machine_builder_name(&in->builder, host, &d.name);
    if (st == XY_OK)
        st = open_one(in, &d, &opened);
    return st == XY_OK ? import_object(in, root) : st;
}

static xy_status_t import(import_t *in, const char *name, const char *source,
                          xy_machine_t **machine_p)
{
    xy_status_t st = machine_builder_init(&in->builder, name, source);

    if (st == XY_OK)
        st = import_node(in);
    if (st == XY_OK)
        st = machine_builder_finish(&in->builder, machine_p);
    machine_builder_cleanup(&in->builder);
    return st;
}

static int configure(hwloc_topology_t t)
{
    if (hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) < 0 ||
        hwloc_topology_set_icache_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE) < 0)
        return -1;
    return hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
}

xy_status_t xy_machine_live(xy_machine_t **machine_p)
{
    import_t in = {.path = "this machine"};
    xy_bitset_t affinity;
    xy_status_t st = xy_sysfs_allowed(&affinity);

    if (st != XY_OK)
        return st;
    in.affinity = &affinity;
    if (hwloc_topology_init(&in.topology) < 0) {
        xy_bitset_cleanup(&affinity);
        return xy_fail_memory("asking hwloc for this machine");
    }
    if (configure(in.topology) < 0 || load_topology(in.topology) < 0)
        st = xy_fail(XY_EIO, "hwloc cannot read this machine; give a file or 'package:2 core:8'");
    else
        st = import(&in, "live", "this machine, from hwloc", machine_p);
    hwloc_topology_destroy(in.topology);
    xy_bitset_cleanup(&affinity);
    return st;
}

/* ---- Files ---- */

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static bool load(import_t *in, const char *data, size_t size)
{
    return size < INT32_MAX && configure(in->topology) == 0 &&
           hwloc_topology_set_xmlbuffer(in->topology, data, (int)size + 1) == 0 &&
           load_topology(in->topology) == 0;
}

/* Reads an hwloc XML file from memory. */
static xy_status_t read_topology(const char *data, size_t size, const char *path,
                                 xy_machine_t **machine_p)
{
    import_t in = {.path = path};
    xy_status_t st;

    if (hwloc_topology_init(&in.topology) < 0)
        return xy_fail_memory("reading an hwloc file");
    /* hwloc would print its own view of a bad file. */
    setenv("HWLOC_HIDE_ERRORS", "2", 0);
    if (load(&in, data, size))
        st = import(&in, "machine", path, machine_p);
    else
        st = xy_fail_at(XY_EPARSE, path, 0,
                        "hwloc does not accept this topology; make it again with lstopo FILE.xml");
    hwloc_topology_destroy(in.topology);
    return st;
}

/* In the child: what comes to the end leaves a byte, whether the file was accepted or not. */
static void rehearse(const char *data, size_t size, const char *path, int done)
{
    struct rlimit none = {0, 0}, seconds = {REHEARSAL_SECONDS, REHEARSAL_SECONDS};
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    xy_machine_t *machine;

    setrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CPU, &seconds);
    if (nothing >= 0) /* the C library may have a last word */
        dup2(nothing, STDERR_FILENO);
    xy_error_handler_set(ignore, NULL);
    if (read_topology(data, size, path, &machine) == XY_OK)
        xy_machine_destroy(machine);
    _exit(write(done, "", 1) == 1 ? 0 : 1);
}

/* A damaged file can crash libhwloc, or keep it busy for ever. It is read in a child first, a copy
 * of this process, which comes to the same end. False: it did not survive. */
static bool survives(const char *data, size_t size, const char *path)
{
    char byte;
    int ends[2];
    pid_t child;
    ssize_t n;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return true;
    child = fork();
    if (child == 0)
        rehearse(data, size, path, ends[1]);
    close(ends[1]);
    do
        n = child < 0 ? 1 : read(ends[0], &byte, 1);
    while (n < 0 && errno == EINTR);
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return n == 1;
}

xy_status_t machine_hwloc_parse(const char *data, size_t size, const char *path,
                                xy_machine_t **machine_p)
{
    if (!survives(data, size, path))
        return xy_fail_at(XY_EPARSE, path, 0,
                          "not a valid topology: hwloc fails on it; make it again with lstopo "
                          "FILE.xml");
    return read_topology(data, size, path, machine_p);
}

#else

xy_status_t xy_machine_live(xy_machine_t **machine_p)
{
    return machine_sysfs_live("/sys", true, machine_p);
}

xy_status_t machine_hwloc_parse(const char *data, size_t size, const char *path,
                                xy_machine_t **machine_p)
{
    (void)data, (void)size, (void)machine_p;
    return xy_fail_at(
        XY_EUNSUPPORTED, path, 0,
        "this is an hwloc file and Xylem was built without hwloc; use a machine file");
}

#endif
