//! Finds the authorization server of an MCP server (RFC 9728, RFC 8414).

use http::Uri;
use http::header::WWW_AUTHENTICATE;
use serde_json::{Value, json};

use super::requests::Network;

/// The parameter of a challenge with the URL of the metadata.
const METADATA_PARAMETER: &str = "resource_metadata";

/// An authorization server, as its metadata describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AuthorizationServer {
    pub(super) issuer: Option<String>,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) registration_endpoint: Option<String>,
    /// The scopes that the MCP server asks for.
    pub(super) scopes: Vec<String>,
}

/// Finds the authorization server of the MCP server at `url`.
///
/// # Errors
/// The server needs no login, or its metadata cannot be used.
pub(super) fn find(network: Network<'_>, url: &str) -> Result<AuthorizationServer, String> {
    let address = Address::parse(url)?;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let response = network.post_json(url, &ping)?;
    if response.status != http::StatusCode::UNAUTHORIZED {
        let status = response.status.as_u16();
        return Err(format!("it asks for no login: it answers HTTP {status} without one"));
    }
    let challenge = response.headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
    let resource = resource_metadata(network, &address, challenge)?;
    let issuer = match resource
        .as_ref()
        .and_then(|resource| first_text(resource, "authorization_servers"))
    {
        Some(issuer) => issuer,
        // Servers of the protocol's first version are their own authorization server.
        None => address.origin.clone(),
    };
    let scopes = resource.as_ref().map(|resource| texts(resource, "scopes_supported"));
    let server = server_metadata(network, &issuer)?;
    Ok(AuthorizationServer { scopes: scopes.unwrap_or_default(), ..server })
}

/// Reads the metadata of the MCP server, from the URL in its challenge, else from the well-known places.
fn resource_metadata(
    network: Network<'_>,
    address: &Address,
    challenge: Option<&str>,
) -> Result<Option<Value>, String> {
    let address_in_challenge =
        challenge.and_then(|challenge| parameter(challenge, METADATA_PARAMETER));
    let well_known = ["oauth-protected-resource"].map(|name| address.well_known(name));
    let places = address_in_challenge.into_iter().chain(well_known.into_iter().flatten());
    for place in places {
        let Some(metadata) = network.get(&place)? else { continue };
        let resource = metadata.get("resource").and_then(Value::as_str).unwrap_or_default();
        let is_of_server = Address::parse(resource).is_ok_and(|of| of.origin == address.origin);
        if !is_of_server {
            return Err(format!("the metadata at {place} is of another server: {resource:?}"));
        }
        return Ok(Some(metadata));
    }
    Ok(None)
}

fn server_metadata(network: Network<'_>, issuer: &str) -> Result<AuthorizationServer, String> {
    let address = Address::parse(issuer)?;
    let mut places = address.well_known("oauth-authorization-server");
    places.extend(address.well_known("openid-configuration"));
    places.push(format!(
        "{}{}/.well-known/openid-configuration",
        address.origin,
        address.path.trim_end_matches('/')
    ));
    for place in places {
        if let Some(metadata) = network.get(&place)? {
            return read(&metadata, issuer).map_err(|why| format!("{place}: {why}"));
        }
    }
    let at = |path: &str| format!("{}{path}", address.origin);
    Ok(AuthorizationServer {
        issuer: None,
        authorization_endpoint: at("/authorize"),
        token_endpoint: at("/token"),
        registration_endpoint: Some(at("/register")),
        scopes: Vec::new(),
    })
}

fn read(metadata: &Value, issuer: &str) -> Result<AuthorizationServer, String> {
    let text = |name: &str| metadata.get(name).and_then(Value::as_str).map(str::to_owned);
    let own = text("issuer").ok_or("it has no `issuer`")?;
    if own.trim_end_matches('/') != issuer.trim_end_matches('/') {
        return Err(format!("it is of another issuer: {own:?}"));
    }
    let methods = texts(metadata, "code_challenge_methods_supported");
    if !methods.is_empty() && !methods.iter().any(|method| method == "S256") {
        return Err("the server does not support PKCE with S256".to_owned());
    }
    Ok(AuthorizationServer {
        issuer: Some(own),
        authorization_endpoint: text("authorization_endpoint")
            .ok_or("it has no `authorization_endpoint`")?,
        token_endpoint: text("token_endpoint").ok_or("it has no `token_endpoint`")?,
        registration_endpoint: text("registration_endpoint"),
        scopes: Vec::new(),
    })
}

/// A URL in parts.
struct Address {
    /// `https://host:port`.
    origin: String,
    path: String,
}

impl Address {
    fn parse(url: &str) -> Result<Self, String> {
        let invalid = || format!("{url:?} is not a URL");
        let uri: Uri = url.parse().map_err(|_| invalid())?;
        let (scheme, authority) = uri.scheme_str().zip(uri.authority()).ok_or_else(invalid)?;
        let origin = format!("{scheme}://{}", authority.as_str().to_ascii_lowercase());
        Ok(Self { origin, path: uri.path().to_owned() })
    }

    /// Returns the well-known places of metadata: with the path, and without it.
    fn well_known(&self, name: &str) -> Vec<String> {
        let root = format!("{}/.well-known/{name}", self.origin);
        match self.path.trim_end_matches('/') {
            "" => vec![root],
            path => vec![format!("{root}{path}"), root],
        }
    }
}

/// Returns a parameter of a challenge: `Bearer resource_metadata="https://…"`.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let (_, rest) = challenge.split_once(&format!("{name}="))?;
    match rest.strip_prefix('"') {
        Some(value) => value.split('"').next().map(str::to_owned),
        None => rest.split([',', ' ']).next().map(str::to_owned),
    }
}

fn texts(object: &Value, name: &str) -> Vec<String> {
    let list = object.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

fn first_text(object: &Value, name: &str) -> Option<String> {
    texts(object, name).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_names_the_metadata() {
        let challenge = r#"Bearer error="invalid_token", resource_metadata="https://a.example/m""#;
        assert_eq!(parameter(challenge, METADATA_PARAMETER).unwrap(), "https://a.example/m");
        let bare = "Bearer resource_metadata=https://a.example/m, scope=x";
        assert_eq!(parameter(bare, METADATA_PARAMETER).unwrap(), "https://a.example/m");
        assert_eq!(parameter("Bearer", METADATA_PARAMETER), None);
    }

    #[test]
    fn well_known_places_have_the_path_first() {
        let places = Address::parse("https://A.example:8/mcp/").unwrap().well_known("x");
        assert_eq!(
            places,
            ["https://a.example:8/.well-known/x/mcp", "https://a.example:8/.well-known/x"]
        );
        assert_eq!(Address::parse("https://a.example").unwrap().well_known("x").len(), 1);
        assert!(Address::parse("a.example").is_err());
    }

    #[test]
    fn metadata_of_another_issuer_or_without_pkce_is_refused() {
        let metadata = |issuer: &str, methods: &[&str]| {
            json!({"issuer": issuer, "authorization_endpoint": "https://a/a", "token_endpoint": "https://a/t",
                "code_challenge_methods_supported": methods})
        };
        assert!(read(&metadata("https://a/", &["S256"]), "https://a").is_ok());
        assert!(read(&metadata("https://b", &["S256"]), "https://a").is_err());
        assert!(read(&metadata("https://a", &["plain"]), "https://a").is_err());
    }
}
