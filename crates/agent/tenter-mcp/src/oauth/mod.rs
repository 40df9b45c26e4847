//! Login with servers behind HTTP: OAuth 2.1 as the protocol's specification of authorization describes it, with PKCE, dynamic client
//! registration and a redirect to this machine.
//!
//! The SDK's own implementation brings another HTTP client and some forty libraries; this one uses the transport that is there.

mod discovery;
mod redirect;
mod requests;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use form_urlencoded::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use discovery::AuthorizationServer;
use redirect::Redirect;
pub use requests::Network;

/// Number of random bytes of a verifier and of a state.
const RANDOM_BYTES: usize = 32;
/// The time before its end at which a token is renewed.
const MARGIN: Duration = Duration::from_mins(1);

/// The rights that a login gave, for requests to one server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The URL of the server.
    pub url: String,
    client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    token_endpoint: String,
    access_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    /// The time at which the token ends, in seconds since 1970; `None` if the server did not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

/// A client that the user registered with the authorization server, for servers that register none themselves.
#[derive(Debug, Clone, Default)]
pub struct RegisteredClient {
    /// Its id.
    pub id: Option<String>,
    /// The scopes to ask for, separated by spaces; by default those that the server names.
    pub scope: Option<String>,
}

/// Logs in with the server at `url`. `show` gets the address that the user opens in a browser; `now` is the time in seconds since 1970.
///
/// # Errors
/// The server needs no login, cannot be reached, or refused, or the user did not log in.
pub fn login(
    network: Network<'_>,
    url: &str,
    client: &RegisteredClient,
    now: u64,
    show: &dyn Fn(&str),
) -> Result<Grant, String> {
    let server = discovery::find(network, url)?;
    let redirect = Redirect::listen().map_err(|error| format!("cannot listen: {error}"))?;
    let redirect_url = redirect.url();
    let (client_id, client_secret) = match &client.id {
        Some(id) => (id.clone(), None),
        None => register(network, &server, &redirect_url)?,
    };
    let (verifier, state) = (random()?, random()?);
    let scope = client.scope.clone().unwrap_or_else(|| server.scopes.join(" "));
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    let mut fields = vec![
        ("response_type", "code"),
        ("client_id", &client_id),
        ("redirect_uri", &redirect_url),
        ("state", &state),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("resource", url),
    ];
    if !scope.is_empty() {
        fields.push(("scope", &scope));
    }
    show(&with_query(&server.authorization_endpoint, &fields)?);
    let code = redirect.wait(&state, server.issuer.as_deref(), network.cancel)?;
    let mut fields = vec![
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", &redirect_url),
        ("client_id", &client_id),
        ("code_verifier", &verifier),
        ("resource", url),
    ];
    fields.extend(client_secret.as_deref().map(|secret| ("client_secret", secret)));
    let token = network.post_form(&server.token_endpoint, &fields)?.accepted("the login")?;
    let grant = Grant {
        url: url.to_owned(),
        client_id,
        client_secret,
        token_endpoint: server.token_endpoint,
        access_token: String::new(),
        refresh_token: None,
        expires_at: None,
    };
    grant.with_token(&token, now)
}

/// Registers this program with an authorization server (RFC 7591).
fn register(
    network: Network<'_>,
    server: &AuthorizationServer,
    redirect_url: &str,
) -> Result<(String, Option<String>), String> {
    let endpoint = server
        .registration_endpoint
        .as_ref()
        .ok_or("the server registers no clients itself; pass the id of one with --client-id")?;
    let client = json!({
        "client_name": "Tenter",
        "redirect_uris": [redirect_url],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    let answer = network.post_json(endpoint, &client)?.accepted("the registration")?;
    let field = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
    let id = field("client_id").ok_or("the registration has no `client_id`")?;
    Ok((id, field("client_secret")))
}

impl Grant {
    /// Returns whether the token ends soon. `now` is in seconds since 1970.
    pub fn ends_soon(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|end| end <= now + MARGIN.as_secs())
    }

    /// Returns the value of the header `Authorization`.
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.access_token)
    }

    /// Returns the values that no message may contain.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let others = [self.refresh_token.as_deref(), self.client_secret.as_deref()];
        std::iter::once(self.access_token.as_str()).chain(others.into_iter().flatten())
    }

    /// Returns the grant with a new token. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// The user has to log in again, or the server cannot be reached.
    pub fn renew(&self, network: Network<'_>, now: u64) -> Result<Self, String> {
        let refresh_token = self.refresh_token.as_deref().ok_or("the login has ended")?;
        let mut fields = vec![
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token),
            ("client_id", &self.client_id),
            ("resource", &self.url),
        ];
        fields.extend(self.client_secret.as_deref().map(|secret| ("client_secret", secret)));
        let answer = network.post_form(&self.token_endpoint, &fields)?;
        self.clone().with_token(&answer.accepted("a new token")?, now)
    }

    fn with_token(self, token: &Value, now: u64) -> Result<Self, String> {
        let field = |name: &str| token.get(name).and_then(Value::as_str).map(str::to_owned);
        let is_bearer = field("token_type").is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
        if !is_bearer {
            return Err("the server gives tokens of another type than Bearer".to_owned());
        }
        let lifetime = token.get("expires_in").and_then(Value::as_u64);
        Ok(Self {
            access_token: field("access_token").ok_or("the server gave no `access_token`")?,
            refresh_token: field("refresh_token").or(self.refresh_token),
            expires_at: lifetime.map(|seconds| now.saturating_add(seconds)),
            ..self
        })
    }
}

/// Returns a URL with further fields in its query.
fn with_query(url: &str, fields: &[(&str, &str)]) -> Result<String, String> {
    tenter_protocol::manifest::http_endpoint::check_url(url)
        .map_err(|why| format!("the URL {url} {why}"))?;
    let separator = if url.contains('?') { '&' } else { '?' };
    let query = Serializer::new(String::new()).extend_pairs(fields).finish();
    Ok(format!("{url}{separator}{query}"))
}

fn random() -> Result<String, String> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| format!("there are no random numbers: {error}"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
