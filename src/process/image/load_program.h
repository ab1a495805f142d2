/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program and its private images.
 *
 * Every process runs its own copy of the program: the same code at another address, with data of
 * its own. The obvious loader, dlopen of copies of the file, costs a link map, a symbol search and
 * six mappings per copy. Here the file is read once, its symbols are searched once, and the stores
 * for a copy become a list of fixups. An image is then two mappings and a few stores:
 *
 *     image 0             image 1             image 2
 *     [code   ][data    ] [code   ][data    ] [code   ][data    ]
 *      shared   private    shared   private    shared   private
 *
 *   process_program_t *program;
 *   st = process_program_load("./a.out", &config, &program);
 *   image = process_image_place(program, 3);              (of its fourth process)
 *   process_image_fix(program, image, variables);
 *   process_image_construct(program, image, argc, argv, environment);
 *   code = ((main_fn)process_image_at(image, program->main))(argc, argv, environment);
 *
 * A module is a file that is copied into every image: the program itself, and the libraries that
 * are private too. Everything else is loaded once by the dynamic linker and shared.
 *
 * The variables through which a program talks to the C library (stdout, environ, optind ...) are
 * private as well: the image's references to them go to the process's own. The streams of C++ are
 * objects with a state. Where compilers refer to them by copy relocations each program has its own
 * copy anyway; where they do not (aarch64, -fPIC, libraries), the image has room for one.
 */
#ifndef XY_PROCESS_IMAGE_PROGRAM_H
#define XY_PROCESS_IMAGE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "process/image/elf.h"

typedef enum {
    PROCESS_VARIABLE_STDIN,
    PROCESS_VARIABLE_STDOUT,
    PROCESS_VARIABLE_STDERR,
    PROCESS_VARIABLE_ENVIRON,
    PROCESS_VARIABLE_OPTARG,
    PROCESS_VARIABLE_OPTIND,
    PROCESS_VARIABLE_OPTERR,
    PROCESS_VARIABLE_OPTOPT,
    PROCESS_VARIABLE_TZNAME,
    PROCESS_VARIABLE_TIMEZONE,
    PROCESS_VARIABLE_DAYLIGHT,
    PROCESS_VARIABLES
} process_variable_t;

/* std::cin and the other seven standard streams; every image has a copy. */
enum { PROCESS_CXX_STREAMS = 8, PROCESS_CXX_STREAM_ROOM = 512 };

typedef enum {
    PROCESS_FIXUP_IMAGE,    /* store: image + value */
    PROCESS_FIXUP_VALUE,    /* store: value */
    PROCESS_FIXUP_VARIABLE, /* store: address of the process's variable `which`, + value */
    PROCESS_FIXUP_COPY,     /* copy `which` bytes from the address `value` */
    PROCESS_FIXUP_MOVE,     /* copy `which` bytes from image + value, when all else is stored */
    PROCESS_FIXUP_IFUNC,    /* store: what the function at image + value returns */
} process_fixup_kind_t;

typedef struct {
    uint64_t where; /* offset in the image */
    int64_t value;
    uint32_t which; /* for an image or a function in it: the number of the program in the scope */
    uint32_t kind;
} process_fixup_t;

typedef struct {
    process_elf_t *elf;
    size_t offset;   /* in the image, of the linked address elf->low */
    int code_fd;     /* where the read-only part is mapped from: the file, or a flat copy of it */
    off_t code_from; /* and at which offset */
    bool owns_code_fd;
    /* Its data in the prototype: where it begins, how much is mapped into each image, and how much
     * of it is filled; data that is almost all written is copied. */
    size_t data_from, data_size, data_filled;
    bool is_copied;
    size_t written; /* bytes in pages that hold addresses of the process */
    ptrdiff_t tls;  /* of its thread-local variables, from the thread pointer; 0: it has none */
} process_module_t;

typedef struct {
    int first; /* the process of image 0 */
    /* The processes that debuggers are to know; lives as long as the program. */
    const xy_bitset_t *shown;
    int images;     /* how many there will be */
    bool is_shared; /* one image for all: --share-globals */
    /* Of const char *, or NULL: names of libraries to copy, and to share. They live as long as the
     * program. */
    const xy_vec_t *privat, *shared;
    size_t tls_reserve;    /* bytes of thread-local memory that images may use */
    size_t tls_align;      /* and what they are aligned to */
    bool is_verbose;       /* say which libraries are private and which are shared, and why */
    bool is_quiet;         /* no warnings */
    const char *preloaded; /* libraries, separated by colons or blanks; or NULL */
    /* Called with libraries (char *) that must be preloaded and are not, or with none. Where there
     * are some it starts the process again, or fails. */
    xy_status_t (*must_preload)(const xy_vec_t *libraries, bool is_verbose);
    /* Called where the images need more thread-local memory, or more alignment. Starts the process
     * again, or fails. NULL: it is too late for that. */
    xy_status_t (*must_reserve)(const char *path, size_t size, size_t align);
    /* The main function, by starting the image at `entry` until it calls __libc_start_main; NULL:
     * it does not. */
    void *(*capture_main)(void *entry);
    /* All libraries are loaded: make ready what is about to be copied. */
    void (*prepare_copies)(void);
    /* Does another function run in place of one of this name? The library that defines it is shared
     * then. NULL: of none. */
    bool (*is_simulated)(const char *name);
} process_program_config_t;

