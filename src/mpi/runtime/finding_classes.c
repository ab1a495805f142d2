/* SPDX-License-Identifier: BSD-3-Clause */
/* The classes of findings: names, rules and cures, for reports, `xylem explain finding` and
 * docs/findings.md. */
#include "mpi/runtime/finding.h"

const mpi_finding_class_t mpi_finding_classes[XMPI_FINDING_KINDS] = {
    [XMPI_FINDING_NEVER_RECEIVED] =
        {"never-received", false, false, "a message was sent and never received",
         .rule = "Every message must be received before MPI_Finalize. A message that needs its "
                 "receiver (a long one, or one of MPI_Ssend) is a deadlock instead.",
         .cure = "Post the missing receive, or do not send. Compare tag, source and communicator "
                 "of the send with those of the receives.",
         .limits = "Each place is one line for all ranks, each class at most eight lines.",
         .example = "never_received", .is_plain = true},
    [XMPI_FINDING_NEVER_COMPLETED] =
        {"never-completed", false, false, "a request was started and never completed",
         .rule = "Every request must be completed before MPI_Finalize: only then the buffer may be "
                 "used again.",
         .cure = "Call MPI_Wait or MPI_Test until it succeeds.", .limits = "As for never-received.",
         .example = "receive_never_completed", .is_plain = true},
    [XMPI_FINDING_NEVER_FREED] =
        {"never-freed", false, false, "an object was created and never freed",
         .rule = "Communicators, datatypes, groups, operations, windows, info objects, files and "
                 "persistent requests occupy memory until they are freed.",
         .cure = "Call MPI_Comm_free, MPI_Type_free and so on, once for each handle.",
         .limits = "Error handlers and keyvals are not counted. -v lists leaks without --check.",
         .example = "check_leak_comm"},
    [XMPI_FINDING_TYPE_MISMATCH] =
        {"type-mismatch", true, false, "data is sent as one type and received as another",
         .rule = "Sender and receiver must describe the same sequence of elements. The layout in "
                 "memory may differ: a vector of MPI_DOUBLE matches single MPI_DOUBLEs. Integers "
                 "of one size match each other, a complex number matches two real ones, MPI_BYTE "
                 "and MPI_PACKED match anything.",
         .cure = "Use the same datatype on both sides, or types of the same elements.",
         .limits = "Types that change their element more than 4096 "
                   "times and large buffered sends of several elements are not compared, nor "
                   "MPI_Alltoallw in virtual time.",
         .example = "type_int_float", .is_plain = true},
    [XMPI_FINDING_NEEDS_BUFFERING] =
        {"needs-buffering", false, false, "a send completes only because it is buffered",
         .rule = "MPI_Send may wait for its receiver. Whether it does depends on the library and "
                 "on the size. With --check every standard send waits; when no rank can continue, "
                 "one send is released, and reported if the program then comes to its end.",
         .cure = "Use MPI_Sendrecv or nonblocking calls, or let one of the two receive first.",
         .limits = "Not in programs whose threads call MPI, nor in virtual time.",
         .example = "check_send_send"},
    [XMPI_FINDING_BUFFER_CHANGED] =
        {"buffer-changed", true, false, "a buffer is changed while an operation uses it",
         .rule = "Until an operation is complete, the program must not write to its send buffer, "
                 "nor touch its receive buffer. One-sided operations end with their epoch, a flush "
                 "or their request.",
         .cure = "Complete the operation first, or use another buffer.",
         .limits = "A change that is undone before completion is not found. Of the one-sided "
                   "operations of a rank 8192 are compared at a time, but no results of "
                   "MPI_Get_accumulate, MPI_Fetch_and_op and MPI_Compare_and_swap.",
         .example = "check_send_changed"},
    [XMPI_FINDING_BUFFER_TOUCHED] =
        {"buffer-touched", true, false, "a receive buffer is used before its data has arrived",
         .rule = "The content of a receive buffer is undefined until the operation is complete. "
                 "Its whole pages are protected, so that a load or store is found "
                 "with its line.",
         .cure = "Complete the operation first; partitions: call MPI_Parrived.",
         .limits = "Reads of a buffer without a whole page, or whose datatype has gaps, are not "
                   "found. At most 256 buffers are protected at a time, and none where the program "
                   "handles SIGSEGV, where threads call MPI, or under a sanitizer. A system call "
                   "with a protected buffer fails with EFAULT.",
         .example = "check_receive_read"},
    [XMPI_FINDING_BUFFER_OVERLAP] =
        {"buffer-overlap", true, false, "two operations use the same memory at the same time",
         .rule = "No two pending operations may use the same bytes if one of them receives, nor "
                 "may two blocks that one collective receives.",
         .cure = "Use separate buffers, or complete the first operation before the second.",
         .limits = "Two one-sided operations from one line with the same place are not reported.",
         .example = "check_receives_overlap"},
    [XMPI_FINDING_BUFFER_TOO_SMALL] =
        {"buffer-too-small", true, false, "a buffer is shorter than its count and datatype say",
         .rule =
             "The memory of a buffer must have room for count elements of the datatype, also "
             "where a shorter message arrives. Sizes of heap blocks come from malloc, "
             "MPI_Alloc_mem and their relatives, those of global variables from the symbol table.",
         .cure = "Allocate the size of the call, or correct its count or datatype.",
         .limits =
             "Variables on the stack are found in unoptimized code of gcc with -g. Not found: "
             "thread-local variables, blocks inside an allocator of the program. Of a mapping "
             "the end is known.",
         .example = "check_short_receive"},
    [XMPI_FINDING_BUFFER_FREED] =
        {"buffer-freed", true, false, "a buffer lies in freed memory",
         .rule = "A buffer must stay allocated until its operation is complete.",
         .cure = "Free the block after the call, or after the completion of its request.",
         .limits = "Blocks of more than 1 MiB, and blocks freed before the last 2048 or 8 MiB, "
                   "are not recognised; of stacks, those of the rank's first thread are.",
         .example = "check_freed_send"},
    [XMPI_FINDING_BUFFER_READ_ONLY] =
        {"buffer-read-only", true, false, "a receive buffer cannot be written",
         .rule = "It must not be a constant, a string literal or a mapping for reading.",
         .cure = "Receive into a variable, or remove its const.",
         .limits = "The first and the last byte are examined.",
         .example = "check_constant_receive"},
    [XMPI_FINDING_BUFFER_TYPE] =
        {"buffer-type", false, false, "a buffer has other elements than its datatype",
         .rule = "The datatype must describe the elements that the program has in memory. The "
                 "types of variables, and those that pointers point to, come from the debugging "
                 "information at the call. Integers of one size match each other; MPI_BYTE, "
                 "MPI_PACKED and characters match anything, on both sides.",
         .cure = "Give the datatype of the variable: MPI_DOUBLE for double, MPI_INT for int.",
         .limits = "Variables in memory only: compile with -g and without optimization. Local "
                   "variables are found in code of gcc. Structures are compared with 256 elements "
                   "of a datatype; behind a pointer, the first one is.",
         .example = "check_type_double"},
    [XMPI_FINDING_WILDCARD] =
        {"wildcard", false, false, "a receive from any source could take another message",
         .rule = "A receive or probe with MPI_ANY_SOURCE takes any message that matches. What the "
                 "program does next may depend on the order of arrival.",
         .cure = "Name the source or another tag. If every order is right, suppress the line. "
                 "--check=shuffle tries other orders.",
         .limits = "The exit code stays 0, except with --check=strict. Not in programs whose "
                   "threads call MPI, nor in virtual time. Between processes, while ranks poll, "
                   "messages that arrive later than 20 ms are not named.",
         .example = "check_wildcard"},
    [XMPI_FINDING_RMA_CONFLICT] =
        {"rma-conflict", true, false, "one-sided operations access the same memory in one epoch",
         .rule =
             "Operations of one epoch are executed in any order, and so are epochs of shared locks "
             "that no message, collective or read of common memory orders. Two that meet in a "
             "target's "
             "memory conflict, unless both read or, through one window, both accumulate with the "
             "same operation. An "
             "access ends at the next fence, at MPI_Win_wait of the target, or when its origin "
             "unlocks or flushes; a local flush, and the request of MPI_Rget, end only what "
             "returns "
             "data.",
         .cure = "Separate them by a fence or flush, lock exclusively, or use MPI_Accumulate.",
         .limits =
             "Loads of the target are found in whole pages that were put, its stores by "
             "comparison; both after the operation and before the end of the epoch. Not "
             "found: loads and stores before the operation, stores beside a get under locks, "
             "shared windows. Epochs one after the other are compared in one process, without "
             "threads, for the last 128 accesses, and only through one window; a rank that has "
             "received a message sent "
             "later by any rank counts as ordered.",
         .example = "check_put_put"},
    [XMPI_FINDING_FILE_CONFLICT] =
        {"file-conflict", true, false, "ranks access the same bytes of a file without an order",
         .rule = "Where one of them writes, they need an order or MPI_File_set_atomicity.",
         .cure = "Put MPI_File_sync, MPI_Barrier and MPI_File_sync between them.",
         .limits = "Without threads, for files that they opened together: the first 256 runs of an "
                   "access, the last 4096 of all. Any chain of messages is an order. Between "
                   "processes: accesses of one collective call, or right after one barrier.",
         .example = "check_file_write_write"},
    [XMPI_FINDING_ERROR_IGNORED] =
        {"error-ignored", false, false,
         "a call returned an error, and the program did not examine it",
         .rule = "With MPI_ERRORS_RETURN, and for files by default, the program must examine the "
                 "results of calls. At an error, the machine code after the call is analysed: the "
                 "result is overwritten before any instruction reads it.",
         .cure = "Compare the result with MPI_SUCCESS, or leave MPI_ERRORS_ARE_FATAL in place.",
         .limits = "A local variable that keeps the result is followed in unoptimized code of "
                   "x86-64; elsewhere a result that is stored counts as examined. Not found: calls "
                   "in Fortran or through pointers, and results that are not overwritten within "
                   "128 instructions. MPI_File_delete of a missing file is no finding.",
         .example = "check_ignored_send"},
    [XMPI_FINDING_DEADLOCK] =
        {"deadlock", true, true, "ranks wait for something that cannot happen",
         .rule = "Each rank of the report waits for another rank of the report, or for one that "
                 "has ended. No message to them is under way. Endless loops of MPI_Test or "
                 "MPI_Iprobe are found as well.",
         .cure = "Let one rank send first, or use MPI_Sendrecv or nonblocking calls. Every member "
                 "of a communicator must call its collectives.",
         .limits = "While other ranks run, a deadlock is reported after --deadlock-after seconds "
                   "and polling after --polling-after seconds; one-sided operations, generalized "
                   "requests and neighbourhood collectives only when no rank can continue.",
         .example = "recv_recv", .is_plain = true},
    [XMPI_FINDING_DISAGREEMENT] =
        {"disagreement", true, true, "members of a communicator call different collectives",
         .rule = "All members call the same collectives in the same order, with the same root, "
                 "operation and amount of data. Calls that create communicators need the same "
                 "grid, graph, groups or leader.",
         .cure = "Remove conditions that differ between ranks around collectives; pass the same "
                 "arguments everywhere.",
         .limits = "The line of a rank is missing after four more collectives.",
         .example = "other_operation", .is_plain = true},
    [XMPI_FINDING_EXCESS] =
        {"excess", true, true, "a collective sends more than a member has room for",
         .rule = "The counts and types of sender and receiver in a collective must describe the "
                 "same data.",
         .cure = "Give the receive count of each rank at least the amount that this rank sends.",
         .limits = "", .example = "alltoallv_excess", .is_plain = true},
    [XMPI_FINDING_TRUNCATION] = {"truncation", true, true, "a message is longer than its receive",
                                 .rule = "A receive must have room for the whole message.",
                                 .cure = "Increase the count of the receive; MPI_Probe and "
                                         "MPI_Get_count tell the length in advance.",
                                 .limits = "", .example = "truncated_in_wait", .is_plain = true},
    [XMPI_FINDING_NOT_READY] =
        {"not-ready", true, true, "a ready send finds no receive",
         .rule = "MPI_Rsend is correct only if the receive is already posted.",
         .cure = "Use MPI_Send, or synchronize between the receive and the ready send.",
         .limits = "", .example = "not_ready", .is_plain = true},
    [XMPI_FINDING_CALL_ERROR] =
        {"call-error", true, true, "a call has a wrong argument, or failed",
         .rule = "Counts, ranks, tags, roots, types, operations, pointers and handles are checked "
                 "in every call. A freed handle is named with the line that freed it.",
         .cure = "Correct the argument that the message names. With MPI_ERRORS_RETURN the call "
                 "returns the error class instead.",
         .limits = "A copy of a freed handle is recognised for at least 64 more frees.",
         .example = "freed_type_send", .is_plain = true},
    [XMPI_FINDING_RMA_ERROR] =
        {"rma-error", true, true, "a one-sided call is outside its epoch or window",
         .rule = "Every operation needs an open epoch and must stay within the target's window.",
         .cure = "Place the operation between two fences, between MPI_Win_start and "
                 "MPI_Win_complete, or between lock and unlock. Displacements count units of the "
                 "target.",
         .limits = "", .example = "put_too_far", .is_plain = true},
    [XMPI_FINDING_WRONG_TIME] =
        {"wrong-time", true, true,
         "a call before MPI_Init, after MPI_Finalize or in the wrong thread",
         .rule = "MPI may be called between MPI_Init and MPI_Finalize, by the threads that the "
                 "granted thread level allows. Other threads must be in no call at MPI_Finalize.",
         .cure = "Call MPI_Init first and MPI_Finalize last on every path; request the thread "
                 "level that the program uses.",
         .limits =
             "Two threads in calls at the granted MPI_THREAD_SERIALIZED are found with --check.",
         .example = "before_init", .is_plain = true},
    [XMPI_FINDING_CONCURRENT] =
        {"concurrent", true, true, "two threads call collectives of one communicator at a time",
         .rule = "The threads of a rank must call the collectives of a communicator one after the "
                 "other, in the order of the other ranks.",
         .cure = "Give each thread a communicator of its own (MPI_Comm_dup), or let one thread "
                 "make the calls.",
         .limits = "Blocking collectives are compared while both are in progress. Two that follow "
                   "each other in different orders are a disagreement or go unnoticed.",
         .example = "collectives_of_two_threads", .is_plain = true, .may_go_on = true},
    [XMPI_FINDING_CRASH] =
        {"crash", true, true, "a signal ended a rank",
         .rule = "The report names the rank, the signal, the MPI call, and the active functions "
                 "of the program, innermost first.",
         .cure = "Begin with the first line. docs/debugging.md describes gdb and valgrind.",
         .limits = "A fault inside the program's own handler of the same signal is not reported. "
                   "After one second of processor time addresses replace the missing lines.",
         .example = "crash", .is_plain = true},
    [XMPI_FINDING_EARLY_EXIT] =
        {"early-exit", true, true, "a rank ended without calling MPI_Finalize",
         .rule = "Other ranks may wait for a rank that has left.",
         .cure = "Call MPI_Finalize on every path, or MPI_Abort to end all ranks.", .limits = "",
         .example = "exit_early", .is_plain = true},
    [XMPI_FINDING_ABORTED] = {"aborted", true, true, "a rank called MPI_Abort",
                              .rule =
                                  "MPI_Abort ends all ranks; its argument becomes the exit code.",
                              .cure = "Read the program's output before it.", .limits = "",
                              .example = "abort_of_mpi", .is_plain = true},
    [XMPI_FINDING_TIME_LIMIT] =
        {"time-limit", true, true, "the job exceeded --timeout",
         .rule = "The report has a table of what each rank was doing.",
         .cure = "Allow more time, or look for the rank that computes while others wait.",
         .limits = "", .example = "", .is_plain = true},
};
