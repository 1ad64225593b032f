//! The certificate of a door that browsers reach by `https`: two files in PEM, read again when they have changed. Free
//! certificates last for days, and a door stays open for months.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{Error, ServerConfig};

use super::certificate::CertificateError;

/// A certificate with its key. Clones share what was read last.
#[derive(Clone, Debug)]
pub struct Certificate {
    files: Arc<Files>,
}

#[derive(Debug)]
struct Files {
    chain: PathBuf,
    key: PathBuf,
    current: Mutex<Current>,
}

/// The content of the files when they were last read.
#[derive(Debug)]
struct Current {
    stamps: Stamps,
    config: Arc<ServerConfig>,
}

/// By which a change of the two files is noticed: their times and lengths.
type Stamps = [Option<(SystemTime, u64)>; 2];

impl Certificate {
    /// Reads the chain of certificates and the key of the first of them.
    ///
    /// # Errors
    /// [`CertificateError`].
    pub fn read(chain: &Path, key: &Path) -> Result<Self, CertificateError> {
        let stamps = [stamp(chain), stamp(key)];
        let current = Mutex::new(Current { stamps, config: config(chain, key)? });
        Ok(Self { files: Arc::new(Files { chain: chain.to_owned(), key: key.to_owned(), current }) })
    }

    /// Accepts connections with the certificate as it is now. Files that cannot be used, perhaps because they are just
    /// being written, leave the former one.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        let Files { chain, key, current } = &*self.files;
        let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
        let now = [stamp(chain), stamp(key)];
        if now != current.stamps {
            // Also what cannot be used is read once.
            current.stamps = now;
            match config(chain, key) {
                Ok(config) => current.config = config,
                Err(error) => tracing::warn!(%error, "the former certificate stays in use"),
            }
        }
        TlsAcceptor::from(Arc::clone(&current.config))
    }
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

fn config(chain: &Path, key: &Path) -> Result<Arc<ServerConfig>, CertificateError> {
    let of_file = |path: &Path, reason: String| CertificateError::File { path: path.to_owned(), reason };
    let read = |path: &Path| std::fs::read(path).map_err(|error| of_file(path, error.to_string()));
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(chain)?).collect();
    let certificates = certificates.map_err(|error| of_file(chain, error.to_string()))?;
    if certificates.is_empty() {
        return Err(of_file(chain, "there is no certificate in it".to_owned()));
    }
    let bytes = zeroize::Zeroizing::new(read(key)?);
    let private = PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| of_file(key, error.to_string()))?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| of_file(chain, error.to_string()))?;
    let config = builder.with_no_client_auth().with_single_cert(certificates, private);
    config.map(Arc::new).map_err(|error| match error {
        Error::InconsistentKeys(_) => CertificateError::Unlike { chain: chain.to_owned(), key: key.to_owned() },
        other => of_file(key, other.to_string()),
    })
}
