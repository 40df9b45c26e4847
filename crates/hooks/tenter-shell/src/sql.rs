//! SQL in the arguments and the input of database clients: the kinds of its statements, and whether they have a condition. This is
//! no parser: it knows texts, comments, brackets and the words of statements.

use crate::facts::{PathOp, SqlStatement};
use crate::sql_files::{ClientLine, client_line, file_of};
use crate::sql_tokens::{Token, Tokens};

/// Maximum number of different statements that are read.
const MAX_STATEMENTS: usize = 256;

/// Maximum depth of statements in statements.
const MAX_NESTING: usize = 4;

/// Maximum number of words that describe a statement.
const MAX_WORDS: usize = 4;

/// Words that start a statement inside another.
const NESTED: [&str; 6] = ["delete", "drop", "insert", "merge", "truncate", "update"];

/// Words that do not change what a statement does.
const NOISE: [&str; 14] = *tenter_base::words!(
    "cascaded concurrently exists foreign from if ignore low_priority materialized only or quick
     temp temporary"
);

/// The facts about a text in SQL.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SqlFacts {
    /// The statements; the indices of their commands are 0.
    pub(crate) statements: Vec<SqlStatement>,
    /// Commands for a shell: `\! ls`, `.shell ls`, `system ls`.
    pub(crate) scripts: Vec<String>,
    /// Files that functions and commands of clients touch: `readfile('a')`, `.output a`.
    pub(crate) paths: Vec<(String, PathOp)>,
    /// A limit was reached: statements that were not read may follow.
    pub(crate) over_limit: bool,
}

/// Reads a text.
pub(crate) fn read(text: &str) -> SqlFacts {
    let mut facts = SqlFacts::default();
    facts.add(text, 0);
    facts
}

impl SqlFacts {
    fn add(&mut self, text: &str, depth: usize) {
        if depth >= MAX_NESTING {
            self.over_limit = true;
            return;
        }
        let mut lines = Vec::new();
        let tokens: Vec<Token<'_>> = Tokens::new(text, &mut lines).collect();
        for line in lines {
            match client_line(line) {
                Some(ClientLine::Script(script)) => self.scripts.push(script.to_owned()),
                Some(ClientLine::Path(path, op)) => self.add_path(path, op),
                None => {}
            }
        }
        for at in 0..tokens.len() {
            if let Some((path, op)) = file_of(&tokens, at) {
                self.add_path(path, op);
            }
        }
        for statement in tokens.split(|token| *token == Token::End) {
            self.add_statement(statement, depth);
        }
    }

    fn add_path(&mut self, path: &str, op: PathOp) {
        if self.paths.len() >= MAX_STATEMENTS {
            self.over_limit = true;
            return;
        }
        self.paths.push((path.to_owned(), op));
    }

