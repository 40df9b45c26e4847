//! Shells, builtins, and programs that run the command in their operands.

use crate::facts::Class;

use super::rows::{like, program};
use super::{GNU, Inline, Interpreter, Program, Run, Style, WRAPPER};

const INTERPRETER: &[(Class, &str)] = &[(Class::Interpreter, "")];

const SHELL: Program = GNU
    .style(Style::Posix)
    .options("-c -o= -O= -i -l -e -u -x -v -n +n +e +u +x +v +a +b +f +h +k +m +p +B +C +E +H +T +o= +O= -s -r --rcfile= --init-file= --norc --noprofile --posix --login --verbose")
    .paths(&["read first if -v -x --verbose unless -c -s", "execute --rcfile --init-file"])
    .interpreter(Interpreter {
        language: None,
        inline: Inline::OperandWith("-c"),
        module: "",
        no_program: "-n --version --help",
        stdin: "-s",
    })
    .classes(INTERPRETER);

/// A program whose operands, joined, are a script.
const SCRIPT: Program = GNU.style(Style::Posix).runs(&[Run::Script(0)]);

/// A program with a script in an option and a command in its operands.
const SCRIPT_OR_WORDS: Program = WRAPPER.runs(&[Run::Option("-c --command"), Run::Words(0)]);

/// The options of our launcher, which runs a command with fewer rights.
const CONFINE: &str = "--profile= --spec= --project= --check-in= --limit= --check";

