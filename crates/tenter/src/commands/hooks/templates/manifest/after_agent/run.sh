# The example: an answer that gave up is pointed out.
case $(text response) in
    *'I could not'*) block "You gave up. Say what you tried, and what would help." ;;
esac