/* The state of a library, with its reason; for -v. */
typedef struct {
    char *name, *reason;
    bool is_private;
} process_choice_t;

typedef struct process_program {
    char *path;
    xy_vec_t modules;     /* of process_module_t; the program is the first */
    xy_vec_t order;       /* of size_t: the modules, each behind those that it needs */
    xy_vec_t fixups;      /* of process_fixup_t; those that the prototype cannot have */
    char *prototype;      /* of the data, in the file data_fd (prototype.c) */
    xy_bitset_t relative; /* its words that hold distances from the image's beginning */
    size_t prototype_size;
    int data_fd;
    xy_vec_t preloads; /* of char *: libraries that must be there when the process starts */
    xy_vec_t choices;  /* of process_choice_t, if asked for */
    process_program_config_t config;
    /* Of process_program_t *: where symbols are looked for, in order. A program has itself alone.
     */
    xy_vec_t scope;
    size_t self; /* its own number there */
    /* A plug-in, and each private library that came with one, is a program of one module: */
    struct process_program *parent;  /* the program that loads it; or NULL */
    struct process_program *plugins; /* private plug-ins; and the next in that list */
    struct process_program *next;
    xy_vec_t family;        /* of process_program_t *: itself and the plug-ins it needs */
    xy_vec_t uses;          /* the same of those whose addresses it has */
    _Atomic bool is_global; /* RTLD_GLOBAL: plug-ins that come later find its symbols */
    char *shown_name;       /* its file, as debuggers see it; or NULL */
    bool binds_now;         /* RTLD_NOW: undefined functions are an error */
    bool is_shared;
    int first;
    const xy_bitset_t *shown;
    int images;
    size_t stride; /* bytes from image to image */
    char *region;  /* images * stride */
    size_t main;   /* offsets in the image */
    /* Offset of the program's own copy of a variable (a copy relocation), or 0. */
    size_t variable_at[PROCESS_VARIABLES];
    /* Room behind the modules for copies of C++ streams, and which of them are made. */
    size_t cxx_streams;
    bool has_cxx_stream[PROCESS_CXX_STREAMS];
    size_t block_at; /* offset of the variable that the runtime wants to know; 0: there is none */
    /* Thread-local variables of all modules, at the same distance from every thread pointer: */
    ptrdiff_t tls_from;
    size_t tls_size; /* 0: there are none */
    size_t zeros_from,
        zeros_to;    /* the largest part of them that begins with zeros; from their start */
    size_t tls_used; /* of a program: of what is set aside for it and its plug-ins */
    size_t tls_reserve, tls_align;
} process_program_t;

xy_status_t process_program_load(const char *path, const process_program_config_t *config,
                                 process_program_t **program_p);
void process_program_destroy(process_program_t *program); /* no image may be in use; NULL is fine */

/* Map image number `index`. Failures to map are reported with their remedy. */
xy_status_t process_image_place(const process_program_t *program, int index, char **image_p);
/* Give its memory back: it is as if it had never been placed. */
void process_image_clear(const process_program_t *program, int index);
/* Store addresses. variables[v] is where the process's variable v lives. */
void process_image_fix(const process_program_t *program, char *image, void *const *variables);
/* Run the constructors, and the destructors that are no atexit functions. */
void process_image_construct(const process_program_t *program, char *image, int argc, char **argv,
                             char **environment);
void process_image_destruct(const process_program_t *program, char *image);

/* The number of an image of its program; and the image of a plug-in in the process with a given
 * image of the program. */
static inline int process_image_index(const process_program_t *program, const char *image)
{
    return program->is_shared ? 0 : (int)((size_t)(image - program->region) / program->stride);
}

static inline char *process_image_of_plugin(const process_program_t *plugin, const char *image)
{
    return plugin->region + (size_t)process_image_index(plugin->parent, image) * plugin->stride;
}

/* The address of a symbol that a module behind `behind` defines (NULL: any); NULL: none. */
void *process_image_symbol(const process_program_t *program, char *image, const char *name,
                           const process_module_t *behind);
