//! Programs that read and change files.

use crate::facts::Class;

use super::{GNU, Program, Run, Style};

/// A program that prints its files, or its standard input.
const FILTER: Program =
    Program { paths: &["read operands"], classes: &[(Class::PassThrough, "")], ..GNU };

/// A program with a pattern before its files.
const SEARCH: Program = Program {
    options: "-e= -f= -m= -A= -B= -C= -d= -D= --regexp= --file= --include= --exclude= --exclude-dir= --max-count= --color? --context= -r -R --recursive -i -v -n -l -c -o -E -F -P -q -w",
    paths: &[
        "read rest unless -e -f --regexp --file -r -R --recursive",
        "list rest if -r -R --recursive",
        "read -f --file",
        "read operands if -e -f --regexp --file",
        "read-glob --include",
    ],
    classes: &[(Class::PassThrough, "")],
    ..GNU
};

/// What the commands of an editor run: `-c '!command'`.
const EDITOR: &[Run] = &[Run::Keyed("-c --cmd", "!"), Run::Keyed("-c --cmd", ":!")];

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
        paths: &["write first unless --dry-run", "read -i --input", "write -o --output"],
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
    // Reading.
    Program { name: "cat", options: "-A -b -e -E -n -s -t -T -u -v", ..FILTER },
    Program { name: "tac", options: "-s= -b -r", ..FILTER },
    Program {
        name: "bat",
        options: "-l= --language= -r= --line-range= -H= --theme= --style= -p -n",
        ..FILTER
    },
    Program { name: "head", options: "-n= -c= --lines= --bytes= -q -v", ..FILTER },
    Program { name: "tail", options: "-n= -c= --lines= --bytes= -s= --pid= -f -F -q -v", ..FILTER },
    Program {
        name: "less",
        options: "-p= -P= -x= -k= -o= -O= -T= -b= -j= -z=",
        paths: &["read operands", "read -k", "write -o -O"],
        ..FILTER
    },
    Program { name: "more", options: "-n=", ..FILTER },
    Program { name: "most", ..FILTER },
    Program { name: "nl", options: "-b= -d= -f= -h= -i= -l= -n= -s= -v= -w=", ..FILTER },
    Program {
        name: "cut",
        options: "-b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --output-delimiter=",
        ..FILTER
    },
    Program { name: "paste", options: "-d= --delimiters= -s -z", ..FILTER },
    Program {
        name: "sort",
        options: "-k= -t= -o= -S= -T= --key= --field-separator= --output= --compress-program= --parallel= -n -r -u -h",
        paths: &["read operands", "write -o --output"],
        runs: &[Run::Option("--compress-program")],
        ..FILTER
    },
    Program {
        name: "uniq",
        options: "-f= -s= -w= -c -d -u -i",
        paths: &["read first", "write second"],
        ..FILTER
    },
    Program { name: "tr", options: "-c -C -d -s -t", paths: &[], ..FILTER },
    Program { name: "rev", ..FILTER },
    Program { name: "fold", options: "-w= -b -s", ..FILTER },
    Program { name: "fmt", options: "-w= -p=", ..FILTER },
    Program { name: "column", options: "-t -s= -o= -c= -N=", ..FILTER },
    Program { name: "expand", options: "-t= -i", ..FILTER },
    Program {
        name: "iconv",
        options: "-f= -t= -o= -c --from-code= --to-code= --output=",
        paths: &["read operands", "write -o --output"],
        ..FILTER
    },
    Program { name: "dos2unix", paths: &["write operands"], ..GNU },
    Program { name: "strings", options: "-n= -t= -e= -o", ..FILTER },
    Program { name: "od", options: "-A= -j= -N= -S= -t= -w? -v", paths: &["read operands"], ..GNU },
    Program {
        name: "xxd",
        options: "-c= -g= -l= -o= -s= -p -r -i -b -u",
        classes: &[(Class::Decode, "if -r")],
        paths: &["read first", "write second"],
        ..GNU
    },
    Program { name: "hexdump", options: "-n= -s= -e= -f= -C", paths: &["read operands"], ..GNU },
    Program { name: "hd", options: "-n= -s=", paths: &["read operands"], ..GNU },
    Program {
        name: "wc",
        options: "-c -l -m -w -L --files0-from=",
        paths: &["read operands"],
        ..GNU
    },
    Program {
        name: "diff",
        options: "-U= -C= -x= -I= -W= -u -r -q -N --exclude=",
        paths: &["read operands"],
        ..GNU
    },
    Program { name: "cmp", options: "-i= -n= -l -s", paths: &["read operands"], ..GNU },
    Program { name: "comm", options: "--output-delimiter=", paths: &["read operands"], ..GNU },
    Program {
        name: "join",
        options: "-1= -2= -a= -e= -j= -o= -t= -v=",
        paths: &["read operands"],
        ..GNU
    },
    Program { name: "md5sum", paths: &["read operands"], ..GNU },
    Program { name: "sha1sum", paths: &["read operands"], ..GNU },
    Program { name: "sha256sum", paths: &["read operands"], ..GNU },
    Program { name: "shasum", options: "-a= -c", paths: &["read operands"], ..GNU },
    Program { name: "cksum", options: "-a=", paths: &["read operands"], ..GNU },
    Program {
        name: "base64",
        options: "-d -D --decode -i -w= --wrap= --ignore-garbage -o=",
        paths: &["read operands", "write -o"],
        classes: &[(Class::Decode, "if -d -D --decode")],
        ..GNU
    },
    Program {
        name: "base32",
        options: "-d -D --decode -i -w= --wrap=",
        paths: &["read operands"],
        classes: &[(Class::Decode, "if -d -D --decode")],
        ..GNU
    },
    Program {
        name: "basenc",
        options: "-d --decode -w= --base64 --base32 --base16",
        paths: &["read operands"],
        classes: &[(Class::Decode, "if -d --decode")],
        ..GNU
    },
    Program {
        name: "uudecode",
        options: "-o=",
        paths: &["read operands", "write -o"],
        classes: &[(Class::Decode, "")],
        ..GNU
    },
    Program {
        name: "jq",
        options: "-f= --from-file= --arg= --argjson= --slurpfile= --indent= -L= -r -c -n -s -e",
        paths: &[
            "read rest unless -f --from-file",
            "read -f --from-file",
            "read operands if -f --from-file",
        ],
        ..GNU
    },
    Program {
        name: "yq",
        options: "-i --inplace -o= -p= -I=",
        paths: &["write rest if -i --inplace", "read rest unless -i --inplace"],
        ..GNU
    },
    Program { name: "grep", ..SEARCH },
    Program { name: "egrep", ..SEARCH },
    Program { name: "fgrep", ..SEARCH },
    Program { name: "zgrep", ..SEARCH },
    Program {
        name: "rg",
        options: "--files -e= -f= -g= -t= -T= -A= -B= -C= -m= -M= -r= -j= -E= --regexp= --file= --glob= --iglob= --type= --pre= --sort= --max-depth= -i -n -l -u -uu",
        paths: &[
            "list rest unless -e -f --files",
            "list operands if -e -f --files",
            "read -f --file",
            "read-glob -g --glob --iglob unless --files",
        ],
        runs: &[Run::Option("--pre")],
        ..GNU
    },
    Program {
        name: "ack",
        options: "-A= -B= -C= -m= -x -f -l -i -n -w",
        paths: &["list rest unless -f", "list operands if -f"],
        ..GNU
    },
    Program {
        name: "shuf",
        options: "-e --echo -i= --input-range= -n= --head-count= -o= --output= --random-source= -r -z",
        paths: &["read operands unless -e --echo", "write -o --output"],
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    Program { name: "look", options: "-d -f -t= --terminate=", paths: &["read second"], ..GNU },
    Program {
        name: "ag",
        options: "-A= -B= -C= -G= --file-search-regex= -g= -m= --ignore= --depth=",
        paths: &["list rest", "read-glob -G --file-search-regex"],
        ..GNU
    },
    Program {
        name: "ls",
        options: "-I= -T= -w= --ignore= --color? --sort= --time= --format= -l -a -R",
        paths: &["list directory"],
        ..GNU
    },
    Program {
        name: "tree",
        options: "-L= -P= -I= -o= -a -d -f",
        paths: &["list directory", "write -o"],
        ..GNU
    },
    Program {
        name: "du",
        options: "-d= --max-depth= -t= -B= --exclude= -s -h",
        paths: &["list directory"],
        ..GNU
    },
    Program {
        name: "stat",
        options: "-c= -f --format= --printf= -t",
        paths: &["list operands"],
        ..GNU
    },
    Program {
        name: "file",
        options: "-m= -f= -F= -b -i -C",
        paths: &["read operands", "write magic.mgc if -C"],
        ..GNU
    },
    Program {
        name: "find",
        style: Style::Find,
        options: "-name= -iname= -path= -ipath= -wholename= -regex= -iregex= -type= -xtype= -size= -mtime= -atime= -ctime= -mmin= -amin= -cmin= -newer= -anewer= \
                  -cnewer= -maxdepth= -mindepth= -user= -group= -perm= -uid= -gid= -inum= -links= -lname= -ilname= -samefile= -fstype= -fprint= -fprint0= -fls= \
                  -printf= -used= -context= -regextype= -newermt= -D= -fprintf= -files0-from=",
        paths: &["write -fprint -fprint0 -fls -fprintf", "read -files0-from"],
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
    Program { name: "ed", options: "-p= -s", paths: &["write operands"], ..GNU },
    Program {
        name: "ex",
        options: "-c= --cmd= -s",
        runs: EDITOR,
        paths: &["write operands"],
        ..GNU
    },
    Program { name: "vi", options: "-c= --cmd=", runs: EDITOR, paths: &["write operands"], ..GNU },
    Program {
        name: "vim",
        options: "-c= --cmd= -S= -u= -i= -s? -e -E -n -N",
        runs: EDITOR,
        paths: &["write operands"],
        ..GNU
    },
    Program {
        name: "nvim",
        options: "-c= --cmd= -S= -u= -i= -l= --headless -e -s",
        runs: EDITOR,
        paths: &["write operands"],
        ..GNU
    },
    Program { name: "nano", paths: &["write operands"], ..GNU },
    Program {
        name: "emacs",
        options: "-l= --load= --eval= -f=",
        paths: &["write operands"],
        ..GNU
    },
    Program { name: "code", options: "-g -d -r -w", paths: &["write operands"], ..GNU },
    Program { name: "open", options: "-a= -b=", paths: &["read operands"], ..GNU },
    Program { name: "xdg-open", paths: &["read operands"], ..GNU },
];
