//! Interpreters of languages in which only calls with common names are read, and programs that run recipes from a file.

use crate::facts::{Class, Language};

use super::{
    Form, GNU, Inline, Interpreter, NO_FILES, Program, RecipeFiles, Run, SqlClient, Style,
};

const INTERPRETER: &[(Class, &str)] = &[(Class::Interpreter, "")];

/// An interpreter with a program in `-e`, in a file, or on the standard input.
const EXPRESSION: Program = Program {
    style: Style::Posix,
    options: "-e=",
    interpreter: Some(interpreter("-e")),
    classes: INTERPRETER,
    ..GNU
};

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
const STANDARD_INPUT: Program = Program {
    style: Style::Posix,
    interpreter: Some(interpreter("")),
    classes: INTERPRETER,
    paths: &["execute first"],
    ..GNU
};

const FAMILY: Program = Program { has_subcommands: true, ..GNU };

const fn runner(language: Language, inline: Inline) -> Interpreter {
    Interpreter { language: Some(language), inline, stdin: "*", ..interpreter("") }
}

const RUNNER_OF_PYTHON: Program = Program {
    interpreter: Some(runner(Language::Python, Inline::Values("-c --command"))),
    classes: INTERPRETER,
    ..GNU
};

const RUNNER_OF_RUBY: Program = Program {
    interpreter: Some(runner(Language::Ruby, Inline::ValuesOrOperand(""))),
    classes: INTERPRETER,
    ..GNU
};

const RAILS_SQL: Program = Program {
    options: "-e= --environment= -p --database=",
    runs: &[Run::Sql(SqlClient { options: "", operands: usize::MAX, files: "" })],
    ..GNU
};

