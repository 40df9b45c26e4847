# The example: no command may delete everything.
case $(text command) in
    *'rm -rf /' | *'rm -rf / '* | *'rm -rf /*'* | *'rm -rf ~' | *'rm -rf ~ '*)
        block "this would delete everything; name the folder that you mean"
        ;;
esac
