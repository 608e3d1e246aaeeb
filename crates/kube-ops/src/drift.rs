//! Comparing a live object with what it should be.
//!
//! Owns: the read, the dry run, and the verdict about one object. Read-only by contract. Follows Flux's
//! `ssa/jsondiff.Unstructured`. The surprising thing: the dry run tells what the server would make of the wanted
//! object, defaults and webhooks included, so equal things in different clothes compare as equal.

use kube_object::Object;
use kube_object::diff::{Operation, drift};

use crate::apply::ApplyOptions;
use crate::client::Cluster;
use crate::error::Error;

/// How a live object compares with the wanted one.
#[derive(Clone, Debug)]
pub enum Comparison {
    /// Equal in all that counts. The live object's resourceVersion, to recognise it by.
    Same {
        /// `metadata.resourceVersion` of the live object.
        resource_version: String,
    },
    /// It is not there.
    Missing,
    /// It differs.
    Different {
        /// The live object.
        live: Box<Object>,
        /// What applying would make of it.
        wanted: Box<Object>,
        /// What differs.
        operations: Vec<Operation>,
    },
    /// Someone asked for it to be left alone.
    Excluded,
}

/// What decides about one object besides the cluster.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompareOptions<'a> {
    /// Pointers to fields that do not count.
    pub ignored: &'a [String],
    /// A label or annotation that excludes an object, and its value (whatever the case).
    pub exclusion: Option<(&'a str, &'a str)>,
    /// The resourceVersion at which the object was last found to be the same.
    pub known_same: Option<&'a str>,
}

fn excluded(object: &Object, exclusion: Option<(&str, &str)>) -> bool {
    exclusion.is_some_and(|(key, value)| {
        [object.label(key), object.annotation(key)].into_iter().flatten().any(|v| v.eq_ignore_ascii_case(value))
    })
}

impl Cluster {
    /// Compare the live object with `wanted`.
    ///
    /// # Errors
    /// The object cannot be read, or the server refuses the dry run.
    pub async fn compare(&self, wanted: &Object, options: CompareOptions<'_>) -> Result<Comparison, Error> {
        if excluded(wanted, options.exclusion) || options.ignored.iter().any(String::is_empty) {
            return Ok(Comparison::Excluded);
        }
        let resource = self.resource_of(wanted).await?;
        let Some(live) = self.get(&resource, wanted.namespace(), wanted.name()).await? else {
            return Ok(Comparison::Missing);
        };
        if excluded(&live, options.exclusion) {
            return Ok(Comparison::Excluded);
        }
        if options.known_same.is_some_and(|rv| !rv.is_empty() && rv == live.resource_version()) {
            return Ok(Comparison::Same { resource_version: live.resource_version().into() });
        }
        let apply = ApplyOptions { force: true, dry_run: true, ignore_unknown_fields: true };
        let would_be = self.apply_to(&resource, wanted, apply).await?;
        let operations = drift(&live, &would_be, options.ignored);
        if operations.is_empty() {
            return Ok(Comparison::Same { resource_version: live.resource_version().into() });
        }
        Ok(Comparison::Different { live: Box::new(live), wanted: Box::new(would_be), operations })
    }
}

/// The managers that set a field of the live object last, newest first: who to ask about a drift.
pub fn recent_managers(live: &Object, except: &str) -> Vec<(String, String)> {
    let entries = live.at(&["metadata", "managedFields"]).and_then(serde_json::Value::as_array);
    let mut found: Vec<(String, String)> = entries
        .into_iter()
        .flatten()
        .filter(|e| e.get("subresource").is_none_or(|s| s != "status"))
        .filter_map(|e| Some((e["manager"].as_str()?.to_string(), e["time"].as_str().unwrap_or_default().to_string())))
        .filter(|(manager, _)| manager != except)
        .collect();
    found.sort_by(|a, b| b.1.cmp(&a.1));
    found
}
