#!/bin/sh
# Runs the compiler for the packages of the workspace, with what only one of the programs is linked with. Agents start tenter-hook for
# each event: linked statically, no loader has to find libraries and relocate addresses. `tenter` resolves the names of servers, for which
# the C library loads the system's modules, so it stays dynamic.
case " $* " in
*" --crate-name tenter_hook "*) set -- "$@" -C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs ;;
esac
exec "$@"
