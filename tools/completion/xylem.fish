# SPDX-License-Identifier: BSD-3-Clause
# Completion for fish, of the command that this file is named after. 'xylem --complete', beside the
# completed command, answers from the option tables; the commands of another MPI have no xylem beside
# them and get file names.
function __xylem_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l path (command -s -- $words[1])
    and set path (dirname (realpath $path))/xylem
    if not test -x "$path"
        __fish_complete_path $word
        return
    end
    set -l answers ($path --complete (basename $words[1]) $words[2..-1] "$word" 2>/dev/null)
    set -l first (string split -m 1 \t -- $answers[1])
    if test (count $answers) -gt 1
        printf '%s\n' $answers[2..-1]
    end
    set -l typed (string sub -s (math 1 + (string length -- "$first[2]")) -- "$word")
    switch "$first[1]"
        case files
            printf '%s\n' $first[2](__fish_complete_path "$typed")
        case directories
            printf '%s\n' $first[2](__fish_complete_directories "$typed")
    end
end
complete -c (basename (status filename) .fish) -f -a '(__xylem_complete)'
