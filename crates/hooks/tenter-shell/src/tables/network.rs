//! Programs that use the network.

use crate::facts::Class;

use super::rows::{like, program};
use super::{GNU, Program, Run, Style};

const DOWNLOAD: Class = Class::Download;
const NETWORK: Class = Class::Network;

/// A command of openssl that reads and writes files by options.
const OPENSSL: Program = GNU
    .style(Style::Single)
    .options("-in= -inkey= -out= -keyout= -outdir= -writerand= -rand= -passin= -passout= -pass= -config= -inform= -outform= -days= -subj= -name= -algorithm= -pkeyopt= -certfile= -signer= -recip= -to= -from= -sign= -verify= -signature=")
    .paths(&[
        "read -in -inkey -config -certfile -signer -sign -verify -signature",
        "write -out -keyout -writerand",
        "create -outdir",
    ]);

/// A subcommand of gh that sends a text from a file.
const GH_TEXT: Program = GNU
    .options("-R= --repo= -F= --body-file= -b= --body= -t= --title= -l= --label= -a= --assignee= -m= --milestone= -p= --project= -T= --template= -B= --base= -H= --head= -r= --reviewer= -s? --squash -d --delete-branch --admin --auto --json= -q= --jq= -L= --limit= -S= --search= -w --web")
    .paths(&["read -F --body-file"])
    .classes(&[(NETWORK, "")]);

/// A program that downloads something.
const DOWNLOADER: Program = GNU.classes(&[(DOWNLOAD, ""), (NETWORK, "")]);

/// A subcommand of rclone that copies a file or directory.
const RCLONE: Program =
    GNU.paths(&["read first", "write last"]).recursive("always").classes(&[(NETWORK, "")]);

const CLIPBOARD: Program = GNU.classes(&[(DOWNLOAD, "")]);

