# real PATH: sets `target` like realpath, but the path need not exist. Symlinks are resolved before `..`.
real() {
    local rest=$1/ part link links=0
    target=''
    while [ -n "$rest" ]; do
        part=${rest%%/*} rest=${rest#*/}
        case $part in
            '' | .) continue ;;
            ..) target=${target%/*} && continue ;;
        esac
        if [ -L "$target/$part" ]; then
            links=$((links + 1)) link=$(readlink "$target/$part")
            [ "$links" -le 40 ] || { echo "too many symlinks: $1" >&2 && exit 1; }
            case $link in /*) target='' ;; esac
            rest=$link/$rest
        else
            target=$target/$part
        fi
    done
    target=${target:-/}
}
