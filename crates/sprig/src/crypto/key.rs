//! Private keys: making them, reading and writing their PEM, signing.
//!
//! Upstream: `generatePrivateKey`, `pemBlockForKey`, `parsePrivateKeyPEM` in sprig's `crypto.go`.
//! The surprising thing: each kind has a format of its own: RSA is PKCS#1, EC is SEC 1, Ed25519 is PKCS#8, and DSA a
//! plain list of numbers.

use ed25519_dalek::Signer;
use go_value::Value;
use p256::ecdsa::signature::hazmat::PrehashSigner;
use rsa::pkcs1::{DecodeRsaPrivateKey, EncodeRsaPrivateKey, EncodeRsaPublicKey};
use sha2::{Digest, Sha256};

use super::der::{self, Reader};
use super::{HostRng, dsa, pem};
use crate::args::{Outcome, text, utf8};
use crate::host::Host;

const OID_RSA: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const OID_RSA_SHA256: &[u8] = &[0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
const OID_EC: &[u8] = &[0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const OID_P256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const OID_ECDSA_SHA256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const OID_ED25519: &[u8] = &[0x06, 0x03, 0x2b, 0x65, 0x70];

/// A private key that certificates can be made with, or a DSA key, with which they cannot.
pub(super) enum Key {
    Rsa(Box<rsa::PrivateKey>),
    Ec(Box<p256::ecdsa::SigningKey>),
    Ed25519(Box<ed25519_dalek::SigningKey>),
    /// The DER text of the key.
    Dsa(Vec<u8>),
}

impl Key {
    pub(super) fn new_rsa(host: &dyn Host, bits: usize) -> Result<Self, String> {
        rsa::PrivateKey::new(&mut HostRng(host), bits).map(|k| Self::Rsa(Box::new(k))).map_err(|e| e.to_string())
    }

    fn new_ec(host: &dyn Host) -> Self {
        loop {
            let mut bytes = [0; 32];
            host.fill(&mut bytes);
            // All but one in 2^32 are below the order of the curve.
            if let Ok(key) = p256::ecdsa::SigningKey::from_slice(&bytes) {
                return Self::Ec(Box::new(key));
            }
        }
    }

    fn new_ed25519(host: &dyn Host) -> Self {
        let mut seed = [0; 32];
        host.fill(&mut seed);
        Self::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(&seed)))
    }

    /// sprig's `parsePrivateKeyPEM`
    pub(super) fn from_pem(text: &str) -> Result<Self, String> {
        let block = pem::decode(text).ok_or("no PEM data in input")?;
        match block.label.as_str() {
            "PRIVATE KEY" => Self::from_pkcs8(&block.bytes).map_err(|e| format!("decoding PEM as PKCS#8: {e}")),
            "RSA PRIVATE KEY" => {
                Self::from_pkcs1(&block.bytes).map_err(|e| format!("parsing RSA private key from PEM: {e}"))
            }
            "EC PRIVATE KEY" => {
                Self::from_sec1(&block.bytes).map_err(|e| format!("parsing EC private key from PEM: {e}"))
            }
            "DSA PRIVATE KEY" => match der::check(&block.bytes) {
                Ok(()) => Ok(Self::Dsa(block.bytes)),
                Err(e) => Err(format!("parsing DSA private key from PEM: {e}")),
            },
            other if other.ends_with(" PRIVATE KEY") => Err(format!("invalid private key type {other}")),
            other => Err(format!("no private key data in PEM block of type {other}")),
        }
    }

    fn from_pkcs1(bytes: &[u8]) -> Result<Self, String> {
        der::check(bytes)?;
        rsa::PrivateKey::from_pkcs1_der(bytes)
            .map(|k| Self::Rsa(Box::new(k)))
            .map_err(|e| format!("x509: failed to parse private key: {e}"))
    }

    fn from_sec1(bytes: &[u8]) -> Result<Self, String> {
        der::check(bytes).map_err(|e| format!("x509: failed to parse EC private key: {e}"))?;
        let scalar = Reader::new(bytes).take(der::SEQUENCE).and_then(|inner| {
            let mut inner = Reader::new(inner);
            inner.integer()?;
            inner.take(der::OCTET_STRING)
        });
        scalar
            .and_then(|s| p256::ecdsa::SigningKey::from_slice(s).ok())
            .map(|k| Self::Ec(Box::new(k)))
            .ok_or_else(|| "x509: failed to parse EC private key".to_owned())
    }

    fn from_pkcs8(bytes: &[u8]) -> Result<Self, String> {
        let malformed = || "x509: failed to parse private key".to_owned();
        der::check(bytes)?;
        let mut inner = Reader::new(Reader::new(bytes).take(der::SEQUENCE).ok_or_else(malformed)?);
        inner.integer().ok_or_else(malformed)?;
        let algorithm = inner.take(der::SEQUENCE).ok_or_else(malformed)?;
        let key = inner.take(der::OCTET_STRING).ok_or_else(malformed)?;
        if algorithm.starts_with(OID_RSA) {
            Self::from_pkcs1(key)
        } else if algorithm.starts_with(OID_EC) {
            Self::from_sec1(key)
        } else if algorithm.starts_with(OID_ED25519) {
            let seed: [u8; 32] =
                Reader::new(key).take(der::OCTET_STRING).and_then(|s| s.try_into().ok()).ok_or_else(malformed)?;
            Ok(Self::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(&seed))))
        } else {
            Err("x509: PKCS#8 wrapping contained private key with unknown algorithm".to_owned())
        }
    }

    /// sprig's `pemBlockForKey`
    pub(super) fn to_pem(&self) -> Result<String, String> {
        Ok(match self {
            Self::Rsa(key) => {
                let der = key.to_pkcs1_der().map_err(|e| e.to_string())?;
                pem::encode("RSA PRIVATE KEY", der.as_bytes())
            }
            Self::Ec(key) => {
                let point = self.public_bytes()?;
                let der = der::sequence(&[
                    &der::integer(&[1]),
                    &der::tagged(der::OCTET_STRING, &[&key.to_bytes()]),
                    &der::tagged(0xa0, &[OID_P256]),
                    &der::tagged(0xa1, &[&der::bit_string(&point)]),
                ]);
                pem::encode("EC PRIVATE KEY", &der)
            }
            Self::Ed25519(key) => {
                let seed = der::tagged(der::OCTET_STRING, &[&key.to_bytes()]);
                let der = der::sequence(&[
                    &der::integer(&[]),
                    &der::sequence(&[OID_ED25519]),
                    &der::tagged(der::OCTET_STRING, &[&seed]),
                ]);
                pem::encode("PRIVATE KEY", &der)
            }
            Self::Dsa(der) => pem::encode("DSA PRIVATE KEY", der),
        })
    }

    /// The content of the bit string in the public key's `SubjectPublicKeyInfo`.
    pub(super) fn public_bytes(&self) -> Result<Vec<u8>, String> {
        match self {
            Self::Rsa(key) => {
                let public: &rsa::PublicKey = key.as_ref().as_ref();
                Ok(public.to_pkcs1_der().map_err(|e| e.to_string())?.as_bytes().to_vec())
            }
            Self::Ec(key) => Ok(key.verifying_key().to_sec1_point(false).as_bytes().to_vec()),
            Self::Ed25519(key) => Ok(key.verifying_key().to_bytes().to_vec()),
            Self::Dsa(_) => Err("x509: unsupported public key type: *dsa.PublicKey".to_owned()),
        }
    }

    /// The public key's `SubjectPublicKeyInfo`.
    pub(super) fn public_info(&self) -> Result<Vec<u8>, String> {
        let algorithm = match self {
            Self::Rsa(_) => der::sequence(&[OID_RSA, der::NULL]),
            Self::Ec(_) => der::sequence(&[OID_EC, OID_P256]),
            _ => der::sequence(&[OID_ED25519]),
        };
        Ok(der::sequence(&[&algorithm, &der::bit_string(&self.public_bytes()?)]))
    }

    /// The algorithm that [`Key::sign`] uses.
    pub(super) fn signature_algorithm(&self) -> Vec<u8> {
        match self {
            Self::Rsa(_) => der::sequence(&[OID_RSA_SHA256, der::NULL]),
            Self::Ec(_) => der::sequence(&[OID_ECDSA_SHA256]),
            _ => der::sequence(&[OID_ED25519]),
        }
    }

    pub(super) fn sign(&self, host: &dyn Host, message: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Rsa(key) => {
                key.pkcs1v15_sign_with_rng::<Sha256, _>(&mut HostRng(host), message).map_err(|e| e.to_string())
            }
            Self::Ec(key) => {
                let signature: p256::ecdsa::Signature =
                    key.sign_prehash(&Sha256::digest(message)).map_err(|e| e.to_string())?;
                Ok(signature.to_der().as_bytes().to_vec())
            }
            Self::Ed25519(key) => Ok(key.sign(message).to_bytes().to_vec()),
            Self::Dsa(_) => Err("x509: certificate private key does not implement crypto.Signer".to_owned()),
        }
    }
}

pub(crate) fn gen_private_key(host: &dyn Host, a: &[Value]) -> Outcome {
    let kind = utf8(a, 0);
    let key = match kind.as_ref() {
        "" | "rsa" => Key::new_rsa(host, 4096),
        "dsa" => Ok(Key::Dsa(dsa::generate(host))),
        "ecdsa" => Ok(Key::new_ec(host)),
        "ed25519" => Ok(Key::new_ed25519(host)),
        _ => return Ok(Value::string([&b"Unknown type "[..], text(a, 0)].concat())),
    };
    Ok(match key.and_then(|k| k.to_pem()) {
        Ok(text) => text.into(),
        Err(e) => format!("failed to generate private key: {e}").into(),
    })
}
