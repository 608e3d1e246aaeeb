//! The objects that a new revision replaces.
//!
//! Owns: which stored revisions may have objects in the cluster, and which of those objects go. Helm looks at one revision
//! only: what an upgrade created that failed, and the next one does not render, stays for ever. Here all revisions
//! since the last deployed one count, itself included. The surprising things: while no revision has failed since, nothing
//! more is read than Helm reads; of revisions that Helm does not look at, only what still carries this release's ownership
//! metadata goes.

use helm::Chart;
use helm::release::{Release, Status};
use kube_object::{Object, ObjectId, ownership};
use kube_ops::Class;

use crate::build::{Built, build_stored};
use crate::context::Context;
use crate::error::Error;
use crate::keep;
use crate::storage::RecordHead;

/// The objects of stored revisions.
#[derive(Debug)]
pub(crate) struct Replaced {
    /// Those of the revision that Helm compares with.
    pub(crate) original: Vec<Built>,
    /// Those that other revisions since the last deployed one may have left, newest revision first.
    pub(crate) leftovers: Vec<Built>,
}

/// What becomes of an object that is not rendered any more.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It goes.
    Deleted(Built, Object),
    /// It stays; why.
    Kept(ObjectId, String),
}

/// The revisions whose objects may be in the cluster, newest first: down to the last deployed one, or until what was
/// uninstalled.
fn since_deployed(heads: &[RecordHead]) -> impl Iterator<Item = &RecordHead> {
    let mut over = false;
    heads.iter().rev().take_while(move |head| {
        let take = !over && head.status != Status::Uninstalled;
        over = head.status == Status::Deployed;
        take
    })
}

impl Replaced {
    /// The objects of `current` and what the revisions beside it may have left.
    ///
    /// # Errors
    /// The manifest of `current` cannot be built, or the cluster cannot be asked.
    pub(crate) async fn load(context: &Context, heads: &[RecordHead], current: &Release) -> Result<Self, Error> {
        let original = build_stored(context, &current.manifest)
            .await
            .map_err(|e| Error::Build { which: "current release", source: Box::new(e) })?;
        let mut leftovers: Vec<Built> = Vec::new();
        for head in since_deployed(heads).filter(|head| head.version != current.version) {
            let built = async { build_stored(context, &context.storage.read(head).await?.manifest).await };
            let built = match built.await {
                Ok(built) => built,
                Err(e) if e.is_transient() => return Err(e),
                // A record that cannot be read, though nothing but leftovers depends on it, must not stop a release.
                Err(_) => continue,
            };
            for one in built {
                let known = |b: &Built| b.object.id() == one.object.id();
                if !original.iter().any(known) && !leftovers.iter().any(known) {
                    leftovers.push(one);
                }
            }
        }
        Ok(Self { original, leftovers })
    }

    /// What becomes of the live objects that are not among the `target`. `chart` is that of the new revision, if there is
    /// one.
    ///
    /// # Errors
    /// An object may not be read.
    pub(crate) async fn fates(
        self,
        context: &Context,
        target: &[ObjectId],
        chart: Option<&Chart>,
    ) -> Result<Vec<Fate>, Error> {
        let mut fates = Vec::new();
        let originals = self.original.into_iter().map(|b| (b, true));
        for (built, original) in originals.chain(self.leftovers.into_iter().map(|b| (b, false))) {
            let id = built.object.id();
            if target.contains(&id) {
                continue;
            }
            let live = match context.cluster.get(&built.resource, &id.namespace, &id.name).await {
                Ok(Some(live)) => live,
                Ok(None) => continue,
                // Helm would not have asked.
                Err(e) if !original && e.class() == Class::Forbidden => continue,
                Err(e) => return Err(e.into()),
            };
            let kept = keep::reason(context, &live, chart).await;
            if kept.is_none() && !original && ownership::check(&live, &context.release, &context.namespace).is_err() {
                continue;
            }
            fates.push(match kept {
                Some(why) => Fate::Kept(id, why),
                None => Fate::Deleted(built, live),
            });
        }
        Ok(fates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_count_down_to_the_deployed_one() {
        use Status::{Deployed as D, Failed as F, PendingUpgrade as P, Superseded as S, Uninstalled as U};
        // The states of revisions 1, 2, …, and the revisions that count.
        let table: [(&[Status], &[i64]); 7] = [
            (&[S, D], &[2]),
            (&[D, F, F], &[3, 2, 1]),
            (&[S, D, S, F, P], &[5, 4, 3, 2]),
            (&[F, F], &[2, 1]),
            (&[F, U, F], &[3]),
            (&[S, S, U], &[]),
            (&[], &[]),
        ];
        for (statuses, want) in table {
            let heads: Vec<RecordHead> = (1..)
                .zip(statuses)
                .map(|(version, &status)| RecordHead {
                    version,
                    status,
                    object: String::new(),
                    resource_version: String::new(),
                    labels: std::collections::BTreeMap::new(),
                })
                .collect();
            let found: Vec<i64> = since_deployed(&heads).map(|h| h.version).collect();
            assert_eq!(found, want, "{statuses:?}");
        }
    }
}
