/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the time goes: a record for each call site, size of communicator and class of sizes, as
 * `mpiexec --report` has them. Each rank writes $XYLEM_MONITOR_DIRECTORY/RANK.xyp, a profile of its
 * own calls; xylem monitor puts them together.
 *
 * Another MPI does not tell why a call waits. What can be known from outside: a receive whose
 * message is not there yet waits for its sender; a blocking collective waits for the last member,
 * whom the reader of all profiles finds (xy_profile_settle). The time of other calls that block is
 * transfer.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "monitor.h"

enum { FIRST = 256, MOST = 1 << 16, BLAMES = 3 };

/* Parts of the time of a call, in the order of the file. */
enum { LATE_SENDER, LATE_RECEIVER, COLLECTIVE, LOCK, CORE, TRANSFER, LIBRARY, PARTS };

typedef struct {
    int rank;
    uint64_t ns;
} blame_t;

typedef struct {
    const void *site;
    const char *name; /* NULL: a free slot */
    int members, size_class;
    uint64_t calls, bytes, compute, part[PARTS];
    blame_t blame[BLAMES];
} record_t;

monitor_call_t monitor_call;

static struct {
    pthread_t thread; /* that is counted: the one that has called MPI_Init */
    uint64_t begun, left, entered;
    const char *name;
    const void *site;
    record_t *records;
    size_t room, count;
    MPI_Comm comm; /* that was asked for last, */
    int members;   /* and its size */
} profile;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void monitor_profile_begin(void)
{
    if (getenv("XYLEM_MONITOR_PROFILE") == NULL)
        return;
    profile.records = calloc(FIRST, sizeof(*profile.records));
    if (profile.records == NULL)
        return;
    profile.room = FIRST;
    profile.thread = pthread_self();
    profile.comm = MPI_COMM_NULL;
    profile.begun = profile.left = now();
    monitor_call.is_on = 1;
}

/* ---- Records ---- */

static size_t slot(const record_t *records, size_t room, const record_t *key)
{
    uint64_t h = (uintptr_t)key->site ^ (uintptr_t)key->name << 17 ^ (uint64_t)key->members << 40 ^
                 (uint64_t)key->size_class << 56;
    size_t i = (size_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);

    while (records[i].name != NULL &&
           (records[i].site != key->site || records[i].name != key->name ||
            records[i].members != key->members || records[i].size_class != key->size_class))
        i = (i + 1) & (room - 1);
    return i;
}

/* Doubles the table of records up to MOST; returns 0 if it cannot. */
static int grow(void)
{
    size_t room = 2 * profile.room;
    record_t *more = room <= MOST ? calloc(room, sizeof(*more)) : NULL;

    if (more == NULL)
        return 0;
    for (size_t i = 0; i < profile.room; i++)
        if (profile.records[i].name != NULL)
            more[slot(more, room, &profile.records[i])] = profile.records[i];
    free(profile.records);
    profile.records = more;
    profile.room = room;
    return 1;
}

/* When there are too many, all further ones share a record. */
static record_t *record_of(record_t key)
{
    size_t i = slot(profile.records, profile.room, &key);

    if (profile.records[i].name == NULL) {
        if (2 * (profile.count + 1) > profile.room && !grow())
            key = (record_t){.name = "MPI"};
        i = slot(profile.records, profile.room, &key);
        if (profile.records[i].name == NULL) {
            profile.records[i] = key;
            profile.count++;
        }
    }
    return &profile.records[i];
}

/* The least makes room, and leaves its time. */
static void blame(record_t *r, int rank, uint64_t ns)
{
    int at = 0;

    for (int i = 0; i < BLAMES; i++) {
        if (r->blame[i].ns > 0 && r->blame[i].rank == rank) {
            at = i;
            break;
        }
        if (r->blame[i].ns < r->blame[at].ns)
            at = i;
    }
    r->blame[at] = (blame_t){rank, r->blame[at].ns + ns};
}

/* As xy_profile_class: 0, then [2^(k-1), 2^k). */
static int class_of(uint64_t bytes)
{
    int class = 0;

    for (; bytes > 0; bytes >>= 1)
        class ++;
    return class;
}

static int members_of(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return 0;
    if (comm != profile.comm) {
        profile.members = 0;
        PMPI_Comm_size(comm, &profile.members);
        profile.comm = comm;
    }
    return profile.members;
}

/* ---- Calls ---- */

void monitor_enter_timed(const char *name, const void *site)
{
    if (!pthread_equal(pthread_self(), profile.thread) || monitor_call.depth++ > 0)
        return;
    profile.name = name;
    profile.site = site;
    profile.entered = now();
    monitor_call.part = MONITOR_LIBRARY;
    monitor_call.who = -1;
}

