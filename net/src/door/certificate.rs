//! Why the certificate of a door cannot be used. There are certificates with the cargo feature `tls` alone.

use std::path::PathBuf;

/// Why a certificate cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// A file holds no certificate or no key, or cannot be read.
    #[error("cannot use {path}: {reason}; it must be a PEM file, as certbot writes one", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The two files do not belong together.
    #[error("the key in {key} does not belong to the certificate in {chain}", key = .key.display(), chain = .chain.display())]
    Unlike {
        /// The file of the certificates.
        chain: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// This program has no TLS.
    #[error("this program is built without certificates; take a package of fairdeal, or build it with --features tls")]
    NotBuilt,
}

/// The certificate of a door by https: there is none in this build.
#[cfg(not(feature = "tls"))]
#[derive(Clone, Debug)]
pub enum Certificate {}

#[cfg(not(feature = "tls"))]
impl Certificate {
    /// Reads nothing.
    ///
    /// # Errors
    /// [`CertificateError::NotBuilt`].
    pub fn read(_: &std::path::Path, _: &std::path::Path) -> Result<Self, CertificateError> {
        Err(CertificateError::NotBuilt)
    }
}
