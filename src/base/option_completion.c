/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion for bash, without the helper functions of the bash-completion package: it works where
 * only bash is. An empty answer makes bash complete file names (complete -o default).
 */
#include <string.h>

#include "base/option_table.h"

/* "--name|-n": a pattern of case. */
static void put_pattern(FILE *file, const xy_command_t *command, const xy_option_t *option)
{
    fprintf(file, "        %s%s", base_option_dashes(command, option->name), option->name);
    for (const char *const *alias = option->aliases; alias != NULL && *alias != NULL; alias++)
        fprintf(file, " | %s%s", base_option_dashes(command, *alias), *alias);
    if (option->letter != 0)
        fprintf(file, " | -%c", option->letter);
    fputs(")\n", file);
}

static void put_argument(FILE *file, const xy_option_t *option)
{
    const char *choice = base_option_choice(option, 0);

    if (choice != NULL) {
        fprintf(file, "            COMPREPLY=($(compgen %s-W \"",
                option->kind == XY_OPT_CHOICE ? "" : "-f ");
        for (size_t i = 0; (choice = base_option_choice(option, i)) != NULL; i++)
            fprintf(file, "%s%s", i == 0 ? "" : " ", choice);
        fputs("\" -- \"$cur\"))\n", file);
    } else if (option->complete != NULL && strcmp(option->complete, "directory") == 0) {
        fputs("            compopt -o filenames\n"
              "            COMPREPLY=($(compgen -d -- \"$cur\"))\n",
              file);
    }
    fputs("            return\n            ;;\n", file);
}

static void put_names(FILE *file, const xy_command_t *command)
{
    for (const xy_option_t *o = command->options; o != NULL && o->name != NULL; o++)
        if (o->help != NULL)
            fprintf(file, "%s%s ", base_option_dashes(command, o->name), o->name);
    fputs("--help", file);
}

/* What may follow `prev`, then the options, then the positional arguments. */
static void put_command(FILE *file, const xy_command_t *command)
{
    bool any = false;

    for (const xy_option_t *o = command->options; o != NULL && o->name != NULL; o++) {
        if (base_option_arity(o) == 0 || o->help == NULL)
            continue;
        if (!any)
            fputs("        case $prev in\n", file);
        any = true;
        put_pattern(file, command, o);
        put_argument(file, o);
    }
    if (any)
        fputs("        esac\n", file);
    fputs("        words=\"", file);
    put_names(file, command);
    fputs("\"\n", file);
    if (command->complete != NULL && strcmp(command->complete, "verb") == 0)
        fputs("        [[ $cur == -* ]] || words=$verbs\n", file);
    else
        fputs("        [[ $cur == -* ]] || words=\"\"\n", file);
}

static void put_verbs(FILE *file, const xy_command_t *const *commands)
{
    fputs("    local verbs=\"", file);
    for (const xy_command_t *const *c = commands; *c != NULL; c++)
        fprintf(file, "%s%s", c == commands ? "" : " ", (*c)->name);
    fputs("\"\n", file);
}

void xy_commands_completion(const xy_command_t *const *commands, const char *program, FILE *file)
{
    fprintf(file,
            "# bash completion for %s; generated from its option tables.\n"
            "_%s()\n{\n"
            "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
            "    local verb=\"\" words=\"\" i\n",
            program, program);
    put_verbs(file, commands);
    /* bash takes "--name=value" apart at the '='. */
    fputs("    COMPREPLY=()\n"
          "    if [[ $cur == \"=\" ]]; then\n"
          "        cur=\"\"\n"
          "    elif [[ $prev == \"=\" && $COMP_CWORD -gt 2 ]]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        if [[ ${COMP_WORDS[i]} != -* ]]; then\n"
          "            verb=${COMP_WORDS[i]}\n"
          "            break\n"
          "        fi\n"
          "    done\n"
          "    case $verb in\n"
          "    \"\")\n"
          "        words=$verbs\n"
          "        [[ $cur == -* ]] && words=\"--help --version\"\n"
          "        ;;\n",
          file);
    for (const xy_command_t *const *c = commands; *c != NULL; c++) {
        fprintf(file, "    %s)\n", (*c)->name);
        put_command(file, *c);
        fputs("        ;;\n", file);
    }
    fprintf(file,
            "    esac\n"
            "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
            "}\n"
            "complete -o bashdefault -o default -F _%s %s\n",
            program, program);
}
