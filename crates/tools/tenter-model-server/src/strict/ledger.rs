//! The signatures that the server issued, and the content they belong to.
//!
//! A signature contains its format and a hash of its reasoning, so a server can check the signatures of another server of the same
//! test.

use serde_json::Value;

use super::violations::Violations;
use crate::Format;
use crate::reply::{Part, Reply};
use crate::signature::{hash, read};
use crate::wire::WireReply;

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
    /// A text, without surrounding whitespace.
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
    issued: Vec<Issued>,
    raw: Vec<String>,
}

impl Ledger {
    /// Records the signature of a complete reply. `carried` says whether the reply contained it.
    pub(super) fn note(&mut self, answer: &WireReply, format: Format, carried: bool) {
        let reply = answer.reply;
        if let Some((_, raw)) = &reply.raw {
            self.raw.push(raw.clone());
        }
        if reply.is_whole() {
            self.issued.push(Issued {
                format,
                model: answer.model.to_owned(),
                signature: (carried && reply.reasoning.is_some()).then(|| answer.signature(format)),
                anchors: anchors(reply, &format!("{:04}a", answer.serial)),
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
        let (letter, sum) = read(signature)
            .ok_or_else(|| format!("the signature `{signature}` was not issued by this server"))?;
        if letter != format.letter() {
            return Err(format!("the signature `{signature}` belongs to another format"));
        }
        match reasoning {
            Some(reasoning) if sum != format!("{:016x}", hash(reasoning)) => Err(format!(
                "the signature `{signature}` belongs to other reasoning than {reasoning:?}"
            )),
            _ => Ok(()),
        }
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
            let mut wanted = self
                .issued
                .iter()
                .filter(|issued| issued.format == format && issued.model == model)
                .filter(|issued| issued.anchors.contains(anchor))
                .map(|issued| issued.signature.as_ref())
                .peekable();
            let there = |wanted| place.signatures.iter().any(|(found, _)| found == wanted);
            if wanted.peek().is_some() && !wanted.any(|wanted| wanted.is_none_or(there)) {
                violations
                    .add(&place.at, &format!("{anchor:?} was repeated without its signature"));
            }
        }
    }
}

/// The identifiers of the first call, or the text if there is no call.
fn anchors(reply: &Reply, tag: &str) -> Vec<Anchor> {
    let call = reply.parts.iter().find_map(|part| match part {
        Part::Call(call, _) => Some((&call.name, &call.arguments)),
        Part::Text(_) => None,
    });
    let Some((name, arguments)) = call else {
        let text: String = reply
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                Part::Call(..) => None,
            })
            .collect();
        return vec![Anchor::text(&text)];
    };
    let ids = ["toolu_", "call_", "fc-", ""].map(|prefix| format!("{prefix}{tag}"));
    let arguments = serde_json::from_str(arguments).unwrap_or_default();
    ids.into_iter()
        .chain([format!("{tag:z<32}")])
        .map(Anchor::Call)
        .chain([Anchor::Bare(name.clone(), arguments)])
        .collect()
}
