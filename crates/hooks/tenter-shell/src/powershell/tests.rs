//! Texts for PowerShell and what bash would run.

use super::*;

#[test]
fn commands_in_blocks_and_expressions_are_commands() {
    for (text, script) in [
        ("git push --force", "git push --force"),
        ("type .env", "cat .env"),
        ("gci Env: | a", "printenv | a"),
        ("a; b | c", "a\nb | c"),
        ("Invoke-Command -ScriptBlock { a }", "{\nInvoke-Command -ScriptBlock\na\n}"),
        ("ls | % { a }", "ls | {\n%\na\n}"),
        ("& { a }", "{\na\n}"),
        (". { a }", "{\na\n}"),
        ("& 'C:\\x y\\a.exe' b", "'C:/x y/a.exe' b"),
        ("if (a) { b } else { c }", "{\n(\na\n)\necho else\nb\nc\n}"),
        ("if(a){ b }", "{\n(\na\n)\nb\n}"),
        ("foreach ($x in a b) { c }", "{\n(\na b\n)\nc\n}"),
        ("try { a } catch { b }", "{\na\nb\n}"),
        ("$x = a b", "a b"),
        ("$x = 'a'; b $x", "x='a'\nb \"$x\""),
        ("Write-Host \"rm -rf /\"", "echo \"rm -rf /\""),
        ("[string]$x='a'", "x='a'"),
        ("$env:X = 'a'", "export X='a'"),
        ("$env:X | a", "echo $X | a"),
        ("a $env:USERPROFILE\\b", "a $HOME/b"),
        ("a (b c)", "a \"$(\nb c\n)\""),
        ("(a b) | c", "(\na b\n) | c"),
        ("a `\n  b", "a b"),
        ("'x y' | a", "echo 'x y' | a"),
        ("a \"b`$c $(d)\" 'it''s'", "a \"b\\$c $(\nd\n)\" 'it'\\''s'"),
        ("a b,c @('d', \"e\")", "a b c 'd' \"e\""),
        ("a # b\nc <# d #> e", "a\nc e"),
        ("a 2>&1", "a 2>&1"),
        ("a @'\nb\n'@", "a 'b'"),
        ("function f { a }", "{\na\n}"),
        ("Start-Process git -ArgumentList 'push --force' -Wait", "git push --force"),
        ("saps -FilePath git -Args 'push','--force'", "git push --force"),
        ("Start-Process a -Verb RunAs -WindowStyle Hidden", "sudo a"),
        ("[IO.File]::Delete('a')", "echo [IO.File]::Delete 'a'"),
    ] {
        assert_eq!(as_shell(text).trim_end(), script, "{text}");
    }
}

#[test]
fn any_text_is_read_to_its_end() {
    for text in ["}", "{", "(", "a)b", "'", "\"", "$(", "${", "@(", "`", "<#", "@'\n", "$", "é`"] {
        let _ = as_shell(text);
    }
    assert_eq!(as_shell("} a"), "\na\n");
    let deep = "{(".repeat(10_000);
    let _ = as_shell(&deep);
    let _ = as_shell(&format!("{deep} git push"));
}

#[test]
fn nested_lists_are_read_once() {
    // Each text in a list begins another list.
    for text in ["(\"$(", "('a' \"$(", "(\"a\"\"$("] {
        let script = as_shell(&format!("{} git push", text.repeat(40)));
        assert!(script.contains("git push"), "{script}");
    }
}
