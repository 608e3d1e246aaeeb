//! Deleting objects.

use http::Method;
use kube_object::Object;
use serde_json::{Value as Json, json};

use crate::client::Cluster;
use crate::discovery::Resource;
use crate::error::{Class, Error};

/// What happens to the objects that the deleted one owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Propagation {
    /// They are deleted afterwards.
    #[default]
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay.
    Orphan,
}

impl Propagation {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }
}

impl Cluster {
    /// Delete the object; false if there was none.
    ///
    /// # Errors
    /// The kind is unknown, or the server's answer.
    pub async fn delete(&self, object: &Object, propagation: Propagation) -> Result<bool, Error> {
        let resource = self.resource_of(object).await?;
        self.delete_from(&resource, object, propagation).await
    }

    /// As [`Cluster::delete`] where the resource is known.
    ///
    /// # Errors
    /// The server's answer.
    pub async fn delete_from(
        &self,
        resource: &Resource,
        object: &Object,
        propagation: Propagation,
    ) -> Result<bool, Error> {
        let path = resource
            .path(object.namespace(), object.name())
            .map_err(|source| Error::Delete { id: object.id(), source })?;
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation.as_str()});
        match self.send::<Json>(Method::DELETE, &path, "application/json", Some(&options)).await {
            Ok(_) => Ok(true),
            Err(e) if e.class == Class::NotFound => Ok(false),
            Err(source) => Err(Error::Delete { id: object.id(), source }),
        }
    }
}
