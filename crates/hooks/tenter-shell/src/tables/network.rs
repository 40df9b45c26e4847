//! Programs that use the network.

use crate::facts::Class;

use super::{GNU, Program, Run, Style};

const DOWNLOAD: Class = Class::Download;
const NETWORK: Class = Class::Network;

/// A command of openssl that reads and writes files by options.
const OPENSSL: Program = Program {
    style: Style::Single,
    options: "-in= -inkey= -out= -keyout= -outdir= -writerand= -rand= -passin= -passout= -pass= -config= -inform= -outform= -days= -subj= -name= -algorithm= -pkeyopt= -certfile= -signer= -recip= -to= -from= -sign= -verify= -signature=",
    paths: &[
        "read -in -inkey -config -certfile -signer -sign -verify -signature",
        "write -out -keyout -writerand",
        "create -outdir",
    ],
    ..GNU
};

/// A subcommand of gh that sends a text from a file.
const GH_TEXT: Program = Program {
    options: "-R= --repo= -F= --body-file= -b= --body= -t= --title= -l= --label= -a= --assignee= -m= --milestone= -p= --project= -T= --template= -B= --base= -H= --head= -r= --reviewer= -s? --squash -d --delete-branch --admin --auto --json= -q= --jq= -L= --limit= -S= --search= -w --web",
    paths: &["read -F --body-file"],
    classes: &[(NETWORK, "")],
    ..GNU
};

/// A program that downloads something.
const DOWNLOADER: Program = Program { classes: &[(DOWNLOAD, ""), (NETWORK, "")], ..GNU };

const CLIPBOARD: Program = Program { classes: &[(DOWNLOAD, "")], ..GNU };

pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "curl",
        options: "-o= --output= -O --remote-name -J --output-dir= -d= --data= --data-ascii= --data-binary= --data-raw= --data-urlencode= --json= -F= --form= --form-string= \
                  -T= --upload-file= -X= --request= -H= --header= -u= --user= -U= -A= --user-agent= -b= --cookie= -c= --cookie-jar= -D= --dump-header= -e= --referer= -E= --cert= \
                  --cacert= --capath= --key= -K= --config= -m= --max-time= --connect-timeout= --retry= --retry-delay= -x= --proxy= -w= --write-out= -r= --range= -C= -Y= -y= -z= -P= \
                  -Q= -t= --resolve= --url= --trace= --trace-ascii= --stderr= --interface= --limit-rate= --unix-socket= --netrc-file= -s --silent -S -L --location -f --fail -i -I --head \
                  -k --insecure -v --verbose -V --version -h --help -N -n --netrc -g -G --get -#",
        paths: &[
            "write -o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr",
            "read -T --upload-file -K --config",
            "read-at -d --data --data-ascii --data-binary --data-urlencode --json -F --form -H --header",
            "read-file-url operands --url",
            "create-name operands if -O --remote-name",
        ],
        classes: &[
            (DOWNLOAD, "unless -V --version -h --help -I --head"),
            (NETWORK, "unless -V --version -h --help"),
        ],
        ..GNU
    },
    Program {
        name: "wget",
        options: "-O= --output-document= -o= --output-file= -a= --append-output= -P= --directory-prefix= -i= --input-file= --body-file= --body-data= --post-file= --post-data= --method= --header= \
                  -U= --user-agent= --referer= -T= --timeout= -t= --tries= -w= --wait= -Q= -l= --level= -A= -R= -D= -I= -X= --user= --password= --load-cookies= --save-cookies= --ca-certificate= \
                  --certificate= --private-key= -e= --execute= -B= --base= --limit-rate= --cut-dirs= --restrict-file-names= -q --quiet -c -N -r --recursive -k -p -m --mirror -nc -nv -V --version -h --help -S --spider",
        paths: &[
            "write -O --output-document -o --output-file -a --append-output --save-cookies",
            "create -P --directory-prefix",
            "read -i --input-file --body-file --post-file --load-cookies --private-key",
            "create-name operands unless -O --output-document --spider -V --version -h --help",
        ],
        classes: &[
            (DOWNLOAD, "unless -V --version -h --help --spider"),
            (NETWORK, "unless -V --version -h --help"),
        ],
        ..GNU
    },
    Program {
        name: "http",
        options: "-o= --output= -a= --auth= --session= --timeout= -d --download -f --form -j --json --version --help",
        paths: &["write -o --output", "read-at operands"],
        classes: &[(DOWNLOAD, "unless --version --help"), (NETWORK, "")],
        ..GNU
    },
    Program {
        name: "https",
        options: "--version --help -o= --output= -a= --auth= -d --download",
        paths: &["write -o --output", "read-at operands"],
        classes: &[(DOWNLOAD, "unless --version --help"), (NETWORK, "")],
        ..GNU
    },
    Program {
        name: "xh",
        options: "--version --help -o= --output= -a= --auth= -d --download",
        paths: &["write -o --output", "read-at operands"],
        classes: &[(DOWNLOAD, "unless --version --help"), (NETWORK, "")],
        ..GNU
    },
    Program {
        name: "lynx",
        options: "-dump -source -auth= -cfg=",
        style: Style::Single,
        ..DOWNLOADER
    },
    Program { name: "fetch", options: "-o=", paths: &["write -o"], ..DOWNLOADER },
    Program { name: "ftp", runs: &[Run::Transfers("", "")], ..DOWNLOADER },
    Program {
        name: "lftp",
        options: "-e= -c= -f= -u= -p=",
        paths: &["read -f"],
        runs: &[Run::Transfers("-e -c", "-f")],
        ..DOWNLOADER
    },
    Program {
        name: "smbclient",
        options: "-c= --command= -U= -W= -I= -p= -A= -N",
        paths: &["read -A"],
        runs: &[Run::Transfers("-c --command", "")],
        ..DOWNLOADER
    },
    Program { name: "tftp", ..DOWNLOADER },
    // What the clipboard has is as unread as a download.
    Program { name: "pbpaste", options: "-pboard= -Prefer=", ..CLIPBOARD },
    Program { name: "wl-paste", ..CLIPBOARD },
    Program { name: "xsel", ..CLIPBOARD },
    Program {
        name: "nc",
        options: "-e= --exec= -c= --sh-exec= -p= -s= -w= -i= -q= -x= -X= -o= -g= -G= -I= -O= -P= -T= -V= -b -l -k -u -v -n -z -4 -6 -U -N -d -h",
        paths: &["write -o"],
        runs: &[Run::Option("-e --exec -c --sh-exec")],
        classes: &[(DOWNLOAD, "unless -h -z"), (NETWORK, "unless -h -z")],
        ..GNU
    },
    Program {
        name: "netcat",
        options: "-h -e= -c= -p= -s= -w= -i= -q= -x= -X= -l -k -u -v -n -z",
        runs: &[Run::Option("-e -c")],
        classes: &[(DOWNLOAD, "unless -h -z"), (NETWORK, "unless -h -z")],
        ..GNU
    },
    Program {
        name: "ncat",
        options: "-e= --exec= -c= --sh-exec= --lua-exec= -p= --source-port= -s= -w= --wait= -i= -x= -o= --output= -m= --allow= --deny= --proxy= -l --listen -k --keep-open -u --udp -v --ssl --version --help",
        paths: &["write -o --output"],
        runs: &[Run::Option("-e --exec -c --sh-exec")],
        classes: &[(DOWNLOAD, "unless --version --help"), (NETWORK, "unless --version --help")],
        ..GNU
    },
    Program {
        name: "socat",
        options: "-u -U -v -x -d -b= -t= -T= -l= -L= -V -h",
        runs: &[Run::Prefixed("EXEC:"), Run::Prefixed("SYSTEM:"), Run::Prefixed("SHELL:")],
        paths: &[
            "read-prefix OPEN:",
            "read-prefix FILE:",
            "read-prefix GOPEN:",
            "write-prefix CREATE:",
            "write-prefix CREAT:",
        ],
        classes: &[(DOWNLOAD, "unless -V -h"), (NETWORK, "unless -V -h")],
        ..GNU
    },
    Program { name: "telnet", options: "-l= -e= -n= -S= -X=", ..DOWNLOADER },
    Program { name: "openssl", has_subcommands: true, ..GNU },
    Program {
        name: "openssl s_client",
        style: Style::Single,
        options: "-connect= -cert= -key= -CAfile= -servername=",
        classes: &[(DOWNLOAD, ""), (NETWORK, "")],
        paths: &["read -cert -key"],
        ..GNU
    },
    Program {
        name: "openssl enc",
        style: Style::Single,
        options: "-in= -out= -k= -K= -iv= -S= -pass= -kfile= -d -e -a -base64",
        paths: &["read -in", "write -out"],
        classes: &[
            (Class::Decode, "if -d"),
            (Class::PassThrough, "unless -d"),
            (Class::Encode, "unless -d"),
        ],
        ..GNU
    },
    Program {
        name: "openssl base64",
        style: Style::Single,
        options: "-in= -out= -d -e -A",
        paths: &["read -in", "write -out"],
        classes: &[
            (Class::Decode, "if -d"),
            (Class::PassThrough, "unless -d"),
            (Class::Encode, "unless -d"),
        ],
        ..GNU
    },
    Program {
        name: "openssl rsa",
        style: Style::Single,
        options: "-in= -out= -passin= -passout=",
        paths: &["read -in", "write -out"],
        ..GNU
    },
    Program {
        name: "openssl req",
        style: Style::Single,
        options: "-in= -out= -key= -keyout= -config= -subj= -days= -newkey=",
        paths: &["read -in -key -config", "write -out -keyout"],
        ..GNU
    },
    Program {
        name: "openssl x509",
        style: Style::Single,
        options: "-in= -out= -CA= -CAkey= -signkey= -days=",
        paths: &["read -in -CA -CAkey -signkey", "write -out"],
        ..GNU
    },
    Program { name: "openssl rand", ..OPENSSL },
    Program { name: "openssl genrsa", ..OPENSSL },
    Program { name: "openssl genpkey", ..OPENSSL },
    Program { name: "openssl pkey", ..OPENSSL },
    Program { name: "openssl pkcs12", ..OPENSSL },
    Program { name: "openssl pkcs8", ..OPENSSL },
    Program { name: "openssl dgst", ..OPENSSL },
    Program { name: "openssl ec", ..OPENSSL },
    Program { name: "openssl ecparam", ..OPENSSL },
    Program { name: "openssl dhparam", ..OPENSSL },
    Program { name: "openssl pkeyutl", ..OPENSSL },
    Program { name: "openssl cms", ..OPENSSL },
    Program { name: "openssl smime", ..OPENSSL },
    Program { name: "openssl ca", ..OPENSSL },
    Program {
        name: "tcpdump",
        options: "-w= -r= -i= -c= -s= -C= -G= -z= -F= -n -v -X",
        paths: &["write -w", "read -r -F"],
        runs: &[Run::Option("-z")],
        ..GNU
    },
    Program {
        name: "nmap",
        style: Style::Single,
        options: "-oN= -oX= -oG= -oS= -oA= -iL= -p= -sV -sS -A -v",
        paths: &["write -oN -oX -oG -oS -oA", "read -iL"],
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program {
        name: "ssh",
        style: Style::Posix,
        options: "-B= -b= -c= -D= -E= -e= -F= -I= -i= -J= -L= -l= -m= -O= -o= -P= -p= -Q= -R= -S= -W= -w= -V --help",
        // A key in `-i` is used, and not shown.
        paths: &["read -F", "write -E"],
        runs: &[
            Run::Remote(1),
            Run::Keyed("-o", "proxycommand="),
            Run::Keyed("-o", "localcommand="),
            Run::Keyed("-o", "knownhostscommand="),
            Run::Keyed("-o", "proxycommand "),
        ],
        classes: &[(DOWNLOAD, "unless -V --help"), (NETWORK, "unless -V --help")],
        ..GNU
    },
    Program {
        name: "mosh",
        options: "-p= --ssh= --port=",
        runs: &[Run::Remote(1), Run::Option("--ssh")],
        classes: &[(NETWORK, "")],
        style: Style::Posix,
        ..GNU
    },
    Program {
        name: "sshpass",
        style: Style::Posix,
        options: "-p= -f= -d= -P= -e",
        runs: &[Run::Words(0)],
        paths: &["read -f"],
        ..GNU
    },
    Program {
        name: "autossh",
        style: Style::Posix,
        options: "-M= -p= -i= -L= -R= -o= -D= -l=",
        runs: &[Run::Remote(1)],
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program {
        name: "scp",
        options: "-c= -D= -F= -i= -J= -l= -o= -P= -S= -X= -r -p -q -C -3",
        paths: &["read init", "write last"],
        recursive: "-r",
        runs: &[
            Run::Option("-S"),
            Run::Keyed("-o", "proxycommand="),
            Run::Keyed("-o", "knownhostscommand="),
        ],
        classes: &[(NETWORK, ""), (DOWNLOAD, "")],
        ..GNU
    },
    Program {
        name: "sftp",
        options: "-B= -b= -c= -D= -F= -i= -J= -l= -o= -P= -R= -S= -s=",
        paths: &["read -b"],
        runs: &[
            Run::Transfers("", "-b"),
            Run::Option("-S"),
            Run::Keyed("-o", "proxycommand="),
            Run::Keyed("-o", "knownhostscommand="),
        ],
        classes: &[(NETWORK, ""), (DOWNLOAD, "")],
        ..GNU
    },
    Program {
        name: "rsync",
        options: "-e= --rsh= --rsync-path= -f= --filter= --exclude= --exclude-from= --include= --include-from= --files-from= -T= --temp-dir= --log-file= --partial-dir= --backup-dir= --suffix= \
                  --compare-dest= --copy-dest= --link-dest= --bwlimit= --timeout= --port= --password-file= --chmod= --chown= --max-size= --min-size= -B= -M= --info= --out-format= -a --archive -r --recursive \
                  -v -z -n --dry-run --list-only -P --progress --delete --delete-before --delete-after --delete-during --delete-delay --delete-excluded --remove-source-files --del --force",
        paths: &[
            "read init unless -n --dry-run",
            "write last unless -n --dry-run --list-only",
            "delete last if --delete --delete-before --delete-after --delete-during --delete-delay --delete-excluded --del unless -n --dry-run --list-only",
            "move init if --remove-source-files unless -n --dry-run",
            "write --log-file",
            "read --password-file --files-from",
        ],
        recursive: "always",
        runs: &[Run::Option("-e --rsh"), Run::OptionRemote("--rsync-path")],
        classes: &[(Class::PassThrough, "")],
        ..GNU
    },
    Program { name: "rclone", has_subcommands: true, options: "--config=", ..GNU },
    Program { name: "rclone cat", ..DOWNLOADER },
    Program {
        name: "rclone delete",
        paths: &["delete operands"],
        recursive: "always",
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program {
        name: "rclone purge",
        paths: &["delete operands"],
        recursive: "always",
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program {
        name: "rclone sync",
        paths: &["read first", "write last"],
        recursive: "always",
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program {
        name: "rclone copy",
        paths: &["read first", "write last"],
        recursive: "always",
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program {
        name: "aws",
        has_subcommands: true,
        options: "--profile= --region= --endpoint-url= --output= --query=",
        ..GNU
    },
    Program {
        name: "aws s3",
        options: "--exclude= --include= --acl= --recursive --delete --dryrun",
        paths: &["read second", "write after-two"],
        classes: &[(NETWORK, ""), (DOWNLOAD, "")],
        ..GNU
    },
    Program {
        name: "gcloud compute",
        options: "--command= --zone= --region= --project= -q --quiet",
        runs: &[Run::OptionRemote("--command")],
        ..GNU
    },
    Program { name: "gcloud", has_subcommands: true, options: "--project= --account=", ..GNU },
    Program {
        name: "gcloud storage",
        options: "-r -R --recursive",
        paths: &["read second"],
        classes: &[(NETWORK, ""), (DOWNLOAD, "")],
        ..GNU
    },
    Program { name: "gsutil", has_subcommands: true, options: "-m -o=", ..GNU },
    Program { name: "az", has_subcommands: true, ..GNU },
    Program {
        name: "az storage",
        options: "-f= --file= -s= --source= -n= --name= -c= --container-name=",
        paths: &["read -f --file -s --source"],
        ..GNU
    },
    Program { name: "gh", has_subcommands: true, options: "-R= --repo=", ..GNU },
    Program {
        name: "gh api",
        options: "-X= --method= -f= --raw-field= -F= --field= -H= --input= -q= --jq= -t=",
        classes: &[(DOWNLOAD, ""), (NETWORK, "")],
        paths: &["read --input"],
        ..GNU
    },
    Program {
        name: "gh alias",
        options: "-s --shell --clobber",
        runs: &[Run::Prefixed("!")],
        ..GNU
    },
    Program { name: "gh repo", options: "--confirm --yes", ..GNU },
    Program { name: "gh issue", ..GH_TEXT },
    Program { name: "gh pr", ..GH_TEXT },
    Program {
        name: "gh release",
        options: "-R= --repo= -p= --pattern= -D= --dir= -O= --output= -A= --archive= -n= --notes= -F= --notes-file= -t= --title= --target= -y --yes --clobber --cleanup-tag",
        paths: &["read -F --notes-file", "write -O --output", "create -D --dir"],
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program {
        name: "gh run",
        options: "-R= --repo= -n= --name= -D= --dir= -p= --pattern= --log --log-failed -w= -L=",
        paths: &["create -D --dir"],
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program {
        name: "gh gist",
        options: "-d= --desc= -f= --filename= -p --public -w -r --raw",
        paths: &["read rest"],
        classes: &[(NETWORK, ""), (DOWNLOAD, "if -r --raw")],
        ..GNU
    },
    Program {
        name: "gsutil cp",
        options: "-r -R -n -a= -z=",
        paths: &["read init", "write last"],
        recursive: "-r -R",
        classes: &[(NETWORK, ""), (DOWNLOAD, "")],
        ..GNU
    },
    Program { name: "gsutil cat", classes: &[(NETWORK, ""), (DOWNLOAD, "")], ..GNU },
    Program {
        name: "aria2c",
        options: "-d= --dir= -o= --out= -i= --input-file= -x= -s= -j= -q",
        paths: &[
            "write -o --out",
            "create -d --dir",
            "read -i --input-file",
            "create-name operands unless -o --out",
        ],
        ..DOWNLOADER
    },
    Program {
        name: "w3m",
        options: "-o= -T= -I= -O= -dump -dump_source -dump_both",
        style: Style::Single,
        ..DOWNLOADER
    },
    Program { name: "lwp-download", paths: &["create-name first", "write second"], ..DOWNLOADER },
    Program { name: "lwp-request", ..DOWNLOADER },
    Program {
        name: "gist",
        options: "-d= -f= -t= -u= -p",
        paths: &["read operands"],
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program {
        name: "mutt",
        options: "-a= -s= -i= -c= -b= -F= -H= -e=",
        paths: &["read -a -i"],
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program { name: "host", classes: &[(NETWORK, "")], ..GNU },
    Program {
        name: "ping",
        options: "-c= -i= -W= -w= -s= -I= -4 -6 -q",
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program {
        name: "websocat",
        options: "-E -s -t -b -v -H= --exec",
        runs: &[Run::Prefixed("exec:"), Run::Prefixed("sh-c:"), Run::Prefixed("cmd:")],
        classes: &[(NETWORK, ""), (DOWNLOAD, "")],
        ..GNU
    },
    Program { name: "dig", classes: &[(NETWORK, "")], ..GNU },
    Program { name: "nslookup", classes: &[(NETWORK, "")], ..GNU },
    Program {
        name: "mail",
        options: "-s= -a= -c= -b= -r=",
        paths: &["read -a"],
        classes: &[(NETWORK, "")],
        ..GNU
    },
    Program { name: "sendmail", classes: &[(NETWORK, "")], ..GNU },
];
