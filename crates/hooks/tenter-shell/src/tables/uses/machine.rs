//! Commands that show files and the state of the machine.

use super::Operands::Nothing;
use super::{READS, Uses};

const GREP: &str = "-e= -m= -A= -B= -C= -# -r -R -i -v -n -l -L -c -o -E -F -P -q -w -x -h -H -s -a -I -z --include= --exclude= \
                    --exclude-dir= --color? --recursive --ignore-case --line-number --files-with-matches --files-without-match --count \
                    --only-matching --invert-match --word-regexp --fixed-strings --extended-regexp --perl-regexp --max-count= \
                    --context= --after-context= --before-context= --no-filename --with-filename --regexp=";

/// The commands, with their options.
pub(super) const USES: &[Uses] = &[
    // Files.
    Uses { names: &["cat"], options: "-A -b -e -E -n -s -t -T -u -v", ..READS },
    Uses { names: &["head", "tail"], options: "-n= -c= --lines= --bytes= -q -v -#", ..READS },
    Uses { names: &["wc"], options: "-c -l -m -w -L --lines --words --bytes --chars", ..READS },
    Uses { names: &["nl"], options: "-b= -s= -w= -v=", ..READS },
    Uses {
        names: &["cut"],
        options: "-d= -f= -c= -b= -s --delimiter= --fields= --complement --characters=",
        ..READS
    },
    Uses { names: &["tr"], options: "-c -C -d -s -t", ..READS },
    Uses { names: &["tac", "rev"], ..READS },
    Uses {
        names: &["sort"],
        options: "-n -r -u -h -k= -t= -f -b -V -M -g -c -s -z --reverse --unique --numeric-sort --key= --field-separator=",
        ..READS
    },
    Uses {
        names: &["ls"],
        options: "-l -a -A -h -R -t -r -S -1 -d -F -i -s -n -p -L -g -o -G -X -u -c --color? --all --almost-all --recursive \
                  --human-readable --time-style= --full-time --sort= --group-directories-first --reverse",
        ..READS
    },
    Uses {
        names: &["tree"],
        options: "-L= -a -d -f -I= -P= --noreport --dirsfirst -C -n -h -s",
        ..READS
    },
    Uses {
        names: &["find"],
        options: "-name= -iname= -type= -path= -ipath= -wholename= -maxdepth= -mindepth= -size= -mtime= -mmin= -newer= -not -o -a -or \
                  -and -print -print0 -empty -regex= -iregex= -prune -perm= -user= -printf= -ls -L -P -H -xdev",
        ..READS
    },
    Uses { names: &["basename", "dirname"], options: "-a -s= -z", ..READS },
    Uses { names: &["realpath", "readlink"], options: "-f -e -m -n -s -q", ..READS },
    Uses { names: &["stat"], options: "-c= -f -t -L --format= --printf=", ..READS },
    Uses { names: &["file"], options: "-b -i -L -k --mime --mime-type --brief", ..READS },
    Uses {
        names: &["du"],
        options: "-s -h -d= --max-depth= -a -c -k -m -b -x --summarize --human-readable --exclude=",
        ..READS
    },
    Uses { names: &["df"], options: "-h -T -k -i --human-readable", ..READS },
    Uses {
        names: &["diff"],
        options: "-u -U= -r -q -w -b -B -N -i -y -s --brief --recursive --unified? --color? --side-by-side --ignore-all-space \
                  --exclude= -x=",
        ..READS
    },
    Uses { names: &["cmp"], options: "-l -s -b", ..READS },
    Uses { names: &["comm"], options: "-1 -2 -3", ..READS },
    Uses { names: &["md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum"], ..READS },
    Uses { names: &["grep", "egrep", "fgrep"], options: GREP, ..READS },
    Uses {
        names: &["rg"],
        options: "-i -n -l -c -v -w -o -e= -g= -t= -T= -A= -B= -C= -m= -F -S -s -u -U -P -N -x -j= -# --hidden --files --type= --glob= \
                  --no-heading --heading --color= --sort= --count --files-with-matches --json --stats --max-depth= --no-ignore \
                  --ignore-case --fixed-strings --line-number --word-regexp",
        ..READS
    },
    // The machine.
    Uses {
        names: &["whoami", "nproc", "uptime", "pwd", "tty", "arch"],
        operands: Nothing,
        ..READS
    },
    Uses { names: &["uname"], options: "-a -r -s -m -n -o -p -v", operands: Nothing, ..READS },
    Uses { names: &["free"], options: "-h -m -g -b -k", operands: Nothing, ..READS },
    Uses { names: &["id"], options: "-u -g -G -n -r", ..READS },
    Uses { names: &["which"], options: "-a", ..READS },
    Uses { names: &["crontab -l"], operands: Nothing, ..READS },
    Uses {
        names: tenter_base::phrases!(
            "systemctl status, systemctl list-units, systemctl is-active, systemctl is-enabled,
             systemctl is-failed, systemctl show, systemctl cat, systemctl list-timers,
             systemctl list-unit-files"
        ),
        options: "--user --system --no-pager -l --full -n= --lines= -a --all --type= -t= --state= -p= --property= --failed",
        ..READS
    },
    Uses {
        names: &["journalctl"],
        options: "-u= --unit= -n= --lines= --since= --until= --no-pager -e -x -b -k -r --user -p= -o= --reverse",
        operands: Nothing,
        ..READS
    },
];
