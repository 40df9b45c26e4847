# The example: subagents do not deploy.
case $(text task_description) in
    *[Dd]eploy*) block "a subagent must not deploy; ask the user" ;;
esac
