//! Archives and compression.

use crate::facts::Class;

use super::rows::{like, program};
use super::{GNU, Program, Run, Style};

/// A program that replaces a file by its compressed form, or prints that.
const COMPRESS: Program = GNU
    .options("-d --decompress -c --stdout -k --keep -f --force -l -r -t -n -N -q -v -1 -9 -S= --suffix= -T= -o=")
    .paths(&["read operands", "write operands unless -c --stdout -l -t -k --keep"])
    .recursive("-r")
    .classes(&[
        (Class::PassThrough, "unless -d --decompress"),
        (Class::Decode, "if -d --decompress"),
    ]);

/// A program that prints what it decompresses.
const DECOMPRESS: Program = COMPRESS.paths(&["read operands"]).classes(&[(Class::Decode, "")]);

pub(super) const PROGRAMS: &[Program] = &[
    program("tar")
        .style(Style::Dashless)
        .options("-f= --file= -C= --directory= -T= --files-from= -X= --exclude-from= --exclude= -I= --use-compress-program= -b= -F= --info-script= --new-volume-script= -g= -K= -L= -N= -V= --label= \
                  -H= --format= --to-command= --transform= --strip-components= --owner= --group= --mode= --mtime= --checkpoint? --checkpoint-action= --rsh-command= --rmt-command= --index-file= \
                  -c --create -x --extract --get -t --list -r --append -u --update -A --delete -z -j -J -v -p -O --to-stdout -k -h -P --absolute-names --remove-files --overwrite --zstd --gzip --bzip2 --xz")
        .paths(&[
            "write -f --file if -c --create -r --append -u --update --delete",
            "read -f --file if -x --extract --get -t --list",
            "read operands if -c --create -r --append -u --update",
            "delete operands if --remove-files",
            "write . if -x --extract --get unless -O --to-stdout -C --directory",
            "write operands if -x --extract --get unless -O --to-stdout -C --directory",
            "write -C --directory if -x --extract --get unless -O --to-stdout",
            "read -C --directory if -c --create",
            "read -T --files-from -X --exclude-from",
        ])
        .recursive("always")
        .runs(&[
            Run::Option(
                "-I --use-compress-program --to-command -F --info-script --new-volume-script --rsh-command --rmt-command",
            ),
            Run::Keyed("--checkpoint-action", "exec="),
        ])
        .classes(&[
            (Class::Decode, "if -O --to-stdout"),
            (Class::PassThrough, "unless -O --to-stdout"),
            (Class::Archive, "if -c --create unless -x -t"),
        ]),
    program("bsdtar")
        .style(Style::Dashless)
        .options("-f= -C= -T= -X= -I= -c -x -t -r -u -v -z -O --exclude= --strip-components=")
        .paths(&[
            "write -f if -c -r -u",
            "read -f if -x -t",
            "read operands if -c -r -u",
            "write . if -x unless -O -C",
            "write -C if -x",
        ])
        .recursive("always")
        .classes(&[(Class::PassThrough, ""), (Class::Archive, "if -c")]),
    like(COMPRESS, "gzip"),
    like(COMPRESS, "bzip2"),
    like(COMPRESS, "xz"),
    like(COMPRESS, "zstd"),
    like(COMPRESS, "lz4"),
    like(COMPRESS, "gunzip")
        .paths(&["read operands", "write operands unless -c --stdout -k --keep"])
        .classes(&[(Class::Decode, "")]),
    like(COMPRESS, "bunzip2")
        .paths(&["read operands", "write operands unless -c --stdout -k --keep"])
        .classes(&[(Class::Decode, "")]),
    like(COMPRESS, "unxz")
        .paths(&["read operands", "write operands unless -c --stdout -k --keep"])
        .classes(&[(Class::Decode, "")]),
    like(DECOMPRESS, "zcat"),
    like(DECOMPRESS, "bzcat"),
    like(DECOMPRESS, "xzcat"),
    program("zip")
        .options("-r --recurse-paths -m --move -d --delete -u -f -j -q -9 -P= -e -x= -i= -b= -t= -n= -T -TT= --unzip-command=")
        .paths(&["write first", "read rest", "delete rest if -m --move"])
        .recursive("-r --recurse-paths")
        .runs(&[Run::Option("-TT --unzip-command")])
        .classes(&[(Class::PassThrough, ""), (Class::Archive, "if -r --recurse-paths")]),
    program("unzip")
        .options("-d= -o -n -q -l -p -t -j -P= -x=")
        .paths(&["read first", "write -d", "write . unless -d -l -p -t"])
        .recursive("always")
        .classes(&[(Class::Decode, "if -p"), (Class::PassThrough, "unless -p")]),
    program("7z").with_subcommands(),
    program("7z a")
        .style(Style::Single)
        .options("-sdel")
        .paths(&["write first", "read rest", "delete rest if -sdel"])
        .recursive("always"),
    program("7z x").paths(&["read first", "write ."]).recursive("always"),
    program("7z e").paths(&["read first", "write ."]).recursive("always"),
    program("unrar").style(Style::Posix).paths(&["read second"]),
    program("cpio")
        .options("-i --extract -o --create -p -t -d -m -u -v -F= -D= -H= -E= -I= -O= --rsh-command=")
        .directory("-D")
        .paths(&["write . if -i --extract", "write operands if -p", "read -F -I", "write -O"])
        .recursive("always")
        .runs(&[Run::Option("--rsh-command")])
        .classes(&[(Class::Archive, "if -o --create")]),
    program("ar").style(Style::Dashless).paths(&["write first", "read rest"]),
    program("gpg")
        .options("-o= --output= -r= --recipient= -u= --local-user= --homedir= --passphrase= --passphrase-file= --keyserver= -d --decrypt -e --encrypt -s --sign -c --symmetric -a --armor --export --export-secret-keys --export-secret-subkeys --import --batch --yes --delete-secret-keys --delete-keys")
        .paths(&[
            "read operands if -d --decrypt -e --encrypt -s --sign -c --symmetric --import",
            "write -o --output",
        ])
        .classes(&[(Class::Decode, "if -d --decrypt")]),
    program("age")
        .options("-o= --output= -r= -R= -i= --identity= -d --decrypt -e -p")
        .paths(&["read operands", "read -i --identity", "write -o --output"])
        .classes(&[(Class::Decode, "if -d --decrypt")]),
];
