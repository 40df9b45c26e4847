# The example: an answer that says that it is not tested is sent back, once. A gate that runs the project's tests would stand
# here too: make test >&2 || block "the tests fail"
case $event in *'"stop_hook_active": true'*) exit 0 ;; esac
case $(text content) in
    *'not tested'*) block "Test it before you stop, or say why it cannot be tested." ;;
esac
