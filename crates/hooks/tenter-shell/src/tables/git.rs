//! git and its subcommands.

use crate::facts::Class;

use super::rows::{like, program};
use super::{GNU, Program, Run, Style};

/// A subcommand that shows commits, or differences, and can write them into a file.
const SHOWS: Program = GNU
    .options("--output= -n= --since= --until= --author= --format= -U= -S= -G=")
    .paths(&["write --output"]);

pub(super) const PROGRAMS: &[Program] = &[
    program("git")
        .options("-C= -c= --git-dir= --work-tree= --namespace= --exec-path? --super-prefix= --config-env= --list-cmds= --attr-source= -p --paginate -P --no-pager \
                  --bare --no-replace-objects --literal-pathspecs --no-optional-locks --version --help -v -h")
        .directory("-C")
        .with_subcommands()
        .runs(&[
            Run::GitAlias,
            Run::Prefixed("ext::"),
            Run::Keyed("-c", "core.sshcommand="),
            Run::Keyed("-c", "core.pager="),
            Run::Keyed("-c", "core.editor="),
            Run::Keyed("-c", "core.fsmonitor="),
            Run::Keyed("-c", "core.askpass="),
            Run::Keyed("-c", "core.gitproxy="),
            Run::Keyed("-c", "gpg.program="),
            Run::Keyed("-c", "sendemail.sendmailcmd="),
            Run::Keyed("-c", "sequence.editor="),
            Run::Keyed("-c", "diff.external="),
            Run::Keyed("-c", "credential.helper=!"),
        ]),
    program("git add")
        .options("-A --all -u --update -p --patch -i -e -f --force -n --dry-run -N -v --renormalize --chmod= --pathspec-from-file=")
        .paths(&["read operands"]),
    program("git apply")
        .options("-p= -C= --directory= --exclude= --include= --whitespace= --check --stat --cached --index -R --reverse -3 --3way --reject --unsafe-paths")
        .paths(&["read operands"]),
    program("git am")
        .options("-p= -C= --directory= --exclude= --include= --whitespace= --abort --skip --continue -3")
        .paths(&["read operands"]),
    program("git bisect").style(Style::Posix).runs(&[Run::After("run", 1)]),
    program("git blame")
        .options("-L= -S= -C? -M? --since= --output=")
        .paths(&["write --output", "read last"]),
    program("git branch")
        .options("-d --delete -D -m --move -M -c --copy -C -f --force -a --all -r --remotes -v --list --merged? --no-merged? --contains= --no-contains= --points-at= --sort= --format= -u= --set-upstream-to= --unset-upstream -t --track? --edit-description --show-current -q"),
    program("git checkout")
        .options("-b= -B= -f --force -q --quiet -t --track? --no-track -l -d --detach --orphan= --ours --theirs -m --merge --conflict= -p --patch -U= --unified= --ignore-skip-worktree-bits --overlay --no-overlay --recurse-submodules? --no-recurse-submodules --pathspec-from-file= --pathspec-file-nul --guess --no-guess --progress --no-progress --ignore-other-worktrees"),
    program("git checkout-index")
        .options("-a --all -f --force -u -q -n --prefix= --stage= --temp --stdin -z"),
    program("git cherry-pick")
        .options("-m= --mainline= -X= --strategy= --strategy-option= -S? -e -x -n --no-commit -s --ff --abort --continue --quit --skip"),
    program("git clean")
        .options("-f --force -d -x -X -n --dry-run -q --quiet -i --interactive -e= --exclude=")
        .paths(&["delete directory if -f --force unless -n --dry-run"])
        .recursive("always"),
    program("git clone")
        .options("-b= --branch= -o= --origin= -u= --upload-pack= -c= --config= --depth= --reference= --separate-git-dir= --template= -j= --jobs= --filter= --recurse-submodules? --bare --mirror -q -n -l -s")
        .paths(&["create second"])
        .recursive("always")
        .runs(&[Run::Option("-u --upload-pack")]),
    program("git commit")
        .options("-m= --message= -F= --file= -C= --reuse-message= -c= --reedit-message= --fixup= --squash= --author= --date= -t= --template= --cleanup= --trailer= -S? --gpg-sign? -u? --untracked-files? --pathspec-from-file= -a --all -p --patch -s --signoff -n --no-verify --verify --amend --no-edit --edit -e --allow-empty --allow-empty-message -q -v -i -o --dry-run --no-gpg-sign --no-post-rewrite --reset-author")
        .paths(&["read -F --file"])
        .runs(&[Run::Recipes(&super::languages::GIT_HOOKS)]),
    program("git config")
        .options("-f= --file= --blob= -t= --type= --default= --global --system --local --worktree --unset --unset-all --get --get-all --add --replace-all -e --edit -l --list"),
    program("git difftool")
        .options("-x= --extcmd= -t= --tool= -d --dir-diff -y --no-prompt -g")
        .runs(&[Run::Option("-x --extcmd")]),
    program("git diff")
        .options("-U= -S= -G= -O= --output= --diff-filter= --stat? --word-diff? --color? -M? -C? --cached --staged --no-index --name-only")
        .paths(&["write --output", "read operands if --no-index"]),
    program("git fetch")
        .options("--depth= --deepen= --shallow-since= --upload-pack= -j= --jobs= --refmap= -o= -a --all -p --prune -P --prune-tags -t --tags -n -f --force -q -v --dry-run")
        .runs(&[Run::Option("--upload-pack")]),
    program("git ls-remote")
        .options("--upload-pack= --exec= --sort= -o= --server-option= -b --branches -h --heads -t --tags -q --refs")
        .runs(&[Run::Option("--upload-pack --exec"), Run::Prefixed("ext::")]),
    program("git filter-branch")
        .options("--env-filter= --tree-filter= --index-filter= --parent-filter= --msg-filter= --commit-filter= --tag-name-filter= --setup= --subdirectory-filter= --original= -d= -f --force --prune-empty")
        .runs(&[Run::Option(
            "--env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter --setup",
        )]),
    program("git filter-repo")
        .options("--path= --path-glob= --path-rename= --replace-text= --mailmap= --subdirectory-filter= --invert-paths --force --source= --target= --refs= --analyze --dry-run"),
    program("git format-patch")
        .options("-o= --output-directory= -n -s --stdout --base= --cover-letter --output=")
        .paths(&["write --output", "create -o --output-directory"]),
    program("git gc")
        .options("--aggressive --auto --prune? --no-prune --force -q --cruft --keep-largest-pack"),
    program("git hash-object")
        .options("-t= --path= -w --stdin --stdin-paths --no-filters --literally")
        .paths(&["read operands"]),
    program("git grep")
        .options("-e= -f= -A= -B= -C= --max-depth= --threads= -O? --open-files-in-pager?")
        .paths(&["read-glob rest unless -e -f", "read-glob operands if -e -f", "read -f"])
        .runs(&[Run::Option("-O --open-files-in-pager")]),
    program("git init")
        .options("-b= --initial-branch= --template= --separate-git-dir= --bare -q --shared?")
        .paths(&["create directory"]),
    program("git log")
        .options("-n= --max-count= --since= --after= --until= --before= --author= --grep= --format= --pretty? -L= -S= -G= --output= --oneline --graph --all -p")
        .paths(&["write --output"]),
    program("git merge")
        .options("-m= -F= -s= --strategy= -X= --strategy-option= -S? --abort --continue --quit --ff-only --no-ff --squash --no-commit --no-verify"),
    program("git mv")
        .options("-f --force -k -n --dry-run -v")
        .paths(&["move init unless -n --dry-run", "write last unless -n --dry-run"])
        .recursive("always"),
    program("git pull")
        .options("-s= -X= --depth= -j= --upload-pack= -r? --rebase? --no-rebase --ff-only --no-ff -f --force -a --all -p --prune --autostash -q -v --no-verify")
        .runs(&[Run::Option("--upload-pack")]),
    program("git prune").options("-n --dry-run -v --verbose --progress --expire="),
    program("git push")
        .options("-f --force --force-with-lease? --force-if-includes --no-force-with-lease --all --branches --mirror --tags --follow-tags -d --delete --prune -u --set-upstream -n --dry-run -q --quiet -v --verbose --no-verify --verify --atomic --signed? -o= --push-option= --receive-pack= --exec= --repo= --recurse-submodules? --thin --no-thin --porcelain --progress -4 -6")
        .runs(&[Run::Option("--receive-pack --exec"), Run::Recipes(&super::languages::GIT_HOOKS)]),
    program("git read-tree")
        .options("-m --reset -u -i -n --dry-run -v --trivial --aggressive --prefix= --index-output= --empty"),
    program("git rebase")
        .options("--onto= -s= --strategy= -X= -x= --exec= -C= --whitespace= -S? -i --interactive --abort --continue --skip --quit --root --autosquash --autostash --no-verify -f --force-rebase -r? --rebase-merges?")
        .runs(&[Run::Option("-x --exec")]),
    program("git reflog")
        .options("--expire= --expire-unreachable= --all -n --dry-run --rewrite --updateref --stale-fix -v --verbose --single-worktree --output=")
        .paths(&["write --output"]),
    program("git remote")
        .options("-v --verbose -t= -m= -f --tags --no-tags --mirror? --push --add --delete --all"),
    program("git replace").options("-f -d --delete -e --edit -g --graft -l"),
    program("git reset")
        .options("--hard --soft --mixed --merge --keep -q --quiet -N --intent-to-add -p --patch --pathspec-from-file= --pathspec-file-nul --recurse-submodules? --no-recurse-submodules --refresh --no-refresh"),
    program("git restore")
        .options("-s= --source= -S --staged -W --worktree -p --patch -q --quiet -m --merge --conflict= --ours --theirs --overlay --no-overlay --pathspec-from-file= --recurse-submodules? --ignore-unmerged --progress"),
    program("git revert")
        .options("-m= --mainline= -X= --strategy= -S? -e --no-edit -n --no-commit -s --abort --continue --quit --skip"),
    program("git rm")
        .options("-f --force -n --dry-run -r --cached --ignore-unmatch -q --pathspec-from-file=")
        .paths(&["delete operands unless -n --dry-run --cached"])
        .recursive("-r"),
    program("git show")
        .options("--format= --pretty? --stat? -U= --output=")
        .paths(&["write --output"]),
    like(SHOWS, "git shortlog"),
    like(SHOWS, "git rev-list"),
    like(SHOWS, "git whatchanged"),
    like(SHOWS, "git range-diff"),
    like(SHOWS, "git annotate"),
    like(SHOWS, "git diff-tree"),
    like(SHOWS, "git diff-index"),
    like(SHOWS, "git diff-files"),
    program("git fast-export")
        .options("--output= --export-marks= --import-marks= --all")
        .paths(&["write --output --export-marks", "read --import-marks"]),
    program("git archive")
        .options("-o= --output= --format= --prefix= --remote= --exec= --add-file= -v -l")
        .paths(&["write -o --output", "read --add-file"])
        .runs(&[Run::Option("--exec")])
        .classes(&[(Class::Archive, "unless -l")]),
    program("git bundle")
        .options("--all --stdin -q")
        .paths(&["write-first-after create"])
        .classes(&[(Class::Archive, "")]),
    program("git stash")
        .options("-m= --message= -p --patch -k --keep-index -u --include-untracked -a --all -q --quiet --index --pathspec-from-file= --output=")
        .paths(&["write --output"]),
    program("git notes").options("-m= -F= -C= -c= -f --force").paths(&["read -F"]),
    program("git send-email")
        .options("--sendmail-cmd= --to-cmd= --cc-cmd= --header-cmd= --to= --cc= --bcc= --from= --smtp-server=")
        .runs(&[Run::Option("--sendmail-cmd --to-cmd --cc-cmd --header-cmd")]),
    program("git status").options("-s -b -u? --porcelain? --ignored? -z"),
    program("git submodule")
        .options("-f --force --all --recursive --init --remote -b= --name= --reference= --depth= -j= --jobs= -q")
        .runs(&[Run::AfterScript("foreach")]),
    program("git switch")
        .options("-c= --create= -C= --force-create= -d --detach --discard-changes -f --force -m --merge --conflict= -q --quiet -t --track? --no-track --orphan= --guess --no-guess --ignore-other-worktrees --recurse-submodules? --no-recurse-submodules"),
    program("git symbolic-ref").options("-d --delete -m= -q --short"),
    program("git tag")
        .options("-a -s -u= -f --force -d --delete -v -n? -l --list -m= -F= --sort= --format= --contains= --points-at=")
        .paths(&["read -F"]),
    program("git update-ref").options("-d -m= --no-deref --stdin -z --create-reflog"),
    program("git worktree")
        .options("-f --force -b= -B= -d --detach --checkout --lock --reason= -n --dry-run -v --verbose --expire= --porcelain -z")
        // `add PATH`, and what `move` and `remove` change.
        .paths(&[
            "create-first-after add",
            "move-first-after move",
            "create-second-after move",
            "delete-first-after remove",
        ]),
];
