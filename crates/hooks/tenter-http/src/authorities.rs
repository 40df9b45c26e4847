//! Certificate authorities that the user configures. The caller reads the file.

use std::sync::Arc;

use ureq::tls::{Certificate, PemItem, RootCerts, parse_pem};

/// The trusted certificate authorities, which replace Mozilla's list.
#[derive(Debug, Clone)]
pub struct Authorities(Arc<Vec<Certificate<'static>>>);

impl Authorities {
    /// Returns the certificates in a PEM file. Other content is ignored.
    ///
    /// # Errors
    /// The file has no certificate, or is damaged. The message is the rest of a sentence that begins with the file.
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
