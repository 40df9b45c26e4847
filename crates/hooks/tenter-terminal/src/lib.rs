//! A command-line program at its terminal: the process's environment and signals, output in styles, a live region, questions,
//! and how a command fails. It knows no commands.
//!
//! Only this crate reads the environment, the clock and the terminal, and only it prints.
//!
//! ```
//! use tenter_terminal::question::confirm;
//! use tenter_terminal::text::prose;
//!
//! let mut answers = ["maybe", "yes"].into_iter().map(str::to_owned);
//! assert!(confirm("Run it?", &mut |_prompt| answers.next()));
//!
//! assert_eq!(prose("one two three", 8), ["one two", "three"]);
//! ```

pub mod editor;
mod env;
mod failure;
pub mod notify;
pub mod numbers;
pub mod pager;
pub mod question;
pub mod screen;
pub mod signals;
mod style;
pub mod text;
pub mod ui;

pub use env::{Env, now};
pub use failure::{CommandResult, Exit, Failure};
pub use style::{BAD, FAINT, GOOD, HEADING, NAME, NOTICE, styled};
