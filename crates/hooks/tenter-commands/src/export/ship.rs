//! Sends batches of records to a collector: once, or until it is interrupted. A batch is acknowledged before the cursor moves.

use std::time::Duration;

use serde_json::Value;
use tenter_base::visible;
use tenter_engine::journal::JournalDirectories;
use tenter_http::{JsonPost, Key, PostError, post_json};
use tenter_proc::Cancel;
use tenter_terminal::{CommandResult, Env, Exit, Failure, now, signals, ui};

use super::cursor::Cursor;
use super::headers;
use super::otlp::Exporter;
use super::source::Batch;
use crate::authorities::{self, TrustedAuthorities};
use crate::hooks::post::read_header;
use crate::{journal, proxy};

/// The interval at which a followed journal is read.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The pause before the first retry; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause between retries.
const MAX_PAUSE: Duration = Duration::from_mins(1);
/// Number of attempts to send a batch, unless the journals are followed.
const ATTEMPTS: u32 = 5;
/// The statuses after which a request is sent again.
const RETRIED: [u16; 4] = [429, 502, 503, 504];

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The collector, such as http://localhost:4318; /v1/logs is added.
    #[arg(long, value_name = "URL")]
    pub(super) endpoint: Option<String>,
    /// Keep sending new records, until Ctrl-C.
    #[arg(long, short)]
    follow: bool,
    /// Leave out the inputs of tool calls.
    #[arg(long)]
    pub(super) no_inputs: bool,
    /// A header with the environment variable that holds its value. Repeatable.
    #[arg(long = "header", value_name = "NAME=env:VARIABLE")]
    pub(super) headers: Vec<String>,
    /// A shell command that prints headers, one NAME: VALUE per line.
    #[arg(long, value_name = "COMMAND")]
    pub(super) headers_command: Option<String>,
}

/// Runs the command.
pub(super) fn run(env: &Env, args: &Args) -> CommandResult {
    let cancel = signals::cancel()?;
    let url = headers::url(env, args.endpoint.as_deref())?;
    let cursor = Cursor::open(&env.state_dir(), &url)
        .map_err(|error| Failure::new(format!("cannot read the cursor of the export: {error}")))?;
    let cursor = cursor.ok_or_else(|| {
        Failure::new("another process exports to this endpoint").help("stop it first")
    })?;
    let TrustedAuthorities { authorities, help } = authorities::from_environment(env)?;
    let post = JsonPost {
        headers: all_headers(env, args, &cancel)?,
        proxy: proxy::find(&url, None, env),
        url,
        body: Vec::new(),
        authorities,
        timeout: headers::timeout(env),
    };
    let exporter = Exporter { resource: headers::resource(env), omits_inputs: args.no_inputs };
    let journals = env.journals();
    let mut shipper =
        Shipper { env, journals, exporter, post, cursor, help, follows: args.follow, count: 0 };
    shipper.ship(&cancel)?;
    while args.follow && !cancel.wait(POLL_INTERVAL) {
        shipper.ship(&cancel)?;
    }
    ui::note(format!("Sent {} records.", shipper.count));
    Ok(Exit::Done)
}

fn all_headers(env: &Env, args: &Args, cancel: &Cancel) -> Result<Vec<(String, Key)>, Failure> {
    let mut all = headers::read_environment(env);
    for header in &args.headers {
        all.push(read_header(env, header)?);
    }
    if let Some(command) = &args.headers_command {
        all.extend(headers::read_command(env, command, cancel)?);
    }
    Ok(all)
}

struct Shipper<'e> {
    env: &'e Env,
    journals: JournalDirectories,
    exporter: Exporter,
    /// The request, without its body.
    post: JsonPost,
    cursor: Cursor,
    /// The help for a certificate that no authority signed.
    help: String,
    /// True if a collector that does not answer is waited for.
    follows: bool,
    /// Number of records that were sent.
    count: usize,
}

impl Shipper<'_> {
    /// Seals the journals, and sends everything that was not acknowledged.
    fn ship(&mut self, cancel: &Cancel) -> Result<(), Failure> {
        for seals in journal::all_seals(self.env) {
            if let Err(error) = seals.seal(None, now()) {
                ui::note(format!("The journals could not be sealed: {error}"));
            }
        }
        while !cancel.is_cancelled() {
            let batch = Batch::next(&self.journals, &self.cursor)
                .map_err(|error| Failure::new(format!("cannot read a journal: {error}")))?;
            if batch.is_empty() {
                break;
            }
            if !batch.lines.is_empty() && !self.send(&batch, cancel)? {
                break;
            }
            self.count += batch.lines.len();
            if batch.unreadable > 0 {
                ui::note(format!("Left out {} lines that cannot be read.", batch.unreadable));
            }
            self.cursor.advance(batch.positions).map_err(|error| {
                Failure::new(format!("cannot write the cursor of the export: {error}"))
            })?;
        }
        Ok(())
    }

    /// Sends a batch until the collector acknowledges it. Returns false if that was interrupted.
    fn send(&self, batch: &Batch, cancel: &Cancel) -> Result<bool, Failure> {
        let body = self.exporter.request(&batch.lines, now());
        let mut pause = FIRST_PAUSE;
        let mut attempt = 1;
        loop {
            let post = JsonPost { body: body.clone(), ..self.post.clone() };
            let error = match post_json(post, cancel) {
                Ok(reply) => {
                    report_rejected(reply.as_deref());
                    return Ok(true);
                }
                // Whatever the body says, the collector has the batch.
                Err(error) if error.status.is_some_and(|status| (200..300).contains(&status)) => {
                    return Ok(true);
                }
                Err(error) => error,
            };
            if cancel.is_cancelled() {
                return Ok(false);
            }
            if !is_temporary(&error) || (attempt == ATTEMPTS && !self.follows) {
                return Err(self.failure(error));
            }
            if attempt == 1 {
                ui::note(format!("{}; trying again.", visible(&error.message)));
            }
            if cancel.wait(pause) {
                return Ok(false);
            }
            pause = (pause * 2).min(MAX_PAUSE);
            attempt += 1;
        }
    }

    fn failure(&self, error: PostError) -> Failure {
        let failure = Failure::new(error.message);
        if error.is_untrusted {
            return failure.help(&self.help);
        }
        failure.help("what was not acknowledged is sent the next time")
    }
}

fn is_temporary(error: &PostError) -> bool {
    !error.is_untrusted && error.status.is_none_or(|status| RETRIED.contains(&status))
}

/// Reports records that the collector rejected: sending them again would not help.
fn report_rejected(reply: Option<&str>) {
    let reply: Option<Value> = reply.and_then(|reply| serde_json::from_str(reply).ok());
    let partial = reply.as_ref().map(|reply| &reply["partialSuccess"]);
    let Some(partial) = partial else { return };
    // The protocol writes 64-bit numbers as text.
    let rejections = match &partial["rejectedLogRecords"] {
        Value::String(text) => text.parse().unwrap_or(0),
        other => other.as_u64().unwrap_or(0),
    };
    if rejections > 0 {
        let why = partial["errorMessage"].as_str().unwrap_or_default();
        ui::note(format!("The collector rejected {rejections} records: {}", visible(why)));
    }
}