pub(super) const PROGRAMS: &[Program] = &[
    program("curl")
        .options("-o= --output= -O --remote-name -J --output-dir= -d= --data= --data-ascii= --data-binary= --data-raw= --data-urlencode= --json= -F= --form= --form-string= \
                  -T= --upload-file= -X= --request= -H= --header= -u= --user= -U= -A= --user-agent= -b= --cookie= -c= --cookie-jar= -D= --dump-header= -e= --referer= -E= --cert= \
                  --cacert= --capath= --key= -K= --config= -m= --max-time= --connect-timeout= --retry= --retry-delay= -x= --proxy= -w= --write-out= -r= --range= -C= -Y= -y= -z= -P= \
                  -Q= -t= --resolve= --url= --url-query= --variable= --expand-url= --expand-data= --expand-header= --etag-compare= --etag-save= --trace= --trace-ascii= --stderr= --interface= --limit-rate= --unix-socket= --netrc-file= -s --silent -S -L --location -f --fail -i -I --head \
                  -k --insecure -v --verbose -V --version -h --help -N -n --netrc -g -G --get -#")
        .paths(&[
            "write -o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr",
            "read -T --upload-file -K --config --etag-compare",
            "write --etag-save",
            "read-at -d --data --data-ascii --data-binary --data-urlencode --json -F --form -H --header --url-query --variable -w --write-out",
            "read-file-url operands --url",
            "create-name operands if -O --remote-name",
        ])
        .classes(&[
            (DOWNLOAD, "unless -V --version -h --help -I --head"),
            (NETWORK, "unless -V --version -h --help"),
        ]),
    program("wget")
        .options("-O= --output-document= -o= --output-file= -a= --append-output= -P= --directory-prefix= -i= --input-file= --body-file= --body-data= --post-file= --post-data= --method= --header= \
                  -U= --user-agent= --referer= -T= --timeout= -t= --tries= -w= --wait= -Q= -l= --level= -A= -R= -D= -I= -X= --user= --password= --load-cookies= --save-cookies= --ca-certificate= \
                  --certificate= --private-key= -e= --execute= -B= --base= --limit-rate= --cut-dirs= --restrict-file-names= -q --quiet -c -N -r --recursive -k -p -m --mirror -nc -nv -V --version -h --help -S --spider")
        .paths(&[
            "write -O --output-document -o --output-file -a --append-output --save-cookies",
            "create -P --directory-prefix",
            "read -i --input-file --body-file --post-file --load-cookies --private-key",
            "create-name operands unless -O --output-document --spider -V --version -h --help",
        ])
        .classes(&[
            (DOWNLOAD, "unless -V --version -h --help --spider"),
            (NETWORK, "unless -V --version -h --help"),
        ]),
    program("http")
        .options("-o= --output= -a= --auth= --session= --timeout= -d --download -f --form -j --json --version --help")
        .paths(&["write -o --output", "read-at operands"])
        .classes(&[(DOWNLOAD, "unless --version --help"), (NETWORK, "")]),
    program("https")
        .options("--version --help -o= --output= -a= --auth= -d --download")
        .paths(&["write -o --output", "read-at operands"])
        .classes(&[(DOWNLOAD, "unless --version --help"), (NETWORK, "")]),
    program("xh")
        .options("--version --help -o= --output= -a= --auth= -d --download")
        .paths(&["write -o --output", "read-at operands"])
        .classes(&[(DOWNLOAD, "unless --version --help"), (NETWORK, "")]),
    like(DOWNLOADER, "lynx").options("-dump -source -auth= -cfg=").style(Style::Single),
    like(DOWNLOADER, "fetch").options("-o=").paths(&["write -o"]),
    like(DOWNLOADER, "ftp").runs(&[Run::Transfers("", "")]),
    like(DOWNLOADER, "lftp")
        .options("-e= -c= -f= -u= -p=")
        .paths(&["read -f"])
        .runs(&[Run::Transfers("-e -c", "-f")]),
    like(DOWNLOADER, "smbclient")
        .options("-c= --command= -U= -W= -I= -p= -A= -N")
        .paths(&["read -A"])
        .runs(&[Run::Transfers("-c --command", "")]),
    like(DOWNLOADER, "tftp"),
    like(DOWNLOADER, "iwr")
        .style(Style::Caseless)
        .options("-Uri= -OutFile= -InFile= -Body= -Method= -Headers= -ContentType= -Credential= -UserAgent= -TimeoutSec= -Source= -Destination= -UseBasicParsing")
        .paths(&["write -OutFile -Destination", "read -InFile"]),
    program("certutil")
        .style(Style::Caseless)
        .options("-urlcache -split -f -decode -encode -hashfile -verify -dump")
        .paths(&["read first unless -urlcache", "write second"])
        .classes(&[
            (DOWNLOAD, "if -urlcache"),
            (NETWORK, "if -urlcache"),
            (Class::Decode, "if -decode"),
        ]),
    like(DOWNLOADER, "bitsadmin").paths(&["write last"]),
    // What the clipboard has is as unread as a download.
    like(CLIPBOARD, "pbpaste").options("-pboard= -Prefer="),
    like(CLIPBOARD, "wl-paste"),
    like(CLIPBOARD, "xsel"),
    program("nc")
        .options("-e= --exec= -c= --sh-exec= -p= -s= -w= -i= -q= -x= -X= -o= -g= -G= -I= -O= -P= -T= -V= -b -l -k -u -v -n -z -4 -6 -U -N -d -h")
        .paths(&["write -o"])
        .runs(&[Run::Option("-e --exec -c --sh-exec")])
        .classes(&[(DOWNLOAD, "unless -h -z"), (NETWORK, "unless -h -z")]),
    program("netcat")
        .options("-h -e= -c= -p= -s= -w= -i= -q= -x= -X= -l -k -u -v -n -z")
        .runs(&[Run::Option("-e -c")])
        .classes(&[(DOWNLOAD, "unless -h -z"), (NETWORK, "unless -h -z")]),
    program("ncat")
        .options("-e= --exec= -c= --sh-exec= --lua-exec= -p= --source-port= -s= -w= --wait= -i= -x= -o= --output= -m= --allow= --deny= --proxy= -l --listen -k --keep-open -u --udp -v --ssl --version --help")
        .paths(&["write -o --output"])
        .runs(&[Run::Option("-e --exec -c --sh-exec")])
        .classes(&[(DOWNLOAD, "unless --version --help"), (NETWORK, "unless --version --help")]),
    program("socat")
        .options("-u -U -v -x -d -b= -t= -T= -l= -L= -V -h")
        .runs(&[Run::Prefixed("EXEC:"), Run::Prefixed("SYSTEM:"), Run::Prefixed("SHELL:")])
        .paths(&[
            "read-prefix OPEN:",
            "read-prefix FILE:",
            "read-prefix GOPEN:",
            "write-prefix CREATE:",
            "write-prefix CREAT:",
        ])
        .classes(&[(DOWNLOAD, "unless -V -h"), (NETWORK, "unless -V -h")]),
    like(DOWNLOADER, "telnet").options("-l= -e= -n= -S= -X="),
    program("openssl").with_subcommands(),
    program("openssl s_client")
        .style(Style::Single)
        .options("-connect= -cert= -key= -CAfile= -servername=")
        .classes(&[(DOWNLOAD, ""), (NETWORK, "")])
        .paths(&["read -cert -key"]),
    program("openssl enc")
        .style(Style::Single)
        .options("-in= -out= -k= -K= -iv= -S= -pass= -kfile= -d -e -a -base64")
        .paths(&["read -in", "write -out"])
        .classes(&[
            (Class::Decode, "if -d"),
            (Class::PassThrough, "unless -d"),
            (Class::Encode, "unless -d"),
        ]),
    program("openssl base64")
        .style(Style::Single)
        .options("-in= -out= -d -e -A")
        .paths(&["read -in", "write -out"])
        .classes(&[
            (Class::Decode, "if -d"),
            (Class::PassThrough, "unless -d"),
            (Class::Encode, "unless -d"),
        ]),
    program("openssl rsa")
        .style(Style::Single)
        .options("-in= -out= -passin= -passout=")
        .paths(&["read -in", "write -out"]),
    program("openssl req")
        .style(Style::Single)
        .options("-in= -out= -key= -keyout= -config= -subj= -days= -newkey=")
        .paths(&["read -in -key -config", "write -out -keyout"]),
    program("openssl x509")
        .style(Style::Single)
        .options("-in= -out= -CA= -CAkey= -signkey= -days=")
        .paths(&["read -in -CA -CAkey -signkey", "write -out"]),
    like(OPENSSL, "openssl rand"),
    like(OPENSSL, "openssl genrsa"),
    like(OPENSSL, "openssl genpkey"),
    like(OPENSSL, "openssl pkey"),
    like(OPENSSL, "openssl pkcs12"),
    like(OPENSSL, "openssl pkcs8"),
    like(OPENSSL, "openssl dgst"),
    like(OPENSSL, "openssl ec"),
    like(OPENSSL, "openssl ecparam"),
    like(OPENSSL, "openssl dhparam"),
    like(OPENSSL, "openssl pkeyutl"),
    like(OPENSSL, "openssl cms"),
    like(OPENSSL, "openssl smime"),
    like(OPENSSL, "openssl ca"),
    program("tcpdump")
        .options("-w= -r= -i= -c= -s= -C= -G= -z= -F= -n -v -X")
        .paths(&["write -w", "read -r -F"])
        .runs(&[Run::Option("-z")]),
    program("nmap")
        .style(Style::Single)
        .options("-oN= -oX= -oG= -oS= -oA= -iL= -p= -sV -sS -A -v")
        .paths(&["write -oN -oX -oG -oS -oA", "read -iL"])
        .classes(&[(NETWORK, "")]),
    program("ssh")
        .style(Style::Posix)
        .options("-B= -b= -c= -D= -E= -e= -F= -I= -i= -J= -L= -l= -m= -O= -o= -P= -p= -Q= -R= -S= -W= -w= -V --help")
        // A key in `-i` is used, and not shown.
        .paths(&["read -F", "write -E"])
        .runs(&[
            Run::Remote(1),
            Run::Keyed("-o", "proxycommand"),
            Run::Keyed("-o", "localcommand"),
            Run::Keyed("-o", "knownhostscommand"),
        ])
        .classes(&[(DOWNLOAD, "unless -V --help"), (NETWORK, "unless -V --help")]),
    program("mosh")
        .options("-p= --ssh= --port=")
        .runs(&[Run::Remote(1), Run::Option("--ssh")])
        .classes(&[(NETWORK, "")])
        .style(Style::Posix),
    program("sshpass")
        .style(Style::Posix)
        .options("-p= -f= -d= -P= -e")
        .runs(&[Run::Words(0)])
        .paths(&["read -f"]),
    program("autossh")
        .style(Style::Posix)
        .options("-M= -p= -i= -L= -R= -o= -D= -l= -F= -J= -S= -c=")
        .runs(&[
            Run::Remote(1),
            Run::Keyed("-o", "proxycommand"),
            Run::Keyed("-o", "localcommand"),
            Run::Keyed("-o", "knownhostscommand"),
        ])
        .classes(&[(NETWORK, "")]),
    program("sshfs")
        .options("-o= -p= -F= -C -f -d -1")
        .runs(&[Run::Keyed("-o", "ssh_command="), Run::Keyed("-o", "proxycommand")])
        .classes(&[(NETWORK, "")]),
    program("scp")
        .options("-c= -D= -F= -i= -J= -l= -o= -P= -S= -X= -r -p -q -C -3")
        .paths(&["read init", "write last"])
        .recursive("-r")
        .runs(&[
            Run::Option("-S"),
            Run::Keyed("-o", "proxycommand"),
            Run::Keyed("-o", "knownhostscommand"),
        ])
        .classes(&[(NETWORK, ""), (DOWNLOAD, "")]),
    program("sftp")
        .options("-B= -b= -c= -D= -F= -i= -J= -l= -o= -P= -R= -S= -s=")
        .paths(&["read -b"])
        .runs(&[
            Run::Transfers("", "-b"),
            Run::Option("-S"),
            Run::Keyed("-o", "proxycommand"),
            Run::Keyed("-o", "knownhostscommand"),
        ])
        .classes(&[(NETWORK, ""), (DOWNLOAD, "")]),
    program("rsync")
        .options("-e= --rsh= --rsync-path= -f= --filter= --exclude= --exclude-from= --include= --include-from= --files-from= -T= --temp-dir= --log-file= --partial-dir= --backup-dir= --suffix= \
                  --compare-dest= --copy-dest= --link-dest= --bwlimit= --timeout= --port= --password-file= --chmod= --chown= --max-size= --min-size= -B= -M= --info= --out-format= -a --archive -r --recursive \
                  -v -z -n --dry-run --list-only -P --progress --delete --delete-before --delete-after --delete-during --delete-delay --delete-excluded --remove-source-files --del --force")
        .paths(&[
            "read init unless -n --dry-run",
            "write last unless -n --dry-run --list-only",
            "delete last if --delete --delete-before --delete-after --delete-during --delete-delay --delete-excluded --del unless -n --dry-run --list-only",
            "move init if --remove-source-files unless -n --dry-run",
            "write --log-file",
            "read --password-file --files-from",
        ])
        .recursive("always")
        .runs(&[Run::Option("-e --rsh"), Run::OptionRemote("--rsync-path")])
        .classes(&[(Class::PassThrough, "")]),
    program("rclone").with_subcommands().options("--config="),
    like(DOWNLOADER, "rclone cat"),
    program("rclone delete")
        .paths(&["delete operands"])
        .recursive("always")
        .classes(&[(NETWORK, "")]),
    program("rclone purge")
        .paths(&["delete operands"])
        .recursive("always")
        .classes(&[(NETWORK, "")]),
    like(RCLONE, "rclone sync"),
    like(RCLONE, "rclone copy"),
    like(RCLONE, "rclone copyto"),
    like(RCLONE, "rclone move").paths(&["move first", "write last"]),
    like(RCLONE, "rclone moveto").paths(&["move first", "write last"]),
    program("aws")
        .with_subcommands()
        .options("--profile= --region= --endpoint-url= --output= --query="),
    program("aws s3")
        .options("--exclude= --include= --acl= --recursive --delete --dryrun")
        .paths(&["read second", "write after-two"])
        .classes(&[(NETWORK, ""), (DOWNLOAD, "")]),
    program("gcloud compute")
        .options("--command= --zone= --region= --project= -q --quiet")
        .paths(&["read second"])
        .runs(&[Run::OptionRemote("--command")]),
    program("gcloud").with_subcommands().options("--project= --account="),
    program("gcloud storage")
        .options("-r -R --recursive")
        .paths(&["read second"])
        .classes(&[(NETWORK, ""), (DOWNLOAD, "")]),
    program("gsutil").with_subcommands().options("-m -o="),
    program("az").with_subcommands(),
    program("az storage")
        .options("-f= --file= -s= --source= -n= --name= -c= --container-name=")
        .paths(&["read -f --file -s --source"]),
    program("gh").with_subcommands().options("-R= --repo="),
    program("gh api")
        .options("-X= --method= -f= --raw-field= -F= --field= -H= --input= -q= --jq= -t=")
        .classes(&[(DOWNLOAD, ""), (NETWORK, "")])
        .paths(&["read --input"]),
    program("gh alias").options("-s --shell --clobber").runs(&[Run::Prefixed("!")]),
    program("gh repo").options("--confirm --yes"),
    like(GH_TEXT, "gh issue"),
    like(GH_TEXT, "gh pr"),
    program("gh release")
        .options("-R= --repo= -p= --pattern= -D= --dir= -O= --output= -A= --archive= -n= --notes= -F= --notes-file= -t= --title= --target= -y --yes --clobber --cleanup-tag")
        .paths(&["read -F --notes-file", "write -O --output", "create -D --dir"])
        .classes(&[(NETWORK, "")]),
    program("gh run")
        .options("-R= --repo= -n= --name= -D= --dir= -p= --pattern= --log --log-failed -w= -L=")
        .paths(&["create -D --dir"])
        .classes(&[(NETWORK, "")]),
    program("gh gist")
        .options("-d= --desc= -f= --filename= -p --public -w -r --raw")
        .paths(&["read rest"])
        .classes(&[(NETWORK, ""), (DOWNLOAD, "if -r --raw")]),
    program("gsutil cp")
        .options("-r -R -n -a= -z=")
        .paths(&["read init", "write last"])
        .recursive("-r -R")
        .classes(&[(NETWORK, ""), (DOWNLOAD, "")]),
    program("glab").with_subcommands(),
    program("glab snippet")
        .options("-t= --title= -d= --description= -f= --filename= -R= --repo= -v= --visibility=")
        .paths(&["read rest"])
        .classes(&[(NETWORK, ""), (DOWNLOAD, "")]),
    program("s3cmd").with_subcommands(),
    program("s3cmd get").paths(&["write last"]).classes(&[(NETWORK, ""), (DOWNLOAD, "")]),
    program("s3cmd put").paths(&["read init"]).recursive("always").classes(&[(NETWORK, "")]),
    program("svn").with_subcommands(),
    like(DOWNLOADER, "svn cat").options("-r= --revision="),
    program("ipfs").with_subcommands(),
    like(DOWNLOADER, "ipfs cat"),
    program("ipfs add")
        .options("-r --recursive -Q -q -w")
        .paths(&["read operands"])
        .recursive("-r --recursive")
        .classes(&[(NETWORK, "")]),
    like(DOWNLOADER, "hurl").options("-o= --output= --variable= --test --json"),
    like(DOWNLOADER, "monolith").options("-o= -u= -t="),
    like(DOWNLOADER, "snarf"),
    program("gsutil cat").classes(&[(NETWORK, ""), (DOWNLOAD, "")]),
    like(DOWNLOADER, "aria2c")
        .options("-d= --dir= -o= --out= -i= --input-file= -x= -s= -j= -q")
        .paths(&[
            "write -o --out",
            "create -d --dir",
            "read -i --input-file",
            "create-name operands unless -o --out",
        ]),
    like(DOWNLOADER, "w3m")
        .options("-o= -T= -I= -O= -dump -dump_source -dump_both")
        .style(Style::Single),
    like(DOWNLOADER, "lwp-download").paths(&["create-name first", "write second"]),
    like(DOWNLOADER, "lwp-request"),
    program("gist")
        .options("-d= -f= -t= -u= -p")
        .paths(&["read operands"])
        .classes(&[(NETWORK, "")]),
    program("mutt")
        .options("-a= -s= -i= -c= -b= -F= -H= -e=")
        .paths(&["read -a -i"])
        .classes(&[(NETWORK, "")]),
    program("host").classes(&[(NETWORK, "")]),
    program("ping").options("-c= -i= -W= -w= -s= -I= -4 -6 -q").classes(&[(NETWORK, "")]),
    program("websocat")
        .options("-E -s -t -b -v -H= --exec")
        .runs(&[Run::Prefixed("exec:"), Run::Prefixed("sh-c:"), Run::Prefixed("cmd:")])
        .classes(&[(NETWORK, ""), (DOWNLOAD, "")]),
    program("dig").classes(&[(NETWORK, "")]),
    program("nslookup").classes(&[(NETWORK, "")]),
    program("mail").options("-s= -a= -c= -b= -r=").paths(&["read -a"]).classes(&[(NETWORK, "")]),
    program("sendmail").classes(&[(NETWORK, "")]),
];
