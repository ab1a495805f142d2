/* SPDX-License-Identifier: BSD-3-Clause */
/* A machine of a million leaves: seconds and memory to load it, nanoseconds for a distance. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "machine/machine.h"

static const xy_machine_t *machine;

static double round_distance(long n)
{
    double begin = bench_now();
    uint64_t sum = 0, seed = 1;

    for (long i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        sum += xy_machine_hops(machine, machine->leaf[(seed >> 33) % machine->leaves],
                               machine->leaf[(seed >> 13) % machine->leaves]);
    }
    bench_use(&sum);
    return bench_now() - begin;
}

/* In a process of its own, so that the peak of memory is that of this load. */
static void load(const char *name, const char *source)
{
    pid_t child;
    int status;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        struct rusage usage;
        double begin = bench_now(), took;
        xy_machine_t *m;
        char label[80];

        if (xy_machine_load(source, &m) != XY_OK)
            _exit(1);
        took = bench_now() - begin;
        getrusage(RUSAGE_SELF, &usage);
        snprintf(label, sizeof(label), "%s: load", name);
        bench_value(label, took, "s");
        snprintf(label, sizeof(label), "%s: peak", name);
        bench_value(label, (double)usage.ru_maxrss / 1024, "MiB");
        snprintf(label, sizeof(label), "%s: distance", name);
        machine = m;
        bench_rate(label, round_distance, 1000000, "ns", 1e9);
        xy_machine_destroy(m);
        fflush(stdout);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        exit(1);
}

/* Every core written out, with a number of its own, and no two nodes alike. */
static void write_explicit(const char *path, long leaves)
{
    FILE *file = fopen(path, "w");
    long written = 0;

    if (file == NULL)
        exit(1);
    fputs("<machine name=\"explicit\">\n", file);
    for (long node = 0; written < leaves; node++) {
        fprintf(file, "<node name=\"n%ld\" latency=\"%ldns\">\n", node, 500 + node % 1000);
        for (long package = 0; package < 2; package++) {
            fputs("<package>\n", file);
            for (long core = 0; core < 24 + node % 17; core++, written++)
                fprintf(file, "<core os=\"%ld\"/>\n", package * 100 + core * 2);
            fputs("</package>\n", file);
        }
        fputs("</node>\n", file);
    }
    fputs("</machine>\n", file);
    if (fclose(file) != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/xylem-bench-XXXXXX";
    int fd;

    bench_init(argc, argv);
    load("string",
         bench_is_quick() ? "node:1000 package:2 core:50" : "node:10000 package:2 core:50");
    fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    write_explicit(path, bench_is_quick() ? 100000 : 1000000);
    load("file", path);
    unlink(path);
    return 0;
}