pub(super) const PROGRAMS: &[Program] = &[
    // Shells.
    like(SHELL, "bash"),
    like(SHELL, "sh"),
    like(SHELL, "dash"),
    like(SHELL, "ash"),
    like(SHELL, "zsh"),
    like(SHELL, "ksh"),
    like(SHELL, "mksh"),
    like(SHELL, "fish"),
    like(SHELL, "rbash"),
    like(SHELL, "csh"),
    like(SHELL, "tcsh"),
    // Builtins.
    program("cd"),
    program("hash").options("-d -l -p= -r -t"),
    program("enable")
        .options("-a -d -f= -n -p -s")
        .paths(&["execute -f"])
        .classes(&[(Class::Interpreter, "if -f")]),
    program("pushd"),
    program("popd"),
    program("echo").style(Style::Posix),
    program("printf").style(Style::Posix).options("-v="),
    program("set").classes(&[(Class::Environment, "bare")]),
    program("export").options("-p -n").classes(&[(Class::Environment, "bare")]),
    program("declare")
        .options("-p -x -r -g -a -A -i -n -u -l")
        .classes(&[(Class::Environment, "bare")]),
    program("typeset").options("-p -x -r -g -a -A -i -n -u -l"),
    program("local").options("-a -A -i -n -u -l -r"),
    program("readonly"),
    program("unset").options("-f -v -n"),
    program("alias"),
    program("read").options("-a= -d= -e -i= -n= -N= -p= -r -s -t= -u="),
    program("mapfile").options("-d= -n= -O= -s= -t -u= -C= -c="),
    program("readarray").options("-d= -n= -O= -s= -t -u= -C= -c="),
    program("complete")
        .options("-a -b -c -d -e -f -g -j -k -p -r -s -u -v -D -E -I -o= -A= -G= -W= -F= -C= -X= -P= -S=")
        .runs(&[Run::Option("-C")]),
    program("fc").options("-e= -l -n -r -s").runs(&[Run::Option("-e")]),
    program("compgen")
        .options("-a -b -c -d -e -f -g -j -k -s -u -v -o= -A= -G= -W= -F= -C= -X= -P= -S=")
        .runs(&[Run::Option("-C")]),
    program("jobs").style(Style::Posix).options("-l -n -p -r -s -x").runs(&[Run::AfterFlag("-x")]),
    program("wait").options("-f -n -p="),
    program("let").style(Style::Posix),
    program("test").style(Style::Posix),
    program("[").style(Style::Posix),
    program("trap").style(Style::Posix),
    program("source").style(Style::Posix).classes(INTERPRETER),
    program(".").style(Style::Posix).classes(INTERPRETER),
    like(SCRIPT, "eval").classes(INTERPRETER),
    like(WRAPPER, "command").options("-p -v -V").runs(&[Run::Unless("-v -V", 0)]),
    like(WRAPPER, "builtin"),
    like(WRAPPER, "exec").options("-c -l -a="),
    // Limits, priorities, time.
    like(WRAPPER, "time")
        .options("-p -v -a -o= -f= --format= --output=")
        .paths(&["write -o --output"]),
    like(WRAPPER, "nohup"),
    like(WRAPPER, "nice").options("-n= --adjustment="),
    like(WRAPPER, "ionice").options("-c= -n= -t -p= --class= --classdata="),
    like(WRAPPER, "chrt").options("-p= -m -a").runs(&[Run::Words(1)]),
    like(WRAPPER, "taskset").options("-a -c -p=").runs(&[Run::Words(1)]),
    like(WRAPPER, "timeout")
        .options("-k= -s= --kill-after= --signal= --foreground --preserve-status -v --verbose")
        .runs(&[Run::Words(1)]),
    like(WRAPPER, "gtimeout").options("-k= -s= --kill-after= --signal=").runs(&[Run::Words(1)]),
    like(WRAPPER, "prlimit").options("-p= --pid= -o="),
    like(WRAPPER, "stdbuf").options("-i= -o= -e= --input= --output= --error="),
    like(WRAPPER, "unbuffer").options("-p"),
    like(WRAPPER, "setsid").options("-c --ctty -f --fork -w --wait"),
    like(WRAPPER, "caffeinate").options("-t= -w="),
    like(WRAPPER, "cpulimit").options("-l= -p= -e= -P= --limit="),
    like(WRAPPER, "numactl").options("-m= -N= -C= -i= -p="),
    // The architecture may be left out.
    like(WRAPPER, "setarch").runs(&[Run::Words(0), Run::Words(1)]),
    like(WRAPPER, "linux64"),
    like(WRAPPER, "chronic"),
    like(WRAPPER, "rlwrap").options("-f= -H= -s= -P= -p="),
    like(WRAPPER, "winpty"),
    like(WRAPPER, "busybox"),
    like(WRAPPER, "toybox"),
    // Environment and user.
    like(WRAPPER, "env")
        .options("-i --ignore-environment -0 --null -u= --unset= -C= --chdir= -S= --split-string= -v --debug -P= -a= --argv0=")
        .directory("-C --chdir")
        .runs(&[Run::Environment])
        .classes(&[(Class::Environment, "bare")]),
    program("printenv").options("-0").classes(&[(Class::Environment, "")]),
    like(WRAPPER, "sudo")
        .options("-A --askpass -b --background -B --bell -C= --close-from= -D= --chdir= -E --preserve-env? -e --edit -g= --group= -H --set-home \
                  -h= --host= -i --login -K --remove-timestamp -k --reset-timestamp -l --list -n --non-interactive -P --preserve-groups -p= --prompt= \
                  -R= --chroot= -r= --role= -S --stdin -s --shell -t= --type= -T= --command-timeout= -U= --other-user= -u= --user= -V -v")
        .directory("-D --chdir")
        .paths(&["write operands if -e --edit"])
        .runs(&[Run::Environment]),
    program("sudoedit").options("-u= -g=").paths(&["write operands"]),
    like(WRAPPER, "doas").options("-u= -C= -a= -n -s -L").runs(&[Run::Environment]),
    like(WRAPPER, "pkexec").options("--user="),
    like(WRAPPER, "gosu").runs(&[Run::Words(1)]),
    like(WRAPPER, "su-exec").runs(&[Run::Words(1)]),
    program("su")
        .options("-c= --command= -s= --shell= -g= -G= -w= -l --login -m -p")
        .runs(&[Run::Option("-c --command")]),
    like(SCRIPT_OR_WORDS, "runuser").options("-c= --command= -u= -s= -g= -G= -l"),
    like(WRAPPER, "sg").options("-c=").runs(&[Run::Option("-c"), Run::Words(1)]),
    like(WRAPPER, "setpriv")
        .options("--reuid= --regid= --groups= --inh-caps= --bounding-set= --securebits= --pdeathsig="),
    like(WRAPPER, "tenter-hook confine").options(CONFINE),
    program("tenter-hook").with_subcommands(),
    like(WRAPPER, "tenter-launch confine").options(CONFINE),
    program("tenter-launch").with_subcommands(),
    like(WRAPPER, "tenter confine").options(CONFINE),
    like(WRAPPER, "dotenv").options("-f= -e= -p="),
    like(WRAPPER, "direnv exec").runs(&[Run::Words(1)]),
    program("direnv").with_subcommands().runs(&[Run::Recipes(&super::languages::ENVRC)]),
    // Namespaces.
    like(WRAPPER, "chroot")
        .options("--userspec= --groups= --skip-chdir")
        .runs(&[Run::Container(1)]),
    like(WRAPPER, "unshare")
        .options("-S= -G= -R= -w= --root= --wd= --setuid= --setgid= --map-user= --map-group= --propagation="),
    like(WRAPPER, "nsenter").options("-t= --target= -S= --setuid= -G= --setgid= -r? -w?"),
    like(WRAPPER, "fakeroot").options("-l= -s= -i= -b="),
    like(WRAPPER, "firejail"),
    like(WRAPPER, "systemd-run")
        .options("-u= --unit= -p= --property= --slice= -E= --setenv= --uid= --gid= --on-active= --on-calendar= --description= -M= --machine= \
                  --working-directory= -H= --host="),
    like(WRAPPER, "systemd-inhibit").options("--what= --who= --why= --mode="),
    like(WRAPPER, "dbus-run-session").options("--config-file="),
    like(WRAPPER, "xvfb-run").options("-n= -s= -e= -f= -p= -w="),
    like(WRAPPER, "ssh-agent").options("-t= -a= -E="),
    // Tracers.
    like(WRAPPER, "strace")
        .options("-o= -e= -p= -s= -E= -u= -a= -P= -S= -b= -I= -O= -X=")
        .paths(&["write -o"]),
    like(WRAPPER, "ltrace").options("-o= -e= -p= -s= -u= -a= -n= -F= -l= -x=").paths(&["write -o"]),
    program("perf").with_subcommands(),
    like(WRAPPER, "perf stat").options("-e= -o= -r= -p= -t= -C="),
    like(WRAPPER, "perf record").options("-e= -o= -F= -c= -p= -t= -C="),
    like(WRAPPER, "valgrind"),
    program("hyperfine")
        .options("-w= --warmup= -r= --runs= -m= -M= -p= --prepare= -c= --cleanup= -s= --setup= -S= -L= -n= --export-json= -N -i")
        .runs(&[Run::Each, Run::Option("-p --prepare -c --cleanup -s --setup")]),
    // Repetition and files.
    like(SCRIPT, "watch").options("-n= --interval= -d --differences? -t -x -e -g -c -b"),
    like(SCRIPT, "entr")
        .options("-a -c -d -n -p -r -s -z")
        .runs(&[Run::Script(0), Run::Unless("-s", 0)]),
    like(WRAPPER, "faketime").options("-f -m -p=").runs(&[Run::Words(1)]),
    program("gdb")
        .style(Style::Single)
        .options("-ex= -iex= -eval-command= -init-eval-command= -x= -p= -batch --batch -q --args -args")
        .runs(&[Run::AfterFlag("--args -args"), Run::Debugs("-ex -iex -eval-command -init-eval-command")])
        .paths(&["execute -x"])
        .classes(&[(Class::Interpreter, "if -x")]),
    program("lldb")
        .options("-o= --one-line= -O= --one-line-before-file= -k= --one-line-on-crash= -K= -s= --source= -f= --file= -p= -n= -c= -b --batch")
        .style(Style::Posix)
        .paths(&["execute -s --source"])
        .runs(&[
            Run::AfterDashes,
            Run::Debugs("-o --one-line -O --one-line-before-file -k --one-line-on-crash"),
        ]),
    program("r2").options("-q -c= -i= -A -n -w -d").runs(&[Run::Debugs("-c")]),
    program("dc").options("-e= --expression= -f= --file=").runs(&[Run::Debugs("-e --expression")]),
    program("fzf")
        .options("--preview= --bind= -f= --filter= -q= --query= -d= --delimiter= -n= -m -e -1 -0")
        .runs(&[Run::Option("--preview")]),
    program("run-parts")
        .options("-a= --arg= --regex= --test --list -v --verbose --report --reverse --exit-on-error -u= --umask=")
        .paths(&["execute operands unless --test --list"]),
    program("newgrp").options("-c=").interpreter(Interpreter {
        language: None,
        inline: Inline::Values("-c"),
        module: "",
        no_program: "",
        stdin: "*",
    }),
    program("nodemon")
        .style(Style::Posix)
        .options("-x= --exec= -w= --watch= -e= --ext= -i= --ignore= -d= --delay=")
        .runs(&[Run::Option("-x --exec")]),
    program("xterm").options("-e").runs(&[Run::AfterFlag("-e")]),
    program("pee").runs(&[Run::Each]),
    program("mispipe").runs(&[Run::Each]),
    program("concurrently")
        .options("-n= --names= -c= --prefix-colors= -p= --prefix= -k --kill-others -r --raw")
        .runs(&[Run::Each]),
    program("man").options("-P= --pager= -k -f -w -a").runs(&[Run::Option("-P --pager")]),
    like(WRAPPER, "run0").options("-u= -g= -D= --unit= --property= -i"),
    like(WRAPPER, "flock")
        .options("-w= --wait= --timeout= -E= -c= --command= -n -x -s -u -o -F")
        .runs(&[Run::Option("-c --command"), Run::Words(1)]),
    program("script")
        .options("-c= --command= -t? -T= -I= -O= -B= -E= -m= -o=")
        .style(Style::Posix)
        .paths(&["write first"])
        .runs(&[Run::Option("-c --command"), Run::Words(1)]),
    like(WRAPPER, "run-one"),
    like(WRAPPER, "retry").options("-t= -d= -m="),
    like(WRAPPER, "screen")
        .options("-S= -t= -c= -s= -p= -T= -h= -e= -r -R -d -D -m -x -X -L -ls")
        .runs(&[Run::Words(0), Run::AfterScript("stuff")]),
    program("tmux").options("-f= -L= -S= -c=").with_subcommands(),
    like(SCRIPT, "tmux new-session").options("-s= -n= -c= -t= -x= -y= -F= -e= -d -A -D -P"),
    like(SCRIPT, "tmux new").options("-s= -n= -c= -t= -x= -y= -F= -e= -d -A -D -P"),
    like(SCRIPT, "tmux new-window").options("-n= -c= -t= -F= -e= -d -a -b"),
    like(SCRIPT, "tmux neww").options("-n= -c= -t= -F= -e= -d -a -b"),
    like(SCRIPT, "tmux split-window").options("-c= -t= -F= -e= -l= -p= -d -h -v -b"),
    like(SCRIPT, "tmux splitw").options("-c= -t= -F= -e= -l= -p= -d -h -v -b"),
    like(SCRIPT, "tmux respawn-pane").options("-c= -t= -e= -k"),
    like(SCRIPT, "tmux respawn-window").options("-c= -t= -e= -k"),
    like(SCRIPT, "tmux display-popup").options("-c= -d= -e= -h= -w= -x= -y= -t= -E"),
    like(SCRIPT, "tmux pipe-pane").options("-t= -I -O -o"),
    like(SCRIPT, "tmux run-shell").options("-t= -d= -b -C"),
    like(SCRIPT, "tmux send-keys").options("-t= -N="),
    like(SCRIPT, "tmux send").options("-t= -N="),
    program("xargs")
        .style(Style::Posix)
        .options("-0 --null -a= --arg-file= -d= --delimiter= -E= -e? --eof? -I= -i? --replace? -J= -L= -l? --max-lines? -n= --max-args= -P= --max-procs= -p --interactive -r --no-run-if-empty -R= -S= -s= --max-chars= -t --verbose -x --exit -o --open-tty")
        .paths(&["read -a --arg-file"]),
    program("parallel")
        .style(Style::Posix)
        .options("-j= --jobs= -a= --arg-file= -I= -C= --colsep= -d= --delimiter= -n= -N= --max-args= -L= -P= -S= --sshlogin= --joblog= --results= --tmpdir= --timeout= --retries= -k -t -X -m --dry-run --bar --halt= --load= --workdir= --wd=")
        .paths(&["read -a --arg-file"]),
    // Schedules.
    program("at")
        .options("-f= -q= -t=")
        .paths(&["execute -f"])
        .interpreter(Interpreter {
            language: None,
            inline: Inline::Values(""),
            module: "",
            no_program: "-l -d -r -c",
            stdin: "*",
        }),
    program("batch")
        .interpreter(Interpreter {
            language: None,
            inline: Inline::Values(""),
            module: "",
            no_program: "",
            stdin: "*",
        }),
    program("crontab")
        .options("-l -r -e -u=")
        .paths(&["write /var/spool/cron unless -l", "read first"]),
];
