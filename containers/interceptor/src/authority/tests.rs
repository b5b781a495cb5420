#![allow(clippy::unwrap_used)]

use rustls::{pki_types::ServerName, ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::*;

fn connector(trusted: &Authority, alpn: &[&[u8]]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.certificate.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
    TlsConnector::from(Arc::new(config))
}

/// Name of the protocol that both agree on, if they agree at all.
async fn shake(
    authority: &Arc<Authority>,
    trusted: &Authority,
    name: &str,
    alpn: &[&[u8]],
) -> io::Result<Option<Vec<u8>>> {
    let (near, far) = tokio::io::duplex(64 << 10);
    let acceptor = authority.acceptor()?;
    let server = tokio::spawn(async move { acceptor.accept(far).await.map(|_| ()) });
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let client = connector(trusted, alpn).connect(name, near).await?;
    let protocol = client.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
    drop(client);
    let _ = server.await;
    Ok(protocol)
}

#[tokio::test]
async fn leaves_are_trusted_for_their_name_by_those_who_trust_the_authority() {
    let (one, other) = (
        Arc::new(Authority::new().unwrap()),
        Authority::new().unwrap(),
    );
    for name in [
        "a.example",
        "A.Example",
        "xn--mnchen-3ya.example",
        "under_score.example",
    ] {
        assert_eq!(shake(&one, &one, name, &[]).await.unwrap(), None, "{name}");
    }
    assert!(
        shake(&one, &other, "a.example", &[]).await.is_err(),
        "another authority"
    );
    assert!(
        shake(&one, &one, "192.0.2.7", &[]).await.is_err(),
        "no name, no certificate"
    );
}

#[tokio::test]
async fn only_http_1_1_is_offered() {
    let one = Arc::new(Authority::new().unwrap());
    assert_eq!(
        shake(&one, &one, "a.example", &[b"h2", b"http/1.1"])
            .await
            .unwrap()
            .as_deref(),
        Some(&b"http/1.1"[..])
    );
    assert!(shake(&one, &one, "a.example", &[b"h2"]).await.is_err());
}

#[test]
fn leaves_are_kept_but_not_without_bound() {
    let authority = Authority::new().unwrap();
    let first = authority.leaf("a.example").unwrap();
    assert!(Arc::ptr_eq(&first, &authority.leaf("a.example").unwrap()));
    for number in 0..MAX_LEAVES + 10 {
        authority.leaf(&format!("n{number}.example")).unwrap();
    }
    assert!(authority.leaves.lock().unwrap().len() <= MAX_LEAVES);
}
