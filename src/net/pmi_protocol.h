/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the files pmi*.c: one table per interface of launchers. */
#ifndef XY_NET_PMI_PROTOCOL_H
#define XY_NET_PMI_PROTOCOL_H

#include "net/net_private.h"

enum { PMI_VALUE = 500 }; /* characters of a value, which every interface takes */
enum { PMI_MOST_PROCESSES = 1 << 20 };

typedef struct {
    const char *name, *describe;
    /* Does the environment offer it? */
    bool (*is_there)(void);
    /* Sets rank and size. Fails with a message. */
    xy_status_t (*open)(xy_pmi_t *pmi);
    /* A value is a word of letters, digits and "%.:-_". False: the launcher fails. */
    bool (*put)(xy_pmi_t *pmi, const char *key, const char *value);
    bool (*fence)(xy_pmi_t *pmi);
    /* The value that a process has put before the fence; false: none. */
    bool (*get)(xy_pmi_t *pmi, int rank, const char *key, char value[PMI_VALUE + 1]);
    void (*abort)(xy_pmi_t *pmi, int code);
    void (*close)(xy_pmi_t *pmi);
} pmi_protocol_t;

struct xy_pmi {
    const pmi_protocol_t *protocol;
    int rank, size;
    int round; /* of exchanges */
    double seconds;
    int fd; /* of the wire protocol */
    char space[256];
    const void *library; /* its functions */
};

extern const pmi_protocol_t pmi_pmix, pmi_wire, pmi_library1, pmi_library2;

/* A number in the environment; -1: none. */
long pmi_number(const char *variable);
/* Has srun started this process without an interface? */
bool pmi_is_bare_srun(void);
/* Fill the table with functions of the library that XYLEM_PMI_LIBRARY names, or of the first of the
 * files that can be loaded; false: one is missing. Both lists end with NULL. `is_global`: plug-ins
 * that it loads need its symbols, as those of Slurm do. */
bool pmi_load(const char *const *files, bool is_global, const char *const *names, void **table);
/* Text as a word, and back; NULL: no memory, or it is none. The caller frees. */
char *pmi_encode(const char *text);
char *pmi_decode(const char *word);
/* The value of `name` in a line of the wire protocol, "cmd=get_result rc=0 value=x"; false: it has
 * none, or more characters than there is room for. */
bool pmi_wire_field(const char *line, const char *name, char *value, size_t room);

#endif
