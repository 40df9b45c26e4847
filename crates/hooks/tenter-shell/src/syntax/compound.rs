//! Compound commands: groups, conditions, loops, functions.

use super::parser::Parser;
use super::tree::{Branch, List, Node, Word};

impl Parser<'_> {
    /// Parses a compound command, if one is next. At the limit of nesting its opening token is skipped.
    pub(super) fn compound(&mut self) -> Option<Node> {
        if self.peek() == Some(b'(') {
            return self.parenthesis();
        }
        let keyword = self.keyword()?;
        if matches!(
            keyword,
            "then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}" | "!" | "in"
        ) {
            return None;
        }
        if keyword == "time" && !self.is_time_of_compound() {
            return None;
        }
        self.at += keyword.len();
        self.nested(|parser| parser.after(keyword)).flatten()
    }

    fn after(&mut self, keyword: &str) -> Option<Node> {
        match keyword {
            "{" => {
                let list = self.list();
                self.close("}");
                Some(Node::Group(list))
            }
            "if" => Some(self.condition()),
            "while" | "until" => Some(self.loop_of_condition()),
            "for" | "select" => Some(self.loop_of_words()),
            "case" => Some(self.case()),
            "[[" => Some(self.test()),
            "function" => self.named_function(),
            "coproc" => self.coproc(),
            "time" => self.time(),
            _ => None,
        }
    }

    fn close(&mut self, keyword: &str) {
        self.skip_lines();
        if self.keyword() == Some(keyword) || (keyword == ")" && self.peek() == Some(b')')) {
            self.at += keyword.len();
        } else {
            self.is_broken = true;
        }
    }

    fn parenthesis(&mut self) -> Option<Node> {
        if self.starts_with("((") && self.is_arithmetic(self.at + 2) {
            self.at += 2;
            let parts = self.nested(Self::arithmetic_parts)?;
            return Some(Node::Test(vec![Word { parts }]));
        }
        self.at += 1;
        let list = self.nested(Self::list)?;
        self.close(")");
        Some(Node::Subshell(list))
    }

    fn condition(&mut self) -> Node {
        let mut branches = Vec::new();
        loop {
            let condition = self.list();
            self.close("then");
            branches.push(Branch { condition, patterns: Vec::new(), body: self.list() });
            if self.keyword() != Some("elif") {
                break;
            }
            self.at += "elif".len();
        }
        if self.keyword() == Some("else") {
            self.at += "else".len();
            let body = self.list();
            branches.push(Branch { condition: Vec::new(), patterns: Vec::new(), body });
        }
        self.close("fi");
        Node::If(branches)
    }

    fn loop_of_condition(&mut self) -> Node {
        let condition = self.list();
        Node::Loop { condition, body: self.loop_body() }
    }

    fn loop_body(&mut self) -> List {
        self.skip_lines();
        if self.keyword() == Some("{") {
            self.at += 1;
            let list = self.list();
            self.close("}");
            return list;
        }
        self.close("do");
        let list = self.list();
        self.close("done");
        list
    }

    fn loop_of_words(&mut self) -> Node {
        self.skip_blanks();
        if self.starts_with("((") {
            self.at += 2;
            let parts = self.arithmetic_parts();
            self.skip_lines();
            self.eat(";");
            let words = vec![Word { parts }];
            return Node::For { name: String::new(), words, body: self.loop_body() };
        }
        let name = self.word().and_then(|word| word.literal()).unwrap_or_default();
        self.skip_lines();
        let mut words = Vec::new();
        if self.keyword() == Some("in") {
            self.at += "in".len();
            words = self.words_until(|parser| {
                matches!(parser.peek(), Some(b';' | b'\n' | b'&' | b'|' | b')'))
            });
        }
        self.skip_lines();
        self.eat(";");
        Node::For { name, words, body: self.loop_body() }
    }

    fn case(&mut self) -> Node {
        self.skip_blanks();
        let subject = self.word().unwrap_or_default();
        self.skip_lines();
        if self.keyword() == Some("in") {
            self.at += "in".len();
        } else {
            self.is_broken = true;
        }
        let mut arms = Vec::new();
        loop {
            self.skip_lines();
            if self.peek().is_none() || self.peek() == Some(b')') || self.keyword() == Some("esac")
            {
                break;
            }
            let start = self.at;
            arms.push(self.case_arm());
            if self.at == start {
                break;
            }
        }
        self.close("esac");
        Node::Case { subject, arms }
    }

    fn case_arm(&mut self) -> Branch {
        self.eat("(");
        let patterns =
            self.words_until(|parser| matches!(parser.peek(), Some(b')' | b';' | b'\n')));
        if !self.eat(")") {
            self.is_broken = true;
        }
        let body = self.list();
        for end in [";;&", ";;", ";&"] {
            if self.eat(end) {
                break;
            }
        }
        Branch { condition: Vec::new(), patterns, body }
    }

    fn test(&mut self) -> Node {
        let words = self.words_until(|parser| {
            parser.keyword_is_end_of_test() || matches!(parser.peek(), Some(b';' | b'\n'))
        });
        if self.keyword_is_end_of_test() {
            self.at += "]]".len();
        } else {
            self.is_broken = true;
        }
        Node::Test(words)
    }

    fn keyword_is_end_of_test(&self) -> bool {
        self.starts_with("]]") && self.peek_at(2).is_none_or(super::parser::ends_word)
    }

    fn named_function(&mut self) -> Option<Node> {
        self.skip_blanks();
        let name = self.word()?.literal().unwrap_or_default();
        self.skip_blanks();
        if self.eat("(") {
            self.skip_blanks();
            self.eat(")");
        }
        self.function(name)
    }

    fn coproc(&mut self) -> Option<Node> {
        self.skip_blanks();
        self.skip_coproc_name();
        let body = self.pipeline()?;
        Some(Node::Coproc(std::rc::Rc::new(body)))
    }

    /// Skips the name in `coproc NAME { …; }`: only a compound command can follow it.
    fn skip_coproc_name(&mut self) {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        let is_name = self.at > start && matches!(self.peek(), Some(b' ' | b'\t'));
        self.skip_blanks();
        let is_compound = self.peek() == Some(b'(')
            || matches!(
                self.keyword(),
                Some("{" | "if" | "while" | "until" | "for" | "case" | "[[")
            );
        if !is_name || !is_compound {
            self.at = start;
        }
    }

    /// Checks whether `time` is before a compound command, a function or an assignment. Before other simple commands it is read as a wrapper.
    fn is_time_of_compound(&mut self) -> bool {
        let start = self.at;
        self.at += "time".len();
        self.skip_blanks();
        if self.eat("-p") {
            self.skip_blanks();
        }
        let is_compound = self.peek() == Some(b'(')
            || self.keyword().is_some()
            || self.assignment_start().is_some()
            || self.starts_function();
        self.at = start;
        is_compound
    }

    /// Parses a compound command after `time`.
    fn time(&mut self) -> Option<Node> {
        self.skip_blanks();
        while self.eat("-p") || self.eat("--") {
            self.skip_blanks();
        }
        self.pipeline()
    }
}
