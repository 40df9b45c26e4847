//! Commands of git and of forges that read.

use super::Operands::Nothing;
use super::{READS, Uses};

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

/// The commands, with their options.
pub(super) const USES: &[Uses] = &[
    // git.
    Uses {
        names: &["git status"],
        options: "-s --short -b --branch --porcelain? --long -v -u? --untracked-files? --ignored? -z --ahead-behind \
                  --no-ahead-behind --renames --no-renames --show-stash --column? --no-column --ignore-submodules?",
        ..READS
    },
    Uses {
        names: tenter_base::phrases!(
            "git log, git show, git rev-list, git reflog show, git stash list, git whatchanged"
        ),
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
        names: tenter_base::phrases!(
            "git merge-base, git name-rev, git cherry, git count-objects, git check-ignore"
        ),
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
        names: tenter_base::phrases!(
            "git config --get, git config --get-all, git config --list, git config -l,
             git config get, git config list"
        ),
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
        names: tenter_base::phrases!(
            "gh pr list, gh pr view, gh pr diff, gh pr checks, gh pr status, gh issue list,
             gh issue view, gh issue status, gh run list, gh run view, gh release list,
             gh release view, gh repo view, gh repo list, gh workflow list, gh workflow view,
             gh label list, gh auth status, gh search prs, gh search issues, gh search repos,
             gh search code, gh --version"
        ),
        options: "-R= --repo= -L= --limit= --state= --json= --jq= --author= --assignee= --label= --search= --base= --head= --comments \
                  --name-only --patch --color= --log --log-failed --verbose --workflow= --branch= --exit-status --job= --required \
                  --draft --owner= --sort= --order= --status= --user=",
        ..READS
    },
];
