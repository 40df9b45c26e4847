#!/usr/bin/env bash
# @include about

PROJECT=${TENTER_PROJECT_DIR:-$PWD}
# Directories outside the project that may be written to. Adapt the list to your project.
ALLOWED=("${TMPDIR:-/tmp}")

# @include call

# @include shell

is_device() {
    [[ $1 =~ ^/dev/(null|zero|full|stdin|stdout|stderr|tty|fd/[0-9]+)$ ]]
}

# check_path PATH: blocks if the path is outside the project.
check_path() {
    local path=$1 root place
    is_device "$path" && return
    resolve "$path"
    place=$target
    [ -n "$place" ] || return
    for root in "$PROJECT" "${ALLOWED[@]}"; do
        real "$root"
        root=${target%/}
        [[ $place == "$target" || $place == "$root"/* ]] && return
    done
    block "$path is outside the project: write to a file of the project, or ask the user"
}

check_paths() {
    local path
    for path; do
        [ "$path" = - ] || check_path "$path"
    done
}

# check_values SHORT LONG WORD...: checks the values of this option: short (also bundled) and long.
check_values() {
    local short=$1 long=$2 word is_next=''
    shift 2
    for word; do
        if [ -n "$is_next" ]; then
            check_paths "$word"
            is_next=''
        elif [[ $word == "$long"=* ]]; then
            check_paths "${word#*=}"
        elif [[ $word == "$long" ]]; then
            is_next=1
        elif [[ $word =~ ^-$short(.*)$ ]]; then
            [ -z "${BASH_REMATCH[1]}" ] && is_next=1 && continue
            check_paths "${BASH_REMATCH[1]}"
        fi
    done
}

check() {
    local program arguments word
    check_paths "${writes[@]}"
    call mkdir mv rm rmdir shred tee touch truncate unlink cp install ln rsync chgrp chmod chown sed dd curl wget || return
    program=${found[0]##*/} arguments=("${found[@]:1}")
    operands "${arguments[@]}"
    case $program in
        # They write all of their operands, the last one, or all but the first.
        mkdir | mv | rm | rmdir | shred | tee | touch | truncate | unlink) check_paths "${named[@]}" ;;
        cp | install | ln | rsync)
            if [ "${#named[@]}" -gt 1 ]; then
                word=${named[${#named[@]} - 1]}
                [[ $program = rsync && $word = *:* ]] || check_paths "$word"
            fi
            ;;
        chgrp | chmod | chown) check_paths "${named[@]:1}" ;;
        sed)
            has_flag i --in-place "${arguments[@]}" || return
            has_flag e --expression "${arguments[@]}" || named=("${named[@]:1}")
            check_paths "${named[@]}"
            ;;
        dd)
            for word in "${arguments[@]}"; do
                case $word in of=*) check_paths "${word#of=}" ;; esac
            done
            ;;
    esac
    case $program in
        curl) check_values '[#:0-46aBfgGiIjJklLMnNOpqRsSvVZ]*o' --output "${arguments[@]}" ;;
        wget) check_values '[46bcdEFhHkKLmnNpqrSvVx]*O' --output-document "${arguments[@]}" ;;
        cp | install | ln | mv) check_values '[abCdDfHilLnPpRrsTuvxZ]*t' --target-directory "${arguments[@]}" ;;
    esac
}

read_call
check_paths "${paths[@]}"
commands "$command"
exit 0
