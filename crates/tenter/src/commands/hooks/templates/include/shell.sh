# --- Parsing a shell command: quotes, escapes, `;`, `&&`, pipes, `$(...)`, subshells, here-documents, `bash -c`. -------
# Not covered: values of variables, aliases, functions, scripts, and what other programs do.
WRAPPERS=' sudo doas env command builtin exec nohup time timeout nice ionice stdbuf setsid xargs find watch parallel npx '
SHELLS='sh bash dash zsh ksh su eval'
ORDINARY=$'[\\\\\'"$` \t\r\n<>&|;()#]*' # ends a run of ordinary characters
depth=0

# commands TEXT: calls `check` for every command in the text, including those in substitutions and in arguments of shells.
# For `check`, `words` are the words without quotes, `writes` the files that it is redirected to, `cwd` its directory.
commands() {
    # Bytes rather than characters: much faster on long texts.
    local LC_ALL=C rest=$1 cwd=$cwd documents=() pending=() has_shell='' document
    deeper
    read_until ''
    if [ -n "$has_shell" ]; then
        for document in "${documents[@]}"; do commands "$document"; done
    fi
    depth=$((depth - 1))
}

deeper() {
    depth=$((depth + 1))
    [ "$depth" -le 20 ] && return
    echo 'the command is nested too deeply' >&2
    exit 1
}

# read_until END: reads `rest` up to a closing bracket, a backtick, or the end of the text.
read_until() {
    local end=$1 words=() writes=() word='' open='' redirect='' quote='' c next run
    while [ -n "$rest" ]; do
        case $quote in
            "'") run=${rest%%\'*} ;;
            '"') run=${rest%%[\\\$\`\"]*} ;;
            *) run=${rest%%$ORDINARY} ;;
        esac
        if [ -n "$run" ]; then
            word+=$run open=1 rest=${rest:${#run}}
            continue
        fi
        c=${rest:0:1} next=${rest:1:1} rest=${rest:1}
        if [ "$quote" = "'" ]; then
            quote=''
            continue
        fi
        case $c in
            \\)
                rest=${rest:1}
                [ "$next" = $'\n' ] && continue
                case $quote$next in '"'[\"\\\$\`] | [!\"]*) c='' ;; esac
                [ -n "$quote" ] || c=''
                word+=$c$next open=1
                ;;
            '$')
                if [ "$next" = '(' ]; then
                    run='$()'
                    [ "${rest:0:5}" = '(pwd)' ] && run='${PWD}'
                    rest=${rest:1} word+=$run open=1
                    nested ')'
                elif [ -n "$quote" ] || { [ "$next" != "'" ] && [ "$next" != '"' ]; }; then
                    word+=$c open=1
                fi
                ;;
            '`')
                [ "$end" = '`' ] && break
                nested '`'
                word+='$()' open=1
                ;;
            '"')
                if [ -n "$quote" ]; then quote=''; else quote='"'; fi
                open=1
                ;;
            "'") quote="'" open=1 ;;
            ' ' | $'\t' | $'\r') end_word ;;
            $'\n')
                end_command
                skip_documents
                ;;
            '<' | '>' | '&')
                if [ "$c" = '&' ] && [ "$next" != '>' ]; then
                    end_command
                    continue
                fi
                [[ $word =~ ^([0-9]+|\{[A-Za-z0-9_]+\})$ ]] && word='' open=''
                end_word
                if [ "$next" = '(' ]; then
                    rest=${rest:1}
                    nested ')'
                    word='$()' open=1
                    continue
                fi
                redirect=$c
                while [[ $rest == [\<\>\&\|]* || ($redirect == '<<' && $rest == -*) ]]; do
                    redirect+=${rest:0:1} rest=${rest:1}
                done
                ;;
            '(')
                end_command
                nested ')'
                ;;
            ')')
                [ "$end" = ')' ] && break
                end_command
                ;;
            ';' | '|') end_command ;;
            '#')
                if [ -n "$open" ]; then
                    word+=$c
                else
                    run=${rest%%$'\n'*} rest=${rest:${#run}}
                fi
                ;;
        esac
    done
    end_command
}

# nested END: reads commands in brackets. A change of directory applies only inside.
nested() {
    local cwd=$cwd pending=()
    deeper
    read_until "$1"
    depth=$((depth - 1))
}

end_word() {
    [ -n "$open" ] || return 0
    case $redirect in
        '') words+=("$word") ;;
        '<<' | '<<-') pending+=("$redirect $word") ;;
        *'>'*) [[ $redirect == *'&' && $word =~ ^([0-9]+|-)$ ]] || writes+=("$word") ;;
    esac
    word='' open='' redirect=''
}

