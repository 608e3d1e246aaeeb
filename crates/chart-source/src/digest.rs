//! Digests: `ALGORITHM:HEX`, computed and compared.
//!
//! The surprising thing: an algorithm we do not know is a mismatch, never a pass.

use sha2::{Digest, Sha256, Sha384, Sha512};

use crate::Error;

/// SHA-256 in hexadecimal without a prefix.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// `sha256:HEX`.
pub fn sha256(bytes: &[u8]) -> String {
    format!("sha256:{}", sha256_hex(bytes))
}

/// Are these the bytes that `digest` (`sha256:`, `sha384:` or `sha512:` and hexadecimal) names?
///
/// # Errors
/// [`Error::Integrity`] if not, also when the algorithm is another one.
pub fn verify(bytes: &[u8], digest: &str) -> Result<(), Error> {
    let computed = match digest.split_once(':') {
        Some(("sha256", _)) => hex(&Sha256::digest(bytes)),
        Some(("sha384", _)) => hex(&Sha384::digest(bytes)),
        Some(("sha512", _)) => hex(&Sha512::digest(bytes)),
        _ => return Err(Error::Integrity(digest.to_owned())),
    };
    if digest.split_once(':').is_some_and(|(_, wanted)| wanted == computed) {
        Ok(())
    } else {
        Err(Error::Integrity(digest.to_owned()))
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_bytes_pass() {
        verify(b"", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855").unwrap();
        for wrong in ["sha256:00", "sha256:", "md5:d41d8cd98f00b204e9800998ecf8427e", "", "e3b0"] {
            let error = verify(b"", wrong).unwrap_err();
            assert_eq!(error.to_string(), format!("integrity failure: computed digest doesn't match '{wrong}'"));
        }
    }
}
