//! Programs that prepare an environment, and then run the command in their operands.

use super::{GNU, Program, Run, SqlClient, Style, WRAPPER};

/// A program whose subcommands run commands.
const FAMILY: Program = Program { has_subcommands: true, ..GNU };

/// A program that runs the arguments after `--`.
const DASHES: Program = Program { runs: &[Run::AfterDashes], ..GNU };

/// A program that runs a command after one operand.
const SECOND: Program = Program { runs: &[Run::Words(1)], ..WRAPPER };

/// A program that runs a command in a container after one operand.
const IN_CONTAINER: Program = Program { style: Style::Posix, runs: &[Run::Container(1)], ..GNU };

/// A program that runs a script on several machines.
const ON_HOSTS: Program = Program { style: Style::Posix, runs: &[Run::Remote(0)], ..GNU };

pub(super) const PROGRAMS: &[Program] = &[
    // Secrets and variables.
    Program { name: "op", ..FAMILY },
    Program { name: "op run", ..DASHES },
    Program { name: "doppler", options: "-p= -c= --project= --config=", ..FAMILY },
    Program {
        name: "doppler run",
        options: "-p= -c= --project= --config= --command=",
        runs: &[Run::Option("--command"), Run::AfterDashes],
        ..GNU
    },
    Program { name: "infisical", ..FAMILY },
    Program {
        name: "infisical run",
        options: "--env= --path= --command=",
        runs: &[Run::Option("--command"), Run::AfterDashes],
        ..GNU
    },
    Program { name: "chamber", ..FAMILY },
    Program { name: "chamber exec", ..DASHES },
    Program { name: "aws-vault", ..FAMILY },
    Program { name: "aws-vault exec", ..DASHES },
    Program { name: "teller", ..FAMILY },
    Program { name: "teller run", ..DASHES },
    Program { name: "dotenvx", ..FAMILY },
    Program { name: "dotenvx run", options: "-f= --env=", ..DASHES },
    Program { name: "sops", ..FAMILY },
    Program {
        name: "sops exec-env",
        style: Style::Posix,
        paths: &["read first"],
        runs: &[Run::Script(1)],
        ..GNU
    },
    Program { name: "cross-env", runs: &[Run::Environment], ..WRAPPER },
    Program { name: "envdir", ..SECOND },
    // Managers of versions and processes.
    Program { name: "foreman", options: PROCFILE, runs: PROCESSES, ..FAMILY },
    Program { name: "foreman run", options: "-e= -f= -d=", ..WRAPPER },
    Program { name: "honcho", options: PROCFILE, runs: PROCESSES, ..FAMILY },
    Program { name: "overmind", options: PROCFILE, runs: PROCESSES, ..GNU },
    Program { name: "hivemind", options: PROCFILE, runs: PROCESSES, ..GNU },
    Program { name: "goreman", options: PROCFILE, runs: PROCESSES, ..GNU },
    Program { name: "honcho run", ..WRAPPER },
    Program { name: "hatch", options: "-e= --env= -p= --project=", ..FAMILY },
    Program { name: "hatch run", style: Style::Posix, runs: &[Run::Script(0)], ..GNU },
    Program { name: "pdm", runs: &[Run::Recipes(&super::packages::PIXI)], ..FAMILY },
    Program { name: "pdm run", options: "-p= -s", ..WRAPPER },
    Program { name: "pyenv", ..FAMILY },
    Program { name: "pyenv exec", ..WRAPPER },
    Program { name: "nodenv", ..FAMILY },
    Program { name: "nodenv exec", ..WRAPPER },
    Program { name: "pm2", ..FAMILY },
    Program { name: "pm2 start", options: "-n= --name= -i= --interpreter= --watch", ..WRAPPER },
    Program { name: "volta", ..FAMILY },
    Program { name: "volta run", options: "--node= --npm= --yarn=", ..WRAPPER },
    Program { name: "fnm", ..FAMILY },
    Program { name: "fnm exec", options: "--using=", ..WRAPPER },
    Program { name: "devbox", ..FAMILY },
    Program { name: "devbox run", options: "-c= -e=", ..WRAPPER },
    Program { name: "watchexec", options: "-w= -e= -f= -i= -d= -s= --shell=", ..WRAPPER },
    Program { name: "onchange", ..DASHES },
    Program {
        name: "chokidar",
        options: "-c= --command=",
        runs: &[Run::Option("-c --command")],
        ..GNU
    },
    Program {
        name: "rush",
        options: "-j= -n= -d= -D= -i= -k",
        style: Style::Posix,
        runs: &[Run::Script(0)],
        ..GNU
    },
    Program { name: "ts", options: "-S= -L= -n -f -m -d", ..WRAPPER },
    Program { name: "nq", options: "-c -q -w", ..WRAPPER },
    Program { name: "pueue", ..FAMILY },
    Program {
        name: "pueue add",
        options: "-w= -d= -l= -g=",
        style: Style::Posix,
        runs: &[Run::Script(0)],
        ..GNU
    },
    // Supervisors and limits.
    Program {
        name: "start-stop-daemon",
        options: "-S --start -K --stop -x= --exec= -a= --startas= -p= --pidfile= -u= --user= -c= --chuid= -d= --chdir= -n= --name= -b -m",
        directory: "-d --chdir",
        runs: &[
            Run::Entry("-x", 0),
            Run::Entry("--exec", 0),
            Run::Entry("-a", 0),
            Run::Entry("--startas", 0),
        ],
        ..GNU
    },
    Program {
        name: "chpst",
        options: "-u= -U= -b= -e= -/= -n= -l= -L= -m= -d= -o= -p= -f= -c= -r= -t=",
        ..WRAPPER
    },
    Program {
        name: "softlimit",
        options: "-a= -c= -d= -f= -l= -m= -o= -p= -r= -s= -t=",
        ..WRAPPER
    },
    Program { name: "setuidgid", ..SECOND },
    Program { name: "s6-setuidgid", ..SECOND },
    Program { name: "dumb-init", options: "-c -v -r=", ..WRAPPER },
    Program { name: "tini", options: "-p= -e= -s -v -g -w", ..WRAPPER },
    Program { name: "eatmydata", ..WRAPPER },
    Program { name: "shx", ..WRAPPER },
    Program { name: "proxychains4", options: "-f= -q", ..WRAPPER },
    Program { name: "torsocks", options: "-u= -p= -i -q", ..WRAPPER },
    Program { name: "proot", options: "-r= -b= -q= -w= -S= -R= -0", ..WRAPPER },
    Program {
        name: "arch",
        options: "-e= -c -h -x86_64 -arm64 -arch=",
        style: Style::Single,
        runs: &[Run::Words(0)],
        ..GNU
    },
    // Containers and virtual machines.
    Program { name: "distrobox", ..FAMILY },
    Program {
        name: "distrobox enter",
        options: "-n= --name= -r",
        runs: &[Run::AfterDashesContainer],
        ..GNU
    },
    Program { name: "flatpak-spawn", options: "--host --watch-bus --clear-env", ..WRAPPER },
    Program { name: "incus", ..FAMILY },
    Program { name: "incus exec", ..IN_CONTAINER },
    Program { name: "multipass", ..FAMILY },
    Program { name: "multipass exec", ..IN_CONTAINER },
    Program { name: "limactl", ..FAMILY },
    Program { name: "limactl shell", options: "--workdir=", ..IN_CONTAINER },
    Program { name: "apptainer", ..FAMILY },
    Program { name: "apptainer exec", options: "-B= --bind= -H= --home= --pwd=", ..IN_CONTAINER },
    Program { name: "adb", options: "-s= -t=", ..FAMILY },
    Program { name: "adb shell", ..ON_HOSTS },
    // Consoles of platforms and clouds.
    Program { name: "heroku", options: "-a= --app= -r= --remote=", ..FAMILY },
    Program {
        name: "heroku pg:psql",
        options: "-a= --app= -r= --remote= -c= --command= -f= --file=",
        runs: &[Run::Sql(SqlClient {
            options: "-c --command",
            operands: usize::MAX,
            files: "-f --file",
        })],
        ..GNU
    },
    Program {
        name: "heroku run",
        options: "-a= --app= -r= --remote= -s= --size= -e= --env= --type= -x --exit-code",
        ..ON_HOSTS
    },
    Program { name: "fly", options: "-a= --app= -c= --config= -t= --access-token=", ..FAMILY },
    Program { name: "fly ssh", options: FLY, runs: &[Run::OptionRemote("-C --command")], ..GNU },
    Program {
        name: "doctl",
        options: "-t= --access-token= -c= --config= --context= -o= --output=",
        ..FAMILY
    },
    Program {
        name: "doctl compute",
        options: "--ssh-command= --ssh-user= --region= --size= --image= -f --force",
        runs: &[Run::OptionRemote("--ssh-command")],
        ..GNU
    },
    Program {
        name: "az vm",
        options: "--scripts= -g= --resource-group= -n= --name= --command-id=",
        runs: &[Run::OptionRemote("--scripts")],
        ..GNU
    },
    Program {
        name: "aws ssm",
        options: "--parameters= --instance-ids= --targets= --document-name= --name= --names= --path= --value= --type=",
        runs: &[Run::ListRemote("--parameters", "commands")],
        ..GNU
    },
    Program {
        name: "aws rds-data",
        options: "--sql= --database= --resource-arn= --secret-arn=",
        runs: &[Run::Sql(SqlClient { options: "--sql", operands: usize::MAX, files: "" })],
        ..GNU
    },
    Program {
        name: "aws athena",
        options: "--query-string= --work-group= --result-configuration=",
        runs: &[Run::Sql(SqlClient { options: "--query-string", operands: usize::MAX, files: "" })],
        ..GNU
    },
    Program {
        name: "aws ecs",
        options: "--command= --cluster= --task= --container= --service= --services= --desired-count= --force --interactive",
        runs: &[Run::OptionRemote("--command")],
        ..GNU
    },
    Program { name: "cf", ..FAMILY },
    Program {
        name: "cf ssh",
        options: "-c= --command= -i= -L=",
        runs: &[Run::OptionRemote("-c --command")],
        ..GNU
    },
    Program { name: "eb", options: "-e= --environment= --profile= -r= --region=", ..FAMILY },
    Program {
        name: "eb ssh",
        options: "-c= --command= -n= -i= -e=",
        runs: &[Run::OptionRemote("-c --command -e")],
        ..GNU
    },
    Program { name: "railway", ..FAMILY },
    Program { name: "railway run", options: "-s= --service= -e= --environment=", ..WRAPPER },
    Program {
        name: "railway ssh",
        options: "-s= --service= -e= --environment= -p= --project=",
        ..ON_HOSTS
    },
    Program { name: "dokku", ..FAMILY },
    Program { name: "dokku run", style: Style::Posix, runs: &[Run::Remote(1)], ..GNU },
    Program { name: "scalingo", options: "-a= --app= --region=", ..FAMILY },
    Program { name: "scalingo run", options: "-a= --app= --region= --size= -d", ..ON_HOSTS },
    Program { name: "tsh", ..FAMILY },
    Program {
        name: "tsh ssh",
        options: "-l= --login= -p= --cluster= --proxy=",
        style: Style::Posix,
        runs: &[Run::Remote(1)],
        ..GNU
    },
    Program { name: "tailscale", ..FAMILY },
    Program { name: "tailscale ssh", style: Style::Posix, runs: &[Run::Remote(1)], ..GNU },
    Program { name: "nomad", ..FAMILY },
    Program {
        name: "nomad exec",
        options: "-job= -task= -i -t",
        style: Style::Single,
        runs: &[Run::Container(1)],
        ..GNU
    },
    Program {
        name: "nomad alloc",
        options: "-job= -task= -i -t",
        style: Style::Single,
        runs: &[Run::After("exec", 2)],
        ..GNU
    },
    // Clusters and many machines.
    Program { name: "srun", options: "-n= -N= -c= -p= -t= -J= -A= -o= -e= -w=", ..WRAPPER },
    Program {
        name: "mpirun",
        options: "-n= -np= -N= -H= --host= --hostfile=",
        style: Style::Single,
        runs: &[Run::Words(0)],
        ..GNU
    },
    Program { name: "pssh", options: "-h= -H= -l= -p= -o= -e= -t= -O= -i -A -P", ..ON_HOSTS },
    Program {
        name: "parallel-ssh",
        options: "-h= -H= -l= -p= -o= -e= -t= -O= -i -A -P",
        ..ON_HOSTS
    },
    Program { name: "pdsh", options: "-w= -x= -g= -l= -f= -u= -R= -a", ..ON_HOSTS },
    Program { name: "clush", options: "-w= -x= -g= -l= -f= -u= -a -b", ..ON_HOSTS },
    Program { name: "dsh", options: "-m= -g= -f= -r= -a -c -M -w", ..ON_HOSTS },
];

const PROCFILE: &str = "-e= -f= -d= --procfile=";
const PROCESSES: &[Run] = &[Run::Recipes(&super::languages::PROCFILES)];

const FLY: &str =
    "-C= --command= -a= --app= -r= --region= -u= --user= --machine= -s --select --pty";
