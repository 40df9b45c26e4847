//! The process of one hook, which is started again when it has ended, but not too often (S9).

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::process::ServingProcess;

/// The number of deaths within [`DEATH_WINDOW`] after which a hook is not started again.
const MAX_DEATHS: usize = 3;
const DEATH_WINDOW: Duration = Duration::from_mins(1);

/// The process of one hook, and the deaths of earlier ones.
#[derive(Default)]
pub struct ProcessSlot {
    process: Option<Arc<ServingProcess>>,
    deaths: VecDeque<Instant>,
    /// The reason why no process is started any more, as the end of a sentence that begins with the process.
    given_up: Option<String>,
}

impl ProcessSlot {
    /// The process, if there is one.
    pub fn process(&self) -> Option<&Arc<ServingProcess>> {
        self.process.as_ref()
    }

    /// Returns the process, which is started if there is none.
    ///
    /// # Errors
    /// The reason why there is none, as the end of a sentence that begins with the process.
    pub fn get_or_start(
        &mut self,
        start: impl FnOnce() -> io::Result<ServingProcess>,
    ) -> Result<Arc<ServingProcess>, String> {
        if let Some(why) = &self.given_up {
            return Err(why.clone());
        }
        if let Some(process) = &self.process {
            return Ok(Arc::clone(process));
        }
        let process = start().map_err(|error| format!("could not be started: {error}"))?;
        Ok(Arc::clone(self.process.insert(Arc::new(process))))
    }

    /// Removes the process. It ends when the last of its requests has.
    pub fn take(&mut self) -> Option<Arc<ServingProcess>> {
        self.process.take()
    }

    /// Removes a process that has ended, and counts its death. Returns the reason why no process is started any more, if this is one
    /// death too many.
    pub fn remove_ended(&mut self) -> Option<String> {
        let ending = self.process.as_ref()?.ending()?;
        self.process = None;
        self.forget_old_deaths();
        self.deaths.push_back(Instant::now());
        if self.deaths.len() < MAX_DEATHS {
            return None;
        }
        let why = &ending.why;
        let why = format!("ended {MAX_DEATHS} times within a minute; the last time, it {why}");
        self.given_up.insert(why).clone().into()
    }

    /// Forgets the deaths of more than a minute ago. Returns whether there were others.
    pub fn forget_old_deaths(&mut self) -> bool {
        self.deaths.retain(|death| death.elapsed() < DEATH_WINDOW);
        !self.deaths.is_empty()
    }

    /// Forgets all deaths, so that a process is started again.
    pub fn forget_deaths(&mut self) {
        self.deaths.clear();
        self.given_up = None;
    }
}
