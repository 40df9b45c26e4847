# The example: a file that is not there is looked for.
case $event in
    *'No such file or directory'*)
        echo '{"additional_context": "List the folder first, and use a name that is there."}'
        ;;
esac
