//! Comparing a live object with what it should be.
//!
//! Owns: the read, the dry run, and the verdict about one object. Read-only by contract. Follows Flux's
//! `ssa/jsondiff.Unstructured`. The surprising thing: the dry run tells what the server would make of the wanted
//! object, defaults and webhooks included, so equal things in different clothes compare as equal.

use kube_object::Object;
use kube_object::diff::{Operation, Sides};
use kube_object::fields::{Writer, newest_writer};
use serde_json::Value as Json;

use crate::apply::ApplyOptions;
use crate::client::Cluster;
use crate::discovery::Resource;
use crate::error::Error;

/// How often a comparison begins again because somebody wrote to the object meanwhile.
const ATTEMPTS: u32 = 4;

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
        /// What differs, and who wrote each such field, if that is known.
        operations: Vec<(Operation, Option<Writer>)>,
        /// Who wrote to the object last.
        newest: Option<Writer>,
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
        let mut attempts = ATTEMPTS;
        loop {
            attempts -= 1;
            let (comparison, moved) = self.compare_once(&resource, wanted, options).await?;
            if !moved || attempts == 0 {
                return Ok(comparison);
            }
        }
    }

    /// One read and one dry run, and whether somebody wrote between the two: then a difference may be theirs.
    async fn compare_once(
        &self,
        resource: &Resource,
        wanted: &Object,
        options: CompareOptions<'_>,
    ) -> Result<(Comparison, bool), Error> {
        let Some(live) = self.get(resource, wanted.namespace(), wanted.name()).await? else {
            return Ok((Comparison::Missing, false));
        };
        if excluded(&live, options.exclusion) {
            return Ok((Comparison::Excluded, false));
        }
        let same = || (Comparison::Same { resource_version: live.resource_version().into() }, false);
        if options.known_same.is_some_and(|rv| !rv.is_empty() && rv == live.resource_version()) {
            return Ok(same());
        }
        let apply = ApplyOptions { force: true, dry_run: true, ignore_unknown_fields: true };
        let would_be = self.apply_to(resource, wanted, apply).await?;
        let sides = Sides::new(wanted, &live, &would_be, options.ignored);
        let operations = sides.operations();
        if operations.is_empty() {
            return Ok(same());
        }
        // A dry run leaves the version of what it was made on.
        let moved = would_be.resource_version() != live.resource_version();
        let own = self.field_manager();
        let told = operations.into_iter().map(|op| (sides.writer(&op, own), op)).map(|(writer, op)| (op, writer));
        let operations = told.collect();
        let newest = newest_writer(&Json::Object(live.0.clone()), own);
        Ok((Comparison::Different { live: Box::new(live), operations, newest }, moved))
    }
}
