//! Whom a connection trusts, where the person says it. Reading the file is the caller's: here it is text already.

use std::sync::Arc;

use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

/// The authorities that may sign servers' certificates, in the place of those that Mozilla trusts.
#[derive(Debug, Clone)]
pub struct Authorities(Arc<Vec<Certificate<'static>>>);

impl Authorities {
    /// The certificates in a PEM file; whatever else is in it counts for nothing.
    ///
    /// # Errors
    /// What is wrong with the file, as the rest of a sentence: there is no certificate in it, or it is damaged.
    pub fn from_pem(pem: &[u8]) -> Result<Self, String> {
        let mut certificates = Vec::new();
        for item in parse_pem(pem) {
            match item {
                Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
                Ok(_) => {}
                Err(error) => return Err(format!("is damaged: {error}")),
            }
        }
        if certificates.is_empty() {
            return Err("holds no certificate in PEM (-----BEGIN CERTIFICATE-----)".to_owned());
        }
        Ok(Self(Arc::new(certificates)))
    }
}

impl From<Authorities> for RootCerts {
    fn from(authorities: Authorities) -> Self {
        Self::Specific(authorities.0)
    }
}
