//! Interpreters of other languages, build tools and test runners.

use crate::facts::{Class, Language};

use super::rows::{like, program};
use super::{GNU, Inline, Interpreter, Program, Run, Style};

const fn interpreter(language: Language, inline: &'static str) -> Interpreter {
    let inline = Inline::Values(inline);
    Interpreter {
        language: Some(language),
        inline,
        module: "",
        no_program: "--version --help",
        stdin: "",
    }
}

/// Creates an interpreter whose first operand is a program.
const fn interpreter_of_operand(language: Language) -> Interpreter {
    Interpreter {
        inline: Inline::ValuesOrOperand(""),
        no_program: "--help",
        ..interpreter(language, "")
    }
}

const PYTHON: Program = GNU
    .style(Style::Posix)
    .options("-c= -m= -W= -X= -Q= -u -B -E -I -O -s -S -i -v -V --version -h --help")
    .interpreter(Interpreter {
        language: Some(Language::Python),
        inline: Inline::Values("-c"),
        module: "-m",
        no_program: "-V --version -h --help",
        stdin: "",
    });

/// `python -m zipfile -c a.zip b`.
const MODULE_FOR_ARCHIVES: Program = GNU
    .options("-c= -e= -l= -t= --create= --extract= --list= --test=")
    .paths(&["read operands if -c --create", "write -c --create", "write operands if -e --extract"])
    .recursive("always");

const NODE: Program = GNU
    .style(Style::Posix)
    .options("-e= --eval= -p= --print= -r= --require= --import= -i -v --version -h --help --input-type= --env-file= --loader= -c --check")
    .interpreter(interpreter(Language::Node, "-e --eval -p --print"))
    .paths(&["execute -r --require --import"]);

/// PowerShell, whose options have one dash.
const POWERSHELL: Program = GNU
    .style(Style::Caseless)
    .options("-Command= -CommandWithArgs= -cwa= -File= -EncodedCommand= -ec= -ExecutionPolicy= -ep= -WindowStyle= -WorkingDirectory= -wd= -InputFormat= -if= -OutputFormat= -of= -PSConsoleFile= -ConfigurationName= -CustomPipeName= -SettingsFile= -Version= -NoLogo -NoExit -NonInteractive -NoProfile -Login -MTA -STA -Interactive -i -help")
    .interpreter(Interpreter {
        no_program: "-File -EncodedCommand -ec",
        ..interpreter(Language::Powershell, "-Command -CommandWithArgs -cwa")
    })
    .paths(&["execute -File"])
    .classes(INTERPRETER);

const AWK: Program = GNU
    .style(Style::Posix)
    .options("-f= --file= -v= --assign= -F= --field-separator= -e= --source= -i= --include= -l=")
    .paths(&[
        "read rest unless -f --file -e --source",
        "read operands if -f --file -e --source",
        "execute -f --file",
        "write rest if -i --include unless -f --file",
    ])
    .interpreter(Interpreter {
        language: Some(Language::Awk),
        inline: Inline::ValuesOrOperand("-e --source"),
        module: "-f --file",
        no_program: "--version",
        stdin: "",
    })
    .classes(&[(Class::PassThrough, ""), (Class::Interpreter, "if -f --file")]);

const INTERPRETER: &[(Class, &str)] = &[(Class::Interpreter, "")];

/// A program that runs what is in the project.
const BUILD: Program = GNU.style(Style::Posix);

