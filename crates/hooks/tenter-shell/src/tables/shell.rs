//! Shells, builtins, and programs that run the command in their operands.

use crate::facts::Class;

use super::{GNU, Inline, Interpreter, Program, Run, Style, WRAPPER};

const INTERPRETER: &[(Class, &str)] = &[(Class::Interpreter, "")];

const SHELL: Program = Program {
    style: Style::Posix,
    options: "-c -o= -O= -i -l -e -u -x -v -n +n +e +u +x +v +a +b +f +h +k +m +p +B +C +E +H +T +o= +O= -s -r --rcfile= --init-file= --norc --noprofile --posix --login --verbose",
    paths: &["read first if -v -x --verbose unless -c -s", "execute --rcfile --init-file"],
    interpreter: Some(Interpreter {
        language: None,
        inline: Inline::OperandWith("-c"),
        module: "",
        no_program: "-n --version --help",
        stdin: "-s",
    }),
    classes: INTERPRETER,
    ..GNU
};

/// A program whose operands, joined, are a script.
const SCRIPT: Program = Program { style: Style::Posix, runs: &[Run::Script(0)], ..GNU };

/// A program with a script in an option and a command in its operands.
const SCRIPT_OR_WORDS: Program =
    Program { runs: &[Run::Option("-c --command"), Run::Words(0)], ..WRAPPER };

/// The options of our launcher, which runs a command with fewer rights.
const CONFINE: &str = "--profile= --spec= --project= --check-in= --limit= --check";

