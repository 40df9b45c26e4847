//! Interpreters of languages in which only calls with common names are read, and programs that run recipes from a file.

use crate::facts::{Class, Language};

use super::rows::{like, program};
use super::{
    Form, GNU, Inline, Interpreter, NO_FILES, Program, RecipeFiles, Run, SqlClient, Style,
};

const INTERPRETER: &[(Class, &str)] = &[(Class::Interpreter, "")];

/// An interpreter with a program in `-e`, in a file, or on the standard input.
const EXPRESSION: Program =
    GNU.style(Style::Posix).options("-e=").interpreter(interpreter("-e")).classes(INTERPRETER);

const fn interpreter(inline: &'static str) -> Interpreter {
    Interpreter {
        language: Some(Language::Other),
        inline: Inline::Values(inline),
        module: "",
        no_program: "--version --help",
        stdin: "",
    }
}

/// A program in a file or on the standard input.
const STANDARD_INPUT: Program = GNU
    .style(Style::Posix)
    .interpreter(interpreter(""))
    .classes(INTERPRETER)
    .paths(&["execute first"]);

const FAMILY: Program = GNU.with_subcommands();

const fn runner(language: Language, inline: Inline) -> Interpreter {
    Interpreter { language: Some(language), inline, stdin: "*", ..interpreter("") }
}

const RUNNER_OF_PYTHON: Program =
    GNU.interpreter(runner(Language::Python, Inline::Values("-c --command"))).classes(INTERPRETER);

const RUNNER_OF_RUBY: Program =
    GNU.interpreter(runner(Language::Ruby, Inline::ValuesOrOperand(""))).classes(INTERPRETER);

const RAILS_SQL: Program = GNU
    .options("-e= --environment= -p --database=")
    .runs(&[Run::Sql(SqlClient { options: "", operands: usize::MAX, files: "" })]);