pub(super) const PROGRAMS: &[Program] = &[
    like(PYTHON, "python").classes(INTERPRETER),
    like(PYTHON, "pypy").classes(INTERPRETER),
    like(NODE, "node").classes(INTERPRETER),
    program("json.tool")
        .options("--sort-keys --json-lines --indent= --compact --no-ensure-ascii")
        .paths(&["read first", "write second"]),
    program("timeit")
        .style(Style::Posix)
        .options("-n= --number= -r= --repeat= -s= --setup= -u= --unit= -p --process -v --verbose")
        .interpreter(interpreter_of_operand(Language::Python)),
    program("http.server")
        .options("-d= --directory= -b=")
        .paths(&["read -d --directory"])
        .recursive("always"),
    like(MODULE_FOR_ARCHIVES, "zipfile"),
    like(MODULE_FOR_ARCHIVES, "tarfile"),
    like(NODE, "nodejs").classes(INTERPRETER),
    program("bun")
        .style(Style::Posix)
        .options("-e= --eval= -p= --print= -r= --preload= --cwd=")
        .interpreter(interpreter(Language::Node, "-e --eval -p --print"))
        .runs(&[
            Run::After("x", 1),
            Run::AfterScript("exec"),
            Run::Recipes(&super::packages::PACKAGE),
        ])
        .classes(INTERPRETER)
        .directory("--cwd"),
    program("deno")
        .with_subcommands()
        .runs(&[Run::Recipes(&super::languages::DENO)])
        .classes(INTERPRETER),
    program("deno eval")
        .style(Style::Posix)
        .options("-p --print --ext=")
        .interpreter(interpreter_of_operand(Language::Node)),
    program("deno run")
        .style(Style::Posix)
        .options("-A --allow-all -c= --config= -q --import-map=")
        .interpreter(interpreter(Language::Node, ""))
        .runs(&[Run::Package]),
    program("tsx")
        .style(Style::Posix)
        .options("-e= --eval= -p= --tsconfig=")
        .interpreter(interpreter(Language::Node, "-e --eval -p"))
        .classes(INTERPRETER),
    program("ts-node")
        .style(Style::Posix)
        .options("-e= --eval= -p= -P= --project= -T")
        .interpreter(interpreter(Language::Node, "-e --eval -p"))
        .classes(INTERPRETER),
    program("zx")
        .options("-e= --eval= --shell= --prefix= --quiet")
        .style(Style::Posix)
        .interpreter(interpreter(Language::Node, "-e --eval"))
        .classes(INTERPRETER),
    program("perl")
        .style(Style::Posix)
        .options("-e= -E= -I= -M= -m= -i? -0? -F? -l? -x? -C? -D? -n -p -a -w -W -c -s -S -t -T -u -U -v -V?")
        .interpreter(interpreter(Language::Perl, "-e -E"))
        .paths(&["write operands if -i and -e -E", "read operands if -e -E unless -i"])
        .classes(INTERPRETER),
    program("ruby")
        .style(Style::Posix)
        .options("-e= -I= -r= -C= -E= -F? -i? -0? -K? -x? -n -p -a -l -s -S -w -W? -v --version -h --help -c")
        .interpreter(interpreter(Language::Ruby, "-e"))
        .paths(&["write operands if -i and -e", "read operands if -e unless -i"])
        .classes(INTERPRETER),
    program("php")
        .style(Style::Posix)
        .options("-r= -f= -B= -R= -F= -E= -S= -t= -c= -d= -z= -n -a -l -i -m -v --version -h --help -q -s -w")
        .interpreter(interpreter(Language::Php, "-r -B -R -E"))
        .paths(&["execute -f", "read -t if -S"])
        .recursive("-S")
        .classes(INTERPRETER),
    like(AWK, "awk"),
    like(AWK, "gawk"),
    like(AWK, "mawk"),
    like(AWK, "nawk"),
    like(POWERSHELL, "pwsh"),
    // That of Windows runs its operands as `-Command`.
    like(POWERSHELL, "powershell").interpreter(Interpreter {
        inline: Inline::ValuesOrOperand("-Command"),
        no_program: "-File -EncodedCommand -ec",
        ..interpreter(Language::Powershell, "")
    }),
    program("java")
        .style(Style::Posix)
        .options("-cp= -classpath= --class-path= -jar= -p= -m= --module-path=")
        .paths(&["execute -jar"]),
    program("ninja").options("-C= -f= -j= -k= -l= -t= -d= -w= -n -v").directory("-C"),
    program("cmake")
        .options("-S= -B= -G= -D= -E -P= --build= --install= --prefix= -C= -T= -A= --preset= --target= -t= -j?")
        .paths(&["create -B", "execute -P"])
        .runs(&[Run::AfterFlag("-E"), Run::Recipes(&super::languages::CMAKE)]),
    program("cargo")
        .options("-C= --config= -Z= --color= -q -v --offline --locked --frozen")
        .directory("-C")
        .with_subcommands()
        .runs(&[
            Run::Recipes(&super::languages::CRATE),
            Run::Recipes(&super::languages::CARGO_SETTINGS),
        ]),
    program("cargo install")
        .options("--git= --path= --version= --vers= --branch= --tag= --rev= --registry= --root= --bin= --example= -F= --features= -j= --jobs= --target= --target-dir= --profile= -f --force --locked")
        .paths(&["create --root"]),
    like(BUILD, "cargo run")
        .style(Style::Posix)
        .options("--bin= --example= -p= --package= -F= --features= --profile= -j= --target= --target-dir= --manifest-path= --message-format= -r --release -q -v"),
    program("cargo watch")
        .style(Style::Posix)
        .options("-x= --exec= -s= --shell= -w= --watch= -i= --ignore= -C= -c -q")
        .runs(&[Run::Option("-s --shell"), Run::AfterDashes]),
    program("cargo publish")
        .options("--index= --registry= --token= -p= --package= --target-dir= --manifest-path= -n --dry-run --allow-dirty --no-verify"),
    program("cargo clean")
        .options("-p= --package= --target-dir= --target= --manifest-path= --profile= -r --release --doc -n --dry-run")
        .paths(&["delete --target-dir unless -n --dry-run"])
        .recursive("always"),
    program("go").with_subcommands().options("-C=").directory("-C"),
    program("go run")
        .style(Style::Posix)
        .options("-exec= -ldflags= -tags= -mod=")
        .runs(&[Run::Option("-exec"), Run::Recipes(&super::languages::SOURCES)]),
    program("go install").style(Style::Single).options("-ldflags= -tags= -mod= -o="),
    program("go test")
        .style(Style::Single)
        .options("-run= -bench= -count= -timeout= -tags= -exec= -coverprofile= -cpuprofile= -memprofile= -blockprofile= -mutexprofile= -trace= -outputdir= -toolexec= -o= -v -race -short")
        .paths(&[
            "write -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -o",
            "create -outputdir",
        ])
        .runs(&[Run::Option("-exec -toolexec")]),
    program("go build")
        .style(Style::Single)
        .options("-o= -tags= -ldflags= -gcflags= -mod= -p= -toolexec= -overlay= -pgo= -v -race -x -n -a")
        .paths(&["write -o", "read -overlay"])
        .runs(&[Run::Option("-toolexec")]),
    program("dotnet").with_subcommands(),
    program("dotnet publish")
        .style(Style::Single)
        .options("-c= -o= -r= -f= -a= --configuration= --output= --runtime= --framework= --self-contained?")
        .paths(&["create -o --output"]),
    program("mvn").options("-f= -P= -D= -pl= -s="),
    program("gradle")
        .options("-p= -b= -c= -g= -P= -D=")
        .directory("-p")
        .runs(&[Run::Recipes(&super::languages::GRADLE)]),
    program("gcc")
        .options("-o= -I= -L= -l= -D= -x= -std= -c -S -E -O? -g -W?")
        .paths(&["read operands", "write -o"])
        .runs(&[Run::Recipes(&super::languages::SOURCES)]),
    program("cc")
        .options("-o= -I= -L= -l= -D= -x= -c -S -E -O? -g -W?")
        .paths(&["read operands", "write -o"])
        .runs(&[Run::Recipes(&super::languages::SOURCES)]),
    program("pytest")
        .options("-k= -m= -n= -c= -o= -p= --rootdir= --maxfail= -x -v -q -s")
        .runs(&[Run::Recipes(&super::languages::PYTEST)]),
    program("terraform")
        .with_subcommands()
        .style(Style::Single)
        .options("-chdir=")
        .directory("-chdir"),
    program("terraform destroy")
        .style(Style::Single)
        .options("-target= -var= -var-file= -auto-approve"),
    program("terraform apply")
        .style(Style::Single)
        .options("-target= -var= -var-file= -auto-approve -destroy"),
    program("terraform plan")
        .style(Style::Single)
        .options("-out= -target= -var= -var-file= -generate-config-out= -destroy -no-color")
        .paths(&["write -out -generate-config-out", "read -var-file"]),
    program("javac")
        .style(Style::Single)
        .options("-d= -s= -h= -cp= -classpath= -sourcepath=")
        .paths(&["create -d -s -h", "read operands"]),
    program("rustc")
        .options("-o= --out-dir= --crate-type= --edition= -C= -L= -l= --emit= --cfg= -W= -A= -D= -O -g -V --version")
        .paths(&["write -o", "create --out-dir", "read operands"])
        .runs(&[Run::Recipes(&super::languages::SOURCES)]),
    program("ffmpeg")
        .style(Style::Single)
        .options("-i= -f= -c= -t= -ss= -vf= -af= -r= -b= -y -n")
        .paths(&["read -i", "write operands"]),
    program("convert").style(Style::Single).paths(&["read init", "write last"]),
    program("strip").options("-o= -s -g -d -S -R= -K= -N=").paths(&["write operands -o"]),
    program("objcopy")
        .options("-I= -O= -B= -j= -R= -S -g --only-section= --add-section= --strip-all")
        .paths(&["read first", "write last"]),
];
