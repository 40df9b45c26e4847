//! Any text has facts, the same ones again, and they refer only to each other (C5).
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_shell::{Facts, FlowSource, Stdin, Surroundings, limits, read, read_powershell};

fuzz_target!(|text: &str| {
    let surroundings = Surroundings {
        cwd: Some("/home/ann/app".to_owned()),
        project: vec!["/home/ann/app".to_owned()],
        home: Some("/home/ann".to_owned()),
        ..Surroundings::default()
    };
    for read in [read, read_powershell] {
        let facts = read(text, &surroundings);
        assert_eq!(facts, read(text, &surroundings));
        check(&facts);
    }
});

fn check(facts: &Facts) {
    let count = facts.commands.len();
    assert!(count <= limits::MAX_COMMANDS);
    assert!(facts.paths.iter().all(|path| path.command.is_none_or(|command| command < count)));
    for flow in &facts.flows {
        // A program that runs what it downloads flows into itself.
        assert!(flow.into < count);
        if let FlowSource::Command(from) = flow.from {
            assert!(from < count);
        }
    }
    for command in &facts.commands {
        assert!(command.via.len() <= limits::MAX_DEPTH);
        if let Some(Stdin::Commands(from)) = &command.stdin_from {
            assert!(from.iter().all(|from| *from < count));
        }
    }
}
