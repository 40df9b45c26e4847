#!/usr/bin/env bash
# @include about

# Commands that publish. Adapt the list to your project.
PUBLISHES='cargo publish
docker push
docker image push
gem push
gh gist create
gh issue create
gh pr create
gh pr merge
gh release create
gh repo create
git push
helm push
mvn deploy
mvn clean deploy
npm publish
pnpm publish
podman push
poetry publish
twine upload
uv publish
yarn publish
yarn npm publish'

# @include call

# @include json

# @include shell

# arguments PROGRAM: sets `found` to the arguments of the program without the options before its subcommand, and
# `has_options` if there are any.
arguments() {
    has_options=''
    if [ "$1" = git ]; then
        git_call || return
        for word in "${found[@]}"; do
            # `git push -n` is a dry run.
            [[ $word =~ ^-[dfquv46]*n[dfnquv46]*$ ]] && return 1
        done
        return 0
    fi
    call "$1" || return 1
    found=("${found[@]:1}")
    while [[ ${found[0]} == [-+]* ]]; do found=("${found[@]:1}") has_options=1; done
}

check() {
    local word line
    for word in "${words[@]}"; do
        case $word in --dry-run | --help) return ;; esac
    done
    if call python python3; then
        [ "${found[*]:1:3}" = '-m twine upload' ] && ask 'twine upload'
    fi
    while read -r line; do
        arguments "${line%% *}" || continue
        case "${found[*]} " in "${line#* } "*) ask "$line" ;; esac
        # The first option may have a value: `npm --prefix web publish`.
        [ -n "$has_options" ] || continue
        case "${found[*]:1} " in "${line#* } "*) ask "$line" ;; esac
    done <<<"$PUBLISHES"
}

# ask WHAT: lets the user decide.
ask() {
    printf '{"decision": "ask", "reason": %s}\n' "$(json "\`$1\` publishes your work")"
    exit 0
}

read_call
commands "$command"
exit 0
