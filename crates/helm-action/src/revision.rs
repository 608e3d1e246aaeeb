//! What install and upgrade have in common: from a request to the record of a new revision.
//!
//! Owns: the order dependencies, `crds/`, rendering, record. The surprising thing: definitions come before rendering,
//! since templates may ask for the kinds they bring, so whether the whole record fits is only known after them. What is
//! known before, chart and values, is checked before.

use helm::release::{Release, StoredChart};

use crate::context::Context;
use crate::crds::{self, CrdsPolicy};
use crate::error::Error;
use crate::outcome::Run;
use crate::prepare::{Prepared, Request, prepare_settled, settle};
use crate::storage::Packed;

/// What is done with `crds/`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definitions {
    /// The policy.
    pub(crate) policy: CrdsPolicy,
    /// Wait until they are established.
    pub(crate) wait: bool,
}

/// Make the record of a revision that has a name, a number and a state, and nothing else yet. Writes: the files under
/// `crds/`.
///
/// # Errors
/// The chart does not render, or its record does not fit; a definition is refused.
pub(crate) async fn make(
    context: &Context,
    run: &mut Run,
    request: &Request,
    definitions: Definitions,
    mut release: Release,
) -> Result<Packed, Error> {
    let settled = settle(context, request)?;
    let found = crds::find(context, run, settled.chart(), definitions.policy)?;
    if !found.is_empty() {
        release.chart = StoredChart::from(settled.chart());
        release.config = request.values.clone();
        context.storage.check_unrendered(release.clone())?;
        crds::apply(context, found, definitions, &request.metadata).await?;
    }
    let prepared = prepare_settled(context, request, settled).await?;
    release.info.last_deployed = context.now_text();
    let packed = context.storage.pack(with_content(release, request, &prepared))?;
    if let Some(note) = &packed.note {
        run.note(note.clone());
    }
    Ok(packed)
}

/// What is to say about the size of the record that an action would store.
///
/// # Errors
/// [`Error::TooLarge`]: the action would be refused.
pub fn size_note(context: &Context, request: &Request, prepared: &Prepared) -> Result<Option<String>, Error> {
    let (name, namespace) = (context.release.to_string(), context.namespace.to_string());
    let release = Release { name, namespace, version: request.revision, ..Release::default() };
    Ok(context.storage.pack(with_content(release, request, prepared))?.note)
}

fn with_content(release: Release, request: &Request, prepared: &Prepared) -> Release {
    let rendered = &prepared.rendered;
    let mut release = Release {
        chart: StoredChart::from(&rendered.chart),
        config: request.values.clone(),
        manifest: prepared.manifest.clone(),
        hooks: rendered.hooks.clone(),
        ..release
    };
    release.info.notes.clone_from(&rendered.notes);
    release
}
