//! Package managers, and what they run.

use crate::facts::{Class, Language};

use super::rows::{like, program};
use super::{Form, GNU, Program, RecipeFiles, Run, Style};

/// A subcommand that runs a command in its operands.
const RUNS: Program = GNU.style(Style::Posix).runs(&[Run::Words(0)]);

/// A package manager with subcommands.
const MANAGER: Program = GNU.with_subcommands();

/// The scripts of a package.
pub(super) const PACKAGE: RecipeFiles =
    RecipeFiles { options: "", inline: "", names: &["package.json"], form: Form::Package };

const MISE: RecipeFiles = super::languages::quoted(&["mise.toml", ".mise.toml"]);
pub(super) const PIXI: RecipeFiles =
    super::languages::quoted(&["pixi.toml", "pyproject.toml", "Pipfile"]);
const GEMFILE: RecipeFiles = super::languages::code(&["Gemfile"], Language::Ruby);
const COMPOSER: RecipeFiles = super::languages::quoted(&["composer.json"]);

/// A program that an installed package starts.
const SANDBOXED: Program = GNU.style(Style::Posix).options("--shell");

/// A command that makes an image.
const BUILD: Program = GNU
    .options("-f= --file= -t= --tag= --build-arg= --target= --platform= -o= --output= --cache-from= --secret= --ssh= --network= --label= --progress=")
    .paths(&["read -f --file", "list operands"])
    .runs(&[Run::Recipes(&RecipeFiles {
        options: "-f --file",
        inline: "",
        names: &["Dockerfile", "Containerfile"],
        form: Form::Dockerfile,
    })]);

/// The services of a project.
const SERVICES: &[Run] = &[Run::Recipes(&RecipeFiles {
    options: "-f --file",
    inline: "",
    names: &["docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml"],
    form: Form::Compose,
})];

/// A package manager that runs scripts.
const SCRIPTS: Program = MANAGER.runs(&[Run::Recipes(&PACKAGE)]);

/// A command in a container of a project.
const COMPOSE: Program = GNU
    .style(Style::Posix)
    .options("-e= --env= --env-from-file= -u= --user= -w= --workdir= --index= --name= --entrypoint= -v= --volume= --mount= -p= --publish= -l= --label= -d --detach -i -T -t --privileged --rm --no-deps --build")
    .paths(MOUNTS)
    .recursive("always")
    .runs(&[Run::Container(1)]);

/// The files of this machine that a container sees.
const MOUNTS: &[&str] = &["link-mount -v --volume --mount", "read-mount -v --volume --mount"];

/// A subcommand that copies files from or into a container.
const COPY: Program =
    GNU.options("-a -L -q").paths(&["read first", "write last"]).recursive("always");

/// A command of PowerShell for packages.
const POWERSHELL: Program = GNU
    .style(Style::Caseless)
    .options("-Name= -Source= -SourceLocation= -Location= -Repository= -ProviderName= -Scope= -RequiredVersion= -InstallationPolicy= -Force -Trusted");

