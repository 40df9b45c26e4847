//! Programs that print, search, list and compare files.

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
    recursive: "-r -R --recursive",
    classes: &[(Class::PassThrough, "")],
    ..GNU
};

/// A program that offers the files of a directory over the network.
const FILE_SERVER: Program = Program { paths: &["read first"], recursive: "always", ..GNU };

pub(super) const PROGRAMS: &[Program] = &[
    Program { name: "serve", options: "-l= -p= -c= -s -n", ..FILE_SERVER },
    Program { name: "http-server", options: "-p= -a= -c= -d= -i= -e= -o -s -S", ..FILE_SERVER },
    Program { name: "live-server", options: "--port= --host= --open= --ignore=", ..FILE_SERVER },
    Program { name: "miniserve", options: "-p= -i= -a= -u -z -r", ..FILE_SERVER },
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
        runs: &[Run::Prefixed("+!")],
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
    Program { name: "pr", options: "-l= -w= -h= -t -n?", ..FILTER },
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
    Program { name: "pv", options: "-L= -s= -N= -i= -w= -q -p -t -e -r -b -n", ..FILTER },
    Program { name: "od", options: "-A= -j= -N= -S= -t= -w? -v", ..FILTER },
    Program {
        name: "xxd",
        options: "-c= -g= -l= -o= -s= -p -r -i -b -u",
        classes: &[
            (Class::Decode, "if -r"),
            (Class::PassThrough, "unless -r"),
            (Class::Encode, "unless -r"),
        ],
        paths: &["read first", "write second"],
        ..GNU
    },
    Program { name: "hexdump", options: "-n= -s= -e= -f= -C", ..FILTER },
    Program { name: "hd", options: "-n= -s=", ..FILTER },
    Program {
        name: "wc",
        options: "-c -l -m -w -L --files0-from=",
        paths: &["read operands"],
        ..GNU
    },
    Program {
        name: "diff",
        options: "-U= -C= -x= -I= -W= -u -r --recursive -q -N --exclude=",
        paths: &["read operands"],
        recursive: "-r --recursive",
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
        classes: &[
            (Class::Decode, "if -d -D --decode"),
            (Class::PassThrough, "unless -d -D --decode"),
            (Class::Encode, "unless -d -D --decode"),
        ],
        ..GNU
    },
    Program {
        name: "base32",
        options: "-d -D --decode -i -w= --wrap=",
        paths: &["read operands"],
        classes: &[
            (Class::Decode, "if -d -D --decode"),
            (Class::PassThrough, "unless -d -D --decode"),
            (Class::Encode, "unless -d -D --decode"),
        ],
        ..GNU
    },
    Program {
        name: "basenc",
        options: "-d --decode -w= --base64 --base32 --base16",
        paths: &["read operands"],
        classes: &[
            (Class::Decode, "if -d --decode"),
            (Class::PassThrough, "unless -d --decode"),
            (Class::Encode, "unless -d --decode"),
        ],
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
        classes: &[(Class::PassThrough, "")],
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
        recursive: "always",
        runs: &[Run::Option("--pre")],
        ..GNU
    },
    Program {
        name: "ack",
        options: "-A= -B= -C= -m= -x -f -l -i -n -w",
        paths: &["list rest unless -f", "list operands if -f"],
        recursive: "always",
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
        recursive: "always",
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
        name: "date",
        options: "-d= -f= --date= --file= -r= -I? -u",
        paths: &["read -f --file"],
        ..GNU
    },
    Program {
        name: "file",
        options: "-m= -f= -F= -b -i -C",
        paths: &["write magic.mgc if -C", "read -f"],
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
];
