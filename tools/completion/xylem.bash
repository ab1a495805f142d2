# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Completion for bash of xylem, mpiexec, mpicc and their other names, without the bash-completion
# package. 'xylem --complete', beside the completed command, answers from the option tables; the
# commands of another MPI have no xylem beside them and get bash's own completion.
_xylem()
{
    local path=${1/#\~/$HOME} rest=${COMP_LINE:0:COMP_POINT} word="" cut="" kind fixed i
    local -a words=() answers=()

    path=$(type -P -- "$path") && path=$(readlink -f -- "$path") || return
    [[ -x ${path%/*}/xylem ]] || return
    # bash takes words apart at '=' and ':'; those without a blank between them are one word.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${rest#"${rest%%[![:space:]]*}"}
        if [[ $i -gt 0 && $word == "$rest" && -n $rest ]]; then
            words[${#words[@]} - 1]+=${COMP_WORDS[i]}
        else
            words+=("${COMP_WORDS[i]}")
        fi
        rest=${word#"${COMP_WORDS[i]}"}
    done
    mapfile -t answers < <("${path%/*}/xylem" --complete "${1##*/}" "${words[@]:1}" 2>/dev/null)
    ((${#answers[@]} > 0)) || return
    kind=${answers[0]%%$'\t'*} fixed=${answers[0]#*$'\t'}
    word=${words[-1]}
    # bash replaces what follows the last of these characters.
    [[ $word != *[=:]* ]] || cut=${word%"${word##*[=:]}"}
    for i in "${answers[@]:1}"; do
        i=${i%%$'\t'*}
        COMPREPLY+=("${i#"$cut"}")
    done
    case $kind in
    directories)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "${word#"$fixed"}")
        ;;
    files) # alone they are bash's default
        if ((${#COMPREPLY[@]} > 0)); then
            compopt -o filenames
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "${word#"$fixed"}")
        fi
        ;;
    *) compopt +o default +o bashdefault ;;
    esac
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -o bashdefault -o default -F _xylem xylem mpiexec mpirun mpicc mpicxx mpic++ mpiCC mpifort mpif77 mpif90