pub(super) const PROGRAMS: &[Program] = &[
    like(POWERSHELL, "install-module"),
    like(POWERSHELL, "install-package"),
    like(POWERSHELL, "register-packagesource"),
    like(POWERSHELL, "register-psrepository"),
    like(SCRIPTS, "npm")
        .options("-C= --prefix= --registry= --userconfig= -w= --workspace= --loglevel= -g --global -s")
        .directory("-C --prefix"),
    like(RUNS, "npm exec")
        .options("-p= --package= -c= --call= -y --yes")
        .runs(&[Run::Option("-c --call"), Run::Words(0)]),
    program("npm install")
        .options("-g --global --prefix= --registry= -D --save-dev -E -O --no-save --ignore-scripts --legacy-peer-deps"),
    program("npm pkg").runs(&[Run::Prefixed("scripts.")]),
    program("npm set-script").runs(&[Run::Script(1)]),
    program("npm publish").options("--tag= --access= --otp= --dry-run"),
    program("npm run").style(Style::Posix),
    like(RUNS, "npm x")
        .options("-p= --package= -c= --call= -y --yes")
        .runs(&[Run::Option("-c --call"), Run::Words(0)]),
    program("npx")
        .style(Style::Posix)
        .options("-p= --package= -c= --call= -y --yes --no-install")
        .runs(&[Run::Option("-c --call"), Run::Words(0)]),
    like(SCRIPTS, "pnpm").options("-C= --dir= --filter= -F= -g --global -r").directory("-C --dir"),
    like(RUNS, "pnpm exec"),
    like(RUNS, "pnpm dlx"),
    like(SCRIPTS, "yarn").options("--cwd=").directory("--cwd"),
    like(RUNS, "yarn exec"),
    like(RUNS, "yarn workspace").runs(&[Run::Words(1)]),
    program("yarn workspaces").options("-A -R -v -p -t").runs(&[Run::Words(1)]),
    like(RUNS, "yarn dlx"),
    like(RUNS, "bunx"),
    like(MANAGER, "pip").options("--python= --log= --proxy= --cache-dir= -q -v"),
    program("pip install")
        .options("-r= --requirement= -c= --constraint= -e= --editable= -t= --target= -i= --index-url= --extra-index-url= -f= --find-links= --prefix= --root= --src= --log= -U --upgrade --user --break-system-packages --no-deps -q")
        .paths(&["read -r --requirement -c --constraint", "create -t --target"])
        .runs(&[Run::Recipes(&super::languages::SETUP)]),
    program("pip uninstall").options("-r= --requirement= -y --yes"),
    like(MANAGER, "pipx").options("--python="),
    like(RUNS, "pipx run").options("--spec= --python="),
    like(MANAGER, "uv")
        .options("--directory= --project= --python= --cache-dir= --config-file=")
        .directory("--directory"),
    like(RUNS, "uv run")
        .options("--with= --python= -p= --extra= --group= --env-file= --script --module -m"),
    like(MANAGER, "uv tool"),
    like(RUNS, "uv tool run").options("--from= --with= --python= -p="),
    program("nix run").options("--impure --option= -I=").runs(&[Run::Package]),
    like(RUNS, "uvx").options("--from= --with= --python= -p="),
    like(MANAGER, "poetry").options("-C= --directory= -P= --project=").directory("-C --directory"),
    like(RUNS, "poetry run"),
    like(MANAGER, "pipenv").runs(&[Run::Recipes(&PIXI)]),
    program("poe").runs(&[Run::Recipes(&PIXI)]),
    like(RUNS, "pipenv run"),
    like(MANAGER, "conda"),
    like(RUNS, "conda run").options("-n= --name= -p= --prefix= --cwd="),
    like(MANAGER, "bundle").runs(&[Run::Recipes(&GEMFILE)]),
    like(RUNS, "bundle exec"),
    like(MANAGER, "gem"),
    program("gem sources").options("-a= --add= -r= --remove= -c --clear-all -u --update -l --list -f --force"),
    like(MANAGER, "crictl").options("-r= --runtime-endpoint= -c= --config= -t= --timeout="),
    program("crictl exec")
        .style(Style::Posix)
        .options("-i --interactive -t --tty -s --sync --timeout=")
        .runs(&[Run::Container(1)]),
    like(MANAGER, "nuget").style(Style::Single).options(
        "-Source= -source= -OutputDirectory= -Version= -ConfigFile= -Name= -ApiKey= -Verbosity= -NonInteractive",
    ),
    like(MANAGER, "composer").options("-d= --working-dir=").runs(&[Run::Recipes(&COMPOSER)]),
    like(MANAGER, "rbenv"),
    like(RUNS, "rbenv exec"),
    like(MANAGER, "mise").options("-C= --cd=").directory("-C --cd").runs(&[Run::Recipes(&MISE)]),
    like(MANAGER, "pixi").runs(&[Run::Recipes(&PIXI)]),
    like(RUNS, "pixi run").options("-e= --environment= --manifest-path="),
    like(RUNS, "mise exec")
        .options("-c= --command= -j=")
        .runs(&[Run::Option("-c --command"), Run::AfterDashes]),
    like(RUNS, "mise x")
        .options("-c= --command= -j=")
        .runs(&[Run::Option("-c --command"), Run::AfterDashes]),
    like(MANAGER, "asdf"),
    like(RUNS, "asdf exec"),
    program("nix-shell")
        .options("-p --packages --run= --command= -A= -E= -I= --argstr= --arg=")
        .runs(&[Run::Option("--run --command")]),
    like(MANAGER, "nix").options("--option= -I="),
    program("nix develop").options("-c --command --impure").runs(&[Run::AfterFlag("-c --command")]),
    program("nix shell").options("-c --command --impure").runs(&[Run::AfterFlag("-c --command")]),
    like(MANAGER, "apt").options("-o= -c= -t= -y --yes -q -f"),
    like(MANAGER, "apt-get").options("-o= -c= -t= -y --yes -q -f"),
    program("dpkg").options("-i -r --remove -P --purge -l --force-all -L -S"),
    like(MANAGER, "dnf").options("-y -q -c= --repo="),
    like(MANAGER, "yum").options("-y -q -c="),
    program("rpm").options("-i -U -e -q -V --root= --prefix= --nodeps"),
    like(MANAGER, "apk").options("-p= -X= -q"),
    program("pacman").options("-S -R -Q -U -y -u -s -n -c -r= -b= --noconfirm"),
    like(MANAGER, "brew"),
    like(MANAGER, "snap"),
    like(SANDBOXED, "snap run").runs(&[Run::Entry("--shell", 1)]),
    like(MANAGER, "flatpak"),
    like(SANDBOXED, "flatpak run")
        .options("--command= --branch= --arch= --env= --filesystem= --share= --socket= --device= -d --devel")
        .runs(&[Run::Entry("--command", 1)]),
    like(MANAGER, "rustup"),
    like(RUNS, "rustup run").options("--install").runs(&[Run::Words(1)]),
    // Containers.
    like(MANAGER, "docker")
        .options("-H= --host= -c= --context= --config= -l= --log-level= --tlscacert= --tlscert= --tlskey= -D")
        .prefix("container"),
    program("docker exec")
        .style(Style::Posix)
        .options("-e= --env= --env-file= -u= --user= -w= --workdir= --detach-keys= -d -i -t --privileged")
        .runs(&[Run::Container(1)]),
    program("docker run")
        .style(Style::Posix)
        .options(CONTAINER)
        .paths(MOUNTS)
        .recursive("always")
        .runs(&[Run::Container(1)])
        .classes(&[(Class::Network, "if -p --publish")]),
    program("docker create")
        .style(Style::Posix)
        .options(CONTAINER)
        .paths(MOUNTS)
        .recursive("always")
        .runs(&[Run::Container(1)]),
    program("docker compose")
        .style(Style::Posix)
        .options("-f= --file= -p= --project-name= --project-directory= --profile= --env-file= --ansi= -T")
        .runs(SERVICES)
        .with_subcommands(),
    like(COMPOSE, "docker compose exec"),
    like(COMPOSE, "docker compose run"),
    program("docker save")
        .options("-o= --output= --platform=")
        .paths(&["write -o --output"])
        .classes(&[(Class::Archive, "unless -o --output")]),
    program("docker export")
        .options("-o= --output=")
        .paths(&["write -o --output"])
        .classes(&[(Class::Archive, "unless -o --output")]),
    like(COPY, "docker cp"),
    like(COPY, "podman cp"),
    program("docker rm").options("-f --force -v --volumes -l"),
    program("docker system").options("-a --all -f --force --volumes --filter="),
    program("docker volume").options("-f --force -d= --driver= -o= --label= -a --all --filter="),
    like(BUILD, "docker build"),
    like(BUILD, "podman build"),
    program("docker-compose")
        .style(Style::Posix)
        .options("-f= --file= -p= --project-name= --project-directory= --profile= --env-file=")
        .runs(SERVICES)
        .with_subcommands(),
    like(COMPOSE, "docker-compose exec"),
    like(COMPOSE, "docker-compose run"),
    like(MANAGER, "podman")
        .options("--root= --runroot= --url= -c= --connection= --log-level=")
        .prefix("container"),
    program("podman exec")
        .style(Style::Posix)
        .options("-e= --env= -u= --user= -w= --workdir= -d -i -t --privileged")
        .runs(&[Run::Container(1)]),
    program("podman run")
        .style(Style::Posix)
        .options(CONTAINER)
        .paths(MOUNTS)
        .recursive("always")
        .runs(&[Run::Container(1)]),
    program("podman create")
        .style(Style::Posix)
        .options(CONTAINER)
        .paths(MOUNTS)
        .recursive("always")
        .runs(&[Run::Container(1)]),
    program("podman compose")
        .style(Style::Posix)
        .options("-f= --file= -p= --project-name= --profile=")
        .runs(SERVICES)
        .with_subcommands(),
    like(COMPOSE, "podman compose exec"),
    like(COMPOSE, "podman compose run"),
    like(RUNS, "podman unshare"),
    like(MANAGER, "lxc"),
    program("lxc exec").runs(&[Run::Container(1)]).style(Style::Posix),
    like(MANAGER, "kubectl")
        .options("-n= --namespace= --context= --kubeconfig= --cluster= --user= -s= --server= --token= --as= -v= --request-timeout="),
    program("kubectl exec")
        .options("-c= --container= -f= -i -t -n= --namespace= --context=")
        .runs(&[Run::AfterDashesContainer])
        .style(Style::Gnu),
    program("kubectl run")
        .options("--image= -n= --namespace= --context= --overrides= --restart= -l= --labels= --env= -i -t --rm --command")
        .runs(&[Run::AfterDashesContainer]),
    program("kubectl debug")
        .options("--image= -n= --namespace= --context= --target= --profile= -c= --container= -i -t")
        .runs(&[Run::AfterDashesContainer]),
    program("kubectl rsh")
        .options("-c= --container= -n= --namespace= -t -T")
        .style(Style::Posix)
        .runs(&[Run::Container(1)]),
    program("kubectl cp")
        .options("-c= --container= -n= --namespace= --context= --retries=")
        .paths(&["read first", "write second"])
        .recursive("always"),
    program("kubectl get")
        .options("-o= --output= -l= --selector= -f= --filename= -n= --namespace= --context= --field-selector= --sort-by= --template= -A --all-namespaces -w --watch")
        .paths(&["read -f --filename"]),
    program("kubectl delete")
        .options("-f= --filename= -k= -l= --selector= -n= --namespace= --context= --grace-period= --cascade= --timeout= --all --force --now -A --all-namespaces --dry-run?")
        .paths(&["read -f --filename"]),
    program("kubectl apply")
        .options("-f= --filename= -k= -l= -n= --namespace= --context= --dry-run? --prune --force")
        .paths(&["read -f --filename"]),
    like(MANAGER, "helm").options("-n= --namespace= --kube-context= --kubeconfig="),
    like(MANAGER, "vagrant"),
    // One command in many repositories or packages.
    like(MANAGER, "lerna"),
    like(RUNS, "lerna exec").options("--scope= --ignore= --concurrency="),
    like(MANAGER, "repo"),
    program("repo forall").options("-c= -p -v -j=").runs(&[Run::Option("-c")]),
    // Agents and their guards.
    like(MANAGER, "tenter").options("--project= --color="),
    program("apply_patch").style(Style::Posix),
    program("vagrant ssh").options("-c= --command= -p").runs(&[Run::OptionRemote("-c --command")]),
];

const CONTAINER: &str = "-a= --attach= --add-host= -c= --cap-add= --cap-drop= --cgroupns= --cidfile= --cpus= --cpuset-cpus= --device= --dns= --entrypoint= -e= --env= --env-file= --expose= \
    --gpus= --group-add= --health-cmd= -h= --hostname= --ip= --ipc= -l= --label= --link= --log-driver= --log-opt= -m= --memory= --mount= --name= --network= --net= --pid= --platform= -p= \
    --publish= --pull= --restart= --runtime= --security-opt= --shm-size= --stop-signal= --sysctl= --tmpfs= --ulimit= -u= --user= --userns= -v= --volume= --volumes-from= -w= --workdir= \
    -d --detach -i --interactive -t --tty --rm --privileged --init -P --read-only";
