//! The signatures that the server issued, and the content they belong to.
//!
//! A signature contains its format and a hash of its reasoning, so a server can check the signatures of another server of the same
//! test.

use serde_json::Value;
use tenter_model_server::{Format, ModelReply, Route, check_signature, reply_signature};

use super::violations::Violations;

/// Placeholders that a client may send for a missing Gemini signature.
const PLACEHOLDERS: [&str; 2] =
    ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// Identifies a replayed part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Anchor {
    /// A call with an id.
    Call(String),
    /// A call without an id.
    Bare(String, Value),
    /// A text.
    Text(String),
}

impl Anchor {
    /// Returns a text, without surrounding whitespace.
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.trim().to_owned())
    }
}

/// A part of a request that repeats an earlier reply.
#[derive(Debug)]
pub(super) struct Replayed {
    /// The place in the request.
    pub(super) at: String,
    /// The parts that it repeats.
    pub(super) anchors: Vec<Anchor>,
    /// The signatures at this place, with their reasoning if the format sends both.
    pub(super) signatures: Vec<(String, Option<String>)>,
}

#[derive(Debug)]
struct Issued {
    format: Format,
    model: String,
    /// `None` if the reply had no signature; it may then be repeated without one.
    signature: Option<String>,
    anchors: Vec<Anchor>,
}

/// The signatures that a server issued.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    issued_calls: Vec<Issued>,
    raw: Vec<String>,
}

impl Ledger {
    /// Records the signature of a complete reply.
    pub(super) fn note(
        &mut self,
        reply: &ModelReply,
        route: &Route,
        request: &Value,
        serial: usize,
    ) {
        self.raw.extend(reply.recorded_stream().map(str::to_owned));
        if reply.is_whole() {
            self.issued_calls.push(Issued {
                format: route.format,
                model: route.model.clone(),
                signature: reply_signature(reply, route.format, request, serial),
                anchors: anchors(reply, &format!("{serial:04}a")),
            });
        }
    }

    /// Checks the signatures of a request.
    pub(super) fn check(
        &self,
        format: Format,
        model: &str,
        replayed: &[Replayed],
        violations: &mut Violations,
    ) {
        for place in replayed {
            for (signature, reasoning) in &place.signatures {
                if let Err(problem) = self.genuine(format, signature, reasoning.as_deref()) {
                    violations.add(&place.at, &problem);
                }
            }
            self.complete(format, model, place, violations);
        }
    }

    fn genuine(
        &self,
        format: Format,
        signature: &str,
        reasoning: Option<&str>,
    ) -> Result<(), String> {
        if self.is_recorded(signature)
            || (format == Format::Gemini && PLACEHOLDERS.contains(&signature))
        {
            return Ok(());
        }
        check_signature(signature, format, reasoning)
    }

    fn is_recorded(&self, signature: &str) -> bool {
        let fixtures = Format::ALL.map(Format::fixture);
        !signature.is_empty()
            && fixtures
                .into_iter()
                .chain(self.raw.iter().map(String::as_str))
                .any(|raw| raw.contains(signature))
    }

    /// Checks that no signed part is repeated without its signature.
    fn complete(&self, format: Format, model: &str, place: &Replayed, violations: &mut Violations) {
        for anchor in &place.anchors {
            let mut signatures = self
                .issued_calls
                .iter()
                .filter(|issued| issued.format == format && issued.model == model)
                .filter(|issued| issued.anchors.contains(anchor))
                .map(|issued| issued.signature.as_ref())
                .peekable();
            let is_repeated = |signature| place.signatures.iter().any(|(own, _)| own == signature);
            if signatures.peek().is_some()
                && !signatures.any(|signature| signature.is_none_or(is_repeated))
            {
                violations
                    .add(&place.at, &format!("{anchor:?} was repeated without its signature"));
            }
        }
    }
}

/// Returns the identifiers of the first call, or the text if there is no call.
fn anchors(reply: &ModelReply, tag: &str) -> Vec<Anchor> {
    let Some((name, arguments)) = reply.first_call() else {
        return vec![Anchor::text(&reply.joined_text())];
    };
    let ids = ["toolu_", "call_", "fc-", ""].map(|prefix| format!("{prefix}{tag}"));
    let arguments = serde_json::from_str(arguments).unwrap_or_default();
    ids.into_iter()
        .chain([format!("{tag:z<32}")])
        .map(Anchor::Call)
        .chain([Anchor::Bare(name.to_owned(), arguments)])
        .collect()
}
