//! Programs that run other programs.

use crate::facts::Class;

use super::{GNU, Interpreter, Program, Run, Style, WRAPPER};

const SHELL: Program = Program {
    style: Style::Posix,
    options: "-c -o= -O= -i -l -e -u -x -v -n +n -s -r --rcfile= --init-file= --norc --noprofile --posix --login",
    interpreter: Some(Interpreter {
        language: None,
        inline: "-c",
        no_program: "-n --version --help",
        stdin: "-s",
    }),
    ..GNU
};

pub(super) const PROGRAMS: &[Program] = &[
    Program { name: "command", options: "-p -v -V", ..WRAPPER },
    Program { name: "builtin", ..WRAPPER },
    Program { name: "exec", options: "-c -l -a=", ..WRAPPER },
    Program { name: "nohup", ..WRAPPER },
    Program { name: "nice", options: "-n= --adjustment=", ..WRAPPER },
    Program { name: "time", options: "-p -v -o= -f= --format= --output=", ..WRAPPER },
    Program {
        name: "timeout",
        options: "-k= -s= --kill-after= --signal= --foreground --preserve-status -v --verbose",
        runs: &[Run::Words(1)],
        ..WRAPPER
    },
    Program {
        name: "sudo",
        options: "-A --askpass -b --background -B --bell -C= --close-from= -D= --chdir= -E --preserve-env? -e --edit -g= --group= -H --set-home \
                  -h= --host= -i --login -K --remove-timestamp -k --reset-timestamp -l --list -n --non-interactive -P --preserve-groups \
                  -p= --prompt= -R= --chroot= -r= --role= -S --stdin -s --shell -t= --type= -T= --command-timeout= -U= --other-user= -u= --user= -V -v",
        runs: &[Run::Environment],
        ..WRAPPER
    },
    Program {
        name: "env",
        options: "-i --ignore-environment -0 --null -u= --unset= -C= --chdir= -S= --split-string= -v --debug -P= --argv0= -a=",
        runs: &[Run::Environment, Run::Option("-S --split-string")],
        ..WRAPPER
    },
    Program { name: "eval", runs: &[Run::Script(0)], ..WRAPPER },
    Program {
        name: "watch",
        options: "-n= --interval= -d --differences? -t -x -e -g -c",
        runs: &[Run::Script(0)],
        ..WRAPPER
    },
    Program {
        name: "ssh",
        options: "-1 -2 -4 -6 -A -a -B= -b= -C -c= -D= -E= -e= -F= -f -G -g -I= -i= -J= -K -k -L= -l= -M -m= -N -n -O= -o= -P= -p= -Q= -q \
                  -R= -S= -s -T -t -V -v -W= -w= -X -x -Y -y",
        runs: &[Run::Remote(1)],
        ..WRAPPER
    },
    Program { name: "bash", ..SHELL },
    Program { name: "sh", ..SHELL },
    Program { name: "dash", ..SHELL },
    Program { name: "zsh", ..SHELL },
    Program { name: "ksh", ..SHELL },
    Program { name: "ash", ..SHELL },
    Program { name: "fish", ..SHELL },
    Program {
        name: "rm",
        options: "-r -R --recursive -f --force -i -I --interactive? -d --dir -v --verbose --one-file-system --no-preserve-root --preserve-root?",
        paths: &["delete operands"],
        recursive: "-r -R --recursive",
        ..GNU
    },
    Program { name: "cat", paths: &["read operands"], classes: &[(Class::PassThrough, "")], ..GNU },
    Program {
        name: "tee",
        options: "-a --append",
        paths: &["write operands"],
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    Program {
        name: "cp",
        options: "-r -R -a -f -t= --recursive",
        paths: &["read init", "write last"],
        classes: &[(Class::PassThrough, "")],
        recursive: "-r -R -a --recursive",
        ..GNU
    },
    Program {
        name: "curl",
        options: "-o= --output= -O -d= --data= -s -S -L -f",
        paths: &["write -o --output"],
        classes: &[(Class::Download, "")],
        ..GNU
    },
    Program { name: "cd", ..GNU },
    Program { name: "read", options: "-a= -d= -e -i= -n= -N= -p= -r -s -t= -u=", ..GNU },
    Program {
        name: "git",
        options: "-C= -c= --git-dir= --work-tree=",
        has_subcommands: true,
        ..GNU
    },
];
