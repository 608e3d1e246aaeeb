//! What a request to the API server asks for, read from its method, path and query.
//!
//! The surprising thing: `/api/v1/namespaces/x/status` is a subresource of a namespace, not a kind called `status`.

/// A kind of request, as counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `apply`, `delete`, `deletecollection`; for paths that are
    /// no resources the method in lower case.
    pub verb: String,
    /// API group, empty for the core group.
    pub group: String,
    /// The resource's plural name, or the path if it is no resource.
    pub resource: String,
    /// The subresource, e.g. `status`.
    pub subresource: Option<String>,
    /// Asked for with `dryRun`.
    pub dry_run: bool,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ", self.verb)?;
        if !self.group.is_empty() {
            write!(f, "{}/", self.group)?;
        }
        f.write_str(&self.resource)?;
        if let Some(subresource) = &self.subresource {
            write!(f, "/{subresource}")?;
        }
        if self.dry_run { f.write_str(" (dry run)") } else { Ok(()) }
    }
}

/// The kind of a request, with the namespace and the name in its path.
pub fn classify(method: &str, path_and_query: &str, content_type: &str) -> (Kind, Option<String>, Option<String>) {
    let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (group, rest) = match parts[..] {
        ["api", _, ref rest @ ..] if !rest.is_empty() => ("", rest),
        ["apis", group, _, ref rest @ ..] if !rest.is_empty() => (group, rest),
        _ => {
            let kind = Kind {
                verb: method.to_ascii_lowercase(),
                group: String::new(),
                resource: path.to_owned(),
                subresource: None,
                dry_run: false,
            };
            return (kind, None, None);
        }
    };
    let (namespace, rest) = match rest {
        ["namespaces", name, "status" | "finalize"] => (Some(*name), rest),
        ["namespaces", name, inner @ ..] if !inner.is_empty() => (Some(*name), inner),
        ["namespaces", name] => (Some(*name), rest),
        _ => (None, rest),
    };
    let name = rest.get(1).copied();
    let parameter = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
    let watches = matches!(parameter("watch"), Some("1" | "true"));
    let verb = match (method, name) {
        ("GET", _) if watches => "watch",
        ("GET", Some(_)) => "get",
        ("GET", None) => "list",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) if content_type.starts_with("application/apply-patch") => "apply",
        ("PATCH", _) => "patch",
        ("DELETE", Some(_)) => "delete",
        ("DELETE", None) => "deletecollection",
        (other, _) => other,
    };
    let kind = Kind {
        verb: verb.to_owned(),
        group: group.to_owned(),
        resource: rest.first().copied().unwrap_or_default().to_owned(),
        subresource: (rest.len() > 2).then(|| rest[2..].join("/")),
        dry_run: parameter("dryRun").is_some(),
    };
    (kind, namespace.map(str::to_owned), name.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::classify;

    fn text(method: &str, path: &str) -> String {
        classify(method, path, "").0.to_string()
    }

    #[test]
    fn requests_have_their_names() {
        assert_eq!(text("GET", "/api/v1/namespaces"), "list namespaces");
        assert_eq!(text("GET", "/api/v1/namespaces/a"), "get namespaces");
        assert_eq!(text("PUT", "/api/v1/namespaces/a/finalize"), "update namespaces/finalize");
        assert_eq!(text("GET", "/api/v1/namespaces/a/pods?watch=true"), "watch pods");
        assert_eq!(text("DELETE", "/api/v1/namespaces/a/pods"), "deletecollection pods");
        assert_eq!(
            text("PATCH", "/apis/apps/v1/namespaces/a/deployments/b/scale?dryRun=All"),
            "patch apps/deployments/scale (dry run)"
        );
        assert_eq!(text("GET", "/apis"), "get /apis");
        assert_eq!(text("GET", "/apis/apps/v1"), "get /apis/apps/v1");
        assert_eq!(classify("PATCH", "/api/v1/nodes/a", "application/apply-patch+yaml").0.verb, "apply");
    }
}
