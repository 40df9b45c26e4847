//! `tenter hooks post`: sends a payload to a hook behind HTTP. The engine runs it as the program of such a hook (S3).
//!
//! The payload is read from stdin, and the reply is written to stdout. Nothing of a project is read: no configuration, and no
//! proxy. A failure is explained in one line on stderr.

use std::io::{self, Read as _};
use std::time::Duration;

use tenter_engine::inspect::{TIMEOUTS_MS, is_model_key};
use tenter_http::{JsonPost, Key, post_json};
use tenter_proc::Cancel;
use tenter_protocol::manifest::http_endpoint::{check_header, check_url, header_variable};
use tenter_terminal::env::Env;
use tenter_terminal::failure::{Exit, Failure};
use tenter_terminal::ui;

use crate::authorities::{self, TrustedAuthorities};
use crate::proxy;

/// Post the payload on stdin to a hook behind HTTP, and print its reply.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A header with the environment variable that holds its value. Repeatable.
    #[arg(long = "header", value_name = "NAME=env:VARIABLE")]
    headers: Vec<String>,
    /// The URL of the hook.
    url: String,
}

pub(super) fn run(env: &Env, args: &Args) -> Exit {
    match post(env, args) {
        Ok(reply) => {
            reply.into_iter().for_each(ui::out_piece);
            Exit::Done
        }
        Err(Failure { message, help, .. }) => {
            let help = help.map(|help| format!(" ({help})")).unwrap_or_default();
            ui::note(format!("{message}{help}"));
            Exit::Failed
        }
    }
}

fn post(env: &Env, Args { headers, url }: &Args) -> Result<Option<String>, Failure> {
    check_url(url).map_err(|why| Failure::new(format!("the URL {why}")))?;
    let headers =
        headers.iter().map(|header| read_header(env, header)).collect::<Result<_, _>>()?;
    let TrustedAuthorities { authorities, help } = authorities::of_environment(env)?;
    let mut body = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut body)
        .map_err(|error| Failure::new(format!("cannot read the payload: {error}")))?;
    let post = JsonPost {
        url: url.clone(),
        headers,
        body,
        proxy: proxy::find(url, None, env),
        authorities,
        // The engine ends this program when the hook's own time is over.
        timeout: Duration::from_millis(TIMEOUTS_MS.1),
    };
    post_json(post, &Cancel::new()).map_err(|error| {
        let failure = Failure::new(error.message);
        if error.is_untrusted { failure.help(help) } else { failure }
    })
}

/// The name of a header, and its value from the environment.
pub(crate) fn read_header(env: &Env, header: &str) -> Result<(String, Key), Failure> {
    let invalid = || Failure::new("a header is not of the form NAME=env:VARIABLE");
    let (name, value) = header.split_once('=').ok_or_else(invalid)?;
    let variable = header_variable(value).ok_or_else(invalid)?;
    check_header(name).map_err(|why| Failure::new(format!("the header {name:?} {why}")))?;
    if is_model_key(variable) {
        let why = format!("{variable} is the name of a model key, which is never sent to a hook");
        return Err(Failure::new(why));
    }
    let unset =
        || Failure::new(format!("the variable {variable} for the header {name} is not set"));
    Ok((name.to_owned(), Key::new(env.text(variable).ok_or_else(unset)?)))
}