pub(super) const PROGRAMS: &[Program] = &[
    like(EXPRESSION, "lua").options("-e= -l= -i -v"),
    like(EXPRESSION, "luajit").options("-e= -l= -i -v -j= -O?"),
    like(EXPRESSION, "Rscript"),
    like(EXPRESSION, "R").options("-e= -f= --file= --vanilla --slave --no-save --args -q -s"),
    like(EXPRESSION, "julia")
        .options("-e= -E= --eval= --print= -L= --load= --project? -p= -t= -J= -i -q")
        .interpreter(interpreter("-e -E --eval --print")),
    like(EXPRESSION, "octave").options("--eval= -q --no-gui -W").interpreter(interpreter("--eval")),
    like(EXPRESSION, "elixir").options("-e= --eval= -r= -S=").interpreter(interpreter("-e --eval")),
    like(EXPRESSION, "groovy").options("-e= -cp= -D="),
    like(EXPRESSION, "scala").options("-e= -cp= -classpath="),
    like(EXPRESSION, "clojure")
        .options("-e= --eval= -M -X -A=")
        .interpreter(interpreter("-e --eval")),
    like(EXPRESSION, "sbcl")
        .options("--eval= --load= --script= --noinform")
        .interpreter(interpreter("--eval")),
    like(EXPRESSION, "guile").options("-c= -e= -l= -s=").interpreter(interpreter("-c")),
    like(EXPRESSION, "gnuplot").options("-e= -p -c"),
    like(EXPRESSION, "osascript").options("-e= -l= -s="),
    program("emacs")
        .options("-l= --load= --eval= -eval= --execute= -f= --batch -batch -Q -q -nw --script=")
        .interpreter(Interpreter { stdin: NO_FILES, ..interpreter("--eval -eval --execute") })
        .paths(&["write operands", "execute -l --load --script"]),
    program("expect")
        .style(Style::Posix)
        .options("-c= -f= -b= -d -D=")
        .interpreter(interpreter("-c"))
        .classes(INTERPRETER)
        .paths(&["execute first unless -c"]),
    like(STANDARD_INPUT, "tclsh"),
    like(STANDARD_INPUT, "jshell").options("-s -q -v -C= -R= --class-path="),
    like(EXPRESSION, "raku"),
    like(FAMILY, "crystal"),
    program("crystal eval")
        .interpreter(Interpreter { inline: Inline::ValuesOrOperand(""), ..interpreter("") }),
    like(EXPRESSION, "kotlin").options("-e= -cp= -classpath="),
    like(EXPRESSION, "swift"),
    like(EXPRESSION, "ghc").options("-e= -o= -i= -package="),
    program("ghci").options("-e= -i= -package= -v0").runs(&[Run::Debugs("-e")]),
    program("pry")
        .options("-e= --exec= -r= -I= -f")
        .interpreter(runner(Language::Ruby, Inline::Values("-e --exec"))),
    like(EXPRESSION, "racket").options("-e= -f= -t= -l="),
    like(EXPRESSION, "ocaml").options("-e= -I="),
    // Programs of frameworks that run code.
    like(FAMILY, "manage.py"),
    like(RUNNER_OF_PYTHON, "manage.py shell").options("-c= --command= -i= --interface="),
    like(RUNNER_OF_PYTHON, "manage.py shell_plus").options("-c= --command= --ipython"),
    program("manage.py dbshell")
        .options("--database= -c= --command=")
        .runs(&[Run::Sql(SqlClient { options: "-c --command", operands: usize::MAX, files: "" })]),
    like(FAMILY, "flask").options("-A= --app= -e= --env-file= --debug"),
    like(RUNNER_OF_PYTHON, "flask shell").options("-c= --command="),
    like(FAMILY, "rails"),
    like(RUNNER_OF_RUBY, "rails runner").options("-e= --environment="),
    like(RUNNER_OF_RUBY, "rails r").options("-e= --environment="),
    program("rails console")
        .options("-e= --environment= -s")
        .interpreter(runner(Language::Ruby, Inline::Values(""))),
    like(RAILS_SQL, "rails dbconsole"),
    like(RAILS_SQL, "rails db"),
    like(FAMILY, "artisan"),
    program("artisan tinker")
        .options("--execute=")
        .interpreter(runner(Language::Php, Inline::Values("--execute"))),
    like(FAMILY, "wp").options("--path= --url= --ssh= --http= --user="),
    program("wp eval").interpreter(runner(Language::Php, Inline::ValuesOrOperand(""))),
    like(FAMILY, "drush").options("-r= --root= -l= --uri="),
    program("drush php:eval").interpreter(runner(Language::Php, Inline::ValuesOrOperand(""))),
    program("drush ev").interpreter(runner(Language::Php, Inline::ValuesOrOperand(""))),
    // Recipes.
    like(MAKEFILE, "make").options(MAKE),
    like(MAKEFILE, "gmake").options(MAKE),
    program("just")
        .options("-f= --justfile= -d= --working-directory= -c= --command= --shell= --set=")
        .style(Style::Posix)
        .paths(&["execute -f --justfile"])
        .runs(&[
            Run::Option("-c --command"),
            Run::AfterFlag("-c --command"),
            Run::Recipes(&JUSTFILES),
        ])
        .classes(&[(Class::Interpreter, "if -f --justfile")]),
    program("task")
        .options("-d= --dir= -t= --taskfile= -o= --output= -l --list -f --force -n --dry -p -s -w")
        .directory("-d --dir")
        .paths(&["execute -t --taskfile"])
        .with_subcommands()
        .runs(&[Run::Recipes(&TASKFILES)]),
    program("rake")
        .options("-f= --rakefile= -C= --directory= -I= -r= --require= -e= --execute= -E= -T -P -n -q -s -t")
        .directory("-C --directory")
        .paths(&["execute -f --rakefile"])
        .with_subcommands()
        .runs(&[Run::Recipes(&RAKEFILES)]),
    like(FAMILY, "nox").options("-s= -e= -f= --noxfile=").runs(&[Run::Recipes(&NOX)]),
    like(FAMILY, "invoke").options("-c= -r=").runs(&[Run::Recipes(&INVOKE)]),
    like(FAMILY, "gulp").options("-f= --gulpfile=").runs(&[Run::Recipes(&GULP)]),
    program("jest").options("-c= --config= -t=").runs(&[Run::Recipes(&JEST)]),
    program("mocha").options("-g= -R= -r=").runs(&[Run::Recipes(&JEST)]),
    like(FAMILY, "vitest").options("-c= --config= -t=").runs(&[Run::Recipes(&VITE)]),
    like(FAMILY, "vite").options("-c= --config= --port=").runs(&[Run::Recipes(&VITE)]),
    program("ansible")
        .options("-a= --args= -m= --module-name= -i= -u= -e= -l= -b -f=")
        .runs(&[Run::OptionRemote("-a --args")]),
    program("ansible-playbook")
        .options("-i= -u= -e= -l= -t= --check")
        .paths(&["execute operands"])
        .classes(INTERPRETER)
        .runs(&[Run::Recipes(&PLAYBOOK)]),
    program("scons").options("-f= -C= -j=").runs(&[Run::Recipes(&SCONS)]),
    program("fab").options("-f= -H= -r=").runs(&[Run::Recipes(&FABFILE)]),
    program("doit").options("-f= -d=").runs(&[Run::Recipes(&DODO)]),
    program("snakemake").options("-s= -j= -c=").runs(&[Run::Recipes(&SNAKEFILE)]),
    program("tox").options("-e= -c=").runs(&[Run::Recipes(&TOX)]),
    like(FAMILY, "pre-commit").options("-c=").runs(&[Run::Recipes(&PRE_COMMIT)]),
    like(FAMILY, "lefthook").runs(&[Run::Recipes(&LEFTHOOK)]),
    program("makepkg").options("-p=").runs(&[Run::Recipes(&PKGBUILD)]),
    program("webpack").options("-c= --config=").runs(&[Run::Recipes(&WEBPACK)]),
    program("rollup").options("-c? --config?").runs(&[Run::Recipes(&ROLLUP)]),
    program("next").runs(&[Run::Recipes(&NEXT)]),
    program("eslint").options("-c= --config= -f= -o=").runs(&[Run::Recipes(&ESLINT)]),
    program("playwright").options("-c= --config=").runs(&[Run::Recipes(&PLAYWRIGHT)]),
    program("grunt").options("--gruntfile=").runs(&[Run::Recipes(&GRUNT)]),
    program("mix")
        .options("-e= --eval= -r=")
        .interpreter(Interpreter { stdin: NO_FILES, ..interpreter("-e --eval") }),
    program("erl")
        .style(Style::Single)
        .options("-eval= -noshell -s= -pa= -config= -name= -sname=")
        .interpreter(Interpreter { stdin: NO_FILES, ..interpreter("-eval") }),
];

