//! Programs that print, search, list and compare files.

use crate::facts::Class;

use super::rows::{like, program};
use super::{GNU, Program, Run, Style};

/// A program that prints its files, or its standard input.
const FILTER: Program = GNU.paths(&["read operands"]).classes(&[(Class::PassThrough, "")]);

/// A program with a pattern before its files.
const SEARCH: Program = GNU
    .options("-e= -f= -m= -A= -B= -C= -d= -D= --regexp= --file= --include= --exclude= --exclude-dir= --max-count= --color? --context= -r -R --recursive -i -v -n -l -c -o -E -F -P -q -w")
    .paths(&[
        "read rest unless -e -f --regexp --file -r -R --recursive",
        "list rest if -r -R --recursive",
        "read -f --file",
        "read operands if -e -f --regexp --file",
        "read-glob --include",
    ])
    .recursive("-r -R --recursive")
    .classes(&[(Class::PassThrough, "")]);

/// A program that offers the files of a directory over the network.
const FILE_SERVER: Program = GNU.paths(&["read first"]).recursive("always");

/// A command of PowerShell for names of files, which it does not read.
const PATH_NAMES: Program = GNU
    .style(Style::Caseless)
    .options("-Path= -LiteralPath= -ChildPath= -PathType= -Parent -Leaf -IsValid -Relative");

