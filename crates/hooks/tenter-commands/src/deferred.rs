//! Commands that clap creates only if the line names them. Creating all commands with their arguments takes longer than an empty program.

use std::cell::RefCell;
use std::ffi::OsString;
use std::ops::Deref;

use clap::builder::Resettable;
use clap::error::Error;
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

/// The arguments of a command, or the commands of a group. The parent's help needs only the names and descriptions that the parent has. A
/// command cannot be deferred if an option of it replaces a global one, which it has already when its own are created.
#[derive(Debug)]
pub struct Deferred<T>(T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| keep_about(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: Subcommand> Subcommand for Deferred<T> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(|command| keep_about(command, named::<T>))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        T::augment_subcommands_for_update(command)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// The commands of the program, or a part of a group's. While a line is parsed, there is only the command that it names, if it names one.
#[derive(Debug)]
pub struct Commands<T>(pub T);

impl<T: Subcommand> Subcommand for Commands<T> {
    fn augment_subcommands(command: Command) -> Command {
        let is_other = CHOICE.with_borrow(|name| {
            name.as_ref().is_some_and(|name| !name.to_str().is_some_and(T::has_subcommand))
        });
        if is_other { command } else { named::<T>(command) }
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        T::augment_subcommands_for_update(command)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

impl<T: FromArgMatches> FromArgMatches for Commands<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

thread_local! {
    /// The line that is parsed, with the name of the program.
    static LINE: RefCell<Vec<OsString>> = const { RefCell::new(Vec::new()) };
    /// The command that the line names in the group that is created.
    static CHOICE: RefCell<Option<OsString>> = const { RefCell::new(None) };
}

/// Calls `parse`, which parses this line with a new command line: each group has only the command that the line names after it, or all of
/// them if there is no such command.
pub fn parse_line<R>(line: &[OsString], parse: impl FnOnce() -> R) -> R {
    LINE.replace(line.to_vec());
    let result = parse();
    LINE.take();
    result
}

/// Adds the commands of `T` to a group: only the one that the line names, if it names one.
fn named<T: Subcommand>(group: Command) -> Command {
    let next = LINE.with_borrow(|line| {
        let place = line.iter().position(|word| word == group.get_name())?;
        line.get(place + 1).cloned()
    });
    let Some(name) = next.filter(|word| word.to_str().is_some_and(T::has_subcommand)) else {
        return T::augment_subcommands(group);
    };
    CHOICE.replace(Some(name.clone()));
    let all = T::augment_subcommands(Command::new(""));
    CHOICE.take();
    match all.find_subcommand(name) {
        Some(command) => group.subcommand(command.clone()),
        None => T::augment_subcommands(group),
    }
}

/// Applies `augment` without the description of the type, which is for readers of the code.
fn keep_about(command: Command, augment: fn(Command) -> Command) -> Command {
    let about = command.get_about().cloned();
    let long_about = command.get_long_about().cloned();
    augment(command).about(Resettable::from(about)).long_about(Resettable::from(long_about))
}