end_command() {
    local inner text
    end_word
    redirect=''
    if [ $((${#words[@]} + ${#writes[@]})) -gt 0 ]; then
        check
        call cd pushd && move
        # shellcheck disable=SC2086
        if call $SHELLS; then
            has_shell=1 inner=("${found[@]:1}")
            if [ "${found[0]}" = eval ]; then
                commands "${inner[*]}"
            else
                for text in "${inner[@]}"; do
                    case $text in *' '* | *$'\n'*) commands "$text" ;; esac
                done
            fi
        fi
    fi
    words=() writes=()
}

# skip_documents: skips here-documents, which are data.
skip_documents() {
    local entry line plain document
    for entry in "${pending[@]}"; do
        document=''
        while [ -n "$rest" ]; do
            line=${rest%%$'\n'*} rest=${rest:${#line}} plain=$line
            rest=${rest:1}
            case $entry in '<<- '*) plain=${line#"${line%%[!$'\t']*}"} ;; esac
            [ "$plain" = "${entry#* }" ] && break
            document+=$line$'\n'
        done
        documents+=("$document")
    done
    pending=()
}

# call PROGRAM...: sets `found` to the command from the first of these programs on; fails if it starts none of them.
call() {
    local index=0 name first='' wanted=" $* "
    found=()
    for name in "${words[@]}"; do
        if [ -z "$first" ]; then
            case $name in '!' | '{' | '}' | if | then | elif | else | while | until | do) index=$((index + 1)) && continue ;; esac
            [[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*= ]] && index=$((index + 1)) && continue
        fi
        name=${name##*/}
        case $wanted in
            *" ${name:-/} "*)
                found=("${words[@]:index}")
                return 0
                ;;
        esac
        first=${first:-$name}
        case $WRAPPERS in *" ${first:-/} "*) ;; *) return 1 ;; esac
        index=$((index + 1))
    done
    return 1
}

# move: sets `cwd` to the target of `cd`; to nothing if it depends on a variable.
move() {
    local word where='~'
    for word in "${found[@]:1}"; do
        case $word in -*) ;; *) where=$word && break ;; esac
    done
    resolve "$where"
    cwd=$target
}

# resolve PATH: sets `target` to the absolute path with symlinks resolved; to nothing if it depends on a variable.
resolve() {
    local path=$1 value
    case $path in '~' | '~/'*) path=$HOME${path#'~'} ;; esac
    while [[ $path =~ ^(.*)\$\{(HOME|TMPDIR|PWD)[^A-Za-z0-9_}]?[^}]*\}(.*)$ || $path =~ ^(.*)\$(HOME|TMPDIR|PWD)([^A-Za-z0-9_].*)?$ ]]; do
        case ${BASH_REMATCH[2]} in HOME) value=$HOME ;; TMPDIR) value=${TMPDIR:-/tmp} ;; *) value=$cwd ;; esac
        path=${BASH_REMATCH[1]}${value:-?}${BASH_REMATCH[3]}
    done
    target=''
    case $path in
        *'$'*) return ;;
        /*) ;;
        *) [ -n "$cwd" ] || return && path=$cwd/$path ;;
    esac
    real "$path"
}

# @include real

# operands WORD...: sets `named` to the arguments that are not options.
operands() {
    local word is_end=''
    named=()
    for word; do
        if [ -n "$is_end" ]; then
            named+=("$word")
        elif [ "$word" = -- ]; then
            is_end=1
        elif [[ $word != -* ]]; then
            named+=("$word")
        fi
    done
}

# has_flag LETTERS NAMES WORD...: whether an option is given: one of these letters, alone or bundled, or a long name.
has_flag() {
    local letters=$1 names=" $2 " word
    shift 2
    for word; do
        [ "$word" = -- ] && return 1
        [[ $word =~ ^-[A-Za-z0-9]*[$letters] ]] && return 0
        [[ $word == --?* && $names == *" ${word%%=*} "* ]] && return 0
    done
    return 1
}

# git_call: sets `found` to the subcommand of git and its arguments, without options of git itself such as `-C dir`.
git_call() {
    call git || return 1
    found=("${found[@]:1}")
    while [[ ${found[0]} == -* ]]; do
        case ${found[0]} in
            -C | -c | --git-dir | --work-tree | --namespace | --config-env) found=("${found[@]:2}") ;;
            *) found=("${found[@]:1}") ;;
        esac
    done
}
