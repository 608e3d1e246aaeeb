//! The digest by which Flux notices that a release's values changed.
//!
//! Owns: the hash over a set of values (FLUX status `lastAttemptedConfigDigest`, `history[].configDigest`). Does not
//! own: how the values came together. The surprising things: no values at all hash as no bytes, not as `{}`; and the
//! text is go-yaml's with sorted keys, so that its folds and quotes count.

use go_value::{Map, Value};

use crate::release::digest::Algorithm;

/// The config digest of values as `algo:hex`. Values that have no YAML text (none that were read from YAML or JSON)
/// have the digest "", as in Flux.
pub fn config_digest(values: &Map, algorithm: Algorithm) -> String {
    if values.is_empty() {
        return algorithm.digest(b"");
    }
    match go_yaml::encode_sorted(&Value::Map(values.clone())) {
        Ok(text) => algorithm.digest(text.as_bytes()),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::load_values;

    #[test]
    fn documented_vector() {
        let digest = |yaml: &str, algorithm| config_digest(&load_values(yaml.as_bytes()).unwrap(), algorithm);
        assert_eq!(
            digest("replicaCount: 2", Algorithm::Sha256),
            "sha256:e15c415d62760896bd8bec192a44c5716dc224db9e0fc609b9ac14718f8f9e56"
        );
        assert_eq!(
            digest("{}", Algorithm::Sha256),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(
            digest("b: 1\na: {d: 1, c: 2.0}", Algorithm::Sha512),
            Algorithm::Sha512.digest(b"a:\n  c: 2\n  d: 1\nb: 1\n")
        );
    }
}
