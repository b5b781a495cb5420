use super::Auth;
use crate::seal::{NotSealedHere, Sealed, Sealer, NONCE_BYTES};
use crate::secret::Secret;

/// Seals a credential for its place: it opens as no other credential. The nonce must be random.
pub fn seal(
    auth: &Auth,
    sealer: &Sealer,
    vault: &str,
    credential: &str,
    nonce: [u8; NONCE_BYTES],
) -> Sealed {
    // Only a map whose names are no strings fails, and there is none.
    let json = serde_json::to_string(&auth.map(Secret::expose)).unwrap_or_default();
    sealer.seal(&place(vault, credential), &Secret::new(json), nonce)
}

/// Opens what was sealed for this place.
pub fn open(
    sealed: &Sealed,
    sealer: &Sealer,
    vault: &str,
    credential: &str,
) -> Result<Auth, NotSealedHere> {
    let json = sealer.open(&place(vault, credential), sealed)?;
    let auth: Auth<String> = serde_json::from_str(json.expose()).map_err(|_| NotSealedHere)?;
    Ok(auth.map(Secret::new))
}

fn place(vault: &str, credential: &str) -> String {
    format!("vault/{vault}/{credential}")
}
