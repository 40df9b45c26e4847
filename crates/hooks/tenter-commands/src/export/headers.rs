//! The endpoint and the headers of requests, from flags, a command, and the variables of OpenTelemetry.

use std::time::Duration;

use tenter_base::percent_decoded;
use tenter_http::Key;
use tenter_proc::{Cancel, Invocation, ProcessEnd};
use tenter_terminal::{Env, Failure};

/// The path of logs below an endpoint.
const LOGS: &str = "v1/logs";
/// Default timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the URL of logs: from the flag, else from the variables.
pub(super) fn url(env: &Env, flag: Option<&str>) -> Result<String, Failure> {
    let below = |base: &str| match base.trim_end_matches('/') {
        base if base.ends_with(LOGS) => base.to_owned(),
        base => format!("{base}/{LOGS}"),
    };
    let url = flag
        .map(below)
        .or_else(|| env.text("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT").map(str::to_owned))
        .or_else(|| env.text("OTEL_EXPORTER_OTLP_ENDPOINT").map(below));
    let url = url.ok_or_else(|| {
        Failure::usage("there is no endpoint")
            .help("pass --endpoint http://HOST:4318, or set OTEL_EXPORTER_OTLP_ENDPOINT")
    })?;
    if url.starts_with("http://") || url.starts_with("https://") {
        return Ok(url);
    }
    Err(Failure::usage("the endpoint must begin with http:// or https://"))
}

/// Returns the timeout of a request.
pub(super) fn timeout(env: &Env) -> Duration {
    let variables = ["OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
    let milliseconds = variables.iter().find_map(|name| env.text(name)?.parse().ok());
    milliseconds.filter(|time| *time > 0).map_or(TIMEOUT, Duration::from_millis)
}

/// Returns the headers that the variables set: names and values, percent-encoded.
pub(super) fn read_environment(env: &Env) -> Vec<(String, Key)> {
    let variables = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS"];
    let text = |name| env.text(name).unwrap_or_default();
    let pairs = variables.iter().flat_map(|name| text(name).split(','));
    let headers = pairs.filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((name.trim().to_ascii_lowercase(), Key::new(&percent_decoded(value.trim()))))
    });
    headers.collect()
}

/// Runs a command that prints headers, one `NAME: VALUE` a line.
pub(super) fn read_command(
    env: &Env,
    command: &str,
    cancel: &Cancel,
) -> Result<Vec<(String, Key)>, Failure> {
    let invocation = Invocation {
        program: "sh".into(),
        args: vec!["-c".into(), command.into()],
        cwd: env.home.clone(),
        env: env.vars.clone(),
        ..Invocation::default()
    };
    let completion = tenter_proc::run(&invocation, cancel);
    let failure = |why: String| Failure::new(format!("the command of --headers-command {why}"));
    match completion.end {
        ProcessEnd::Exited(0) => {}
        ProcessEnd::Exited(code) => return Err(failure(format!("failed with exit code {code}"))),
        _ => return Err(failure("did not end by itself".to_owned())),
    }
    let text = String::from_utf8_lossy(&completion.stdout.head).into_owned();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), Key::new(value.trim())))
    };
    // The line itself may be a secret.
    lines
        .map(|line| {
            header(line).ok_or_else(|| failure("printed a line without a colon".to_owned()))
        })
        .collect()
}

/// Returns the attributes of this machine: its name, the user, and what the variables add.
pub(super) fn resource(env: &Env) -> Vec<(String, String)> {
    let attribute = |name: &str, value: String| (name.to_owned(), value);
    let service = env.text("OTEL_SERVICE_NAME").unwrap_or("tenter");
    let mut resource = vec![attribute("service.name", service.to_owned())];
    resource.push(attribute("service.version", env!("CARGO_PKG_VERSION").to_owned()));
    let names = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let host = names.iter().find_map(|file| std::fs::read_to_string(file).ok());
    resource.extend(host.map(|host| attribute("host.name", host.trim().to_owned())));
    resource.extend(env.text("USER").map(|user| attribute("user.name", user.to_owned())));
    let further = env.text("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default().split(',');
    for (name, value) in further.filter_map(|pair| pair.split_once('=')) {
        resource.retain(|(key, _)| key != name.trim());
        resource.push((name.trim().to_owned(), percent_decoded(value.trim())));
    }
    resource
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> Env {
        let vars = vars.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Env::from_variables(vars, "/".into())
    }

    #[test]
    fn the_endpoint_is_the_flag_or_a_variable() {
        let base = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/")];
        let exact = [("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://c/exact"), base[0]];
        let of = |vars: &[(&str, &str)], flag| url(&env(vars), flag).ok();
        assert_eq!(of(&base, None).as_deref(), Some("http://c:4318/v1/logs"));
        assert_eq!(of(&exact, None).as_deref(), Some("http://c/exact"));
        assert_eq!(of(&exact, Some("https://d")).as_deref(), Some("https://d/v1/logs"));
        assert_eq!(of(&[], Some("https://d/v1/logs")).as_deref(), Some("https://d/v1/logs"));
        assert_eq!(of(&[], Some("d:4318")), None);
        assert_eq!(of(&[], None), None);
    }

    #[test]
    fn headers_and_attributes_of_variables_are_decoded() {
        let env = env(&[
            ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20a%2Cb, x-team = blue"),
            ("OTEL_RESOURCE_ATTRIBUTES", "team=blue%20one,host.name=build-7"),
        ]);
        let headers = read_environment(&env);
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
        assert_eq!(headers, [("authorization", "Bearer a,b"), ("x-team", "blue")]);
        let resource = resource(&env);
        let value = |key: &str| {
            let mut values = resource.iter().filter(|(name, _)| name == key);
            values.next().map(|(_, value)| value.as_str())
        };
        assert_eq!((value("team"), value("host.name")), (Some("blue one"), Some("build-7")));
    }
}
