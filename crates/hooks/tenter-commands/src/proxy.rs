//! Selects the proxy for a server: the provider's configuration, otherwise the usual variables. A server on this machine
//! is always reached directly.

use std::net::IpAddr;

use tenter_terminal::Env;

/// Returns the proxy for the server at `address`. `setting` is the provider's; an empty string means none.
pub fn find(address: &str, setting: Option<&str>, env: &Env) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let (host, port) = host_and_port(rest);
    if is_local(host) {
        return None;
    }
    if let Some(proxy) = setting {
        return Some(proxy.to_owned()).filter(|proxy| !proxy.is_empty());
    }
    let excepted = either(env, "NO_PROXY").is_some_and(|list| is_excepted(list, host, port));
    let variable = if scheme == "https" { "HTTPS_PROXY" } else { "HTTP_PROXY" };
    let proxy = either(env, variable).or_else(|| either(env, "ALL_PROXY"));
    proxy.filter(|_| !excepted).map(str::to_owned)
}

/// Returns the value of the lower-case variable, which is the older convention, otherwise of the upper-case one.
fn either<'e>(env: &'e Env, name: &str) -> Option<&'e str> {
    env.text(&name.to_ascii_lowercase()).or_else(|| env.text(name))
}

/// Splits `host`, `host:port` or `[host]:port`, followed by any path.
fn host_and_port(rest: &str) -> (&str, Option<&str>) {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some((host, after)) = authority.strip_prefix('[').and_then(|inner| inner.split_once(']'))
    {
        return (host, after.strip_prefix(':'));
    }
    match authority.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (authority, None),
    }
}

fn is_local(host: &str) -> bool {
    let name = host.to_ascii_lowercase();
    let address = name.parse::<IpAddr>();
    name == "localhost"
        || name.ends_with(".localhost")
        || address.is_ok_and(|address| address.is_loopback() || address.is_unspecified())
}

/// Checks whether `NO_PROXY` matches the host: itself, a parent domain, or `*`.
fn is_excepted(list: &str, host: &str, port: Option<&str>) -> bool {
    let host = host.to_ascii_lowercase();
    list.split([',', ' ']).filter(|entry| !entry.is_empty()).any(|entry| {
        let entry = entry.to_ascii_lowercase();
        let (name, only_port) = host_and_port(&entry);
        let name = name.trim_start_matches("*.").trim_start_matches('.');
        let in_domain = || {
            host.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('.'))
        };
        entry == "*"
            || (!name.is_empty() && in_domain() && (only_port.is_none() || only_port == port))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn env(vars: &[(&str, &str)]) -> Env {
        let vars = vars.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Env { vars, cwd: PathBuf::from("/"), home: PathBuf::from("/") }
    }

    const ALL: &[(&str, &str)] = &[
        ("HTTPS_PROXY", "http://s"),
        ("http_proxy", "http://h"),
        ("HTTP_PROXY", "http://H"),
        ("ALL_PROXY", "http://a"),
    ];

    #[test]
    fn the_scheme_selects_the_variable_and_lower_case_takes_precedence() {
        assert_eq!(find("https://x.com/v1", None, &env(ALL)).as_deref(), Some("http://s"));
        assert_eq!(find("http://x.com", None, &env(ALL)).as_deref(), Some("http://h"));
        let only_all = env(&[("all_proxy", "socks5://a")]);
        assert_eq!(find("https://x.com", None, &only_all).as_deref(), Some("socks5://a"));
        assert_eq!(find("https://x.com", None, &env(&[])), None);
    }

    #[test]
    fn local_servers_are_reached_directly() {
        for host in *tenter_base::words!(
            "localhost:8080 LOCALHOST a.localhost 127.0.0.1:1 127.9.9.9 [::1]:8080 0.0.0.0:80"
        ) {
            assert_eq!(
                find(&format!("http://{host}/v1"), Some("http://p"), &env(ALL)),
                None,
                "{host}"
            );
        }
    }

    #[test]
    fn the_configuration_takes_precedence_and_empty_means_none() {
        let excepted = env(&[("HTTPS_PROXY", "http://s"), ("NO_PROXY", "*")]);
        assert_eq!(find("https://x.com", Some("http://p"), &excepted).as_deref(), Some("http://p"));
        assert_eq!(find("https://x.com", Some(""), &env(ALL)), None);
    }

    #[test]
    fn exceptions_are_hosts_and_domains() {
        let is_excepted = |list: &str, address: &str| {
            find(address, None, &env(&[("HTTPS_PROXY", "http://s"), ("no_proxy", list)])).is_none()
        };
        for list in
            ["x.com", "a.org, x.com", ".x.com", "*.x.com", "*", "api.x.com:443", "API.X.com"]
        {
            assert!(is_excepted(list, "https://api.x.com:443/v1"), "{list}");
        }
        for list in ["ax.com", "pi.x.com", "api.x.com:80", "", ",", "com.x"] {
            assert!(!is_excepted(list, "https://api.x.com:443/v1"), "{list}");
        }
        assert!(is_excepted("10.0.0.7", "https://10.0.0.7"));
    }
}
