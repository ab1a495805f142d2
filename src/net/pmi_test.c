/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/pmi_protocol.h"
#include "testing/base.h"

static void fields_of_a_line_are_found(void **state)
{
    static const char line[] = "cmd=get_result rc=0 msg=a=b value=xyz\n";
    char value[8];

    (void)state;
    assert_true(pmi_wire_field(line, "value", value, sizeof(value)));
    assert_string_equal(value, "xyz");
    assert_true(pmi_wire_field(line, "msg", value, sizeof(value)));
    assert_string_equal(value, "a=b");
    assert_true(pmi_wire_field(line, "value", value, 4));
    assert_false(pmi_wire_field(line, "value", value, 3));
    assert_false(pmi_wire_field(line, "alue", value, sizeof(value)));
    assert_false(pmi_wire_field(line, "val", value, sizeof(value)));
    assert_false(pmi_wire_field("", "value", value, sizeof(value)));
}

/* All texts come back, and are words of letters that every interface takes. */
static void texts_become_words(void **state)
{
    char text[256];

    (void)state;
    for (int n = 0; n < 255; n++) {
        char *word, *again;

        for (int i = 0; i < n; i++)
            text[i] = (char)(1 + (i * 7 + n) % 255);
        text[n] = '\0';
        word = pmi_encode(text);
        assert_int_equal(strcspn(word, " =\n\t;,\""), strlen(word));
        again = pmi_decode(word);
        assert_string_equal(again, text);
        xy_free(again);
        xy_free(word);
    }
    assert_null(pmi_decode("a b"));
    assert_null(pmi_decode("%2"));
    assert_null(pmi_decode("%00"));
}

/* Variables decide which interface is used. */
static void the_environment_chooses(void **state)
{
    static const char *const names[] = {
        "XYLEM_PMI", "XYLEM_PMI_LIBRARY", "PMIX_NAMESPACE", "PMIX_RANK",           "PMI_FD",
        "PMI_RANK",  "PMI_SIZE",          "SLURM_PROCID",   "SLURM_STEP_NUM_TASKS"};
    char why[XY_WHY_SIZE] = "";
    bool is_installed = dlopen("libpmi.so.0", RTLD_LAZY) != NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    assert_false(xy_pmi_is_there(why));
    assert_non_null(strstr(why, "PMI_FD"));
    assert_false(pmi_pmix.is_there() || pmi_wire.is_there() || pmi_library1.is_there());
    setenv("SLURM_PROCID", "1", 1);
    setenv("SLURM_STEP_NUM_TASKS", "2", 1);
    assert_int_equal(pmi_library1.is_there(), is_installed);
    assert_true(xy_pmi_is_there(why) == is_installed);
    assert_true(is_installed || strstr(why, "srun --mpi=pmi2") != NULL);
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    assert_false(pmi_library1.is_there());
    setenv("SLURM_STEP_NUM_TASKS", "2", 1);
    setenv("XYLEM_PMI_LIBRARY", "libpmi.so.0", 1);
    assert_true(pmi_library1.is_there() && xy_pmi_is_there(why));
    unsetenv("XYLEM_PMI_LIBRARY");
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "2", 1);
    assert_false(pmi_library2.is_there()); /* also where libpmi2 is installed */
    setenv("PMI_FD", "7", 1);
    assert_true(!pmi_library1.is_there() && pmi_wire.is_there());
    setenv("PMIX_NAMESPACE", "job", 1);
    assert_false(pmi_pmix.is_there());
    setenv("PMIX_RANK", "1", 1);
    assert_true(pmi_pmix.is_there());
    setenv("XYLEM_PMI", "carrier-pigeon", 1);
    assert_false(xy_pmi_is_there(why));
    assert_non_null(strstr(why, "carrier-pigeon"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_a_line_are_found),
        cmocka_unit_test(texts_become_words),
        cmocka_unit_test(the_environment_chooses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
