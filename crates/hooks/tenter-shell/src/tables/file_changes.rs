//! Programs that create, change, move and delete files, and editors.

use crate::facts::{Class, Language};

use super::{GNU, Inline, Interpreter, NO_FILES, Program, Run, Style};

/// The commands of an editor: `-c '!command'`.
const EDITOR: &[Run] = &[Run::Edits("-c --cmd")];

/// The commands of an editor, which can call functions.
const COMMANDS: Interpreter = Interpreter {
    language: Some(Language::Other),
    inline: Inline::Values("-c --cmd"),
    module: "",
    no_program: "--version --help",
    stdin: NO_FILES,
};

/// A program that changes owner or permissions.
const MODE: Program = Program { recursive: "-R --recursive", ..GNU };

pub(super) const PROGRAMS: &[Program] = &[
    // Deleting.
    Program {
        name: "rm",
        options: "-r -R --recursive -f --force -i -I --interactive? -d --dir -v --verbose --one-file-system --no-preserve-root --preserve-root? --help --version",
        paths: &["delete operands unless --help --version"],
        recursive: "-r -R --recursive",
        ..GNU
    },
    Program {
        name: "rmdir",
        options: "-p --parents --ignore-fail-on-non-empty -v --verbose",
        paths: &["delete operands"],
        ..GNU
    },
    Program { name: "unlink", paths: &["delete operands"], ..GNU },
    Program {
        name: "shred",
        options: "-n= --iterations= -s= --size= -u --remove? -z -f -v --random-source=",
        paths: &["write operands", "delete operands if -u --remove"],
        ..GNU
    },
    Program {
        name: "srm",
        options: "-r -R --recursive -f",
        paths: &["delete operands"],
        recursive: "-r -R --recursive",
        ..GNU
    },
    Program { name: "trash", paths: &["delete operands"], recursive: "always", ..GNU },
    Program { name: "trash-put", paths: &["delete operands"], recursive: "always", ..GNU },
    Program { name: "gio trash", paths: &["delete operands"], recursive: "always", ..GNU },
    Program { name: "gio remove", options: "-f --force", paths: &["delete operands"], ..GNU },
    Program { name: "gio", has_subcommands: true, ..GNU },
    Program {
        name: "rimraf",
        options: "-g --glob",
        paths: &["delete operands"],
        recursive: "always",
        ..GNU
    },
    Program {
        name: "del-cli",
        options: "-f --force",
        paths: &["delete operands"],
        recursive: "always",
        ..GNU
    },
    Program {
        name: "fd",
        options: "-e= -t= -d= -E= -g -x -X --exec --exec-batch -H -I -S= -c= -j= -o= --extension= --type= --exclude= --max-depth=",
        paths: &["list second"],
        ..GNU
    },
    Program {
        name: "truncate",
        options: "-s= --size= -r= --reference= -c --no-create",
        paths: &["write operands", "read -r --reference"],
        ..GNU
    },
    // Copying and moving.
    Program {
        name: "cp",
        options: "-r -R --recursive -a --archive -f --force -t= --target-directory= -S= --suffix= -T --no-target-directory -u --update? -l --link -s --symbolic-link \
                  -p --preserve? -d -n --no-clobber -v --verbose --backup? --sparse= --reflink? --parents",
        paths: &[
            "read init unless -t --target-directory",
            "write last unless -t --target-directory",
            "read operands if -t --target-directory",
            "write -t --target-directory",
        ],
        recursive: "-r -R -a --recursive --archive",
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    Program {
        name: "mv",
        options: "-f --force -i -n --no-clobber -t= --target-directory= -S= --suffix= -T --no-target-directory -u --update? -v --backup? --strip-trailing-slashes",
        paths: &[
            "move init unless -t --target-directory",
            "write last unless -t --target-directory",
            "move operands if -t --target-directory",
            "write -t --target-directory",
        ],
        recursive: "always",
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    Program {
        name: "install",
        options: "-m= --mode= -o= --owner= -g= --group= -t= --target-directory= -S= --suffix= -D -d --directory -T -c -C -b -p -s -v",
        paths: &[
            "create operands if -d --directory",
            "read init unless -d -t --directory --target-directory",
            "write last unless -d -t --directory --target-directory",
            "read operands if -t --target-directory",
            "write -t --target-directory",
        ],
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    Program {
        name: "ln",
        options: "-s --symbolic -f --force -n --no-dereference -r --relative -t= --target-directory= -S= --suffix= -T -L -P -i -v -b --backup?",
        paths: &[
            "link init unless -t --target-directory",
            "create last unless -t --target-directory",
            "link operands if -t --target-directory",
            "create -t --target-directory",
        ],
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    Program {
        name: "link",
        paths: &["link init", "create last"],
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    // In one form a program and then the files, in the other two texts and then the files.
    Program {
        name: "rename",
        options: "-n -v -f -s=",
        paths: &["move rest unless -n"],
        recursive: "always",
        ..GNU
    },
    Program { name: "exchange", paths: &["move operands"], recursive: "always", ..GNU },
    Program {
        name: "dd",
        style: Style::Keys,
        paths: &["read if=", "write of="],
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    // Making.
    Program {
        name: "mkdir",
        options: "-m= --mode= -p --parents -v -Z",
        paths: &["create operands"],
        ..GNU
    },
    Program {
        name: "touch",
        options: "-a -c -d= -m -r= -t= --date= --reference= --time= --no-create",
        paths: &["write operands", "read -r --reference"],
        ..GNU
    },
    Program { name: "mkfifo", options: "-m= --mode=", paths: &["create operands"], ..GNU },
    Program { name: "mknod", options: "-m= --mode=", paths: &["create first"], ..GNU },
    Program {
        name: "mktemp",
        options: "-d --directory -u --dry-run -q -p= --tmpdir? -t --suffix=",
        ..GNU
    },
    Program {
        name: "fallocate",
        options: "-l= -o= --length= --offset=",
        paths: &["write operands"],
        ..GNU
    },
    Program {
        name: "tee",
        options: "-a --append -i -p --output-error?",
        paths: &["write operands"],
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    Program {
        name: "sd",
        options: "-f= --flags= -n= --max-replacements= -F --fixed-strings -p --preview -s -A",
        paths: &["write after-two unless -p --preview"],
        ..GNU
    },
    Program { name: "rpl", options: "-R -w -i -v -s", paths: &["write after-two"], ..GNU },
    Program {
        name: "dasel",
        options: "-f= --file= -r= -w= -t= -v= -s=",
        has_subcommands: true,
        ..GNU
    },
    Program {
        name: "dasel put",
        options: "-f= --file= -r= -w= -t= -v= -s=",
        paths: &["write -f --file"],
        ..GNU
    },
    Program {
        name: "sponge",
        options: "-a",
        paths: &["write operands"],
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    Program {
        name: "split",
        options: "-a= -b= -C= -l= -n= -t= --lines= --bytes= --additional-suffix= --filter=",
        paths: &["read first", "write second"],
        runs: &[Run::Option("--filter")],
        ..GNU
    },
    Program {
        name: "csplit",
        options: "-f= --prefix= -b= --suffix-format= -n= --digits= -k -s -z",
        paths: &["read first", "write -f --prefix"],
        ..GNU
    },
    Program {
        name: "patch",
        options: "-p= --strip= -i= --input= -d= --directory= -o= --output= -r= -B= -R -N --dry-run",
        directory: "-d --directory",
        paths: &[
            "write first unless --dry-run",
            "read -i --input",
            "write -o --output",
            "create -d --directory unless --dry-run",
        ],
        ..GNU
    },
    // Permissions.
    Program {
        name: "chmod",
        style: Style::Mode,
        options: "-R --recursive -v --verbose -c --changes -f --silent --quiet --reference= --preserve-root --no-preserve-root -h",
        paths: &["mode rest unless --reference", "mode operands if --reference"],
        ..MODE
    },
    Program {
        name: "chown",
        options: "-R --recursive -v --verbose -c --changes -f --silent --quiet --reference= --from= -h --no-dereference --dereference -H -L -P --preserve-root --no-preserve-root",
        paths: &["mode rest unless --reference", "mode operands if --reference"],
        ..MODE
    },
    Program {
        name: "chgrp",
        options: "-R --recursive -v -c -f --reference= -h -H -L -P",
        paths: &["mode rest unless --reference", "mode operands if --reference"],
        ..MODE
    },
    Program {
        name: "chattr",
        style: Style::Mode,
        options: "-R -V -f -v= -p=",
        paths: &["mode rest"],
        recursive: "-R",
        ..GNU
    },
    Program {
        name: "setfacl",
        options: "-m= --modify= -M= -x= --remove= -X= -b -k -R --recursive -d --set= --set-file= --restore=",
        paths: &["mode operands"],
        ..MODE
    },
    Program {
        name: "setcap",
        options: "-q -v -r -n=",
        paths: &["mode rest unless -r", "mode operands if -r"],
        ..GNU
    },
    Program {
        name: "xattr",
        options: "-w -d -r -c -l -p",
        paths: &["mode last"],
        recursive: "-r",
        ..GNU
    },
    // Editing.
    Program {
        name: "sed",
        options: "-e= --expression= -f= --file= -i? --in-place? -l= -n --quiet --silent -E -r -s -z -u --sandbox",
        paths: &[
            "write rest if -i --in-place unless -e -f --expression --file",
            "read rest unless -i --in-place -e -f --expression --file",
            "write operands if -i --in-place and -e -f --expression --file",
            "read operands if -e -f --expression --file unless -i --in-place",
            "read -f --file",
        ],
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    Program {
        name: "ed",
        options: "-p= -s",
        runs: &[Run::Edits("")],
        paths: &["write operands", "read operands"],
        ..GNU
    },
    Program {
        name: "ex",
        options: "-c= --cmd= -s",
        runs: EDITOR,
        interpreter: Some(COMMANDS),
        paths: &["write operands", "read operands"],
        ..GNU
    },
    Program {
        name: "vi",
        options: "-c= --cmd=",
        runs: EDITOR,
        interpreter: Some(COMMANDS),
        paths: &["write operands"],
        ..GNU
    },
    Program {
        name: "vim",
        options: "-c= --cmd= -S= -u= -i= -s? -e -E -n -N",
        runs: EDITOR,
        interpreter: Some(COMMANDS),
        paths: &["write operands", "read operands if -e -E", "execute -S -u"],
        classes: &[(Class::Interpreter, "if -S -u")],
        ..GNU
    },
    Program {
        name: "nvim",
        options: "-c= --cmd= -S= -u= -i= -l= --headless -e -s",
        runs: EDITOR,
        interpreter: Some(COMMANDS),
        paths: &["write operands", "read operands if -e", "execute -S -u -l"],
        classes: &[(Class::Interpreter, "if -S -u -l")],
        ..GNU
    },
    Program { name: "remove_directory", paths: &["delete operands"], recursive: "always", ..GNU },
    Program { name: "nano", paths: &["write operands"], ..GNU },
    Program { name: "code", options: "-g -d -r -w", paths: &["write operands"], ..GNU },
    Program { name: "open", options: "-a= -b=", paths: &["read operands"], ..GNU },
    Program { name: "xdg-open", paths: &["read operands"], ..GNU },
];
