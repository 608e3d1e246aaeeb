//! Certificates made on the spot.
//!
//! Owns: one certificate authority per instance, server and client certificates of it. Does not own: where the files
//! go. The surprising thing: keys are P-256, also the key that signs service accounts' tokens.

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

/// A certificate authority.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate with its private key, both PEM.
#[derive(Clone)]
pub struct Identity {
    /// The certificate.
    pub cert: String,
    /// The private key, PKCS #8.
    pub key: String,
}

impl Authority {
    /// A new authority.
    ///
    /// # Errors
    /// No randomness.
    pub fn new(name: &str) -> Result<Self> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        Ok(Self(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
    }

    /// The authority's certificate as PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a server with these names and addresses.
    ///
    /// # Errors
    /// A name is not a DNS name or address.
    pub fn server(&self, names: &[&str]) -> Result<Identity> {
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "server");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    /// A certificate for a client: the common name is Kubernetes' user, the organisation its group.
    ///
    /// # Errors
    /// No randomness.
    pub fn client(&self, user: &str, group: Option<&str>) -> Result<Identity> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, user);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<Identity> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let cert = params.signed_by(&key, &self.0)?;
        Ok(Identity { cert: cert.pem(), key: key.serialize_pem() })
    }
}

/// A key pair for service accounts' tokens: private (PKCS #8) and public part, PEM.
///
/// # Errors
/// No randomness.
pub fn service_account_keys() -> Result<(String, String)> {
    let key = KeyPair::generate()?;
    Ok((key.serialize_pem(), key.public_key_pem()))
}
