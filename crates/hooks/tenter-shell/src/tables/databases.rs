//! Clients of databases.

use super::rows::{like, program};
use super::{GNU, Inline, Interpreter, Program, Run, SqlClient, Style};
use crate::facts::{Class, Language};

/// No operand is SQL.
const NONE: usize = usize::MAX;

const fn sql(options: &'static str, operands: usize, files: &'static str) -> SqlClient {
    SqlClient { options, operands, files }
}

/// A program that writes a whole database.
const PG_DUMP: Program = GNU
    .options("-f= --file= -F= -d= --dbname= -h= --host= -p= --port= -U= --username= -t= -n= -a -s --schema-only -c --clean")
    .paths(&["write -f --file"])
    .classes(&[(Class::Archive, "unless -f --file -s --schema-only")]);

pub(super) const PROGRAMS: &[Program] = &[
    program("psql")
        .options("-c= --command= -f= --file= -d= --dbname= -h= --host= -p= --port= -U= --username= -o= --output= -v= --variable= --set= -P= -L= -F= -R= -T= -1 -A -t -q -X -w -W -a -e -E -n -s -S -x")
        .paths(&["read -f --file", "write -o --output"])
        .runs(&[Run::Sql(sql("-c --command", NONE, "-f --file"))]),
    program("mysql")
        .options("-e= --execute= -h= --host= -P= --port= -u= --user= -D= --database= -S= --socket= --defaults-file= --default-character-set= --ssl-ca= -p? --password? --pager= -B -N -s -t -v -f -A -r")
        .runs(&[Run::Sql(sql("-e --execute", NONE, "")), Run::Option("--pager")]),
    program("sqlite3")
        .options("-cmd= -init= -separator= -nullvalue= -newline= -mode= -batch -bail -csv -json -header -noheader -line -list -column -readonly")
        .paths(&["write first unless -readonly", "read first if -readonly"])
        .runs(&[Run::Sql(sql("-cmd", 1, "-init"))])
        .style(Style::Single),
    program("duckdb")
        .options("-c= -s= -cmd= -init= -separator= -csv -json -readonly -batch")
        .paths(&["write first unless -readonly"])
        .runs(&[Run::Sql(sql("-c -s -cmd", 1, "-init"))])
        .style(Style::Single),
    program("sqlcmd")
        .options("-Q= -q= -i= -o= -S= -d= -U= -P= -E -b -h= -s= -W -C")
        .paths(&["read -i", "write -o"])
        .runs(&[Run::Sql(sql("-Q -q", NONE, "-i"))]),
    program("invoke-sqlcmd")
        .style(Style::Caseless)
        .options("-Query= -InputFile= -ServerInstance= -Database= -ConnectionString= -Username= -Password=")
        .paths(&["read -InputFile"])
        .runs(&[Run::Sql(sql("-Query", 0, "-InputFile"))]),
    program("clickhouse-client")
        .options("-q= --query= --queries-file= -h= --host= --port= -u= --user= --password= -d= --database= -f= --format= -n -m")
        .paths(&["read --queries-file"])
        .runs(&[Run::Sql(sql("-q --query", NONE, "--queries-file"))]),
    program("clickhouse").with_subcommands(),
    program("clickhouse client")
        .options("-q= --query= --queries-file= -h= --host= --port= -u= --user= --password= -d= --database=")
        .runs(&[Run::Sql(sql("-q --query", NONE, "--queries-file"))]),
    program("clickhouse local")
        .options("-q= --query= --queries-file=")
        .runs(&[Run::Sql(sql("-q --query", NONE, "--queries-file"))]),
    program("sqlplus").runs(&[Run::Sql(sql("", NONE, ""))]),
    program("snow").with_subcommands(),
    program("snow sql")
        .options("-q= --query= -f= --filename=")
        .runs(&[Run::Sql(sql("-q --query", NONE, "-f --filename"))]),
    program("prisma").with_subcommands(),
    program("prisma db")
        .options("--file= --url= --schema= --stdin")
        .runs(&[Run::Sql(sql("", NONE, "--file"))]),
    program("wp db").runs(&[Run::Sql(sql("", 1, ""))]),
    program("drush sqlq").runs(&[Run::Sql(sql("", 0, ""))]),
    program("drush sql:query").runs(&[Run::Sql(sql("", 0, ""))]),
    program("cockroach").with_subcommands(),
    program("cockroach sql")
        .options("-e= --execute= --url= --host= -d= --database= -f= --file= --certs-dir= --insecure")
        .paths(&["read -f --file"])
        .runs(&[Run::Sql(sql("-e --execute", NONE, "-f --file"))]),
    program("cqlsh")
        .options("-e= --execute= -f= --file= -k= --keyspace= -u= -p=")
        .paths(&["read -f --file"])
        .runs(&[Run::Sql(sql("-e --execute", NONE, "-f --file"))]),
    program("snowsql")
        .options("-q= --query= -f= --filename= -c= -a= -u= -d= -s= -o=")
        .paths(&["read -f --filename"])
        .runs(&[Run::Sql(sql("-q --query", NONE, "-f --filename"))]),
    program("trino")
        .options("--execute= -f= --file= --server= --catalog= --schema= --user=")
        .paths(&["read -f --file"])
        .runs(&[Run::Sql(sql("--execute", NONE, "-f --file"))]),
    program("beeline")
        .options("-e= -f= -u= -n= -p=")
        .paths(&["read -f"])
        .runs(&[Run::Sql(sql("-e", NONE, "-f"))]),
    program("usql")
        .options("-c= --command= -f= --file= -o= -v=")
        .paths(&["read -f --file", "write -o"])
        .runs(&[Run::Sql(sql("-c --command", NONE, "-f --file"))]),
    program("pgcli")
        .options("-h= -p= -U= -u= -d= -c= --command=")
        .runs(&[Run::Sql(sql("-c --command", NONE, ""))]),
    program("mycli")
        .options("-e= --execute= -h= -P= -u= -D= -p?")
        .runs(&[Run::Sql(sql("-e --execute", NONE, ""))]),
    program("bq").with_subcommands().options("--project_id= --location= --dataset_id="),
    program("bq query")
        .options("--destination_table= --use_legacy_sql? --format= --max_rows= -n= --nouse_legacy_sql --replace")
        .runs(&[Run::Sql(sql("", 0, ""))]),
    program("wrangler").with_subcommands().options("-c= --config= -e= --env="),
    program("wrangler d1")
        .options("--command= --file= --local --remote -y --json")
        .paths(&["read --file"])
        .runs(&[Run::Sql(sql("--command", NONE, "--file"))]),
    program("turso").with_subcommands(),
    program("turso db").runs(&[Run::Sql(sql("", 2, ""))]),
    program("mongosh")
        .options("--eval= -f= --file= -u= --username= -p= --password= --host= --port= --authenticationDatabase= --quiet --norc --nodb")
        .paths(&["execute -f --file"])
        .runs(&[Run::Recipes(&super::languages::code(&[], Language::Node))])
        .interpreter(Interpreter {
            language: Some(Language::Node),
            inline: Inline::Values("--eval"),
            module: "",
            no_program: "--version --help",
            stdin: "*",
        }),
    program("redis-cli")
        .style(Style::Posix)
        .options("-h= -p= -a= -n= -u= -s= -r= -i= -d= --pass= --user= --eval=")
        .runs(&[Run::InputLines]),
    program("migrate")
        .style(Style::Single)
        .options("-path= -database= -source= -prefetch= -lock-timeout= -verbose -help"),
    like(PG_DUMP, "pg_dump"),
    like(PG_DUMP, "pg_dumpall"),
    program("mongodump")
        .options("--archive? --uri= --db= -d= -c= --collection= --host= -h= -u= -p= -o= --out= --gzip")
        .paths(&["create -o --out"])
        .classes(&[(Class::Archive, "if --archive")]),
    program("pg_restore")
        .options("-d= --dbname= -f= --file= -h= -p= -U= -t= -n= -j= -F= -L= -c --clean -C --create -l --list --if-exists -1 -O")
        .paths(&["read operands", "write -f --file"]),
    program("mysqldump")
        .options("-r= --result-file= -T= --tab= -u= -h= -P= -S= -p? -d --no-data -A --all-databases")
        .paths(&["write -r --result-file", "create -T --tab"])
        .classes(&[(Class::Archive, "unless -r --result-file -T --tab -d --no-data")]),
    program("mysqladmin")
        .options("-u= --user= -h= --host= -P= --port= -S= --defaults-file= -p? --password? -f --force -s -v"),
    program("dropdb").options("-h= -p= -U= -f --force -i -e --if-exists --maintenance-db= --help"),
];
