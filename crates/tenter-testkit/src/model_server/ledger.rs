//! What the server gave out and wants back: signatures, and beside what they stood.
//!
//! A signature says of itself which format it belongs to and which reasoning it stands for. So a server can check one that
//! another server of the same test gave out.

use serde_json::Value;

use super::Format;
use super::findings::Findings;
use super::script::{Part, Reply};
use super::signature::{hash, read};
use super::wire::Answer;

/// What a client may put in place of a Gemini signature that it does not have.
const PLACEHOLDERS: [&str; 2] =
    ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// What a replayed piece of an answer is recognised by.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Anchor {
    /// A call with this id.
    Call(String),
    /// A call without an id.
    Bare(String, Value),
    /// A text.
    Text(String),
}

impl Anchor {
    /// A text; what is around it does not count.
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.trim().to_owned())
    }
}

/// A place in a request that repeats something of an earlier answer.
#[derive(Debug)]
pub(super) struct Replayed {
    /// Where it is.
    pub(super) at: String,
    /// What it repeats.
    pub(super) anchors: Vec<Anchor>,
    /// The signatures that stand there, each with its reasoning where the format sends both.
    pub(super) signatures: Vec<(String, Option<String>)>,
}

#[derive(Debug)]
struct Issued {
    format: Format,
    model: String,
    /// Nothing, when the answer carried none: then what it said may also come back without one.
    signature: Option<String>,
    anchors: Vec<Anchor>,
}

/// The signatures that a server gave out.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    issued: Vec<Issued>,
    raw: Vec<String>,
}

impl Ledger {
    /// Notes what an answer gave out, when it came to its end. `carried` says whether its signature went along.
    pub(super) fn note(&mut self, answer: &Answer, format: Format, carried: bool) {
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
        findings: &mut Findings,
    ) {
        for place in replayed {
            for (signature, reasoning) in &place.signatures {
                if let Err(problem) = self.genuine(format, signature, reasoning.as_deref()) {
                    findings.add(&place.at, &problem);
                }
            }
            self.complete(format, model, place, findings);
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
            .ok_or_else(|| format!("the signature `{signature}` was not given out like that"))?;
        if letter != format.letter() {
            return Err(format!("the signature `{signature}` belongs to another format"));
        }
        match reasoning {
            Some(reasoning) if sum != format!("{:016x}", hash(reasoning)) => Err(format!(
                "the signature `{signature}` stands for other reasoning than {reasoning:?}"
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

    /// What an answer with a signature gave out must not come back without it.
    fn complete(&self, format: Format, model: &str, place: &Replayed, findings: &mut Findings) {
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
                findings.add(
                    &place.at,
                    &format!("{anchor:?} came back without the signature it was given with"),
                );
            }
        }
    }
}

/// The first call, in every way that it can be recognised; without a call the text.
fn anchors(reply: &Reply, tag: &str) -> Vec<Anchor> {
    let call = reply.parts.iter().find_map(|part| match part {
        Part::Call { name, arguments } => Some((name, arguments)),
        Part::Text(_) => None,
    });
    let Some((name, arguments)) = call else {
        let text: String = reply
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                Part::Call { .. } => None,
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