pub(super) const PROGRAMS: &[Program] = &[
    like(FILE_SERVER, "serve").options("-l= -p= -c= -s -n"),
    program("httpd")
        .options("-h= -p= -c= -u= -r= -f -v -i")
        .paths(&["read -h"])
        .recursive("always"),
    like(FILE_SERVER, "http-server").options("-p= -a= -c= -d= -i= -e= -o -s -S"),
    like(FILE_SERVER, "live-server").options("--port= --host= --open= --ignore="),
    like(FILE_SERVER, "miniserve").options("-p= -i= -a= -u -z -r"),
    like(FILTER, "cat").options("-A -b -e -E -n -s -t -T -u -v"),
    like(FILTER, "tac").options("-s= -b -r"),
    like(FILTER, "bat").options("-l= --language= -r= --line-range= -H= --theme= --style= -p -n"),
    like(FILTER, "head").options("-n= -c= --lines= --bytes= -q -v"),
    like(FILTER, "tail").options("-n= -c= --lines= --bytes= -s= --pid= -f -F -q -v"),
    like(FILTER, "less")
        .options("-p= -P= -x= -k= -o= -O= -T= -b= -j= -z=")
        .paths(&["read operands", "read -k", "write -o -O"])
        .runs(&[Run::Prefixed("+!")]),
    like(FILTER, "more").options("-n="),
    like(FILTER, "most"),
    like(FILTER, "nl").options("-b= -d= -f= -h= -i= -l= -n= -s= -v= -w="),
    like(FILTER, "cut")
        .options("-b= -c= -d= -f= --bytes= --characters= --delimiter= --fields= --output-delimiter="),
    like(FILTER, "paste").options("-d= --delimiters= -s -z"),
    like(FILTER, "sort")
        .options("-k= -t= -o= -S= -T= --key= --field-separator= --output= --compress-program= --parallel= --files0-from= -n -r -u -h")
        .paths(&["read operands", "read --files0-from", "write -o --output"])
        .runs(&[Run::Option("--compress-program")]),
    like(FILTER, "uniq").options("-f= -s= -w= -c -d -u -i").paths(&["read first", "write second"]),
    like(FILTER, "tr").options("-c -C -d -s -t").paths(&[]),
    like(FILTER, "rev"),
    like(FILTER, "pr").options("-l= -w= -h= -t -n?"),
    like(FILTER, "fold").options("-w= -b -s"),
    like(FILTER, "fmt").options("-w= -p="),
    like(FILTER, "column").options("-t -s= -o= -c= -N="),
    like(FILTER, "expand").options("-t= -i"),
    like(FILTER, "iconv")
        .options("-f= -t= -o= -c --from-code= --to-code= --output=")
        .paths(&["read operands", "write -o --output"]),
    program("dos2unix").paths(&["write operands"]),
    like(FILTER, "strings").options("-n= -t= -e= -o"),
    like(FILTER, "pv").options("-L= -s= -N= -i= -w= -q -p -t -e -r -b -n"),
    like(FILTER, "od").options("-A= -j= -N= -S= -t= -w? -v"),
    program("xxd")
        .options("-c= -g= -l= -o= -s= -p -r -i -b -u")
        .classes(&[
            (Class::Decode, "if -r"),
            (Class::PassThrough, "unless -r"),
            (Class::Encode, "unless -r"),
        ])
        .paths(&["read first", "write second"]),
    like(FILTER, "hexdump").options("-n= -s= -e= -f= -C"),
    like(FILTER, "hd").options("-n= -s="),
    program("wc").options("-c -l -m -w -L --files0-from=").paths(&["read operands --files0-from"]),
    program("diff")
        .options("-U= -C= -x= -I= -W= -u -r --recursive -q -N --exclude=")
        .paths(&["read operands"])
        .recursive("-r --recursive"),
    program("cmp").options("-i= -n= -l -s").paths(&["read operands"]),
    program("comm").options("--output-delimiter=").paths(&["read operands"]),
    program("join").options("-1= -2= -a= -e= -j= -o= -t= -v=").paths(&["read operands"]),
    program("md5sum").paths(&["read operands"]),
    program("sha1sum").paths(&["read operands"]),
    program("sha256sum").paths(&["read operands"]),
    program("shasum").options("-a= -c").paths(&["read operands"]),
    program("cksum").options("-a=").paths(&["read operands"]),
    program("base64")
        .options("-d -D --decode -i -w= --wrap= --ignore-garbage -o=")
        .paths(&["read operands", "write -o"])
        .classes(&[
            (Class::Decode, "if -d -D --decode"),
            (Class::PassThrough, "unless -d -D --decode"),
            (Class::Encode, "unless -d -D --decode"),
        ]),
    program("base32")
        .options("-d -D --decode -i -w= --wrap=")
        .paths(&["read operands"])
        .classes(&[
            (Class::Decode, "if -d -D --decode"),
            (Class::PassThrough, "unless -d -D --decode"),
            (Class::Encode, "unless -d -D --decode"),
        ]),
    program("basenc")
        .options("-d --decode -w= --base64 --base32 --base16")
        .paths(&["read operands"])
        .classes(&[
            (Class::Decode, "if -d --decode"),
            (Class::PassThrough, "unless -d --decode"),
            (Class::Encode, "unless -d --decode"),
        ]),
    program("uudecode")
        .options("-o=")
        .paths(&["read operands", "write -o"])
        .classes(&[(Class::Decode, "")]),
    program("jq")
        .options("-f= --from-file= --arg= --argjson= --slurpfile --rawfile --indent= -L= -r -c -n -s -e")
        .paths(&[
            "read rest unless -f --from-file",
            "read -f --from-file",
            "read operands if -f --from-file",
        ])
        .classes(&[(Class::PassThrough, "")]),
    program("logger")
        .options("-f= --file= -t= --tag= -p= --priority= -n= --server= -P= --port= -u= -i -s")
        .paths(&["read -f --file"]),
    program("qrencode")
        .options("-o= -r= --read-from= --output= -s= -l= -v= -m= -d= -t= -8 -i")
        .paths(&["read -r --read-from", "write -o --output"]),
    program("espeak").options("-f= -v= -s= -w= -p= -a=").paths(&["read -f", "write -w"]),
    program("yq")
        .options("-i --inplace -o= -p= -I=")
        .paths(&["write rest if -i --inplace", "read rest unless -i --inplace"]),
    like(SEARCH, "grep"),
    like(SEARCH, "egrep"),
    like(SEARCH, "fgrep"),
    like(SEARCH, "zgrep"),
    program("rg")
        .options("--files -e= -f= -g= -t= -T= -A= -B= -C= -m= -M= -r= -j= -E= --regexp= --file= --glob= --iglob= --type= --pre= --sort= --max-depth= -i -n -l -u -uu")
        .paths(&[
            "list rest unless -e -f --files",
            "list operands if -e -f --files",
            "read -f --file",
            "read-glob -g --glob --iglob unless --files",
        ])
        .recursive("always")
        .runs(&[Run::Option("--pre")]),
    program("ack")
        .options("-A= -B= -C= -m= -x -f -l -i -n -w")
        .paths(&["list rest unless -f", "list operands if -f"])
        .recursive("always"),
    program("shuf")
        .options("-e --echo -i= --input-range= -n= --head-count= -o= --output= --random-source= -r -z")
        .paths(&["read operands unless -e --echo", "write -o --output"])
        .classes(&[(Class::PassThrough, "")]),
    program("look").options("-d -f -t= --terminate=").paths(&["read second"]),
    program("ag")
        .options("-A= -B= -C= -G= --file-search-regex= -g= -m= --ignore= --depth=")
        .paths(&["list rest", "read-glob -G --file-search-regex"])
        .recursive("always"),
    program("ls")
        .options("-I= -T= -w= --ignore= --color? --sort= --time= --format= -l -a -R")
        .paths(&["list directory"]),
    program("tree").options("-L= -P= -I= -o= -a -d -f").paths(&["list directory", "write -o"]),
    program("du")
        .options("-d= --max-depth= -t= -B= --exclude= --files0-from= -s -h")
        .paths(&["list directory unless --files0-from", "read --files0-from"]),
    program("stat").options("-c= -f --format= --printf= -t").paths(&["list operands"]),
    program("date").options("-d= -f= --date= --file= -r= -I? -u").paths(&["read -f --file"]),
    program("file").options("-m= -f= -F= -b -i -C").paths(&["write magic.mgc if -C", "read -f"]),
    like(PATH_NAMES, "join-path"),
    like(PATH_NAMES, "resolve-path"),
    like(PATH_NAMES, "split-path"),
    like(PATH_NAMES, "test-path"),
    program("find")
        .style(Style::Find)
        .options("-name= -iname= -path= -ipath= -wholename= -regex= -iregex= -type= -xtype= -size= -mtime= -atime= -ctime= -mmin= -amin= -cmin= -newer= -anewer= \
                  -cnewer= -maxdepth= -mindepth= -user= -group= -perm= -uid= -gid= -inum= -links= -lname= -ilname= -samefile= -fstype= -fprint= -fprint0= -fls= \
                  -printf= -used= -context= -regextype= -newermt= -D= -fprintf= -files0-from=")
        .paths(&["write -fprint -fprint0 -fls -fprintf", "read -files0-from"]),
];
