//! Programs that prepare an environment, and then run the command in their operands.

use super::rows::{like, program};
use super::{GNU, Program, Run, SqlClient, Style, WRAPPER};

/// A program whose subcommands run commands.
const FAMILY: Program = GNU.with_subcommands();

/// A program that runs the arguments after `--`.
const DASHES: Program = GNU.runs(&[Run::AfterDashes]);

/// A program that runs a command after one operand.
const SECOND: Program = WRAPPER.runs(&[Run::Words(1)]);

/// A program that runs a command in a container after one operand.
const IN_CONTAINER: Program = GNU.style(Style::Posix).runs(&[Run::Container(1)]);

/// A program that runs a script on several machines.
const ON_HOSTS: Program = GNU.style(Style::Posix).runs(&[Run::Remote(0)]);

pub(super) const PROGRAMS: &[Program] = &[
    // Secrets and variables.
    like(FAMILY, "op"),
    like(DASHES, "op run"),
    like(FAMILY, "doppler").options("-p= -c= --project= --config="),
    program("doppler run")
        .options("-p= -c= --project= --config= --command=")
        .runs(&[Run::Option("--command"), Run::AfterDashes]),
    like(FAMILY, "infisical"),
    program("infisical run")
        .options("--env= --path= --command=")
        .runs(&[Run::Option("--command"), Run::AfterDashes]),
    like(FAMILY, "chamber"),
    like(DASHES, "chamber exec"),
    like(FAMILY, "aws-vault"),
    like(DASHES, "aws-vault exec"),
    like(FAMILY, "teller"),
    like(DASHES, "teller run"),
    like(FAMILY, "dotenvx"),
    like(DASHES, "dotenvx run").options("-f= --env="),
    like(FAMILY, "sops"),
    program("sops exec-env").style(Style::Posix).paths(&["read first"]).runs(&[Run::Script(1)]),
    like(WRAPPER, "cross-env").runs(&[Run::Environment]),
    like(SECOND, "envdir"),
    // Managers of versions and processes.
    like(FAMILY, "foreman").options(PROCFILE).runs(PROCESSES),
    like(WRAPPER, "foreman run").options("-e= -f= -d="),
    like(FAMILY, "honcho").options(PROCFILE).runs(PROCESSES),
    program("overmind").options(PROCFILE).runs(PROCESSES),
    program("hivemind").options(PROCFILE).runs(PROCESSES),
    program("goreman").options(PROCFILE).runs(PROCESSES),
    like(WRAPPER, "honcho run"),
    like(FAMILY, "hatch").options("-e= --env= -p= --project="),
    program("hatch run").style(Style::Posix).runs(&[Run::Script(0)]),
    like(FAMILY, "pdm").runs(&[Run::Recipes(&super::packages::PIXI)]),
    like(WRAPPER, "pdm run").options("-p= -s"),
    like(FAMILY, "pyenv"),
    like(WRAPPER, "pyenv exec"),
    like(FAMILY, "nodenv"),
    like(WRAPPER, "nodenv exec"),
    like(FAMILY, "pm2"),
    like(WRAPPER, "pm2 start").options("-n= --name= -i= --interpreter= --watch"),
    like(FAMILY, "volta"),
    like(WRAPPER, "volta run").options("--node= --npm= --yarn="),
    like(FAMILY, "fnm"),
    like(WRAPPER, "fnm exec").options("--using="),
    like(FAMILY, "devbox"),
    like(WRAPPER, "devbox run").options("-c= -e="),
    like(WRAPPER, "watchexec").options("-w= -e= -f= -i= -d= -s= --shell="),
    like(DASHES, "onchange"),
    program("chokidar").options("-c= --command=").runs(&[Run::Option("-c --command")]),
    program("rush").options("-j= -n= -d= -D= -i= -k").style(Style::Posix).runs(&[Run::Script(0)]),
    like(WRAPPER, "ts").options("-S= -L= -n -f -m -d"),
    like(WRAPPER, "nq").options("-c -q -w"),
    like(FAMILY, "pueue"),
    program("pueue add").options("-w= -d= -l= -g=").style(Style::Posix).runs(&[Run::Script(0)]),
    // Supervisors and limits.
    program("start-stop-daemon")
        .options("-S --start -K --stop -x= --exec= -a= --startas= -p= --pidfile= -u= --user= -c= --chuid= -d= --chdir= -n= --name= -b -m")
        .directory("-d --chdir")
        .runs(&[
            Run::Entry("-x", 0),
            Run::Entry("--exec", 0),
            Run::Entry("-a", 0),
            Run::Entry("--startas", 0),
        ]),
    like(WRAPPER, "chpst")
        .options("-u= -U= -b= -e= -/= -n= -l= -L= -m= -d= -o= -p= -f= -c= -r= -t="),
    like(WRAPPER, "softlimit").options("-a= -c= -d= -f= -l= -m= -o= -p= -r= -s= -t="),
    like(SECOND, "setuidgid"),
    like(SECOND, "s6-setuidgid"),
    like(WRAPPER, "dumb-init").options("-c -v -r="),
    like(WRAPPER, "tini").options("-p= -e= -s -v -g -w"),
    like(WRAPPER, "eatmydata"),
    like(WRAPPER, "shx"),
    // What is typed may reach a terminal.
    program("xdotool").style(Style::Posix).runs(&[Run::AfterScript("type")]),
    program("ydotool").style(Style::Posix).runs(&[Run::AfterScript("type")]),
    like(WRAPPER, "proxychains4").options("-f= -q"),
    like(WRAPPER, "torsocks").options("-u= -p= -i -q"),
    like(WRAPPER, "proot").options("-r= -b= -q= -w= -S= -R= -0"),
    program("arch")
        .options("-e= -c -h -x86_64 -arm64 -arch=")
        .style(Style::Single)
        .runs(&[Run::Words(0)]),
    // Containers and virtual machines.
    like(FAMILY, "toolbox"),
    program("toolbox run")
        .style(Style::Posix)
        .options("-c= --container= -d= --distro= -r= --release=")
        .runs(&[Run::Container(0)]),
    like(WRAPPER, "wsl").options("-d= --distribution= -u= --user= --cd= -e --exec --system"),
    like(WRAPPER, "wine"),
    program("cmd").style(Style::Posix),
    like(FAMILY, "distrobox"),
    program("distrobox enter").options("-n= --name= -r").runs(&[Run::AfterDashesContainer]),
    like(WRAPPER, "flatpak-spawn").options("--host --watch-bus --clear-env"),
    like(FAMILY, "incus"),
    like(IN_CONTAINER, "incus exec"),
    like(FAMILY, "multipass"),
    like(IN_CONTAINER, "multipass exec"),
    like(FAMILY, "limactl"),
    like(IN_CONTAINER, "limactl shell").options("--workdir="),
    like(FAMILY, "apptainer"),
    like(IN_CONTAINER, "apptainer exec").options("-B= --bind= -H= --home= --pwd="),
    like(FAMILY, "adb").options("-s= -t="),
    like(ON_HOSTS, "adb shell"),
    // Consoles of platforms and clouds.
    like(FAMILY, "heroku").options("-a= --app= -r= --remote="),
    program("heroku pg:psql")
        .options("-a= --app= -r= --remote= -c= --command= -f= --file=")
        .runs(&[Run::Sql(SqlClient {
            options: "-c --command",
            operands: usize::MAX,
            files: "-f --file",
        })]),
    like(ON_HOSTS, "heroku run")
        .options("-a= --app= -r= --remote= -s= --size= -e= --env= --type= -x --exit-code"),
    like(FAMILY, "fly").options("-a= --app= -c= --config= -t= --access-token="),
    program("fly ssh").options(FLY).runs(&[Run::OptionRemote("-C --command")]),
    like(FAMILY, "doctl").options("-t= --access-token= -c= --config= --context= -o= --output="),
    program("doctl compute")
        .options("--ssh-command= --ssh-user= --region= --size= --image= -f --force")
        .runs(&[Run::OptionRemote("--ssh-command")]),
    program("az vm")
        .options("--scripts= -g= --resource-group= -n= --name= --command-id=")
        .runs(&[Run::OptionRemote("--scripts")]),
    program("aws ssm")
        .options("--parameters= --instance-ids= --targets= --document-name= --name= --names= --path= --value= --type=")
        .runs(&[
            Run::ListRemote("--parameters", "commands"),
            Run::ListRemote("--parameters", "command="),
        ]),
    program("aws rds-data")
        .options("--sql= --database= --resource-arn= --secret-arn=")
        .runs(&[Run::Sql(SqlClient { options: "--sql", operands: usize::MAX, files: "" })]),
    program("aws athena")
        .options("--query-string= --work-group= --result-configuration=")
        .runs(&[Run::Sql(SqlClient { options: "--query-string", operands: usize::MAX, files: "" })]),
    program("aws ecs")
        .options("--command= --cluster= --task= --container= --service= --services= --desired-count= --force --interactive")
        .runs(&[Run::OptionRemote("--command")]),
    like(FAMILY, "cf"),
    program("cf ssh").options("-c= --command= -i= -L=").runs(&[Run::OptionRemote("-c --command")]),
    like(FAMILY, "eb").options("-e= --environment= --profile= -r= --region="),
    program("eb ssh")
        .options("-c= --command= -n= -i= -e=")
        .runs(&[Run::OptionRemote("-c --command -e")]),
    like(FAMILY, "railway"),
    like(WRAPPER, "railway run").options("-s= --service= -e= --environment="),
    like(ON_HOSTS, "railway ssh").options("-s= --service= -e= --environment= -p= --project="),
    like(FAMILY, "dokku"),
    program("dokku run").style(Style::Posix).runs(&[Run::Remote(1)]),
    like(FAMILY, "scalingo").options("-a= --app= --region="),
    like(ON_HOSTS, "scalingo run").options("-a= --app= --region= --size= -d"),
    like(FAMILY, "tsh"),
    program("tsh ssh")
        .options("-l= --login= -p= --cluster= --proxy=")
        .style(Style::Posix)
        .runs(&[Run::Remote(1)]),
    like(FAMILY, "tailscale"),
    program("tailscale ssh").style(Style::Posix).runs(&[Run::Remote(1)]),
    like(FAMILY, "nomad"),
    program("nomad exec")
        .options("-job= -task= -i -t")
        .style(Style::Single)
        .runs(&[Run::Container(1)]),
    program("nomad alloc")
        .options("-job= -task= -i -t")
        .style(Style::Single)
        .runs(&[Run::After("exec", 2)]),
    like(FAMILY, "helmfile")
        .options("-e= --environment= -f= --file= -l= --selector= -n= --namespace= --kube-context= --log-level="),
    // Clusters and many machines.
    like(WRAPPER, "srun").options("-n= -N= -c= -p= -t= -J= -A= -o= -e= -w="),
    program("mpirun")
        .options("-n= -np= -N= -H= --host= --hostfile=")
        .style(Style::Single)
        .runs(&[Run::Words(0)]),
    like(ON_HOSTS, "pssh").options("-h= -H= -l= -p= -o= -e= -t= -O= -i -A -P"),
    like(ON_HOSTS, "parallel-ssh").options("-h= -H= -l= -p= -o= -e= -t= -O= -i -A -P"),
    like(ON_HOSTS, "pdsh").options("-w= -x= -g= -l= -f= -u= -R= -a"),
    like(ON_HOSTS, "clush").options("-w= -x= -g= -l= -f= -u= -a -b"),
    like(ON_HOSTS, "dsh").options("-m= -g= -f= -r= -a -c -M -w"),
];

const PROCFILE: &str = "-e= -f= -d= --procfile=";
const PROCESSES: &[Run] = &[Run::Recipes(&super::languages::PROCFILES)];

const FLY: &str =
    "-C= --command= -a= --app= -r= --region= -u= --user= --machine= -s --select --pty";
