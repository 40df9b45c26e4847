#!/bin/sh
# Runs the compiler for the packages of the workspace, with what only one of the programs is linked with. Agents start tenter-hook for
# each event: linked statically and at a fixed address, as programs in Go are, no loader has to find libraries, and no page is changed
# only because it has an address in it. Stack, heap and mappings stay at random addresses. `tenter` resolves the names of servers, for which
# the C library loads the system's modules, so it stays dynamic.
case " $* " in
*"-apple-"*) ;;
*" --crate-name tenter_hook "*) set -- "$@" -C target-feature=+crt-static -C relocation-model=static ;;
esac
exec "$@"