static int part_of(void)
{
    static const int parts[] = {[MONITOR_LIBRARY] = LIBRARY,
                                [MONITOR_TRANSFER] = TRANSFER,
                                [MONITOR_LATE_SENDER] = LATE_SENDER,
                                [MONITOR_LATE_MEMBER] = COLLECTIVE};

    return parts[monitor_call.part];
}

int monitor_leave_timed(int rc)
{
    uint64_t end, took, bytes = monitor_call.bytes > 0 ? (uint64_t)monitor_call.bytes : 0;
    record_t *r;

    if (!pthread_equal(pthread_self(), profile.thread) || --monitor_call.depth > 0)
        return rc;
    end = now();
    took = end - profile.entered;
    r = record_of((record_t){.site = profile.site,
                             .name = profile.name,
                             .members = members_of(monitor_call.comm),
                             .size_class = class_of(bytes)});
    r->calls++;
    r->bytes += bytes;
    r->compute += profile.entered - profile.left;
    r->part[part_of()] += took;
    if (part_of() < CORE && took > 0)
        blame(r, monitor_call.who, took);
    monitor_call.bytes = 0;
    monitor_call.comm = MPI_COMM_NULL;
    profile.left = now();
    r->part[LIBRARY] += profile.left - end; /* counting is no computation */
    return rc;
}

void monitor_profile_forget(MPI_Comm comm)
{
    if (profile.comm == comm)
        profile.comm = MPI_COMM_NULL;
}

/* ---- The file ---- */

/* "PROGRAM+0x11d4": xylem monitor finds the line. Calls of Fortran programs come through functions
 * of this library, which tell nothing. */
static void write_site(const record_t *r, size_t number, FILE *file)
{
    const char *address = (const char *)r->site - 1; /* in the call, not after it */
    Dl_info info, own;

    fprintf(file, "site %zu %s ", number, r->name);
    if (r->site != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL &&
        dladdr((void *)&monitor_call, &own) != 0 && own.dli_fbase != info.dli_fbase)
        fprintf(file, "%s+0x%zx", info.dli_fname, (size_t)(address - (const char *)info.dli_fbase));
    fputc('\n', file);
}

/* The same function at the same place is one site. */
static size_t site_of(size_t *sites, size_t index, size_t *count, FILE *file)
{
    const record_t *r = &profile.records[index];

    for (size_t i = 0; i < index; i++)
        if (profile.records[i].name != NULL && profile.records[i].site == r->site &&
            strcmp(profile.records[i].name, r->name) == 0)
            return sites[i];
    write_site(r, ++*count, file);
    return *count;
}

static void write_record(const record_t *r, size_t site, int rank, FILE *file)
{
    fprintf(file, "call %d %zu %d %d %llu %llu %llu", rank, site, r->members, r->size_class,
            (unsigned long long)r->calls, (unsigned long long)r->bytes,
            (unsigned long long)r->compute);
    for (int i = 0; i < PARTS; i++)
        fprintf(file, " %llu", (unsigned long long)r->part[i]);
    for (int i = 0; i < BLAMES; i++)
        if (r->blame[i].ns > 0)
            fprintf(file, " %d:0:%llu", r->blame[i].rank, (unsigned long long)r->blame[i].ns);
    fputc('\n', file);
}

static const char *program_name(char path[4096])
{
    FILE *file = fopen("/proc/self/comm", "re");
    size_t n = file != NULL ? fread(path, 1, 4095, file) : 0;

    if (file != NULL)
        fclose(file);
    path[n] = '\0';
    path[strcspn(path, "\n")] = '\0';
    return path;
}

void monitor_profile_end(const char *directory, int rank, int size, void (*pairs)(int, int, FILE *))
{
    char path[4096];
    size_t *sites = calloc(profile.room, sizeof(*sites)), count = 0;
    FILE *file;

    if (!monitor_call.is_on || sites == NULL) {
        free(sites);
        return;
    }
    monitor_call.is_on = 0;
    snprintf(path, sizeof(path), "%s/%d.xyp", directory, rank);
    file = fopen(path, "wxe");
    if (file != NULL) {
        fprintf(file, "xylem profile 1\nprogram %s\nclock real\nranks %d\n", program_name(path),
                size);
        for (size_t i = 0; i < profile.room; i++)
            if (profile.records[i].name != NULL)
                sites[i] = site_of(sites, i, &count, file);
        fprintf(file, "rank %d %d %llu\n", rank, rank,
                (unsigned long long)(profile.left - profile.begun));
        for (size_t i = 0; i < profile.room; i++)
            if (profile.records[i].name != NULL)
                write_record(&profile.records[i], sites[i], rank, file);
        pairs(rank, size, file);
        fputs("end\n", file);
        fclose(file);
    }
    free(sites);
}
