//! `tenter hooks post`: sends a payload to a hook behind HTTP. The engine runs it as the program of such a hook (S3).
//!
//! The payload is read from stdin, and the reply is written to stdout. Nothing of a project is read: no configuration, and no
//! proxy. A failure is explained in one line on stderr. With the argument `serve` it speaks the runtime protocol, and each event is
//! one POST.

mod serving;

use std::io::{self, Read as _};
use std::time::Duration;

use tenter_engine::inspect::{TIMEOUTS_MS, is_model_key};
use tenter_http::{JsonPost, Key, post_json};
use tenter_proc::Cancel;
use tenter_protocol::manifest::http_endpoint::{check_header, check_url, header_variable};
use tenter_protocol::runtime::SERVE;
use tenter_terminal::{Env, Exit, Failure, ui};

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
    /// Post the payload of each event of the runtime protocol.
    #[arg(value_parser = [SERVE])]
    serve: Option<String>,
}

pub(super) fn run(env: &Env, args: &Args) -> Exit {
    let post = Post::new(env, args);
    let result = match args.serve {
        Some(_) => serving::run(post.map_err(one_line)),
        None => post.and_then(|post| post_stdin(&post)),
    };
    match result {
        Ok(()) => Exit::Done,
        Err(failure) => {
            ui::note(one_line(failure));
            Exit::Failed
        }
    }
}

fn one_line(Failure { message, help, .. }: Failure) -> String {
    let help = help.map(|help| format!(" ({help})")).unwrap_or_default();
    format!("{message}{help}")
}

/// A POST without its payload.
struct Post {
    template: JsonPost,
    /// The next step if no trusted authority signed the certificate of the server.
    untrusted_help: String,
}

impl Post {
    fn new(env: &Env, Args { headers, url, .. }: &Args) -> Result<Self, Failure> {
        check_url(url).map_err(|why| Failure::new(format!("the URL {why}")))?;
        let headers =
            headers.iter().map(|header| read_header(env, header)).collect::<Result<_, _>>()?;
        let TrustedAuthorities { authorities, help } = authorities::from_environment(env)?;
        let template = JsonPost {
            url: url.clone(),
            headers,
            body: Vec::new(),
            proxy: proxy::find(url, None, env),
            authorities,
            // The engine ends the request when the hook's own time is over.
            timeout: Duration::from_millis(TIMEOUTS_MS.1),
        };
        Ok(Self { template, untrusted_help: help })
    }

    /// Sends a payload, and returns the text of the reply.
    fn send(&self, body: Vec<u8>, cancel: &Cancel) -> Result<Option<String>, Failure> {
        let post = JsonPost { body, ..self.template.clone() };
        post_json(post, cancel).map_err(|error| {
            let failure = Failure::new(error.message);
            if error.is_untrusted { failure.help(&self.untrusted_help) } else { failure }
        })
    }
}

fn post_stdin(post: &Post) -> Result<(), Failure> {
    let mut body = Vec::new();
    let unreadable = |error| Failure::new(format!("cannot read the payload: {error}"));
    io::stdin().lock().read_to_end(&mut body).map_err(unreadable)?;
    post.send(body, &Cancel::new())?.into_iter().for_each(ui::out_piece);
    Ok(())
}

/// Returns the name of a header, and its value from the environment.
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
