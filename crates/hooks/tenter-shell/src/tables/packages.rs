//! Package managers, and what they run.

use crate::facts::{Class, Language};

use super::{Form, GNU, Program, RecipeFiles, Run, Style};

/// A subcommand that runs a command in its operands.
const RUNS: Program = Program { style: Style::Posix, runs: &[Run::Words(0)], ..GNU };

/// A package manager with subcommands.
const MANAGER: Program = Program { has_subcommands: true, ..GNU };

/// The scripts of a package.
pub(super) const PACKAGE: RecipeFiles =
    RecipeFiles { options: "", inline: "", names: &["package.json"], form: Form::Package };

const MISE: RecipeFiles = super::languages::quoted(&["mise.toml", ".mise.toml"]);
pub(super) const PIXI: RecipeFiles =
    super::languages::quoted(&["pixi.toml", "pyproject.toml", "Pipfile"]);
const GEMFILE: RecipeFiles = super::languages::code(&["Gemfile"], Language::Ruby);
const COMPOSER: RecipeFiles = super::languages::quoted(&["composer.json"]);

/// A program that an installed package starts.
const SANDBOXED: Program = Program { style: Style::Posix, options: "--shell", ..GNU };

/// A command that makes an image.
const BUILD: Program = Program {
    options: "-f= --file= -t= --tag= --build-arg= --target= --platform= -o= --output= --cache-from= --secret= --ssh= --network= --label= --progress=",
    paths: &["read -f --file", "list operands"],
    runs: &[Run::Recipes(&RecipeFiles {
        options: "-f --file",
        inline: "",
        names: &["Dockerfile", "Containerfile"],
        form: Form::Dockerfile,
    })],
    ..GNU
};

/// A package manager that runs scripts.
const SCRIPTS: Program = Program { runs: &[Run::Recipes(&PACKAGE)], ..MANAGER };

/// A command in a container of a project.
const COMPOSE: Program = Program {
    style: Style::Posix,
    options: "-e= --env= --env-from-file= -u= --user= -w= --workdir= --index= --name= --entrypoint= -v= --volume= --mount= -p= --publish= -l= --label= -d --detach -i -T -t --privileged --rm --no-deps --build",
    paths: MOUNTS,
    recursive: "always",
    runs: &[Run::Container(1)],
    ..GNU
};

/// The files of this machine that a container sees.
const MOUNTS: &[&str] = &["link-mount -v --volume --mount", "read-mount -v --volume --mount"];

pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "npm",
        options: "-C= --prefix= --registry= --userconfig= -w= --workspace= --loglevel= -g --global -s",
        directory: "-C --prefix",
        ..SCRIPTS
    },
    Program {
        name: "npm exec",
        options: "-p= --package= -c= --call= -y --yes",
        runs: &[Run::Option("-c --call"), Run::Words(0)],
        ..RUNS
    },
    Program {
        name: "npm install",
        options: "-g --global --prefix= --registry= -D --save-dev -E -O --no-save --ignore-scripts --legacy-peer-deps",
        ..GNU
    },
    Program { name: "npm pkg", runs: &[Run::Prefixed("scripts.")], ..GNU },
    Program { name: "npm publish", options: "--tag= --access= --otp= --dry-run", ..GNU },
    Program { name: "npm run", style: Style::Posix, ..GNU },
    Program {
        name: "npm x",
        options: "-p= --package= -c= --call= -y --yes",
        runs: &[Run::Option("-c --call"), Run::Words(0)],
        ..RUNS
    },
    Program {
        name: "npx",
        style: Style::Posix,
        options: "-p= --package= -c= --call= -y --yes --no-install",
        runs: &[Run::Option("-c --call"), Run::Words(0)],
        ..GNU
    },
    Program {
        name: "pnpm",
        options: "-C= --dir= --filter= -F= -g --global -r",
        directory: "-C --dir",
        ..SCRIPTS
    },
    Program { name: "pnpm exec", ..RUNS },
    Program { name: "pnpm dlx", ..RUNS },
    Program { name: "yarn", options: "--cwd=", directory: "--cwd", ..SCRIPTS },
    Program { name: "yarn exec", ..RUNS },
    Program { name: "yarn workspace", runs: &[Run::Words(1)], ..RUNS },
    Program { name: "yarn workspaces", options: "-A -R -v -p -t", runs: &[Run::Words(1)], ..GNU },
    Program { name: "yarn dlx", ..RUNS },
    Program { name: "bunx", ..RUNS },
    Program { name: "pip", options: "--python= --log= --proxy= --cache-dir= -q -v", ..MANAGER },
    Program {
        name: "pip install",
        options: "-r= --requirement= -c= --constraint= -e= --editable= -t= --target= -i= --index-url= --extra-index-url= -f= --find-links= --prefix= --root= --src= --log= -U --upgrade --user --break-system-packages --no-deps -q",
        paths: &["read -r --requirement -c --constraint", "create -t --target"],
        runs: &[Run::Recipes(&super::languages::SETUP)],
        ..GNU
    },
    Program { name: "pip uninstall", options: "-r= --requirement= -y --yes", ..GNU },
    Program { name: "pipx", options: "--python=", ..MANAGER },
    Program { name: "pipx run", options: "--spec= --python=", ..RUNS },
    Program {
        name: "uv",
        options: "--directory= --project= --python= --cache-dir= --config-file=",
        directory: "--directory",
        ..MANAGER
    },
    Program {
        name: "uv run",
        options: "--with= --python= -p= --extra= --group= --env-file= --script --module -m",
        ..RUNS
    },
    Program { name: "uv tool", ..MANAGER },
    Program { name: "uv tool run", options: "--from= --with= --python= -p=", ..RUNS },
    Program { name: "nix run", options: "--impure --option= -I=", runs: &[Run::Package], ..GNU },
    Program { name: "uvx", options: "--from= --with= --python= -p=", ..RUNS },
    Program {
        name: "poetry",
        options: "-C= --directory= -P= --project=",
        directory: "-C --directory",
        ..MANAGER
    },
    Program { name: "poetry run", ..RUNS },
    Program { name: "pipenv", runs: &[Run::Recipes(&PIXI)], ..MANAGER },
    Program { name: "poe", runs: &[Run::Recipes(&PIXI)], ..GNU },
    Program { name: "pipenv run", ..RUNS },
    Program { name: "conda", ..MANAGER },
    Program { name: "conda run", options: "-n= --name= -p= --prefix= --cwd=", ..RUNS },
    Program { name: "bundle", runs: &[Run::Recipes(&GEMFILE)], ..MANAGER },
    Program { name: "bundle exec", ..RUNS },
    Program { name: "gem", ..MANAGER },
    Program {
        name: "composer",
        options: "-d= --working-dir=",
        runs: &[Run::Recipes(&COMPOSER)],
        ..MANAGER
    },
    Program { name: "rbenv", ..MANAGER },
    Program { name: "rbenv exec", ..RUNS },
    Program {
        name: "mise",
        options: "-C= --cd=",
        directory: "-C --cd",
        runs: &[Run::Recipes(&MISE)],
        ..MANAGER
    },
    Program { name: "pixi", runs: &[Run::Recipes(&PIXI)], ..MANAGER },
    Program { name: "pixi run", options: "-e= --environment= --manifest-path=", ..RUNS },
    Program {
        name: "mise exec",
        options: "-c= --command= -j=",
        runs: &[Run::Option("-c --command"), Run::AfterDashes],
        ..RUNS
    },
    Program {
        name: "mise x",
        options: "-c= --command= -j=",
        runs: &[Run::Option("-c --command"), Run::AfterDashes],
        ..RUNS
    },
    Program { name: "asdf", ..MANAGER },
    Program { name: "asdf exec", ..RUNS },
    Program {
        name: "nix-shell",
        options: "-p --packages --run= --command= -A= -E= -I= --argstr= --arg=",
        runs: &[Run::Option("--run --command")],
        ..GNU
    },
    Program { name: "nix", options: "--option= -I=", ..MANAGER },
    Program {
        name: "nix develop",
        options: "-c --command --impure",
        runs: &[Run::AfterFlag("-c --command")],
        ..GNU
    },
    Program {
        name: "nix shell",
        options: "-c --command --impure",
        runs: &[Run::AfterFlag("-c --command")],
        ..GNU
    },
    Program { name: "apt", options: "-o= -c= -t= -y --yes -q -f", ..MANAGER },
    Program { name: "apt-get", options: "-o= -c= -t= -y --yes -q -f", ..MANAGER },
    Program { name: "dpkg", options: "-i -r --remove -P --purge -l --force-all -L -S", ..GNU },
    Program { name: "dnf", options: "-y -q -c= --repo=", ..MANAGER },
    Program { name: "yum", options: "-y -q -c=", ..MANAGER },
    Program { name: "rpm", options: "-i -U -e -q -V --root= --prefix= --nodeps", ..GNU },
    Program { name: "apk", options: "-p= -X= -q", ..MANAGER },
    Program { name: "pacman", options: "-S -R -Q -U -y -u -s -n -c -r= -b= --noconfirm", ..GNU },
    Program { name: "brew", ..MANAGER },
    Program { name: "snap", ..MANAGER },
    Program { name: "snap run", runs: &[Run::Entry("--shell", 1)], ..SANDBOXED },
    Program { name: "flatpak", ..MANAGER },
    Program {
        name: "flatpak run",
        options: "--command= --branch= --arch= --env= --filesystem= --share= --socket= --device= -d --devel",
        runs: &[Run::Entry("--command", 1)],
        ..SANDBOXED
    },
    Program { name: "rustup", ..MANAGER },
    Program { name: "rustup run", options: "--install", runs: &[Run::Words(1)], ..RUNS },
    // Containers.
    Program {
        name: "docker",
        options: "-H= --host= -c= --context= --config= -l= --log-level= --tlscacert= --tlscert= --tlskey= -D",
        prefix: "container",
        ..MANAGER
    },
    Program {
        name: "docker exec",
        style: Style::Posix,
        options: "-e= --env= --env-file= -u= --user= -w= --workdir= --detach-keys= -d -i -t --privileged",
        runs: &[Run::Container(1)],
        ..GNU
    },
    Program {
        name: "docker run",
        style: Style::Posix,
        options: CONTAINER,
        paths: MOUNTS,
        recursive: "always",
        runs: &[Run::Container(1)],
        classes: &[(Class::Network, "if -p --publish")],
        ..GNU
    },
    Program {
        name: "docker create",
        style: Style::Posix,
        options: CONTAINER,
        paths: MOUNTS,
        recursive: "always",
        runs: &[Run::Container(1)],
        ..GNU
    },
    Program {
        name: "docker compose",
        style: Style::Posix,
        options: "-f= --file= -p= --project-name= --project-directory= --profile= --env-file= --ansi= -T",
        has_subcommands: true,
        ..GNU
    },
    Program { name: "docker compose exec", ..COMPOSE },
    Program { name: "docker compose run", ..COMPOSE },
    Program {
        name: "docker cp",
        options: "-a -L -q",
        paths: &["read first", "write last"],
        recursive: "always",
        ..GNU
    },
    Program { name: "docker rm", options: "-f --force -v --volumes -l", ..GNU },
    Program { name: "docker system", options: "-a --all -f --force --volumes --filter=", ..GNU },
    Program {
        name: "docker volume",
        options: "-f --force -d= --driver= -o= --label= -a --all --filter=",
        ..GNU
    },
    Program { name: "docker build", ..BUILD },
    Program { name: "podman build", ..BUILD },
    Program {
        name: "docker-compose",
        style: Style::Posix,
        options: "-f= --file= -p= --project-name= --project-directory= --profile= --env-file=",
        has_subcommands: true,
        ..GNU
    },
    Program { name: "docker-compose exec", ..COMPOSE },
    Program { name: "docker-compose run", ..COMPOSE },
    Program {
        name: "podman",
        options: "--root= --runroot= --url= -c= --connection= --log-level=",
        prefix: "container",
        ..MANAGER
    },
    Program {
        name: "podman exec",
        style: Style::Posix,
        options: "-e= --env= -u= --user= -w= --workdir= -d -i -t --privileged",
        runs: &[Run::Container(1)],
        ..GNU
    },
    Program {
        name: "podman run",
        style: Style::Posix,
        options: CONTAINER,
        paths: MOUNTS,
        recursive: "always",
        runs: &[Run::Container(1)],
        ..GNU
    },
    Program {
        name: "podman create",
        style: Style::Posix,
        options: CONTAINER,
        paths: MOUNTS,
        recursive: "always",
        runs: &[Run::Container(1)],
        ..GNU
    },
    Program {
        name: "podman compose",
        style: Style::Posix,
        options: "-f= --file= -p= --project-name= --profile=",
        has_subcommands: true,
        ..GNU
    },
    Program { name: "podman compose exec", ..COMPOSE },
    Program { name: "podman compose run", ..COMPOSE },
    Program { name: "podman unshare", ..RUNS },
    Program { name: "lxc", ..MANAGER },
    Program { name: "lxc exec", runs: &[Run::Container(1)], style: Style::Posix, ..GNU },
    Program {
        name: "kubectl",
        options: "-n= --namespace= --context= --kubeconfig= --cluster= --user= -s= --server= --token= --as= -v= --request-timeout=",
        ..MANAGER
    },
    Program {
        name: "kubectl exec",
        options: "-c= --container= -f= -i -t -n= --namespace= --context=",
        runs: &[Run::AfterDashesContainer],
        style: Style::Gnu,
        ..GNU
    },
    Program {
        name: "kubectl run",
        options: "--image= -n= --namespace= --context= --overrides= --restart= -l= --labels= --env= -i -t --rm --command",
        runs: &[Run::AfterDashesContainer],
        ..GNU
    },
    Program {
        name: "kubectl debug",
        options: "--image= -n= --namespace= --context= --target= --profile= -c= --container= -i -t",
        runs: &[Run::AfterDashesContainer],
        ..GNU
    },
    Program {
        name: "kubectl rsh",
        options: "-c= --container= -n= --namespace= -t -T",
        style: Style::Posix,
        runs: &[Run::Container(1)],
        ..GNU
    },
    Program {
        name: "kubectl cp",
        options: "-c= --container= -n= --namespace= --context= --retries=",
        paths: &["read first", "write second"],
        recursive: "always",
        ..GNU
    },
    Program {
        name: "kubectl get",
        options: "-o= --output= -l= --selector= -f= --filename= -n= --namespace= --context= --field-selector= --sort-by= --template= -A --all-namespaces -w --watch",
        paths: &["read -f --filename"],
        ..GNU
    },
    Program {
        name: "kubectl delete",
        options: "-f= --filename= -k= -l= --selector= -n= --namespace= --context= --grace-period= --cascade= --timeout= --all --force --now -A --all-namespaces --dry-run?",
        paths: &["read -f --filename"],
        ..GNU
    },
    Program {
        name: "kubectl apply",
        options: "-f= --filename= -k= -l= -n= --namespace= --context= --dry-run? --prune --force",
        paths: &["read -f --filename"],
        ..GNU
    },
    Program { name: "helm", options: "-n= --namespace= --kube-context= --kubeconfig=", ..MANAGER },
    Program { name: "vagrant", ..MANAGER },
    // One command in many repositories or packages.
    Program { name: "lerna", ..MANAGER },
    Program { name: "lerna exec", options: "--scope= --ignore= --concurrency=", ..RUNS },
    Program { name: "repo", ..MANAGER },
    Program { name: "repo forall", options: "-c= -p -v -j=", runs: &[Run::Option("-c")], ..GNU },
    // Agents and their guards.
    Program { name: "tenter", options: "--project= --color=", ..MANAGER },
    Program { name: "apply_patch", style: Style::Posix, ..GNU },
    Program {
        name: "vagrant ssh",
        options: "-c= --command= -p",
        runs: &[Run::OptionRemote("-c --command")],
        ..GNU
    },
];

const CONTAINER: &str = "-a= --attach= --add-host= -c= --cap-add= --cap-drop= --cgroupns= --cidfile= --cpus= --cpuset-cpus= --device= --dns= --entrypoint= -e= --env= --env-file= --expose= \
    --gpus= --group-add= --health-cmd= -h= --hostname= --ip= --ipc= -l= --label= --link= --log-driver= --log-opt= -m= --memory= --mount= --name= --network= --net= --pid= --platform= -p= \
    --publish= --pull= --restart= --runtime= --security-opt= --shm-size= --stop-signal= --sysctl= --tmpfs= --ulimit= -u= --user= --userns= -v= --volume= --volumes-from= -w= --workdir= \
    -d --detach -i --interactive -t --tty --rm --privileged --init -P --read-only";
