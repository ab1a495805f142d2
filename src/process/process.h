/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that are threads.
 *
 * A program is written for a process of its own: its global variables, standard output, environment
 * and exit are its own. This component runs many copies of unmodified programs inside one process
 * of the operating system, the *host*, each on a fiber (fiber/fiber.h) and each with the impression
 * that it is alone. It knows nothing of the communication between the programs.
 *
 *   process_runtime = (process_runtime_t){.name = "many", .noun = "process", .end = note_end, ...};
 *   process_program_load("./a.out", &config, &program);          (once: code is shared)
 *   for (int i = 0; i < 100; i++) {
 *       process_init(&processes[i], &(process_config_t){.program = program, .index = i, ...});
 *       xy_fiber_create(worker, process_run, &processes[i], &fibers[i]);
 *   }
 *   xy_pool_run(pool);                                           (until all have ended)
 *
 * examples/processes is a complete one: a plain program as 100 processes of one host.
 *
 * Three things make the impression:
 *
 *   image/  Each process has an *image*: a private copy of the data of the program and of its
 *           libraries, beside code that all share. The loader does what the dynamic linker does,
 *           once per program, and stores what differs from image to image (image/image.h).
 *   libc/   Functions of the C library are replaced. Each looks up
 *           `process_self`, the process whose code called it, and works on that process's streams,
 *           environment, signal handlers, exit functions (libc/libc.h). One that would wait in the
 *           kernel lets the other processes of the core run. Outside of a process every one of them
 *           is the C library's own.
 *   ops/    What is decided above: who runs, what a call of the runtime is, what happens when a
 *           process ends or crashes, how to name it. One table of callbacks (ops/ops.h).
 *
 * Contexts of a thread. A worker runs the fibers of processes in turn. The runtime calls
 * process_switch() at each switch: `process_self` and `process_main` are the process from then on,
 * and its thread-local variables, devices and working directory are in place. Threads that a
 * process makes have its `process_self`, and no `process_main`: they wait as plain threads do. With
 * `process_self` NULL, a thread belongs to the host.
 *
 * Rules for the host. It is linked with this component before the C library, as a shared library
 * or an executable with exported symbols. Its executable has a block of thread-local memory that
 * the images use in turn (process_locals_reserve). One program is loaded at a time; processes are
 * made before the workers run, or by a process on its worker.
 *
 * Names: `process` is one of these, `host` the process of the operating system around them.
 */
#ifndef XY_PROCESS_PROCESS_H
#define XY_PROCESS_PROCESS_H

#include "process/image/image.h"
#include "process/libc/libc.h"
#include "process/ops/ops.h"

#endif