pub(super) const PROGRAMS: &[Program] = &[
    Program { name: "lua", options: "-e= -l= -i -v", ..EXPRESSION },
    Program { name: "luajit", options: "-e= -l= -i -v -j= -O?", ..EXPRESSION },
    Program { name: "Rscript", ..EXPRESSION },
    Program {
        name: "R",
        options: "-e= -f= --file= --vanilla --slave --no-save --args -q -s",
        ..EXPRESSION
    },
    Program {
        name: "julia",
        options: "-e= -E= --eval= --print= -L= --load= --project? -p= -t= -J= -i -q",
        interpreter: Some(interpreter("-e -E --eval --print")),
        ..EXPRESSION
    },
    Program {
        name: "octave",
        options: "--eval= -q --no-gui -W",
        interpreter: Some(interpreter("--eval")),
        ..EXPRESSION
    },
    Program {
        name: "elixir",
        options: "-e= --eval= -r= -S=",
        interpreter: Some(interpreter("-e --eval")),
        ..EXPRESSION
    },
    Program { name: "groovy", options: "-e= -cp= -D=", ..EXPRESSION },
    Program { name: "scala", options: "-e= -cp= -classpath=", ..EXPRESSION },
    Program {
        name: "clojure",
        options: "-e= --eval= -M -X -A=",
        interpreter: Some(interpreter("-e --eval")),
        ..EXPRESSION
    },
    Program {
        name: "sbcl",
        options: "--eval= --load= --script= --noinform",
        interpreter: Some(interpreter("--eval")),
        ..EXPRESSION
    },
    Program {
        name: "guile",
        options: "-c= -e= -l= -s=",
        interpreter: Some(interpreter("-c")),
        ..EXPRESSION
    },
    Program { name: "gnuplot", options: "-e= -p -c", ..EXPRESSION },
    Program { name: "osascript", options: "-e= -l= -s=", ..EXPRESSION },
    Program {
        name: "emacs",
        options: "-l= --load= --eval= -eval= --execute= -f= --batch -batch -Q -q -nw --script=",
        interpreter: Some(Interpreter { stdin: NO_FILES, ..interpreter("--eval -eval --execute") }),
        paths: &["write operands", "execute -l --load --script"],
        ..GNU
    },
    Program {
        name: "expect",
        style: Style::Posix,
        options: "-c= -f= -b= -d -D=",
        interpreter: Some(interpreter("-c")),
        classes: INTERPRETER,
        paths: &["execute first unless -c"],
        ..GNU
    },
    Program { name: "tclsh", ..STANDARD_INPUT },
    Program { name: "jshell", options: "-s -q -v -C= -R= --class-path=", ..STANDARD_INPUT },
    Program { name: "raku", ..EXPRESSION },
    Program { name: "kotlin", options: "-e= -cp= -classpath=", ..EXPRESSION },
    Program { name: "swift", ..EXPRESSION },
    Program { name: "ghc", options: "-e= -o= -i= -package=", ..EXPRESSION },
    Program { name: "racket", options: "-e= -f= -t= -l=", ..EXPRESSION },
    Program { name: "ocaml", options: "-e= -I=", ..EXPRESSION },
    // Programs of frameworks that run code.
    Program { name: "manage.py", ..FAMILY },
    Program {
        name: "manage.py shell",
        options: "-c= --command= -i= --interface=",
        ..RUNNER_OF_PYTHON
    },
    Program {
        name: "manage.py shell_plus",
        options: "-c= --command= --ipython",
        ..RUNNER_OF_PYTHON
    },
    Program {
        name: "manage.py dbshell",
        options: "--database= -c= --command=",
        runs: &[Run::Sql(SqlClient { options: "-c --command", operands: usize::MAX, files: "" })],
        ..GNU
    },
    Program { name: "flask", options: "-A= --app= -e= --env-file= --debug", ..FAMILY },
    Program { name: "flask shell", options: "-c= --command=", ..RUNNER_OF_PYTHON },
    Program { name: "rails", ..FAMILY },
    Program { name: "rails runner", options: "-e= --environment=", ..RUNNER_OF_RUBY },
    Program { name: "rails r", options: "-e= --environment=", ..RUNNER_OF_RUBY },
    Program {
        name: "rails console",
        options: "-e= --environment= -s",
        interpreter: Some(runner(Language::Ruby, Inline::Values(""))),
        ..GNU
    },
    Program { name: "rails dbconsole", ..RAILS_SQL },
    Program { name: "rails db", ..RAILS_SQL },
    Program { name: "artisan", ..FAMILY },
    Program {
        name: "artisan tinker",
        options: "--execute=",
        interpreter: Some(runner(Language::Php, Inline::Values("--execute"))),
        ..GNU
    },
    Program { name: "wp", options: "--path= --url= --ssh= --http= --user=", ..FAMILY },
    Program {
        name: "wp eval",
        interpreter: Some(runner(Language::Php, Inline::ValuesOrOperand(""))),
        ..GNU
    },
    Program { name: "drush", options: "-r= --root= -l= --uri=", ..FAMILY },
    Program {
        name: "drush php:eval",
        interpreter: Some(runner(Language::Php, Inline::ValuesOrOperand(""))),
        ..GNU
    },
    Program {
        name: "drush ev",
        interpreter: Some(runner(Language::Php, Inline::ValuesOrOperand(""))),
        ..GNU
    },
    // Recipes.
    Program { name: "make", options: MAKE, ..MAKEFILE },
    Program { name: "gmake", options: MAKE, ..MAKEFILE },
    Program {
        name: "just",
        options: "-f= --justfile= -d= --working-directory= -c= --command= --shell= --set=",
        style: Style::Posix,
        paths: &["execute -f --justfile"],
        runs: &[
            Run::Option("-c --command"),
            Run::AfterFlag("-c --command"),
            Run::Recipes(&JUSTFILES),
        ],
        classes: &[(Class::Interpreter, "if -f --justfile")],
        ..GNU
    },
    Program {
        name: "task",
        options: "-d= --dir= -t= --taskfile= -o= --output= -l --list -f --force -n --dry -p -s -w",
        directory: "-d --dir",
        paths: &["execute -t --taskfile"],
        has_subcommands: true,
        runs: &[Run::Recipes(&TASKFILES)],
        ..GNU
    },
    Program {
        name: "rake",
        options: "-f= --rakefile= -C= --directory= -I= -r= --require= -e= --execute= -E= -T -P -n -q -s -t",
        directory: "-C --directory",
        paths: &["execute -f --rakefile"],
        has_subcommands: true,
        runs: &[Run::Recipes(&RAKEFILES)],
        ..GNU
    },
    Program {
        name: "nox",
        options: "-s= -e= -f= --noxfile=",
        runs: &[Run::Recipes(&NOX)],
        ..FAMILY
    },
    Program { name: "invoke", options: "-c= -r=", runs: &[Run::Recipes(&INVOKE)], ..FAMILY },
    Program { name: "gulp", options: "-f= --gulpfile=", runs: &[Run::Recipes(&GULP)], ..FAMILY },
    Program { name: "jest", options: "-c= --config= -t=", runs: &[Run::Recipes(&JEST)], ..GNU },
    Program { name: "mocha", options: "-g= -R= -r=", runs: &[Run::Recipes(&JEST)], ..GNU },
    Program {
        name: "vitest",
        options: "-c= --config= -t=",
        runs: &[Run::Recipes(&VITE)],
        ..FAMILY
    },
    Program {
        name: "vite",
        options: "-c= --config= --port=",
        runs: &[Run::Recipes(&VITE)],
        ..FAMILY
    },
    Program {
        name: "ansible",
        options: "-a= --args= -m= --module-name= -i= -u= -e= -l= -b -f=",
        runs: &[Run::OptionRemote("-a --args")],
        ..GNU
    },
    Program {
        name: "ansible-playbook",
        options: "-i= -u= -e= -l= -t= --check",
        paths: &["execute operands"],
        classes: INTERPRETER,
        runs: &[Run::Recipes(&PLAYBOOK)],
        ..GNU
    },
    Program { name: "scons", options: "-f= -C= -j=", runs: &[Run::Recipes(&SCONS)], ..GNU },
    Program { name: "fab", options: "-f= -H= -r=", runs: &[Run::Recipes(&FABFILE)], ..GNU },
    Program { name: "doit", options: "-f= -d=", runs: &[Run::Recipes(&DODO)], ..GNU },
    Program { name: "snakemake", options: "-s= -j= -c=", runs: &[Run::Recipes(&SNAKEFILE)], ..GNU },
    Program { name: "tox", options: "-e= -c=", runs: &[Run::Recipes(&TOX)], ..GNU },
    Program { name: "pre-commit", options: "-c=", runs: &[Run::Recipes(&PRE_COMMIT)], ..FAMILY },
    Program { name: "lefthook", runs: &[Run::Recipes(&LEFTHOOK)], ..FAMILY },
    Program { name: "makepkg", options: "-p=", runs: &[Run::Recipes(&PKGBUILD)], ..GNU },
    Program { name: "webpack", options: "-c= --config=", runs: &[Run::Recipes(&WEBPACK)], ..GNU },
    Program { name: "rollup", options: "-c? --config?", runs: &[Run::Recipes(&ROLLUP)], ..GNU },
    Program { name: "next", runs: &[Run::Recipes(&NEXT)], ..GNU },
    Program {
        name: "eslint",
        options: "-c= --config= -f= -o=",
        runs: &[Run::Recipes(&ESLINT)],
        ..GNU
    },
    Program {
        name: "playwright",
        options: "-c= --config=",
        runs: &[Run::Recipes(&PLAYWRIGHT)],
        ..GNU
    },
    Program { name: "grunt", options: "--gruntfile=", runs: &[Run::Recipes(&GRUNT)], ..GNU },
    Program {
        name: "mix",
        options: "-e= --eval= -r=",
        interpreter: Some(Interpreter { stdin: NO_FILES, ..interpreter("-e --eval") }),
        ..GNU
    },
    Program {
        name: "erl",
        style: Style::Single,
        options: "-eval= -noshell -s= -pa= -config= -name= -sname=",
        interpreter: Some(Interpreter { stdin: NO_FILES, ..interpreter("-eval") }),
        ..GNU
    },
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
    &[
        ".husky/pre-commit",
        ".husky/commit-msg",
        ".husky/prepare-commit-msg",
        ".husky/post-commit",
        ".husky/pre-push",
        ".git/hooks/pre-commit",
        ".git/hooks/commit-msg",
        ".git/hooks/post-commit",
        ".git/hooks/pre-push",
    ],
    Form::Script,
);
pub(super) const CMAKE: RecipeFiles = files("-P", &["CMakeLists.txt"], Form::Cmake);
pub(super) const CRATE: RecipeFiles = code(&["build.rs", "src/main.rs"], Language::Other);
pub(super) const CARGO_SETTINGS: RecipeFiles = quoted(&[".cargo/config.toml", ".cargo/config"]);
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

const MAKEFILE: Program = Program {
    directory: "-C --directory",
    paths: &["execute -f --file --makefile"],
    runs: &[Run::Prefixed("SHELL="), Run::Recipes(&MAKEFILES)],
    classes: &[(Class::Interpreter, "if -f --file --makefile")],
    ..GNU
};
