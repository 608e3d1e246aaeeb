//! How a registry wants to be asked: `WWW-Authenticate`, tokens.
//!
//! Owns: reading the challenge, exchanging credentials for a token. Does not own: requests for content ([`crate::oci`]).
//! Upstream: the distribution project's token specification.
//! The surprising thing: the registry names the token server; credentials go to it over TLS only, unless the registry
//! itself is spoken to without.

use reqwest::{Method, Url};
use serde::Deserialize;

use crate::credentials::RegistryAuth;
use crate::http::{Http, parse_url, read, shown};
use crate::{BasicAuth, Error};

/// The most a token server may send.
const MAX_TOKEN: u64 = 1024 * 1024;

/// What goes into `Authorization`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Grant {
    None,
    Basic(BasicAuth),
    Bearer(String),
}

impl std::fmt::Debug for Grant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Grant(redacted)")
    }
}

impl Grant {
    pub(crate) fn apply(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match self {
            Self::None => request,
            Self::Basic(auth) => request.basic_auth(&auth.username, Some(&auth.password)),
            Self::Bearer(token) => request.bearer_auth(token),
        }
    }
}

/// A registry's demand.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Challenge {
    Basic,
    Bearer { realm: String, service: Option<String>, scope: Option<String> },
}

/// The first challenge of the headers that we know.
pub(crate) fn challenge(headers: &http::HeaderMap) -> Option<Challenge> {
    let mut values = headers.get_all(http::header::WWW_AUTHENTICATE).iter().filter_map(|v| v.to_str().ok());
    values.find_map(parse)
}

fn parse(header: &str) -> Option<Challenge> {
    let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
    if scheme.eq_ignore_ascii_case("basic") {
        return Some(Challenge::Basic);
    }
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let (mut realm, mut service, mut scope) = (None, None, None);
    let mut rest = rest.trim();
    while let Some((key, value)) = rest.split_once('=') {
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => value.split_once(',').unwrap_or((value, "")),
        };
        match key.trim().to_ascii_lowercase().as_str() {
            "realm" => realm = Some(value.to_owned()),
            "service" => service = Some(value.to_owned()),
            "scope" => scope = Some(value.to_owned()),
            _ => {}
        }
        rest = after.trim_start_matches([',', ' ']);
    }
    Some(Challenge::Bearer { realm: realm?, service, scope })
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

/// Meet a challenge. `plain` says that the registry itself is spoken to without TLS.
pub(crate) async fn meet(
    http: &Http,
    challenge: Challenge,
    auth: &RegistryAuth,
    repository: &str,
    plain: bool,
) -> Result<Grant, Error> {
    let (realm, service, scope) = match (challenge, auth) {
        (_, RegistryAuth::Bearer(token)) => return Ok(Grant::Bearer(token.clone())),
        (Challenge::Basic, RegistryAuth::Basic(basic)) => return Ok(Grant::Basic(basic.clone())),
        (Challenge::Basic, _) => return Ok(Grant::None),
        (Challenge::Bearer { realm, service, scope }, _) => (realm, service, scope),
    };
    let mut url = parse_url(&realm)?;
    let secret = !matches!(auth, RegistryAuth::Anonymous);
    if !matches!(url.scheme(), "https" | "http") || (secret && !plain && url.scheme() != "https") {
        return Err(Error::Auth(format!("the registry asks to send credentials to {}", shown(&url))));
    }
    let scope = scope.unwrap_or_else(|| format!("repository:{repository}:pull"));
    let request = if let RegistryAuth::Refresh(token) = auth {
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", token.as_str()),
            ("client_id", "helmrel"),
            ("service", service.as_deref().unwrap_or_default()),
            ("scope", scope.as_str()),
        ];
        let body = form_encoded(&url, &form);
        let request = http.request(Method::POST, url.clone());
        request.header(http::header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)
    } else {
        if let Some(service) = &service {
            url.query_pairs_mut().append_pair("service", service);
        }
        url.query_pairs_mut().append_pair("scope", &scope);
        let request = http.request(Method::GET, url.clone());
        match auth {
            RegistryAuth::Basic(basic) => request.basic_auth(&basic.username, Some(&basic.password)),
            _ => request,
        }
    };
    let response = http.send(request, &url).await?;
    if !response.status().is_success() {
        return Err(Error::Fetch { url: shown(&url), status: response.status() });
    }
    let bytes = read(response, "token", MAX_TOKEN).await?;
    let token: Option<Token> = serde_json::from_slice(&bytes).ok();
    let token = token.and_then(|t| t.token.filter(|t| !t.is_empty()).or(t.access_token)).filter(|t| !t.is_empty());
    let token = token.ok_or_else(|| Error::Auth(format!("{} gave no token", shown(&url))))?;
    Ok(Grant::Bearer(token))
}

/// Pairs as a form's body, encoded as a query is.
fn form_encoded(base: &Url, pairs: &[(&str, &str)]) -> String {
    let mut url = base.clone();
    url.set_query(None);
    url.query_pairs_mut().extend_pairs(pairs);
    url.query().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read() {
        assert_eq!(parse("Basic realm=\"x\""), Some(Challenge::Basic));
        assert_eq!(parse("Negotiate"), None);
        let text = r#"Bearer realm="https://auth.test/token",service="reg,1",scope="repository:a/b:pull,push""#;
        let wanted = Challenge::Bearer {
            realm: "https://auth.test/token".to_owned(),
            service: Some("reg,1".to_owned()),
            scope: Some("repository:a/b:pull,push".to_owned()),
        };
        assert_eq!(parse(text), Some(wanted));
        assert_eq!(parse("Bearer service=\"x\""), None);
        assert_eq!(parse("Bearer realm=\"unclosed"), None);
    }
}
