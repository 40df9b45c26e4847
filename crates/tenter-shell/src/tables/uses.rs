//! Commands with a known effect (R84): what they do with any of the options and operands that are listed here.
//!
//! Unlike the other tables, this one is complete on purpose: an option that is not listed may do anything.

use super::uses::Operands::{Any, Nothing, Without};
use super::uses::UseKind::{Builds, Reads};

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseKind {
    /// It only reads, on this machine or another.
    Reads,
    /// It runs what the project's files say: it builds, tests or formats the project.
    Builds,
}

/// The operands that a command may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operands {
    Any,
    Nothing,
    /// Any without this text, in any case.
    Without(&'static str),
}

/// Commands with the same options.
pub(crate) struct Uses {
    /// Programs with their subcommands.
    pub(crate) names: &'static [&'static str],
    pub(crate) kind: UseKind,
    /// The options as in the other tables; `-#` is a number after a dash.
    pub(crate) options: &'static str,
    pub(crate) operands: Operands,
    /// The options after `--`, which are for another program.
    pub(crate) after: &'static str,
}

/// Commands that read, with any operands.
const READS: Uses = Uses { names: &[], kind: Reads, options: "", operands: Any, after: "" };

/// Commands that build the project.
const BUILDS: Uses = Uses { kind: Builds, ..READS };

macro_rules! diff_options {
    ($more:literal) => {
        concat!(
            "-p -u --patch -s --no-patch -U= --unified= --raw --stat? --numstat --shortstat --summary --dirstat? --name-only \
             --name-status --color? --no-color --word-diff? --word-diff-regex= --check --full-index --abbrev? -M? --find-renames? \
             -C? --find-copies? -R -a --text -w -b --ignore-all-space --ignore-space-change --ignore-space-at-eol \
             --ignore-blank-lines --inter-hunk-context= -W --function-context --exit-code --quiet --no-ext-diff --no-textconv \
             --no-prefix --diff-filter= -S= -G= --pickaxe-all --pickaxe-regex --minimal --patience --histogram --diff-algorithm= \
             --compact-summary -z --binary --no-renames --relative? --ignore-submodules? --submodule? --color-moved? ",
            $more
        )
    };
}

/// The options of all commands that show commits.
const LOG: &str = diff_options!(
    "-n= -# --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --all-match --invert-grep -i -E \
     -F -P --oneline --graph --all --branches? --tags? --remotes? --decorate? --no-decorate --format? --pretty? --abbrev-commit \
     --no-abbrev-commit --merges --no-merges --first-parent --reverse --follow -L= --date= --topo-order --date-order --left-right \
     --cherry --cherry-pick --cherry-mark -g --walk-reflogs --no-walk? --count --full-history --simplify-by-decoration -m -c --cc"
);

const CARGO: &str = "-p= --package= --workspace --all --exclude= --lib --bins --bin= --examples --example= --tests --test= --benches \
                     --bench= --all-targets --features= -F= --all-features --no-default-features --release -r --profile= --locked \
                     --offline --frozen -q --quiet -v --verbose --message-format= --color= -j= --jobs= --target=";

const GREP: &str = "-e= -m= -A= -B= -C= -# -r -R -i -v -n -l -L -c -o -E -F -P -q -w -x -h -H -s -a -I -z --include= --exclude= \
                    --exclude-dir= --color? --recursive --ignore-case --line-number --files-with-matches --files-without-match --count \
                    --only-matching --invert-match --word-regexp --fixed-strings --extended-regexp --perl-regexp --max-count= \
                    --context= --after-context= --before-context= --no-filename --with-filename --regexp=";

const KUBECTL: &str = "-n= --namespace= -A --all-namespaces -o= --output= -l= --selector= --sort-by= --show-labels --no-headers -w --watch \
                       --context= --tail= --since= -c= --container= -p --previous --all-containers --timestamps --field-selector= -L= \
                       --ignore-not-found --request-timeout= --recursive";

