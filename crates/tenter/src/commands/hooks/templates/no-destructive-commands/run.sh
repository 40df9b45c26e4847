#!/usr/bin/env bash
# @include about

# @include call

# @include shell

real "${TENTER_PROJECT_DIR:-$PWD}"
PROJECT=$target
real "${HOME:-/}"
OWN=$target
SYSTEM='^/((bin|boot|dev|etc|lib|lib32|lib64|proc|sbin|sys|usr|System|Library|Applications)(/|$)|(home|opt|root|srv|var|Users)$)'
DISK='^/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|loop|mapper/|dm-)'

# holds DIRECTORY PATH: whether the directory is the path or a parent of it.
holds() {
    local above=${1%/}
    [[ $2 == "$1" || $2 == "$above"/* ]]
}

# is_vital PATH [PROJECT_TOO]: whether the path is a system directory, the home directory, the project, or a
# parent of one of them.
is_vital() {
    local path=$1
    # `$DIR/` is `/` where DIR is empty.
    [[ $path =~ ^\$\{?[A-Za-z0-9_]+\}?/\*?$ ]] && return 0
    # `~root` is the home directory of a user.
    [[ $path =~ ^~[A-Za-z_][A-Za-z0-9_.-]*/?\*?$ ]] && return 0
    case $path in
        '*' | '.*') path=. ;;
        */'*' | */'.*') path=${path%/*}/. ;;
    esac
    resolve "$path"
    [ -n "$target" ] || return 1
    if [ -n "$2" ]; then
        { holds "$target" "$PROJECT" || [ "$target" = "$PROJECT/.git" ]; } && return 0
    fi
    [ "$target" != "$PROJECT" ] && holds "$target" "$PROJECT" && return 0
    # Files in /dev/shm are in memory, like those of a temporary directory.
    holds "$target" "$OWN" || [[ $target =~ $SYSTEM && $target != /dev/shm/* ]]
}

# refuse_vital PROJECT_TOO PATH...
refuse_vital() {
    local project_too=$1 path
    shift
    for path; do
        is_vital "$path" "$project_too" && block "this destroys $path: name the files of the project that you mean"
    done
}

# Directories that `find` deletes from; with a condition, only those that are not in the project.
check_find() {
    local word starts=() first='' is_deleting='' project_too=''
    for word in "${found[@]:1}"; do
        case $word in
            -delete) is_deleting=1 ;;
            -exec | -execdir) case " ${found[*]} " in *' rm '* | *'/rm '*) is_deleting=1 ;; esac ;;
        esac
        if [[ $word == -* ]]; then
            first=${first:-$word}
        elif [ -z "$first" ]; then
            starts+=("$word")
        fi
    done
    [ -n "$is_deleting" ] || return
    [ "${#starts[@]}" -gt 0 ] || starts=(.)
    case $first in -delete | -exec | -execdir) project_too=1 ;; esac
    refuse_vital "$project_too" "${starts[@]}"
}

check_disk() {
    local word
    [[ ${found[0]##*/} == mkfs* ]] && block 'this overwrites a disk: leave it to the user'
    for word in "${found[@]:1}" "${writes[@]}"; do
        [[ ${word#of=} =~ $DISK ]] && block 'this overwrites a disk: leave it to the user'
    done
}

# git commands that discard uncommitted work.
check_git() {
    local name=${found[0]} arguments=("${found[@]:1}") everything='' word
    operands "${arguments[@]}"
    for word in "${named[@]}"; do
        case $word in . | ./ | :/ | : | '*' | './*') everything=1 ;; esac
    done
    case $name in
        reset) [[ " ${arguments[*]} " == *' --hard '* ]] || return ;;
        clean) has_flag f --force "${arguments[@]}" && ! has_flag n --dry-run "${arguments[@]}" || return ;;
        checkout) [ -n "$everything" ] || has_flag f --force "${arguments[@]}" || return ;;
        restore)
            [ -n "$everything" ] || return
            has_flag S --staged "${arguments[@]}" && ! has_flag W --worktree "${arguments[@]}" && return
            ;;
        switch) has_flag f '--force --discard-changes' "${arguments[@]}" || return ;;
        stash) [[ ${arguments[0]} == drop || ${arguments[0]} == clear ]] || return ;;
        *) return ;;
    esac
    block "this \`git $name\` discards uncommitted work: commit it first, or ask the user"
}

check() {
    if call rm && has_flag rR --recursive "${found[@]:1}"; then
        case " ${found[*]} " in *' --no-preserve-root '*) refuse_vital 1 / ;; esac
        operands "${found[@]:1}"
        refuse_vital 1 "${named[@]}"
    fi
    if call chmod chown chgrp && has_flag R --recursive "${found[@]:1}"; then
        operands "${found[@]:1}"
        refuse_vital '' "${named[@]:1}"
    fi
    call find && check_find
    call dd shred wipefs mkfs mkfs.{btrfs,exfat,ext2,ext3,ext4,f2fs,fat,msdos,ntfs,vfat,xfs}
    check_disk
    git_call && check_git
}

read_call
commands "$command"
exit 0