    fn add_statement(&mut self, tokens: &[Token<'_>], depth: usize) {
        for (count, start) in nested_starts(tokens).into_iter().enumerate() {
            if count >= MAX_STATEMENTS {
                self.over_limit = true;
                break;
            }
            self.add_one(&tokens[start..]);
        }
        let Some(start) = start_of(tokens) else { return };
        self.add_one(&tokens[start..]);
        // `do $$ … $$`, `exec('…')`: the text is a program.
        let Token::Word(first) = tokens[start] else { return };
        let runs_text = ["do", "exec", "execute", "prepare"];
        if runs_text.iter().any(|word| first.eq_ignore_ascii_case(word)) {
            for token in &tokens[start..] {
                if let Token::Text(program) = token {
                    self.add(program, depth + 1);
                }
            }
        }
    }

    /// Adds the statement at the start of these tokens.
    fn add_one(&mut self, tokens: &[Token<'_>]) {
        let mut words = Vec::new();
        let mut has_where = false;
        for (at, token) in own_tokens(tokens) {
            let Token::Word(word) = token else { continue };
            let word = word.to_lowercase();
            if word == "where" {
                has_where = !is_always_true(&tokens[at + 1..]);
                break;
            }
            let is_noise = NOISE.contains(&word.as_str())
                || (word == "table" && words.first().is_some_and(|first| first == "truncate"));
            if words.len() < MAX_WORDS && !is_noise {
                words.push(word);
            }
        }
        let statement = words.join(" ");
        let statement = SqlStatement { statement, has_where, command: 0 };
        // A thousand rows that are inserted are one fact.
        if statement.statement.is_empty() || self.statements.contains(&statement) {
            return;
        }
        if self.statements.len() >= MAX_STATEMENTS {
            self.over_limit = true;
            return;
        }
        self.statements.push(statement);
    }
}

/// Returns the tokens of one statement with their places, without those in brackets, up to the bracket around it.
fn own_tokens<'a, 't>(tokens: &'a [Token<'t>]) -> impl Iterator<Item = (usize, Token<'t>)> + 'a {
    let mut depth = 0_isize;
    tokens.iter().copied().enumerate().map_while(move |(at, token)| {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            _ => {}
        }
        (depth >= 0).then_some((at, if depth == 0 { token } else { Token::Other }))
    })
}

/// Returns the places of statements in brackets: `with a as (delete from b) …`.
fn nested_starts(tokens: &[Token<'_>]) -> Vec<usize> {
    let pairs = tokens.windows(2).enumerate();
    let starts = pairs.filter_map(|(at, pair)| match pair {
        [Token::Open, Token::Word(word)] if is_one_of(word, &NESTED) => Some(at + 1),
        _ => None,
    });
    starts.collect()
}

/// Returns the place of the first word that says what a statement does: after `explain analyze`, `begin`, and the queries of `with`.
fn start_of(tokens: &[Token<'_>]) -> Option<usize> {
    const BEFORE: [&str; 6] = ["analyze", "begin", "explain", "verbose", "then", "else"];
    const MAIN: [&str; 5] = ["delete", "insert", "merge", "select", "update"];
    let mut own = own_tokens(tokens).filter_map(|(at, token)| match token {
        Token::Word(word) => Some((at, word)),
        _ => None,
    });
    if let [Token::Word(first), Token::Word(second), ..] = tokens
        && first.eq_ignore_ascii_case("explain")
        && !second.eq_ignore_ascii_case("analyze")
    {
        // Without `analyze`, it only says what the statement would do.
        return Some(0);
    }
    let (start, first) = own.by_ref().find(|(_, word)| !is_one_of(word, &BEFORE))?;
    if !first.eq_ignore_ascii_case("with") {
        return Some(start);
    }
    own.find(|(_, word)| is_one_of(word, &MAIN)).map(|(at, _)| at)
}

/// Checks whether a condition is `true`, `1`, `a is not null`, or one thing that equals itself: `1 = 1`.
fn is_always_true(condition: &[Token<'_>]) -> bool {
    let end = condition.iter().position(|token| *token == Token::Close);
    match &condition[..end.unwrap_or(condition.len())] {
        [Token::Word(word)] => is_one_of(word, &["true", "1"]),
        [left, Token::Other, right] => left == right,
        [_, Token::Word(is), Token::Word(not), Token::Word(null)] => {
            [*is, *not, *null].join(" ").eq_ignore_ascii_case("is not null")
        }
        _ => false,
    }
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|one| word.eq_ignore_ascii_case(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(text: &str) -> Vec<String> {
        let line = |statement: SqlStatement| {
            let condition = if statement.has_where { " where" } else { "" };
            format!("{}{condition}", statement.statement)
        };
        read(text).statements.into_iter().map(line).collect()
    }

    #[test]
    fn statements_have_a_kind_a_name_and_perhaps_a_condition() {
        for (text, expected) in [
            ("DROP TABLE IF EXISTS users;", &["drop table users"][..]),
            ("drop table \"a\".b, c cascade", &["drop table a\".b c"]),
            ("alter table public.\"a\" drop b", &["alter table public.\"a drop"]),
            ("truncate table a, b", &["truncate a b"]),
            ("delete from a", &["delete a"]),
            (
                "DELETE FROM a WHERE id = 1; update b set c = 1",
                &["delete a where", "update b set c"],
            ),
            ("delete from a where 1=1", &["delete a"]),
            ("delete from a where true", &["delete a"]),
            ("delete from a where id is not null", &["delete a"]),
            ("/*!50000 drop table a */", &["drop table a"]),
            ("update a set b = (select c from d where e = 1)", &["update a set b"]),
            ("alter table a drop column b", &["alter table a drop"]),
            ("explain analyze delete from a", &["delete a"]),
            ("explain (analyze) delete from a", &["delete a"]),
            ("explain delete from a", &["explain delete a"]),
            ("begin; delete from a; rollback", &["delete a", "rollback"]),
            ("with x as (delete from a returning *) select 1", &["delete a returning", "select 1"]),
            ("with x as (select 1) delete from a", &["delete a"]),
            (
                "insert into a values ('drop table b; -- x') -- drop table c",
                &["insert into a values"],
            ),
            ("/* drop table a */ select ';' || 'x''y'", &["select"]),
            ("select * from a for update", &["select a for update"]),
            ("do $$ begin drop table a; end $$", &["do", "drop table a", "end"]),
            ("execute 'drop table a'", &["execute", "drop table a"]),
            ("create function f() as $x$ drop table a; $x$", &["create function f as"]),
            ("drop table a\nGO\nselect 1\n", &["drop table a", "select 1"]),
            ("", &[]),
        ] {
            assert_eq!(statements(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_for_the_client_are_no_sql() {
        let facts = read("\\c app\n.tables\n\\! ls -l\nselect 1;\n.shell pwd\nsystem id\n");
        assert_eq!(facts.scripts, ["ls -l", "pwd", "id"]);
        assert_eq!(facts.statements.len(), 1);
        assert!(facts.paths.is_empty());
    }

    #[test]
    fn files_are_touched_by_functions_clauses_and_lines_for_the_client() {
        use PathOp::{Execute, Read, Write};
        for (text, expected) in [
            ("select readfile('a/b')", &[("a/b", Read)][..]),
            ("select writefile('a', x), load_extension('l')", &[("a", Write), ("l", Execute)]),
            ("select * from read_csv('a.csv')", &[("a.csv", Read)]),
            ("select * from '/a.csv'", &[("/a.csv", Read)]),
            ("copy t from '/a'; copy (select 1) to '/b' csv", &[("/a", Read), ("/b", Write)]),
            ("load data infile 'a' into table t", &[("a", Read)]),
            ("attach database 'a' as b", &[("a", Write)]),
            ("select 1 into outfile 'a'", &[("a", Write)]),
            ("select extract(year from '2020-01-01'), trim('x' from 'a')", &[]),
            ("select 'readfile', f('a')", &[]),
            (
                ".output a\n.once \"b c\"\n.import d t\n.load e",
                &[("a", Write), ("b c", Write), ("d", Read), ("e", Execute)],
            ),
            ("\\o a\n\\copy t from 'b'\n\\copy t to c", &[("a", Write), ("b", Read), ("c", Write)]),
            (".output\n.once -x\n\\o", &[]),
            ("\\copy (select f(1) from a where b = ' to )') TO 'b'", &[("b", Write)]),
            (".import --csv --skip 1\n.im --csv -skip 1 a t\n.ou b", &[("a", Read), ("b", Write)]),
            ("select 1 \\g a\n\\i b", &[("a", Write), ("b", Read)]),
        ] {
            let paths = read(text).paths;
            let paths: Vec<_> = paths.iter().map(|(path, op)| (path.as_str(), *op)).collect();
            assert_eq!(paths, expected, "{text}");
        }
        let facts = read(".once |a b\n.import '|c' t\n\\o |d\n\\copy t from program 'e'");
        assert_eq!(facts.scripts, ["a b", "c", "d", "e"]);
        let facts = read(".read |a\npager b\n\\set x `c`\n.open d\n\\d users");
        assert_eq!(facts.scripts, ["a", "b", "c"]);
        assert_eq!(facts.paths, [("d".to_owned(), Write)]);
        let facts = read(
            "\\!a b\n.sh c\n.sys d\n.import --csv '|e' t\nselect 1 \\g |f\n\\copy t FROM Program 'g'",
        );
        assert_eq!(facts.scripts, ["a b", "c", "d", "e", "f", "g"]);
    }

    #[test]
    fn every_text_ends() {
        for text in ["'", "\"", "$", "$$", "$a$", "/*", "--", "\\", "(", "((delete", "é'é\\"] {
            for count in [1, 7] {
                let _ = read(&text.repeat(count));
            }
        }
        // Statements that are the same are one fact, so that what follows a dump is seen.
        let dump = "insert into a values (1);".repeat(2000) + "drop table b";
        let facts = read(&dump);
        assert_eq!((facts.statements.len(), facts.over_limit), (2, false));
        let tables: Vec<String> = (0..300).map(|table| format!("drop table t{table}")).collect();
        assert!(read(&tables.join(";")).over_limit);
        assert!(read(&"delete from a;".repeat(5000)).statements.len() <= MAX_STATEMENTS);
        assert!(read(&"(delete ".repeat(8000)).statements.len() <= MAX_STATEMENTS);
    }
}
