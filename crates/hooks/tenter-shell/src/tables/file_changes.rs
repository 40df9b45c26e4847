//! Programs that create, change, move and delete files, and editors.

use crate::facts::{Class, Language};

use super::rows::{like, program};
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
const MODE: Program = GNU.recursive("-R --recursive");

pub(super) const PROGRAMS: &[Program] = &[
    // Deleting.
    program("rm")
        .options("-r -R --recursive -f --force -i -I --interactive? -d --dir -v --verbose --one-file-system --no-preserve-root --preserve-root? --help --version")
        .paths(&["delete operands unless --help --version"])
        .recursive("-r -R --recursive"),
    program("rmdir")
        .options("-p --parents --ignore-fail-on-non-empty -v --verbose")
        .paths(&["delete operands"]),
    program("unlink").paths(&["delete operands"]),
    program("shred")
        .options("-n= --iterations= -s= --size= -u --remove? -z -f -v --random-source=")
        .paths(&["write operands", "delete operands if -u --remove"]),
    program("srm")
        .options("-r -R --recursive -f")
        .paths(&["delete operands"])
        .recursive("-r -R --recursive"),
    program("trash").paths(&["delete operands"]).recursive("always"),
    program("trash-put").paths(&["delete operands"]).recursive("always"),
    program("gio trash").paths(&["delete operands"]).recursive("always"),
    program("gio remove").options("-f --force").paths(&["delete operands"]),
    program("gio").with_subcommands(),
    program("rimraf").options("-g --glob").paths(&["delete operands"]).recursive("always"),
    program("del-cli").options("-f --force").paths(&["delete operands"]).recursive("always"),
    program("fd")
        .options("-e= -t= -d= -E= -g -x -X --exec --exec-batch -H -I -S= -c= -j= -o= --extension= --type= --exclude= --max-depth=")
        .paths(&["list second"]),
    program("truncate")
        .options("-s= --size= -r= --reference= -c --no-create")
        .paths(&["write operands", "read -r --reference"]),
    // Copying and moving.
    program("cp")
        .options("-r -R --recursive -a --archive -f --force -t= --target-directory= -S= --suffix= -T --no-target-directory -u --update? -l --link -s --symbolic-link \
                  -p --preserve? -d -n --no-clobber -v --verbose --backup? --sparse= --reflink? --parents")
        .paths(&[
            "read init unless -t --target-directory",
            "write last unless -t --target-directory",
            "read operands if -t --target-directory",
            "write -t --target-directory",
        ])
        .recursive("-r -R -a --recursive --archive")
        .classes(&[(Class::PassThrough, "")]),
    program("mv")
        .options("-f --force -i -n --no-clobber -t= --target-directory= -S= --suffix= -T --no-target-directory -u --update? -v --backup? --strip-trailing-slashes")
        .paths(&[
            "move init unless -t --target-directory",
            "write last unless -t --target-directory",
            "move operands if -t --target-directory",
            "write -t --target-directory",
        ])
        .recursive("always")
        .classes(&[(Class::PassThrough, "")]),
    program("install")
        .options("-m= --mode= -o= --owner= -g= --group= -t= --target-directory= -S= --suffix= -D -d --directory -T -c -C -b -p -s -v")
        .paths(&[
            "create operands if -d --directory",
            "read init unless -d -t --directory --target-directory",
            "write last unless -d -t --directory --target-directory",
            "read operands if -t --target-directory",
            "write -t --target-directory",
        ])
        .classes(&[(Class::PassThrough, "")]),
    program("ln")
        .options("-s --symbolic -f --force -n --no-dereference -r --relative -t= --target-directory= -S= --suffix= -T -L -P -i -v -b --backup?")
        .paths(&[
            "link init unless -t --target-directory",
            "create last unless -t --target-directory",
            "link operands if -t --target-directory",
            "create -t --target-directory",
        ])
        .classes(&[(Class::PassThrough, "")]),
    program("link").paths(&["link init", "create last"]).classes(&[(Class::PassThrough, "")]),
    // In one form a program and then the files, in the other two texts and then the files.
    program("rename").options("-n -v -f -s=").paths(&["move rest unless -n"]).recursive("always"),
    program("exchange").paths(&["move operands"]).recursive("always"),
    program("dd")
        .style(Style::Keys)
        .paths(&["read if=", "write of="])
        .classes(&[(Class::PassThrough, "")]),
    // Making.
    program("mkdir").options("-m= --mode= -p --parents -v -Z").paths(&["create operands"]),
    program("touch")
        .options("-a -c -d= -m -r= -t= --date= --reference= --time= --no-create")
        .paths(&["write operands", "read -r --reference"]),
    program("mkfifo").options("-m= --mode=").paths(&["create operands"]),
    program("mknod").options("-m= --mode=").paths(&["create first"]),
    program("mktemp").options("-d --directory -u --dry-run -q -p= --tmpdir? -t --suffix="),
    program("fallocate").options("-l= -o= --length= --offset=").paths(&["write operands"]),
    program("tee")
        .options("-a --append -i -p --output-error?")
        .paths(&["write operands"])
        .classes(&[(Class::PassThrough, "")]),
    program("sd")
        .options("-f= --flags= -n= --max-replacements= -F --fixed-strings -p --preview -s -A")
        .paths(&["write after-two unless -p --preview"]),
    program("rpl").options("-R -w -i -v -s").paths(&["write after-two"]),
    program("dasel")
        .options("-f= --file= -r= -w= -t= -v= -s=")
        .paths(&["read -f --file"])
        .with_subcommands(),
    program("dasel put").options("-f= --file= -r= -w= -t= -v= -s=").paths(&["write -f --file"]),
    program("sponge").options("-a").paths(&["write operands"]).classes(&[(Class::PassThrough, "")]),
    program("split")
        .options("-a= -b= -C= -l= -n= -t= --lines= --bytes= --additional-suffix= --filter=")
        .paths(&["read first", "write second"])
        .runs(&[Run::Option("--filter")]),
    program("csplit")
        .options("-f= --prefix= -b= --suffix-format= -n= --digits= -k -s -z")
        .paths(&["read first", "write -f --prefix"]),
    program("patch")
        .options("-p= --strip= -i= --input= -d= --directory= -o= --output= -r= -B= -R -N --dry-run")
        .directory("-d --directory")
        .paths(&[
            "write first unless --dry-run",
            "read -i --input",
            "write -o --output",
            "create -d --directory unless --dry-run",
        ]),
    // Permissions.
    like(MODE, "chmod")
        .style(Style::Mode)
        .options("-R --recursive -v --verbose -c --changes -f --silent --quiet --reference= --preserve-root --no-preserve-root -h")
        .paths(&["mode rest unless --reference", "mode operands if --reference"]),
    like(MODE, "chown")
        .options("-R --recursive -v --verbose -c --changes -f --silent --quiet --reference= --from= -h --no-dereference --dereference -H -L -P --preserve-root --no-preserve-root")
        .paths(&["mode rest unless --reference", "mode operands if --reference"]),
    like(MODE, "chgrp")
        .options("-R --recursive -v -c -f --reference= -h -H -L -P")
        .paths(&["mode rest unless --reference", "mode operands if --reference"]),
    program("chattr")
        .style(Style::Mode)
        .options("-R -V -f -v= -p=")
        .paths(&["mode rest"])
        .recursive("-R"),
    like(MODE, "setfacl")
        .options("-m= --modify= -M= -x= --remove= -X= -b -k -R --recursive -d --set= --set-file= --restore=")
        .paths(&["mode operands"]),
    program("setcap")
        .options("-q -v -r -n=")
        .paths(&["mode rest unless -r", "mode operands if -r"]),
    program("xattr").options("-w -d -r -c -l -p").paths(&["mode last"]).recursive("-r"),
    // Editing.
    program("sed")
        .options("-e= --expression= -f= --file= -i? --in-place? -l= -n --quiet --silent -E -r -s -z -u --sandbox")
        .paths(&[
            "write rest if -i --in-place unless -e -f --expression --file",
            "read rest unless -i --in-place -e -f --expression --file",
            "write operands if -i --in-place and -e -f --expression --file",
            "read operands if -e -f --expression --file unless -i --in-place",
            "read -f --file",
        ])
        .classes(&[(Class::PassThrough, "")]),
    program("ed")
        .options("-p= -s")
        .runs(&[Run::Edits("")])
        .paths(&["write operands", "read operands"]),
    program("ex")
        .options("-c= --cmd= -s")
        .runs(EDITOR)
        .interpreter(COMMANDS)
        .paths(&["write operands", "read operands"]),
    program("vi")
        .options("-c= --cmd=")
        .runs(EDITOR)
        .interpreter(COMMANDS)
        .paths(&["write operands"]),
    program("vim")
        .options("-c= --cmd= -S= -u= -i= -s? -e -E -n -N")
        .runs(EDITOR)
        .interpreter(COMMANDS)
        .paths(&["write operands", "read operands if -e -E", "execute -S -u"])
        .classes(&[(Class::Interpreter, "if -S -u")]),
    program("nvim")
        .options("-c= --cmd= -S= -u= -i= -l= --headless -e -s")
        .runs(EDITOR)
        .interpreter(COMMANDS)
        .paths(&["write operands", "read operands if -e", "execute -S -u -l"])
        .classes(&[(Class::Interpreter, "if -S -u -l")]),
    program("remove_directory").paths(&["delete operands"]).recursive("always"),
    program("nano")
        .options("-s= --speller= -l -m -w -B -R -v --view")
        .paths(&["write operands"])
        .runs(&[Run::Option("-s --speller")]),
    program("code").options("-g -d -r -w").paths(&["write operands"]),
    program("open").options("-a= -b=").paths(&["read operands"]),
    program("xdg-open").paths(&["read operands"]),
];
