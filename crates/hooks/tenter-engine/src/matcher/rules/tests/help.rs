//! `--help` as an option, and as the value of one.

use super::*;

#[test]
fn help_is_no_option_if_it_may_be_the_value_of_one() {
    let unless_help =
        json!({"program": ["git"], "subcommand": ["push"], "flags": {"none": ["--help"]}});
    for (command, expected) in [
        ("git push", "run"),
        ("git push --help", "nothing"),
        ("git push origin main --help", "nothing"),
        ("git push --repo=x --help", "nothing"),
        ("git push --force --help", "nothing"),
        // This option is known to take a value.
        ("git push --push-option --help", "run"),
        ("git push --no-such-option --help", "ask"),
        ("git push -- --help", "run"),
    ] {
        assert_eq!(leads_to(&unless_help, command), expected, "{command}");
    }
}
