# The example: private keys do not go to the model.
case $(text prompt) in
    *'PRIVATE KEY-----'*) block "the message holds a private key" ;;
esac