/// The commands with a known effect.
pub(crate) const USES: &[Uses] = &[
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
        names: &[
            "systemctl status",
            "systemctl list-units",
            "systemctl is-active",
            "systemctl is-enabled",
            "systemctl is-failed",
            "systemctl show",
            "systemctl cat",
            "systemctl list-timers",
            "systemctl list-unit-files",
        ],
        options: "--user --system --no-pager -l --full -n= --lines= -a --all --type= -t= --state= -p= --property= --failed",
        ..READS
    },
    Uses {
        names: &["journalctl"],
        options: "-u= --unit= -n= --lines= --since= --until= --no-pager -e -x -b -k -r --user -p= -o= --reverse",
        operands: Nothing,
        ..READS
    },
    // git.
    Uses {
        names: &["git status"],
        options: "-s --short -b --branch --porcelain? --long -v -u? --untracked-files? --ignored? -z --ahead-behind \
                  --no-ahead-behind --renames --no-renames --show-stash --column? --no-column --ignore-submodules?",
        ..READS
    },
    Uses {
        names: &[
            "git log",
            "git show",
            "git rev-list",
            "git reflog show",
            "git stash list",
            "git whatchanged",
        ],
        options: LOG,
        ..READS
    },
    Uses {
        names: &["git diff", "git stash show"],
        options: diff_options!(
            "--cached --staged --merge-base -1 -2 -3 --base --ours --theirs -0 --cc -u --include-untracked"
        ),
        ..READS
    },
    Uses {
        names: &["git blame"],
        options: "-L= -w -M? -C? -e -f -l -n -s -t -b --root --porcelain --line-porcelain --date= --since= --show-email",
        ..READS
    },
    Uses {
        names: &["git shortlog"],
        options: "-s -n -e -c --summary --numbered --email --all --since= --until= --no-merges --group=",
        ..READS
    },
    Uses {
        names: &["git rev-parse"],
        options: "--show-toplevel --abbrev-ref? --short? --verify -q --quiet --git-dir --git-common-dir --show-prefix \
                  --is-inside-work-tree --symbolic-full-name --all --branches? --show-cdup --absolute-git-dir",
        ..READS
    },
    Uses {
        names: &["git ls-files"],
        options: "-c -d -m -o -s -u -t -v -z --cached --deleted --modified --others --stage --exclude-standard --full-name --ignored \
                  -i --error-unmatch",
        ..READS
    },
    Uses {
        names: &["git ls-tree"],
        options: "-r -t -d -l -z --name-only --full-name --full-tree",
        ..READS
    },
    Uses {
        names: &["git describe"],
        options: "--tags --all --long --always --dirty? --abbrev? --match= --exact-match --contains --first-parent",
        ..READS
    },
    Uses {
        names: &[
            "git merge-base",
            "git name-rev",
            "git cherry",
            "git count-objects",
            "git check-ignore",
        ],
        options: "-a --all --is-ancestor --fork-point --octopus --tags --name-only -v -H --verbose",
        ..READS
    },
    Uses {
        names: &["git branch"],
        options: "-a --all -r --remotes -v -vv --verbose --show-current --sort= --no-color --no-column --merged --no-merged",
        operands: Nothing,
        ..READS
    },
    Uses { names: &["git branch --contains", "git tag --contains"], options: "-a -r", ..READS },
    Uses {
        names: &["git tag"],
        options: "--sort= --no-color --no-column",
        operands: Nothing,
        ..READS
    },
    Uses {
        names: &["git tag -l", "git tag --list", "git branch --list"],
        options: "--sort= -a -r -v -n?",
        ..READS
    },
    Uses { names: &["git remote"], options: "-v --verbose", operands: Nothing, ..READS },
    Uses { names: &["git remote get-url"], options: "--push --all", ..READS },
    Uses { names: &["git worktree list"], options: "--porcelain -v", operands: Nothing, ..READS },
    Uses { names: &["git submodule status"], options: "--cached --recursive", ..READS },
    Uses {
        names: &[
            "git config --get",
            "git config --get-all",
            "git config --list",
            "git config -l",
            "git config get",
            "git config list",
        ],
        options: "--global --local --system --show-origin --show-scope --all --name-only -z --null",
        ..READS
    },
    Uses {
        names: &["git grep"],
        options: "-e= -i -I -n -l -L -c -o -E -F -P -G -q -w -v -h -H -A= -B= -C= -# -p -W -a --cached --untracked --count \
                  --line-number --name-only --files-with-matches --ignore-case --word-regexp --fixed-strings --all-match --and --or \
                  --not --max-depth= --break --heading --color? --no-color",
        ..READS
    },
    Uses { names: &["git cat-file"], options: "-t -s -p -e", ..READS },
    Uses { names: &["git help", "git version", "git --version"], operands: Nothing, ..READS },
    // Forges.
    Uses {
        names: &[
            "gh pr list",
            "gh pr view",
            "gh pr diff",
            "gh pr checks",
            "gh pr status",
            "gh issue list",
            "gh issue view",
            "gh issue status",
            "gh run list",
            "gh run view",
            "gh release list",
            "gh release view",
            "gh repo view",
            "gh repo list",
            "gh workflow list",
            "gh workflow view",
            "gh label list",
            "gh auth status",
            "gh search prs",
            "gh search issues",
            "gh search repos",
            "gh search code",
            "gh --version",
        ],
        options: "-R= --repo= -L= --limit= --state= --json= --jq= --author= --assignee= --label= --search= --base= --head= --comments \
                  --name-only --patch --color= --log --log-failed --verbose --workflow= --branch= --exit-status --job= --required \
                  --draft --owner= --sort= --order= --status= --user=",
        ..READS
    },
    // Builds.
    Uses {
        names: &["cargo build", "cargo check", "cargo b", "cargo c", "cargo doc"],
        kind: Builds,
        options: "-p= --package= --workspace --all --exclude= --lib --bins --bin= --examples --example= --tests --test= --benches \
                  --bench= --all-targets --features= -F= --all-features --no-default-features --release -r --profile= --locked \
                  --offline --frozen -q --quiet -v --verbose --message-format= --color= -j= --jobs= --target= --no-deps --keep-going \
                  --document-private-items",
        operands: Nothing,
        after: "",
    },
    Uses {
        names: &["cargo test", "cargo t", "cargo bench"],
        options: "-p= --package= --workspace --all --exclude= --lib --bins --bin= --examples --example= --tests --test= --benches \
                  --bench= --all-targets --features= -F= --all-features --no-default-features --release -r --profile= --locked \
                  --offline --frozen -q --quiet -v --verbose --message-format= --color= -j= --jobs= --target= --no-run --no-fail-fast \
                  --doc",
        after: "--nocapture --no-capture --exact --ignored --include-ignored --show-output --list --test-threads= --skip= -q --quiet \
                --color=",
        ..BUILDS
    },
    Uses {
        names: &["cargo clippy"],
        options: CARGO,
        operands: Nothing,
        after: "-D= -W= -A= -F= --deny= --warn= --allow=",
        ..BUILDS
    },
    Uses {
        names: &["cargo fmt"],
        options: "-p= --package= --all --check -q -v",
        operands: Nothing,
        after: "--check",
        ..BUILDS
    },
    Uses {
        names: &["cargo tree", "cargo metadata", "cargo --version"],
        options: "-p= --package= --workspace --depth= -i= --invert= -e= --edges= -d --duplicates --format-version= --no-deps --locked \
                  --offline --features= -F= --all-features --no-default-features -q -v --color= --prefix= --target=",
        operands: Nothing,
        ..BUILDS
    },
    Uses {
        names: &["go build", "go test", "go vet"],
        options: "-v -run= -race -short -count= -timeout= -bench= -benchmem -cover -json -tags= -failfast -parallel= -p= -skip=",
        ..BUILDS
    },
    Uses { names: &["go list"], options: "-m -json -f= -deps -test -e", ..BUILDS },
    Uses { names: &["go version", "go env"], options: "-json", ..READS },
    Uses {
        names: &["pytest"],
        options: "-q -v -x -s -l -k= -m= --tb= --lf --ff --last-failed --failed-first --maxfail= --collect-only --co -rA -ra \
                  --durations= --no-header --exitfirst --quiet --verbose",
        ..BUILDS
    },
    Uses { names: &["npm test", "npm t"], operands: Nothing, ..BUILDS },
    Uses {
        names: &["npm ls", "npm list"],
        options: "--all -a --depth= --json --omit= --long",
        ..READS
    },
    Uses {
        names: &["npm view", "npm info", "npm outdated"],
        options: "--json --long",
        operands: Without(":"),
        ..READS
    },
    Uses {
        names: &["pip list", "pip show", "pip freeze", "pip check"],
        options: "--outdated -o --format= -f --files --local -l",
        ..READS
    },
    // Containers and clusters.
    Uses {
        names: &[
            "docker ps",
            "docker images",
            "docker version",
            "docker info",
            "docker logs",
            "docker top",
            "docker port",
            "docker container ls",
            "docker image ls",
            "docker network ls",
            "docker volume ls",
            "docker compose ps",
            "docker compose logs",
            "docker compose ls",
            "podman ps",
            "podman images",
            "podman logs",
        ],
        options: "-a --all -q --quiet --no-trunc --format= -f= --filter= -n= --last= -l --tail= --since= --until= -t --timestamps \
                  --details --no-color",
        ..READS
    },
    Uses {
        names: &[
            "kubectl get",
            "kubectl describe",
            "kubectl logs",
            "kubectl top",
            "kubectl version",
            "kubectl cluster-info",
            "kubectl api-resources",
            "kubectl explain",
            "kubectl config get-contexts",
            "kubectl config current-context",
            "kubectl rollout status",
            "kubectl rollout history",
            "kubectl auth can-i",
        ],
        options: KUBECTL,
        // Not what is secret, and not the dump of a cluster into files.
        operands: Without("secret"),
        ..READS
    },
    Uses {
        names: &[
            "helm list",
            "helm ls",
            "helm status",
            "helm history",
            "helm version",
            "helm repo list",
            "helm search repo",
        ],
        options: "-n= --namespace= -A --all-namespaces -o= --output= -a --all --max= --kube-context= --versions --short",
        ..READS
    },
    // Clouds.
    Uses {
        names: &[
            "az group list",
            "az group show",
            "az vm list",
            "az vm show",
            "az account list",
            "az account show",
            "az webapp list",
            "az webapp show",
            "az storage account list",
            "az storage account show",
            "az acr list",
            "az acr show",
            "az aks list",
            "az aks show",
            "az network vnet list",
            "az network vnet show",
            "az resource list",
            "az resource show",
            "az version",
        ],
        options: "-g= --resource-group= -n= --name= -o= --output= --query= --subscription= -d --show-details -l= --location=",
        operands: Nothing,
        ..READS
    },
    Uses {
        names: &[
            "aws s3 ls",
            "aws sts get-caller-identity",
            "aws ec2 describe-instances",
            "aws ec2 describe-vpcs",
            "aws ec2 describe-subnets",
            "aws ec2 describe-security-groups",
            "aws ec2 describe-images",
            "aws ec2 describe-volumes",
            "aws iam list-users",
            "aws iam list-roles",
            "aws lambda list-functions",
            "aws logs describe-log-groups",
            "aws cloudformation describe-stacks",
            "aws cloudformation list-stacks",
            "aws ecs list-clusters",
            "aws ecs list-services",
            "aws ecs describe-clusters",
            "aws eks list-clusters",
            "aws eks describe-cluster",
            "aws rds describe-db-instances",
        ],
        options: "--region= --profile= --output= --query= --no-cli-pager --filters= --max-items= --recursive --human-readable --summarize \
                  --instance-ids= --owners= --stack-name= --cluster= --clusters= --name=",
        ..READS
    },
    Uses {
        names: &[
            "gcloud projects list",
            "gcloud projects describe",
            "gcloud compute instances list",
            "gcloud compute instances describe",
            "gcloud config list",
            "gcloud auth list",
            "gcloud container clusters list",
            "gcloud container clusters describe",
            "gcloud run services list",
            "gcloud run services describe",
            "gcloud functions list",
            "gcloud functions describe",
            "gcloud storage ls",
            "gcloud storage buckets list",
            "gcloud version",
        ],
        options: "--project= --format= --filter= --limit= --zone= --region= --sort-by= --quiet",
        ..READS
    },
    Uses {
        names: &[
            "terraform version",
            "terraform state list",
            "terraform workspace list",
            "terraform workspace show",
        ],
        options: "-no-color -json -id=",
        ..READS
    },
    Uses {
        names: &["terraform validate", "terraform providers"],
        options: "-no-color -json",
        operands: Nothing,
        ..BUILDS
    },
];
