//! The certificate authority that containers are told to trust, and the leaves it signs.
//!
//! Its key exists only in this process's memory and is new at every start.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::{
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    server::{ClientHello, NoServerSessionStorage, ResolvesServerCert},
    sign::{CertifiedKey, SigningKey},
    ServerConfig,
};
use time::{Duration, OffsetDateTime};
use tokio_rustls::TlsAcceptor;

#[cfg(test)]
mod tests;

/// Most leaves kept; when there are more, all are made anew.
const MAX_LEAVES: usize = 512;

/// The authority. All leaves share one key, which like the authority's own is P-256.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
    leaf_key: KeyPair,
    signer: Arc<dyn SigningKey>,
    leaves: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl Authority {
    /// A new authority.
    pub fn new() -> io::Result<Self> {
        let key =
            KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(io::Error::other)?;
        let mut params = params("Cloister interceptor CA", Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        let leaf_key =
            KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(io::Error::other)?;
        let leaf_der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
        let signer = ring::sign::any_ecdsa_type(&leaf_der).map_err(io::Error::other)?;
        Ok(Self {
            pem: certificate.pem(),
            certificate: certificate.der().clone(),
            issuer: Issuer::new(params, key),
            leaf_key,
            signer,
            leaves: Mutex::default(),
        })
    }

    /// The authority's certificate for the trust store of a container.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Terminates TLS with a leaf for the name that the client asks for. HTTP/1.1 only; no session is remembered.
    pub fn acceptor(self: &Arc<Self>) -> io::Result<TlsAcceptor> {
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(Leaves(Arc::clone(self))));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// A leaf for a name, made once and kept a while.
    fn leaf(&self, name: &str) -> io::Result<Arc<CertifiedKey>> {
        let kept = self
            .leaves
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned();
        if let Some(leaf) = kept {
            return Ok(leaf);
        }
        let mut params = params("Cloister interceptor", vec![name.to_owned()])?;
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = params
            .signed_by(&self.leaf_key, &self.issuer)
            .map_err(io::Error::other)?;
        let chain = vec![certificate.der().clone(), self.certificate.clone()];
        let leaf = Arc::new(CertifiedKey::new(chain, Arc::clone(&self.signer)));
        let mut leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        if leaves.len() >= MAX_LEAVES {
            leaves.clear();
        }
        leaves.insert(name.to_owned(), Arc::clone(&leaf));
        Ok(leaf)
    }
}

fn params(common_name: &str, names: Vec<String>) -> io::Result<CertificateParams> {
    let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, common_name);
    params.distinguished_name = subject;
    let now = OffsetDateTime::now_utc();
    // An hour back for clocks that differ a little.
    params.not_before = now - Duration::hours(1);
    params.not_after = now + Duration::days(30);
    Ok(params)
}

/// Picks the leaf for a ClientHello.
struct Leaves(Arc<Authority>);

impl std::fmt::Debug for Leaves {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Leaves")
    }
}

impl ResolvesServerCert for Leaves {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.leaf(&hello.server_name()?.to_ascii_lowercase()).ok()
    }
}