const MAKE: &str =
    "-C= --directory= -f= --file= --makefile= -I= -j? -l? -o= -W= --eval= -n --dry-run -B -k -s";

const MAKEFILES: RecipeFiles = RecipeFiles {
    options: "-f --file --makefile",
    inline: "--eval",
    names: &["GNUmakefile", "makefile", "Makefile"],
    form: Form::Make,
};

const JUSTFILES: RecipeFiles = RecipeFiles {
    options: "-f --justfile",
    inline: "",
    names: &["justfile", "Justfile", ".justfile"],
    form: Form::Indented,
};

const TASKFILES: RecipeFiles = RecipeFiles {
    options: "-t --taskfile",
    inline: "",
    names: &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"],
    form: Form::Yaml,
};

pub(super) const fn code(names: &'static [&'static str], language: Language) -> RecipeFiles {
    RecipeFiles { options: "", inline: "", names, form: Form::Code(language) }
}

/// Creates files with commands in quotes.
pub(super) const fn quoted(names: &'static [&'static str]) -> RecipeFiles {
    RecipeFiles { options: "", inline: "", names, form: Form::Quoted }
}

const fn files(options: &'static str, names: &'static [&'static str], form: Form) -> RecipeFiles {
    RecipeFiles { options, inline: "", names, form }
}

const PLAYBOOK: RecipeFiles = files("", &[], Form::Yaml);
const PRE_COMMIT: RecipeFiles = files("-c", &[".pre-commit-config.yaml"], Form::Yaml);
const LEFTHOOK: RecipeFiles = files("", &["lefthook.yml", ".lefthook.yml"], Form::Yaml);
const PKGBUILD: RecipeFiles = files("-p", &["PKGBUILD"], Form::Script);
const TOX: RecipeFiles = files("-c", &["tox.ini"], Form::Values);
const SNAKEFILE: RecipeFiles = files("-s", &["Snakefile"], Form::Quoted);
pub(super) const PROCFILES: RecipeFiles =
    files("-f --procfile", &["Procfile", "Procfile.dev"], Form::Values);
pub(super) const ENVRC: RecipeFiles = files("", &[".envrc"], Form::Script);
/// Scripts that git runs when it commits and pushes.
pub(super) const GIT_HOOKS: RecipeFiles = files(
    "",
    tenter_base::words!(
        ".husky/pre-commit .husky/commit-msg .husky/prepare-commit-msg .husky/post-commit
         .husky/pre-push .git/hooks/pre-commit .git/hooks/commit-msg .git/hooks/post-commit
         .git/hooks/pre-push"
    ),
    Form::Script,
);
pub(super) const CMAKE: RecipeFiles = files("-P", &["CMakeLists.txt"], Form::Cmake);
pub(super) const CRATE: RecipeFiles = code(&["build.rs", "src/main.rs"], Language::Other);
pub(super) const CARGO_SETTINGS: RecipeFiles =
    RecipeFiles { inline: "--config", ..quoted(&[".cargo/config.toml", ".cargo/config"]) };
pub(super) const DENO: RecipeFiles = quoted(&["deno.json", "deno.jsonc"]);
pub(super) const GRADLE: RecipeFiles =
    code(&["build.gradle", "build.gradle.kts", "settings.gradle"], Language::Other);
const SCONS: RecipeFiles = code(&["SConstruct", "sconstruct"], Language::Python);
const FABFILE: RecipeFiles = code(&["fabfile.py"], Language::Python);
const DODO: RecipeFiles = code(&["dodo.py"], Language::Python);
const WEBPACK: RecipeFiles = code(&["webpack.config.js", "webpack.config.ts"], Language::Node);
const ROLLUP: RecipeFiles = code(&["rollup.config.js", "rollup.config.mjs"], Language::Node);
const NEXT: RecipeFiles =
    code(&["next.config.js", "next.config.mjs", "next.config.ts"], Language::Node);
const ESLINT: RecipeFiles = code(
    &["eslint.config.js", "eslint.config.mjs", ".eslintrc.js", ".eslintrc.cjs"],
    Language::Node,
);
const PLAYWRIGHT: RecipeFiles =
    code(&["playwright.config.js", "playwright.config.ts"], Language::Node);
const GRUNT: RecipeFiles = code(&["Gruntfile.js"], Language::Node);

/// Code that a program runs, or makes a program of.
pub(super) const SOURCES: RecipeFiles = code(&[], Language::Other);
pub(super) const PYTEST: RecipeFiles = code(&["conftest.py"], Language::Python);
pub(super) const SETUP: RecipeFiles = code(&["setup.py"], Language::Python);
const NOX: RecipeFiles = code(&["noxfile.py"], Language::Python);
const INVOKE: RecipeFiles = code(&["tasks.py"], Language::Python);
const GULP: RecipeFiles = code(&["gulpfile.js", "gulpfile.mjs"], Language::Node);
const JEST: RecipeFiles = code(&["jest.config.js", "jest.setup.js"], Language::Node);
const VITE: RecipeFiles =
    code(&["vite.config.js", "vite.config.ts", "vitest.config.ts"], Language::Node);

const RAKEFILES: RecipeFiles = RecipeFiles {
    options: "-f --rakefile",
    inline: "",
    names: &["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"],
    form: Form::Code(Language::Ruby),
};

const MAKEFILE: Program = GNU
    .directory("-C --directory")
    .paths(&["execute -f --file --makefile"])
    .runs(&[
        Run::Prefixed("SHELL="),
        Run::Prefixed("CC="),
        Run::Prefixed("CXX="),
        Run::Prefixed("LD="),
        Run::Recipes(&MAKEFILES),
    ])
    .classes(&[(Class::Interpreter, "if -f --file --makefile")]);
