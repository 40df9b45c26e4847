//! Reads the reply of a hook's process from its exit code and stdout, for either protocol (R27, R28).

use tenter_proc::{CapturedOutput, Completion, ProcessEnd};
use tenter_protocol::reply::{ParsedReply, ReplyError};
use tenter_protocol::{EventName, Reply, Verdict, executable, manifest};

use super::RunFailure;
use super::bounded::bound;
use super::job::Job;
use crate::hook::Hook;
use crate::hook_policy::FailMode;

/// The exit code with which a manifest hook blocks.
const BLOCKED: i32 = 2;

/// The interpreted output of a process.
pub(super) struct ParsedOutput {
    /// The reply, or why there is none.
    pub(super) reply: Result<Reply, RunFailure>,
    /// The parts of the reply that have no effect.
    pub(super) warnings: Vec<String>,
    /// Messages of the hook for the journal.
    pub(super) notes: Vec<String>,
}

impl From<Result<Reply, RunFailure>> for ParsedOutput {
    fn from(reply: Result<Reply, RunFailure>) -> Self {
        Self { reply, warnings: Vec::new(), notes: Vec::new() }
    }
}

pub(super) fn parse(job: &Job<'_>, completion: &Completion) -> ParsedOutput {
    let (hook, event) = (job.hook, job.subscription.event);
    if hook.options.claude_code.is_some() {
        return parse_claude_code(job, completion);
    }
    if hook.kind.endpoint().is_some() && !matches!(completion.end, ProcessEnd::Exited(0)) {
        return Err(http_failure(hook, completion)).into();
    }
    match &completion.end {
        ProcessEnd::Exited(BLOCKED) if !hook.is_executable() => {
            Ok(manifest::deny_by_exit(&bound(completion.stderr.text()))).into()
        }
        ProcessEnd::Exited(0) => match parse_stdout(hook, event, &completion.stdout) {
            Ok(reply) => apply_fail_mode(hook.policy.fail, event, reply),
            Err(failure) => Err(failure).into(),
        },
        ended => Err(failure(hook, ended)).into(),
    }
}

/// Returns the reason why a request got no usable response. The program that sent it explains this on stderr.
fn http_failure(hook: &Hook, completion: &Completion) -> RunFailure {
    let why = bound(completion.stderr.text().trim().to_owned());
    match completion.end {
        ProcessEnd::Exited(_) if !why.is_empty() => RunFailure::Http(why),
        _ => failure(hook, &completion.end),
    }
}

/// Reads the output of a script that is written for Claude Code (B36).
fn parse_claude_code(job: &Job<'_>, completion: &Completion) -> ParsedOutput {
    let (hook, event) = (job.hook, job.subscription.event);
    let ProcessEnd::Exited(code) = completion.end else {
        return Err(failure(hook, &completion.end)).into();
    };
    let stdout = match whole(&completion.stdout) {
        Ok(stdout) => stdout,
        Err(_) if code == BLOCKED => &[],
        Err(failure) => return Err(failure).into(),
    };
    let stderr = bound(completion.stderr.text());
    match manifest::claude_code::parse_reply(job.event, code, stdout, &stderr) {
        Some(Ok(reply)) => apply_fail_mode(hook.policy.fail, event, reply),
        Some(Err(error)) => Err(RunFailure::Reply(bound(error.to_string()))).into(),
        None => Err(RunFailure::Exit(code)).into(),
    }
}

fn parse_stdout(
    hook: &Hook,
    event: EventName,
    stdout: &CapturedOutput,
) -> Result<ParsedReply, RunFailure> {
    let stdout = whole(stdout)?;
    let reply = if hook.is_executable() {
        executable::parse_reply(event, stdout)
    } else {
        manifest::parse_reply(event, stdout)
    };
    // An error quotes the reply, however long that is.
    reply.map_err(|error: ReplyError| RunFailure::Reply(bound(error.to_string())))
}

/// Turns a reply with unusable parts into a failure if the hook fails closed, unless the usable parts deny (R61).
fn apply_fail_mode(fail: FailMode, event: EventName, reply: ParsedReply) -> ParsedOutput {
    let ParsedReply { reply, warnings, defects, text } = reply;
    let denies = reply.verdict.as_ref().is_some_and(Verdict::is_deny) && event.is_deniable();
    let output = text.map(|text| format!("printed: {text}"));
    let notes = reply.log.clone().into_iter().chain(output).collect();
    let is_failed = fail == FailMode::Closed && !defects.is_empty() && !denies;
    let (reply, defects) = if is_failed {
        (Err(RunFailure::Reply(bound(defects.join("; ")))), Vec::new())
    } else {
        (Ok(reply), defects)
    };
    let warnings = defects.into_iter().chain(warnings).map(bound).collect();
    ParsedOutput { reply, warnings, notes }
}

/// Returns all of stdout, or a failure if it was too long to keep (R37).
fn whole(stdout: &CapturedOutput) -> Result<&[u8], RunFailure> {
    stdout.whole().ok_or(RunFailure::TooLong(stdout.total))
}

fn failure(hook: &Hook, end: &ProcessEnd) -> RunFailure {
    match end {
        ProcessEnd::Exited(code) => RunFailure::Exit(*code),
        ProcessEnd::Signalled(signal) => RunFailure::Signal(*signal),
        ProcessEnd::TimedOut => RunFailure::TimedOut(hook.policy.timeout),
        ProcessEnd::Cancelled => RunFailure::Cancelled,
        ProcessEnd::NotStarted(error) => RunFailure::NotStarted(error.to_string()),
    }
}