pub(super) const PROGRAMS: &[Program] = &[
    // Shells.
    Program { name: "bash", ..SHELL },
    Program { name: "sh", ..SHELL },
    Program { name: "dash", ..SHELL },
    Program { name: "ash", ..SHELL },
    Program { name: "zsh", ..SHELL },
    Program { name: "ksh", ..SHELL },
    Program { name: "mksh", ..SHELL },
    Program { name: "fish", ..SHELL },
    Program { name: "rbash", ..SHELL },
    Program { name: "csh", ..SHELL },
    Program { name: "tcsh", ..SHELL },
    // Builtins.
    Program { name: "cd", ..GNU },
    Program { name: "hash", options: "-d -l -p= -r -t", ..GNU },
    Program {
        name: "enable",
        options: "-a -d -f= -n -p -s",
        paths: &["execute -f"],
        classes: &[(Class::Interpreter, "if -f")],
        ..GNU
    },
    Program { name: "pushd", ..GNU },
    Program { name: "popd", ..GNU },
    Program { name: "echo", style: Style::Posix, ..GNU },
    Program { name: "printf", style: Style::Posix, options: "-v=", ..GNU },
    Program { name: "set", classes: &[(Class::Environment, "bare")], ..GNU },
    Program { name: "export", options: "-p -n", classes: &[(Class::Environment, "bare")], ..GNU },
    Program {
        name: "declare",
        options: "-p -x -r -g -a -A -i -n -u -l",
        classes: &[(Class::Environment, "bare")],
        ..GNU
    },
    Program { name: "typeset", options: "-p -x -r -g -a -A -i -n -u -l", ..GNU },
    Program { name: "local", options: "-a -A -i -n -u -l -r", ..GNU },
    Program { name: "readonly", ..GNU },
    Program { name: "unset", options: "-f -v -n", ..GNU },
    Program { name: "alias", ..GNU },
    Program { name: "read", options: "-a= -d= -e -i= -n= -N= -p= -r -s -t= -u=", ..GNU },
    Program { name: "mapfile", options: "-d= -n= -O= -s= -t -u= -C= -c=", ..GNU },
    Program { name: "readarray", options: "-d= -n= -O= -s= -t -u= -C= -c=", ..GNU },
    Program {
        name: "complete",
        options: "-a -b -c -d -e -f -g -j -k -p -r -s -u -v -D -E -I -o= -A= -G= -W= -F= -C= -X= -P= -S=",
        runs: &[Run::Option("-C")],
        ..GNU
    },
    Program { name: "fc", options: "-e= -l -n -r -s", runs: &[Run::Option("-e")], ..GNU },
    Program {
        name: "compgen",
        options: "-a -b -c -d -e -f -g -j -k -s -u -v -o= -A= -G= -W= -F= -C= -X= -P= -S=",
        runs: &[Run::Option("-C")],
        ..GNU
    },
    Program {
        name: "jobs",
        style: Style::Posix,
        options: "-l -n -p -r -s -x",
        runs: &[Run::AfterFlag("-x")],
        ..GNU
    },
    Program { name: "wait", options: "-f -n -p=", ..GNU },
    Program { name: "let", style: Style::Posix, ..GNU },
    Program { name: "test", style: Style::Posix, ..GNU },
    Program { name: "[", style: Style::Posix, ..GNU },
    Program { name: "trap", style: Style::Posix, ..GNU },
    Program { name: "source", style: Style::Posix, classes: INTERPRETER, ..GNU },
    Program { name: ".", style: Style::Posix, classes: INTERPRETER, ..GNU },
    Program { name: "eval", classes: INTERPRETER, ..SCRIPT },
    Program { name: "command", options: "-p -v -V", runs: &[Run::Unless("-v -V", 0)], ..WRAPPER },
    Program { name: "builtin", ..WRAPPER },
    Program { name: "exec", options: "-c -l -a=", ..WRAPPER },
    // Limits, priorities, time.
    Program {
        name: "time",
        options: "-p -v -a -o= -f= --format= --output=",
        paths: &["write -o --output"],
        ..WRAPPER
    },
    Program { name: "nohup", ..WRAPPER },
    Program { name: "nice", options: "-n= --adjustment=", ..WRAPPER },
    Program { name: "ionice", options: "-c= -n= -t -p= --class= --classdata=", ..WRAPPER },
    Program { name: "chrt", options: "-p= -m -a", runs: &[Run::Words(1)], ..WRAPPER },
    Program { name: "taskset", options: "-a -c -p=", runs: &[Run::Words(1)], ..WRAPPER },
    Program {
        name: "timeout",
        options: "-k= -s= --kill-after= --signal= --foreground --preserve-status -v --verbose",
        runs: &[Run::Words(1)],
        ..WRAPPER
    },
    Program {
        name: "gtimeout",
        options: "-k= -s= --kill-after= --signal=",
        runs: &[Run::Words(1)],
        ..WRAPPER
    },
    Program { name: "prlimit", options: "-p= --pid= -o=", ..WRAPPER },
    Program { name: "stdbuf", options: "-i= -o= -e= --input= --output= --error=", ..WRAPPER },
    Program { name: "unbuffer", options: "-p", ..WRAPPER },
    Program { name: "setsid", options: "-c --ctty -f --fork -w --wait", ..WRAPPER },
    Program { name: "caffeinate", options: "-t= -w=", ..WRAPPER },
    Program { name: "cpulimit", options: "-l= -p= -e= -P= --limit=", ..WRAPPER },
    Program { name: "numactl", options: "-m= -N= -C= -i= -p=", ..WRAPPER },
    Program { name: "setarch", runs: &[Run::Words(1)], ..WRAPPER },
    Program { name: "linux64", ..WRAPPER },
    Program { name: "chronic", ..WRAPPER },
    Program { name: "rlwrap", options: "-f= -H= -s= -P= -p=", ..WRAPPER },
    Program { name: "winpty", ..WRAPPER },
    Program { name: "busybox", ..WRAPPER },
    Program { name: "toybox", ..WRAPPER },
    // Environment and user.
    Program {
        name: "env",
        options: "-i --ignore-environment -0 --null -u= --unset= -C= --chdir= -S= --split-string= -v --debug -P= -a= --argv0=",
        directory: "-C --chdir",
        runs: &[Run::Environment],
        classes: &[(Class::Environment, "bare")],
        ..WRAPPER
    },
    Program { name: "printenv", options: "-0", classes: &[(Class::Environment, "")], ..GNU },
    Program {
        name: "sudo",
        options: "-A --askpass -b --background -B --bell -C= --close-from= -D= --chdir= -E --preserve-env? -e --edit -g= --group= -H --set-home \
                  -h= --host= -i --login -K --remove-timestamp -k --reset-timestamp -l --list -n --non-interactive -P --preserve-groups -p= --prompt= \
                  -R= --chroot= -r= --role= -S --stdin -s --shell -t= --type= -T= --command-timeout= -U= --other-user= -u= --user= -V -v",
        directory: "-D --chdir",
        paths: &["write operands if -e --edit"],
        runs: &[Run::Environment],
        ..WRAPPER
    },
    Program { name: "sudoedit", options: "-u= -g=", paths: &["write operands"], ..GNU },
    Program { name: "doas", options: "-u= -C= -a= -n -s -L", runs: &[Run::Environment], ..WRAPPER },
    Program { name: "pkexec", options: "--user=", ..WRAPPER },
    Program { name: "gosu", runs: &[Run::Words(1)], ..WRAPPER },
    Program { name: "su-exec", runs: &[Run::Words(1)], ..WRAPPER },
    Program {
        name: "su",
        options: "-c= --command= -s= --shell= -g= -G= -w= -l --login -m -p",
        runs: &[Run::Option("-c --command")],
        ..GNU
    },
    Program { name: "runuser", options: "-c= --command= -u= -s= -g= -G= -l", ..SCRIPT_OR_WORDS },
    Program { name: "sg", options: "-c=", runs: &[Run::Option("-c"), Run::Words(1)], ..WRAPPER },
    Program {
        name: "setpriv",
        options: "--reuid= --regid= --groups= --inh-caps= --bounding-set= --securebits= --pdeathsig=",
        ..WRAPPER
    },
    Program { name: "tenter-hook confine", options: CONFINE, ..WRAPPER },
    Program { name: "tenter-hook", has_subcommands: true, ..GNU },
    Program { name: "tenter-launch confine", options: CONFINE, ..WRAPPER },
    Program { name: "tenter-launch", has_subcommands: true, ..GNU },
    Program { name: "tenter confine", options: CONFINE, ..WRAPPER },
    Program { name: "dotenv", options: "-f= -e= -p=", ..WRAPPER },
    Program { name: "direnv exec", runs: &[Run::Words(1)], ..WRAPPER },
    Program {
        name: "direnv",
        has_subcommands: true,
        runs: &[Run::Recipes(&super::languages::ENVRC)],
        ..GNU
    },
    // Namespaces.
    Program {
        name: "chroot",
        options: "--userspec= --groups= --skip-chdir",
        runs: &[Run::Container(1)],
        ..WRAPPER
    },
    Program {
        name: "unshare",
        options: "-S= -G= -R= -w= --root= --wd= --setuid= --setgid= --map-user= --map-group= --propagation=",
        ..WRAPPER
    },
    Program {
        name: "nsenter",
        options: "-t= --target= -S= --setuid= -G= --setgid= -r? -w?",
        ..WRAPPER
    },
    Program { name: "fakeroot", options: "-l= -s= -i= -b=", ..WRAPPER },
    Program { name: "firejail", ..WRAPPER },
    Program {
        name: "systemd-run",
        options: "-u= --unit= -p= --property= --slice= -E= --setenv= --uid= --gid= --on-active= --on-calendar= --description= -M= --machine= \
                  --working-directory= -H= --host=",
        ..WRAPPER
    },
    Program { name: "systemd-inhibit", options: "--what= --who= --why= --mode=", ..WRAPPER },
    Program { name: "dbus-run-session", options: "--config-file=", ..WRAPPER },
    Program { name: "xvfb-run", options: "-n= -s= -e= -f= -p= -w=", ..WRAPPER },
    Program { name: "ssh-agent", options: "-t= -a= -E=", ..WRAPPER },
    // Tracers.
    Program {
        name: "strace",
        options: "-o= -e= -p= -s= -E= -u= -a= -P= -S= -b= -I= -O= -X=",
        paths: &["write -o"],
        ..WRAPPER
    },
    Program {
        name: "ltrace",
        options: "-o= -e= -p= -s= -u= -a= -n= -F= -l= -x=",
        paths: &["write -o"],
        ..WRAPPER
    },
    Program { name: "perf", has_subcommands: true, ..GNU },
    Program { name: "perf stat", options: "-e= -o= -r= -p= -t= -C=", ..WRAPPER },
    Program { name: "perf record", options: "-e= -o= -F= -c= -p= -t= -C=", ..WRAPPER },
    Program { name: "valgrind", ..WRAPPER },
    Program {
        name: "hyperfine",
        options: "-w= --warmup= -r= --runs= -m= -M= -p= --prepare= -c= --cleanup= -s= --setup= -S= -L= -n= --export-json= -N -i",
        runs: &[Run::Each, Run::Option("-p --prepare -c --cleanup -s --setup")],
        ..GNU
    },
    // Repetition and files.
    Program {
        name: "watch",
        options: "-n= --interval= -d --differences? -t -x -e -g -c -b",
        ..SCRIPT
    },
    Program {
        name: "entr",
        options: "-a -c -d -n -p -r -s -z",
        runs: &[Run::Script(0), Run::Unless("-s", 0)],
        ..SCRIPT
    },
    Program { name: "faketime", options: "-f -m -p=", runs: &[Run::Words(1)], ..WRAPPER },
    Program {
        name: "gdb",
        style: Style::Single,
        options: "-ex= -x= -p= -batch --batch -q --args -args",
        runs: &[
            Run::AfterFlag("--args -args"),
            Run::Keyed("-ex", "shell "),
            Run::Keyed("-ex", "!"),
        ],
        paths: &["execute -x"],
        classes: &[(Class::Interpreter, "if -x")],
        ..GNU
    },
    Program {
        name: "nodemon",
        style: Style::Posix,
        options: "-x= --exec= -w= --watch= -e= --ext= -i= --ignore= -d= --delay=",
        runs: &[Run::Option("-x --exec")],
        ..GNU
    },
    Program { name: "xterm", options: "-e", runs: &[Run::AfterFlag("-e")], ..GNU },
    Program { name: "pee", runs: &[Run::Each], ..GNU },
    Program { name: "mispipe", runs: &[Run::Each], ..GNU },
    Program {
        name: "concurrently",
        options: "-n= --names= -c= --prefix-colors= -p= --prefix= -k --kill-others -r --raw",
        runs: &[Run::Each],
        ..GNU
    },
    Program {
        name: "man",
        options: "-P= --pager= -k -f -w -a",
        runs: &[Run::Option("-P --pager")],
        ..GNU
    },
    Program { name: "run0", options: "-u= -g= -D= --unit= --property= -i", ..WRAPPER },
    Program {
        name: "flock",
        options: "-w= --wait= --timeout= -E= -c= --command= -n -x -s -u -o -F",
        runs: &[Run::Option("-c --command"), Run::Words(1)],
        ..WRAPPER
    },
    Program {
        name: "script",
        options: "-c= --command= -t? -T= -I= -O= -B= -E= -m= -o=",
        style: Style::Posix,
        paths: &["write first"],
        runs: &[Run::Option("-c --command"), Run::Words(1)],
        ..GNU
    },
    Program { name: "run-one", ..WRAPPER },
    Program { name: "retry", options: "-t= -d= -m=", ..WRAPPER },
    Program {
        name: "screen",
        options: "-S= -t= -c= -s= -p= -T= -h= -e= -r -R -d -D -m -x -X -L -ls",
        runs: &[Run::Words(0), Run::AfterScript("stuff")],
        ..WRAPPER
    },
    Program { name: "tmux", options: "-f= -L= -S= -c=", has_subcommands: true, ..GNU },
    Program {
        name: "tmux new-session",
        options: "-s= -n= -c= -t= -x= -y= -F= -e= -d -A -D -P",
        ..SCRIPT
    },
    Program { name: "tmux new", options: "-s= -n= -c= -t= -x= -y= -F= -e= -d -A -D -P", ..SCRIPT },
    Program { name: "tmux new-window", options: "-n= -c= -t= -F= -e= -d -a -b", ..SCRIPT },
    Program { name: "tmux neww", options: "-n= -c= -t= -F= -e= -d -a -b", ..SCRIPT },
    Program { name: "tmux split-window", options: "-c= -t= -F= -e= -l= -p= -d -h -v -b", ..SCRIPT },
    Program { name: "tmux splitw", options: "-c= -t= -F= -e= -l= -p= -d -h -v -b", ..SCRIPT },
    Program { name: "tmux respawn-pane", options: "-c= -t= -e= -k", ..SCRIPT },
    Program { name: "tmux respawn-window", options: "-c= -t= -e= -k", ..SCRIPT },
    Program { name: "tmux display-popup", options: "-c= -d= -e= -h= -w= -x= -y= -t= -E", ..SCRIPT },
    Program { name: "tmux pipe-pane", options: "-t= -I -O -o", ..SCRIPT },
    Program { name: "tmux run-shell", options: "-t= -d= -b -C", ..SCRIPT },
    Program { name: "tmux send-keys", options: "-t= -N=", ..SCRIPT },
    Program { name: "tmux send", options: "-t= -N=", ..SCRIPT },
    Program {
        name: "xargs",
        style: Style::Posix,
        options: "-0 --null -a= --arg-file= -d= --delimiter= -E= -e? --eof? -I= -i? --replace? -J= -L= -l? --max-lines? -n= --max-args= -P= --max-procs= -p --interactive -r --no-run-if-empty -R= -S= -s= --max-chars= -t --verbose -x --exit -o --open-tty",
        paths: &["read -a --arg-file"],
        ..GNU
    },
    Program {
        name: "parallel",
        style: Style::Posix,
        options: "-j= --jobs= -a= --arg-file= -I= -C= --colsep= -d= --delimiter= -n= -N= --max-args= -L= -P= -S= --sshlogin= --joblog= --results= --tmpdir= --timeout= --retries= -k -t -X -m --dry-run --bar --halt= --load= --workdir= --wd=",
        ..GNU
    },
    // Schedules.
    Program {
        name: "at",
        options: "-f= -q= -t=",
        paths: &["execute -f"],
        interpreter: Some(Interpreter {
            language: None,
            inline: Inline::Values(""),
            module: "",
            no_program: "-l -d -r -c",
            stdin: "*",
        }),
        ..GNU
    },
    Program {
        name: "batch",
        interpreter: Some(Interpreter {
            language: None,
            inline: Inline::Values(""),
            module: "",
            no_program: "",
            stdin: "*",
        }),
        ..GNU
    },
    Program {
        name: "crontab",
        options: "-l -r -e -u=",
        paths: &["write /var/spool/cron unless -l", "read first"],
        ..GNU
    },
];
