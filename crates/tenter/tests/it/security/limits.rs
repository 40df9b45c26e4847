//! Limits of tool calls that would read, search or start processes endlessly (R79).

use std::fs;
use std::os::unix::fs::symlink;

use tenter_testkit::{Sandbox, needs, wait_until};

use crate::{sandbox, send_signal};

fn script(sandbox: &Sandbox, calls: &str) -> String {
    sandbox.script(&format!("turns: [{{tool_calls: [{calls}]}}, {{text: ok}}]"))
}

#[test]
fn endless_ignore_files_do_not_block_a_search() {
    for first_is_pipe in [false, true] {
        let sandbox = sandbox();
        sandbox.write("sub/found.txt", "needle\n");
        sandbox.write(".git/info/x", "");
        let places = [".ignore", ".gitignore", ".git/info/exclude", "../.ignore", "sub/.gitignore"];
        for (number, place) in places.into_iter().enumerate() {
            if number.is_multiple_of(2) == first_is_pipe {
                let _ = sandbox.shell(&format!("mkfifo {place}")).expect_code(0);
            } else {
                symlink("/dev/zero", sandbox.project().join(place)).unwrap();
            }
        }
        let model = script(
            &sandbox,
            "{name: grep, input: {pattern: needle}}, {name: glob, input: {pattern: '**/*.txt'}}",
        );
        let output = sandbox.shell(&format!(
            "ulimit -v 4000000; exec timeout 60 tenter run --headless --model {model} go"
        ));
        assert_eq!(output.code, Some(0), "{first_is_pipe}\n{output}");
        let results = output.json_lines();
        let search = crate::filter_kind(&results, "tool-result")
            .iter()
            .all(|line| line["result"]["metadata"].to_string().contains("sub/found.txt"));
        assert!(search, "{first_is_pipe}\n{output}");
    }
}
/// Returns the processor time that a process has used so far, in ticks.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn a_search_stops_at_one_signal() {
    if !std::path::Path::new("/proc/self/stat").exists() {
        needs::skipped("proc", "there is no /proc to see the search at work in");
        return;
    }
    for signal in ["INT", "TERM"] {
        let sandbox = sandbox();
        let large = sandbox.write("large", format!("{}\n", "a".repeat(100)).repeat(200_000));
        for number in 0..200 {
            fs::hard_link(&large, sandbox.project().join(format!("large-{number}"))).unwrap();
        }
        sandbox.sh_hook("started", "before_tool_call", "touch started");
        // A pattern for which the search needs minutes.
        let model = script(&sandbox, "{name: grep, input: {pattern: '([a-z]{1,99}){99}[0-9]'}}");
        let child = sandbox.start(["run", "--model", &model, "go"]);
        wait_until("the call", || sandbox.project().join("started").exists());
        let before = ticks(child.id());
        wait_until("the search", || ticks(child.id()) > before + 30);
        let start = std::time::Instant::now();
        assert!(send_signal(signal, child.id()));
        let output = sandbox.finish(child);
        assert_eq!(output.code, Some(130), "{signal}\n{output}");
        // Without other load, it is one second.
        assert!(start.elapsed().as_secs() < 45, "{signal} {:?}", start.elapsed());
    }
}
