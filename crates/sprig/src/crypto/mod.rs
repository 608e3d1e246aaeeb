//! Secrets, keys and certificates.
//!
//! Owns: sprig's crypto family; DER and PEM as far as it needs them.
//! Does not own: randomness ([`crate::host`]), checksums ([`crate::encoding`]).
//! Upstream: sprig's `crypto.go`, Go's packages `crypto/x509`, `encoding/pem`.
//! The surprising thing: a new key or certificate on every render, so a chart that uses these changes on every upgrade.

pub(crate) mod certificate;
pub(crate) mod cipher;
mod der;
mod dsa;
pub(crate) mod key;
pub(crate) mod password;
mod pem;

use std::convert::Infallible;

use rsa::rand_core::{TryCryptoRng, TryRng};

use crate::host::Host;

/// The host's randomness as a generator.
struct HostRng<'a>(&'a dyn Host);

impl TryRng for HostRng<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.0.fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, buffer: &mut [u8]) -> Result<(), Infallible> {
        self.0.fill(buffer);
        Ok(())
    }
}

impl TryCryptoRng for HostRng<'_> {}
