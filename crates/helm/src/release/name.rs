//! Release names: Helm's rule for them and Flux's way to shorten them.

use sha2::{Digest, Sha256};

use crate::error::Error;

/// The longest name Helm allows, in bytes.
pub const MAX_NAME: usize = 53;

const PATTERN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// Is this a name Helm accepts?
///
/// # Errors
/// Helm's text.
pub fn validate(name: &str) -> Result<(), Error> {
    if name.is_empty() {
        return Err(Error::ReleaseName("no name provided".into()));
    }
    let label = |l: &str| {
        !l.is_empty()
            && l.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !l.starts_with('-')
            && !l.ends_with('-')
    };
    if name.len() > MAX_NAME || !name.split('.').all(label) {
        return Err(Error::ReleaseName(format!(
            "invalid release name, must match regex {PATTERN} and the length must not be longer than {MAX_NAME}"
        )));
    }
    Ok(())
}

/// Flux's shortening of composed names: up to 53 bytes unchanged, above that the first 40, a hyphen, and the first 12
/// hex digits of the name's SHA-256.
pub fn shorten(name: &str) -> String {
    if name.len() <= MAX_NAME {
        return name.into();
    }
    let sum = Sha256::digest(name.as_bytes());
    let mut cut = 40;
    while !name.is_char_boundary(cut) {
        cut -= 1;
    }
    let hex: String = super::digest::hex(&sum[..6]);
    format!("{}-{hex}", &name[..cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        for good in ["a", "a-b", "a.b-c", "0"] {
            assert!(validate(good).is_ok(), "{good}");
        }
        for bad in ["", "A", "-a", "a-", "a..b", "a_b", &"x".repeat(54)] {
            assert!(validate(bad).is_err(), "{bad}");
        }
        assert_eq!(shorten(&"x".repeat(53)).len(), 53);
        assert_eq!(shorten(&"x".repeat(54)).len(), 53);
    }
}
