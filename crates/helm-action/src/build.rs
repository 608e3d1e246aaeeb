//! From a manifest to objects the cluster knows.
//!
//! Owns: mapping kinds to resources, filling namespaces in, ownership metadata. Follows the build step of Helm's
//! `pkg/kube`. The surprising thing: ownership metadata is set on what is sent, never on what is stored.

use helm::manifest::{Parsed, parse_objects};
use kube_object::{Object, ownership};
use kube_ops::{Error as ClusterError, Resource};

use crate::context::Context;
use crate::error::Error;

/// An object of a release with its resource.
#[derive(Clone, Debug)]
pub struct Built {
    /// The object, with its namespace and ownership metadata.
    pub object: Object,
    /// Where it lives.
    pub resource: Resource,
    /// The template it came from.
    pub source: String,
}

/// The objects of a manifest, ready to be sent.
///
/// # Errors
/// A document that is not an object, an object without a name, or of a kind the cluster has not.
pub async fn build(context: &Context, manifest: &str) -> Result<Vec<Built>, Error> {
    let mut built = Vec::new();
    for parsed in parse_objects(manifest, context.profile)? {
        let resource = context.cluster.resource_of(&parsed.object).await?;
        let one = of(context, parsed, resource);
        named(&one.object, &one.source)?;
        built.push(one);
    }
    Ok(built)
}

/// An object with its namespace and ownership metadata.
fn of(context: &Context, parsed: Parsed, resource: Resource) -> Built {
    let Parsed { mut object, source } = parsed;
    place(&mut object, &resource, &context.namespace);
    ownership::set(&mut object, &context.release, &context.namespace);
    Built { object, resource, source }
}

/// As [`build`], for a manifest that is already stored: objects of kinds that are gone are left out, and so are objects
/// without a name, which can be nowhere.
///
/// # Errors
/// A document that is not an object, or a cluster that cannot be asked.
pub async fn build_stored(context: &Context, manifest: &str) -> Result<Vec<Built>, Error> {
    let parsed = parse_objects(manifest, context.profile)?;
    Ok(known(context, parsed.into_iter().filter(|p| !p.object.name().is_empty())).await?.0)
}

/// As [`build`]; objects of kinds that the cluster has not come apart from the others, as they are written.
///
/// # Errors
/// A document that is not an object, an object without a name, or a cluster that cannot be asked.
pub async fn build_known(context: &Context, manifest: &str) -> Result<(Vec<Built>, Vec<Object>), Error> {
    let parsed = parse_objects(manifest, context.profile)?;
    parsed.iter().try_for_each(|p| named(&p.object, &p.source))?;
    known(context, parsed).await
}

async fn known(
    context: &Context,
    parsed: impl IntoIterator<Item = Parsed>,
) -> Result<(Vec<Built>, Vec<Object>), Error> {
    let (mut built, mut unknown) = (Vec::new(), Vec::new());
    for parsed in parsed {
        match context.cluster.resource_of(&parsed.object).await {
            Ok(resource) => built.push(of(context, parsed, resource)),
            Err(ClusterError::UnknownKind { .. }) => unknown.push(parsed.object),
            Err(e) => return Err(e.into()),
        }
    }
    Ok((built, unknown))
}

/// Refuse an object without a name.
///
/// # Errors
/// [`Error::Nameless`].
pub fn named(object: &Object, source: &str) -> Result<(), Error> {
    if object.name().is_empty() {
        return Err(Error::Nameless { id: object.id(), source_path: source.into() });
    }
    Ok(())
}

/// Namespaced objects without a namespace get the release's; cluster-scoped ones lose theirs.
pub fn place(object: &mut Object, resource: &Resource, namespace: &str) {
    if !resource.namespaced {
        if !object.namespace().is_empty() {
            object.set_namespace(None);
        }
    } else if object.namespace().is_empty() {
        object.set_namespace(Some(namespace));
    }
}
