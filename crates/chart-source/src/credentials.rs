//! Credentials and certificates as data.
//!
//! Owns: their types, and reading a docker configuration. Does not own: where they come from.
//! The surprising thing: `Debug` never shows a secret.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::Value;

use crate::Error;

/// A user and a password.
#[derive(Clone, PartialEq, Eq)]
pub struct BasicAuth {
    /// The user's name.
    pub username: String,
    /// The password.
    pub password: String,
}

impl BasicAuth {
    /// `None` if either is empty: then no header is sent, as in Flux.
    pub fn new(username: impl Into<String>, password: impl Into<String>) -> Option<Self> {
        let auth = Self { username: username.into(), password: password.into() };
        (!auth.username.is_empty() && !auth.password.is_empty()).then_some(auth)
    }
}

impl std::fmt::Debug for BasicAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BasicAuth(redacted)")
    }
}

/// How to introduce oneself to an OCI registry.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum RegistryAuth {
    /// Not at all.
    #[default]
    Anonymous,
    /// User and password, sent as such or exchanged for a token, as the registry asks.
    Basic(BasicAuth),
    /// A refresh token that is exchanged for an access token (`identitytoken` of a docker configuration).
    Refresh(String),
    /// An access token.
    Bearer(String),
}

impl std::fmt::Debug for RegistryAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Anonymous => "Anonymous",
            Self::Basic(_) => "Basic(redacted)",
            Self::Refresh(_) => "Refresh(redacted)",
            Self::Bearer(_) => "Bearer(redacted)",
        })
    }
}

/// Certificates for talking TLS.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// PEM certificates to trust besides the system's.
    pub ca: Option<Vec<u8>>,
    /// PEM certificate chain and PEM private key of the client.
    pub client: Option<(Vec<u8>, Vec<u8>)>,
    /// Do not check the server's certificate.
    pub insecure: bool,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls")
            .field("ca", &self.ca.is_some())
            .field("client", &self.client.is_some())
            .field("insecure", &self.insecure)
            .finish()
    }
}

/// The entry of a docker configuration (`.dockerconfigjson`, or the bare map of `.dockercfg`) for the first of `keys`
/// that it has: the full repository, then the host, say. A key also matches with `https://` before it and with `/v1/`
/// or `/v2/` behind it.
///
/// # Errors
/// [`Error::Auth`]: not JSON, or the entry's `auth` is not base64 of `user:password`. The text holds no secret.
pub fn docker_config(config: &[u8], keys: &[&str]) -> Result<Option<RegistryAuth>, Error> {
    let wrong = |what: &str| Error::Auth(format!("malformed docker configuration: {what}"));
    let config: Value = serde_json::from_slice(config).map_err(|_| wrong("not JSON"))?;
    let Some(auths) = config.get("auths").unwrap_or(&config).as_object() else {
        return Err(wrong("'auths' is not an object"));
    };
    let bare = |key: &str| {
        let key = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")).unwrap_or(key);
        let key = key.strip_suffix('/').unwrap_or(key);
        key.strip_suffix("/v1").or_else(|| key.strip_suffix("/v2")).unwrap_or(key).to_owned()
    };
    for key in keys {
        let found = auths.get(*key).or_else(|| auths.iter().find(|(k, _)| bare(k) == *key).map(|(_, v)| v));
        let Some(entry) = found else { continue };
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        if !text("identitytoken").is_empty() {
            return Ok(Some(RegistryAuth::Refresh(text("identitytoken").to_owned())));
        }
        if !text("registrytoken").is_empty() {
            return Ok(Some(RegistryAuth::Bearer(text("registrytoken").to_owned())));
        }
        let (mut user, mut password) = (text("username").to_owned(), text("password").to_owned());
        let pair = text("auth").trim();
        if !pair.is_empty() {
            let bytes = STANDARD.decode(pair).or_else(|_| STANDARD_NO_PAD.decode(pair));
            let decoded =
                bytes.ok().and_then(|b| String::from_utf8(b).ok()).ok_or_else(|| wrong("'auth' is not base64"))?;
            let (u, p) = decoded.split_once(':').ok_or_else(|| wrong("'auth' has no colon"))?;
            (user, password) = (u.to_owned(), p.trim_end_matches('\0').to_owned());
        }
        return Ok(Some(BasicAuth::new(user, password).map_or(RegistryAuth::Anonymous, RegistryAuth::Basic)));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_configurations_are_read() {
        let config = br#"{"auths": {
            "a.test": {"auth": "dXNlcjpwYTpzcw=="},
            "https://b.test/v1/": {"username": "u", "password": "p"},
            "a.test/org/repo": {"identitytoken": "t"},
            "bad.test": {"auth": "%%"}
        }}"#;
        let basic = |u: &str, p: &str| Some(RegistryAuth::Basic(BasicAuth::new(u, p).unwrap()));
        assert_eq!(docker_config(config, &["a.test"]).unwrap(), basic("user", "pa:ss"));
        assert_eq!(docker_config(config, &["b.test"]).unwrap(), basic("u", "p"));
        assert_eq!(
            docker_config(config, &["a.test/org/repo", "a.test"]).unwrap(),
            Some(RegistryAuth::Refresh("t".to_owned()))
        );
        assert_eq!(docker_config(config, &["c.test"]).unwrap(), None);
        assert!(docker_config(config, &["bad.test"]).is_err());
        assert_eq!(docker_config(br#"{"a.test": {"auth": "dTpw"}}"#, &["a.test"]).unwrap(), basic("u", "p"));
    }

    #[test]
    fn secrets_are_not_shown() {
        let auth = RegistryAuth::Basic(BasicAuth::new("user", "hunter2").unwrap());
        let tls = Tls { client: Some((b"c".to_vec(), b"hunter2".to_vec())), ..Tls::default() };
        assert!(!format!("{auth:?} {tls:?}").contains("hunter2"));
    }
}
