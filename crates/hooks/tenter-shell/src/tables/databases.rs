//! Clients of databases.

use super::{GNU, Inline, Interpreter, Program, Run, SqlClient, Style};
use crate::facts::Language;

/// No operand is SQL.
const NONE: usize = usize::MAX;

const fn sql(options: &'static str, operands: usize, files: &'static str) -> SqlClient {
    SqlClient { options, operands, files }
}

pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "psql",
        options: "-c= --command= -f= --file= -d= --dbname= -h= --host= -p= --port= -U= --username= -o= --output= -v= --variable= --set= -P= -L= -F= -R= -T= -1 -A -t -q -X -w -W -a -e -E -n -s -S -x",
        paths: &["read -f --file", "write -o --output"],
        runs: &[Run::Sql(sql("-c --command", NONE, "-f --file"))],
        ..GNU
    },
    Program {
        name: "mysql",
        options: "-e= --execute= -h= --host= -P= --port= -u= --user= -D= --database= -S= --socket= --defaults-file= --default-character-set= --ssl-ca= -p? --password? -B -N -s -t -v -f -A -r",
        runs: &[Run::Sql(sql("-e --execute", NONE, ""))],
        ..GNU
    },
    Program {
        name: "sqlite3",
        options: "-cmd= -init= -separator= -nullvalue= -newline= -mode= -batch -bail -csv -json -header -noheader -line -list -column -readonly",
        paths: &["write first unless -readonly", "read first if -readonly"],
        runs: &[Run::Sql(sql("-cmd", 1, "-init"))],
        style: Style::Single,
        ..GNU
    },
    Program {
        name: "duckdb",
        options: "-c= -s= -cmd= -init= -separator= -csv -json -readonly -batch",
        paths: &["write first unless -readonly"],
        runs: &[Run::Sql(sql("-c -s -cmd", 1, "-init"))],
        style: Style::Single,
        ..GNU
    },
    Program {
        name: "sqlcmd",
        options: "-Q= -q= -i= -o= -S= -d= -U= -P= -E -b -h= -s= -W -C",
        paths: &["read -i", "write -o"],
        runs: &[Run::Sql(sql("-Q -q", NONE, "-i"))],
        ..GNU
    },
    Program {
        name: "clickhouse-client",
        options: "-q= --query= --queries-file= -h= --host= --port= -u= --user= --password= -d= --database= -f= --format= -n -m",
        paths: &["read --queries-file"],
        runs: &[Run::Sql(sql("-q --query", NONE, "--queries-file"))],
        ..GNU
    },
    Program { name: "clickhouse", has_subcommands: true, ..GNU },
    Program {
        name: "clickhouse client",
        options: "-q= --query= --queries-file= -h= --host= --port= -u= --user= --password= -d= --database=",
        runs: &[Run::Sql(sql("-q --query", NONE, "--queries-file"))],
        ..GNU
    },
    Program {
        name: "clickhouse local",
        options: "-q= --query= --queries-file=",
        runs: &[Run::Sql(sql("-q --query", NONE, "--queries-file"))],
        ..GNU
    },
    Program { name: "sqlplus", runs: &[Run::Sql(sql("", NONE, ""))], ..GNU },
    Program { name: "snow", has_subcommands: true, ..GNU },
    Program {
        name: "snow sql",
        options: "-q= --query= -f= --filename=",
        runs: &[Run::Sql(sql("-q --query", NONE, "-f --filename"))],
        ..GNU
    },
    Program { name: "prisma", has_subcommands: true, ..GNU },
    Program {
        name: "prisma db",
        options: "--file= --url= --schema= --stdin",
        runs: &[Run::Sql(sql("", NONE, "--file"))],
        ..GNU
    },
    Program { name: "wp db", runs: &[Run::Sql(sql("", 1, ""))], ..GNU },
    Program { name: "drush sqlq", runs: &[Run::Sql(sql("", 0, ""))], ..GNU },
    Program { name: "drush sql:query", runs: &[Run::Sql(sql("", 0, ""))], ..GNU },
    Program { name: "cockroach", has_subcommands: true, ..GNU },
    Program {
        name: "cockroach sql",
        options: "-e= --execute= --url= --host= -d= --database= -f= --file= --certs-dir= --insecure",
        paths: &["read -f --file"],
        runs: &[Run::Sql(sql("-e --execute", NONE, "-f --file"))],
        ..GNU
    },
    Program {
        name: "cqlsh",
        options: "-e= --execute= -f= --file= -k= --keyspace= -u= -p=",
        paths: &["read -f --file"],
        runs: &[Run::Sql(sql("-e --execute", NONE, "-f --file"))],
        ..GNU
    },
    Program {
        name: "snowsql",
        options: "-q= --query= -f= --filename= -c= -a= -u= -d= -s= -o=",
        paths: &["read -f --filename"],
        runs: &[Run::Sql(sql("-q --query", NONE, "-f --filename"))],
        ..GNU
    },
    Program {
        name: "trino",
        options: "--execute= -f= --file= --server= --catalog= --schema= --user=",
        paths: &["read -f --file"],
        runs: &[Run::Sql(sql("--execute", NONE, "-f --file"))],
        ..GNU
    },
    Program {
        name: "beeline",
        options: "-e= -f= -u= -n= -p=",
        paths: &["read -f"],
        runs: &[Run::Sql(sql("-e", NONE, "-f"))],
        ..GNU
    },
    Program {
        name: "usql",
        options: "-c= --command= -f= --file= -o= -v=",
        paths: &["read -f --file", "write -o"],
        runs: &[Run::Sql(sql("-c --command", NONE, "-f --file"))],
        ..GNU
    },
    Program {
        name: "pgcli",
        options: "-h= -p= -U= -u= -d= -c= --command=",
        runs: &[Run::Sql(sql("-c --command", NONE, ""))],
        ..GNU
    },
    Program {
        name: "mycli",
        options: "-e= --execute= -h= -P= -u= -D= -p?",
        runs: &[Run::Sql(sql("-e --execute", NONE, ""))],
        ..GNU
    },
    Program {
        name: "bq",
        has_subcommands: true,
        options: "--project_id= --location= --dataset_id=",
        ..GNU
    },
    Program {
        name: "bq query",
        options: "--destination_table= --use_legacy_sql? --format= --max_rows= -n= --nouse_legacy_sql --replace",
        runs: &[Run::Sql(sql("", 0, ""))],
        ..GNU
    },
    Program { name: "wrangler", has_subcommands: true, options: "-c= --config= -e= --env=", ..GNU },
    Program {
        name: "wrangler d1",
        options: "--command= --file= --local --remote -y --json",
        paths: &["read --file"],
        runs: &[Run::Sql(sql("--command", NONE, "--file"))],
        ..GNU
    },
    Program { name: "turso", has_subcommands: true, ..GNU },
    Program { name: "turso db", runs: &[Run::Sql(sql("", 2, ""))], ..GNU },
    Program {
        name: "mongosh",
        options: "--eval= -f= --file= -u= --username= -p= --password= --host= --port= --authenticationDatabase= --quiet --norc --nodb",
        paths: &["execute -f --file"],
        runs: &[Run::Recipes(&super::languages::code(&[], Language::Node))],
        interpreter: Some(Interpreter {
            language: Some(Language::Node),
            inline: Inline::Values("--eval"),
            module: "",
            no_program: "--version --help",
            stdin: "*",
        }),
        ..GNU
    },
    Program {
        name: "redis-cli",
        style: Style::Posix,
        options: "-h= -p= -a= -n= -u= -s= -r= -i= -d= --pass= --user= --eval=",
        runs: &[Run::InputLines],
        ..GNU
    },
    Program {
        name: "migrate",
        style: Style::Single,
        options: "-path= -database= -source= -prefetch= -lock-timeout= -verbose -help",
        ..GNU
    },
    Program {
        name: "pg_dump",
        options: "-f= --file= -F= -d= -h= -p= -U= -t= -n= -a -s -c",
        paths: &["write -f --file"],
        ..GNU
    },
    Program {
        name: "pg_restore",
        options: "-d= --dbname= -f= --file= -h= -p= -U= -t= -n= -j= -F= -L= -c --clean -C --create -l --list --if-exists -1 -O",
        paths: &["read operands", "write -f --file"],
        ..GNU
    },
    Program {
        name: "mysqldump",
        options: "-r= --result-file= -T= --tab= -u= -h= -P= -S= -p?",
        paths: &["write -r --result-file", "create -T --tab"],
        ..GNU
    },
    Program {
        name: "mysqladmin",
        options: "-u= --user= -h= --host= -P= --port= -S= --defaults-file= -p? --password? -f --force -s -v",
        ..GNU
    },
    Program {
        name: "dropdb",
        options: "-h= -p= -U= -f --force -i -e --if-exists --maintenance-db= --help",
        ..GNU
    },
];