/* The address of the symbol that this module defines; NULL: none. */
void *process_module_symbol(const process_module_t *module, char *image, const char *name);

/* Is it the library that this code is part of, by its name without directories? */
bool process_library_is_own(const char *name);
/* Does the file at `path` define functions of the runtime (tool_prefix in ops.h)? A preloaded one
 * is private to each process. False for an allocator: that is in front of the C library. */
bool process_library_is_tool(const char *path);
/* Is a library private to the processes of a program: linked to it, or loaded with a plug-in? */
bool process_library_is_module(const process_program_t *program, const char *name);

/* Plug-ins (image_plugin.c). Does one use symbols of the program? */
bool process_plugin_uses_program(const process_program_t *program, const char *path);
/* Load one, with the private libraries it needs; it stays loaded. *plugin_p is NULL where it is
 * shared by the rule for libraries. Calls must not overlap. */
xy_status_t process_plugin_load(process_program_t *program, const char *path, bool binds_now,
                                process_program_t **plugin_p);
/* Does one need the other, perhaps through more of them? */
bool process_plugin_needs(const process_program_t *plugin, const process_program_t *other);
/* The plug-in with this file (or library of this name, without directories), and the module of the
 * program itself; NULL: none. */
process_program_t *process_plugin_find(const process_program_t *program, const char *path);
const process_module_t *process_program_find_module(const process_program_t *program,
                                                    const char *path);

/* Initial values of the thread-local variables, program->tls_size bytes. */
void process_image_fill_locals(const process_program_t *program, char *image, char *locals);

static inline void *process_image_at(char *image, size_t offset)
{
    return image + offset;
}

/* The image that holds an address, and the module in it; NULL: none. Any thread. */
char *process_image_find(const void *address, const process_program_t **program_p,
                         const process_module_t **module_p);

/* Make the images of the program's `shown` processes known to debuggers. Publish once, when those
 * of all programs are placed. */
xy_status_t process_images_show(const process_program_t *program);
void process_images_publish(void);
/* The same for one image of a plug-in, at once. Any thread. */
void process_images_show_one(process_program_t *plugin, int index);
extern struct r_debug *const process_images_list; /* where they are chained */
/* The programs that are loaded, counted from 0; NULL: no more. */
const process_program_t *process_program_at(int index);

/* ---- Between the files of this part ---- */

/* The offset in the image of a linked address. */
static inline size_t process_module_offset(const process_module_t *module, uintptr_t address)
{
    return module->offset + (address - module->elf->low);
}

/* The modules are laid out: build the prototype and program->fixups. Undefined symbols are
 * reported. */
xy_status_t process_program_resolve(process_program_t *program);
/* An empty program; what is in it after a failure is destroyed with it. */
process_program_t *process_program_new(const char *path, const process_program_config_t *config,
                                       process_program_t *parent);
/* The modules are known: where they lie, and in which order their constructors run. */
xy_status_t process_program_lay_out(process_program_t *program);
/* Build the prototype of the data, when the modules are laid out; store a fixup in it (false: it is
 * one for each image); all fixups are known; place a module's data in an image (false: errno says
 * why not); add the image's address to its own addresses. */
xy_status_t process_prototype_make(process_program_t *program);
bool process_prototype_store(process_program_t *program, const process_fixup_t *fixup);
xy_status_t process_prototype_finish(process_program_t *program);
bool process_prototype_place(const process_program_t *program, const process_module_t *module,
                             char *image, bool is_copied);
void process_prototype_fix(const process_program_t *program, char *image);
/* Are the limits of the system far enough for all images? (limits.c) */
xy_status_t process_program_check_space(const process_program_t *program);
xy_status_t process_program_check_mappings(const process_program_t *program);
/* Print what became of the libraries, the most expensive ones first. */
void process_program_tell(const process_program_t *program);
/* Choose the modules and have the dynamic linker load what is shared. */
xy_status_t process_program_gather(process_program_t *program,
                                   const process_program_config_t *config);
/* Give the modules' thread-local variables their places in what the launcher's executable has set
 * aside. */
xy_status_t process_program_place_locals(process_program_t *program,
                                         const process_program_config_t *config);
/* Valgrind: is it there; place a module's copy so that it reads the symbols (false: it cannot be
 * placed so); and remove the files that were needed for it, which one `alone` does at once. */
bool process_valgrind_is_there(void);
bool process_valgrind_map(const process_module_t *module, char *image, bool is_alone);
void process_valgrind_finish(void);
/* The name of a copy of the file for gdb, in fresh memory; NULL: it cannot be made. */
char *process_elf_debug_copy(const process_elf_t *elf);
/* Make images findable by address. */
xy_status_t process_program_register(const process_program_t *program);
void process_program_unregister(const process_program_t *program);

#endif
