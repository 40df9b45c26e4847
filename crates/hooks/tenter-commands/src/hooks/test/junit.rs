//! Results of tests as JUnit XML, which CI systems show.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tenter_terminal::Failure;

/// The tests of a hook.
#[derive(Debug)]
pub(super) struct JunitSuite {
    /// The name of the hook.
    pub(super) name: String,
    pub(super) cases: Vec<JunitCase>,
}

/// A test.
#[derive(Debug)]
pub(super) struct JunitCase {
    pub(super) name: String,
    /// The reason why it failed; `None` if it passed.
    pub(super) failure: Option<String>,
}

impl JunitSuite {
    fn failures(&self) -> usize {
        self.cases.iter().filter(|case| case.failure.is_some()).count()
    }
}

/// Writes the results to a file.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(file: &Path, suites: &[JunitSuite]) -> Result<(), Failure> {
    let failure = |error| Failure::new(format!("cannot write {}: {error}", file.display()));
    fs::write(file, xml(suites)).map_err(failure)
}

fn xml(suites: &[JunitSuite]) -> String {
    let tests: usize = suites.iter().map(|suite| suite.cases.len()).sum();
    let failures: usize = suites.iter().map(JunitSuite::failures).sum();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        xml,
        "<testsuites name=\"tenter hooks test\" tests=\"{tests}\" failures=\"{failures}\">"
    );
    for suite in suites {
        let (name, count, failures) = (escape(&suite.name), suite.cases.len(), suite.failures());
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failures}\">"
        );
        for case in &suite.cases {
            let test = escape(&case.name);
            let _ = match &case.failure {
                None => writeln!(xml, "    <testcase classname=\"{name}\" name=\"{test}\"/>"),
                Some(why) => writeln!(
                    xml,
                    "    <testcase classname=\"{name}\" name=\"{test}\"><failure message=\"{0}\">{0}</failure></testcase>",
                    escape(why)
                ),
            };
        }
        xml.push_str("  </testsuite>\n");
    }
    xml + "</testsuites>\n"
}

/// Returns a text for an attribute. Characters that XML does not allow are replaced.
fn escape(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => output.push_str("&amp;"),
            '<' => output.push_str("&lt;"),
            '>' => output.push_str("&gt;"),
            '"' => output.push_str("&quot;"),
            '\n' => output.push_str("&#10;"),
            '\t' => output.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => output.push('\u{fffd}'),
            c => output.push(c),
        }
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_and_texts_escaped() {
        let case = |name: &str, failure: Option<&str>| JunitCase {
            name: name.to_owned(),
            failure: failure.map(str::to_owned),
        };
        let cases = vec![case("a", None), case("b & \"c\"", Some("<d>\n\u{1b}"))];
        let suite = JunitSuite { name: "guard".to_owned(), cases };
        assert_eq!(
            xml(&[suite]),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites name=\"tenter hooks test\" tests=\"2\" failures=\"1\">\n  \
             <testsuite name=\"guard\" tests=\"2\" failures=\"1\">\n    \
             <testcase classname=\"guard\" name=\"a\"/>\n    \
             <testcase classname=\"guard\" name=\"b &amp; &quot;c&quot;\"><failure message=\"&lt;d&gt;&#10;\u{fffd}\">&lt;d&gt;&#10;\u{fffd}</failure></testcase>\n  \
             </testsuite>\n</testsuites>\n"
        );
    }
}
