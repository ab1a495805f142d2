/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "mpi/check/suppress.h"

static char text[512], message[512];
static xy_vec_t rules;

static void keep_message(void *arg, xy_status_t status, const char *said)
{
    (void)arg, (void)status;
    snprintf(message, sizeof(message), "%s", said);
}

static xy_status_t parse(const char *given)
{
    snprintf(text, sizeof(text), "%s", given);
    message[0] = '\0';
    xy_vec_cleanup(&rules);
    return check_rules_parse(text, "rules", &rules);
}

static void refuses(const char *given, const char *says)
{
    assert_int_equal(parse(given), XY_EPARSE);
    if (strstr(message, says) == NULL)
        fail_msg("'%s' is not in '%s'", says, message);
}

static void test_lines(void **state)
{
    const check_rule_t *rule;

    (void)state;
    assert_int_equal(parse("# all of it\n\n never-freed\tring.c:12\r\n  \n*  lib_*.c:*  # known\n"),
                     XY_OK);
    assert_int_equal(rules.count, 2);
    rule = &XY_VEC_AT(&rules, check_rule_t, 0);
    assert_int_equal(rule->kind, XMPI_FINDING_NEVER_FREED);
    assert_string_equal(rule->place, "ring.c:12");
    assert_int_equal(rule->line, 3);
    assert_int_equal(rule[1].line, 5);
    assert_int_equal(parse(""), XY_OK);
    assert_int_equal(rules.count, 0);
}

static void test_match(void **state)
{
    (void)state;
    assert_int_equal(parse("wildcard ring.c:1*\n* lib_?.c:*\n"), XY_OK);
    assert_false(check_rules_match(&rules, XMPI_FINDING_NEVER_FREED, "ring.c:12"));
    assert_false(check_rules_match(&rules, XMPI_FINDING_WILDCARD, "ring.c:2"));
    assert_false(XY_VEC_AT(&rules, check_rule_t, 0).is_used);
    assert_true(check_rules_match(&rules, XMPI_FINDING_WILDCARD, "ring.c:12"));
    assert_true(XY_VEC_AT(&rules, check_rule_t, 0).is_used);
    assert_false(XY_VEC_AT(&rules, check_rule_t, 1).is_used);
    assert_true(check_rules_match(&rules, XMPI_FINDING_BUFFER_CHANGED, "lib_a.c:7"));
    assert_false(check_rules_match(&rules, XMPI_FINDING_BUFFER_CHANGED, "lib_ab.c:7"));
    assert_false(check_rules_match(&rules, XMPI_FINDING_BUFFER_CHANGED, ""));
    assert_true(XY_VEC_AT(&rules, check_rule_t, 1).is_used);
}

static void test_mistakes(void **state)
{
    (void)state;
    refuses("\nnever-freed\n", "rules:2: a rule is a class and a place");
    refuses("never-freed ring.c:1 ring.c:2\n", "rules:1: a rule is a class and a place");
    refuses("wildcart ring.c:1\n", "no class 'wildcart'; did you mean 'wildcard'?");
    refuses("zzzzzzzzzzzzzzzz ring.c:1\n", "a report has the class at its end, in brackets");
}

/* Each class has its own word, and those that end the job are refused. */
static void test_classes(void **state)
{
    (void)state;
    for (int k = 0; k < XMPI_FINDING_KINDS; k++) {
        char rule[128];

        snprintf(rule, sizeof(rule), "%s ring.c:1", mpi_finding_classes[k].name);
        if (mpi_finding_classes[k].ends_job && !mpi_finding_classes[k].may_go_on) {
            refuses(rule, "ends the job: it cannot be suppressed");
            continue;
        }
        assert_int_equal(parse(rule), XY_OK);
        for (int other = 0; other < XMPI_FINDING_KINDS; other++)
            assert_int_equal(check_rules_match(&rules, (mpi_finding_kind_t)other, "ring.c:1"),
                             other == k);
    }
}

static int clean_up(void **state)
{
    (void)state;
    xy_vec_cleanup(&rules);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_classes),
    };

    xy_error_handler_set(keep_message, NULL);
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
