#!/usr/bin/env bash
# @include about

# @include call

# @include shell

# is_forced WORD...: whether the arguments of `git push` overwrite a branch: --force, -f, --mirror or +branch.
is_forced() {
    local word previous=''
    for word; do
        case $previous in
            -o | --push-option | --repo | --receive-pack | --exec) word='' ;;
        esac
        previous=$word
        case $word in --force | --m | --mi | --mir | --mirr | --mirro | --mirror | +*) return 0 ;; esac
        [[ $word =~ ^-[A-Za-np-z0-9]*f ]] && return 0
    done
    return 1
}

check() {
    git_call || return
    case ${found[0]} in push | send-pack) ;; *) return ;; esac
    if is_forced "${found[@]:1}"; then
        block 'a force push overwrites commits that others may have: push new commits, or ask the user'
    fi
}

read_call
commands "$command"
exit 0
