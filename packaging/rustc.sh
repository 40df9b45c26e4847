#!/bin/sh
# Runs the compiler for the packages of the workspace, with what only the programs are linked with. Agents start tenter-hook for each event,
# and tenter-launch for each confined command: linked statically and at a fixed address, as programs in Go are, no loader has to find
# libraries, and no page is changed only because it has an address in it. Stack, heap and mappings stay at random addresses. The same halves
# the start of `tenter`, and lets one package run on every Linux; names of servers are looked up by a program of the system
# (crates/hooks/tenter-base/src/server_names.rs). The scripts are for LLVM's linker, which the compiler uses on x86-64: the functions of an
# event and of short commands are together, because a system maps code in pieces when they are used, and no program has tables for unwinding. The standard library
# calls posix_spawn(3) only if it finds two functions of glibc. A static program has only functions that something refers to, so the linker is
# told to add them: without them, each start of a program copies the process, and `sh` reads files that are no programs.
script=-Clink-arg=-Wl,-T,$(dirname "$0")
case " $* " in
*"-apple-"*) exec "$@" ;;
*" --crate-name tenter "*" --crate-type bin "* | *" --crate-name tenter_hook "* | *" --crate-name tenter_launch "*)
    set -- "$@" -C target-feature=+crt-static -C relocation-model=static
    ;;
esac
# Not for another target than this machine's, or another C library than glibc, whose linker may be another one.
case " $* " in
*" --target x86_64-unknown-linux-gnu "*) ;;
*" --target "*) exec "$@" ;;
esac
getconf GNU_LIBC_VERSION >/dev/null 2>&1 || exec "$@"
case " $* " in
*" --crate-type bin "*" target-feature=+crt-static "*)
    for function in posix_spawn_file_actions_addchdir_np gnu_get_libc_version; do set -- "$@" -Clink-arg=-Wl,-u,$function; done
    [ "$(uname -m)" != x86_64 ] || set -- "$@" "$script/unwinding.ld"
    ;;
esac
case "$(uname -m) $* " in
"x86_64 "*" --crate-name tenter_hook "*" --crate-type bin "*) exec "$@" "$script/event.ld" ;;
"x86_64 "*" --crate-name tenter "*" --crate-type bin "*) exec "$@" "$script/commands.ld" ;;
*) exec "$@" ;;
esac
