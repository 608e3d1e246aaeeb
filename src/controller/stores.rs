//! The objects that are watched, as last seen.
//!
//! Owns: the caches that watches fill, and what this process wrote itself and the watches have not shown yet. The
//! surprising thing: of two states of one object the one with the higher resourceVersion counts, whoever told it.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::runtime::reflector::{ObjectRef, Store};

/// `namespace` and `name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Name {
    /// From its parts.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// Of an object.
    pub fn of(meta: &ObjectMeta) -> Self {
        Self::new(meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default())
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl super::queue::Key for Name {
    fn namespace(&self) -> &str {
        &self.namespace
    }
}

/// The objects of one kind.
pub struct Objects<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + 'static,
{
    store: Store<K>,
    own: Mutex<HashMap<Name, Arc<K>>>,
}

fn version(meta: &ObjectMeta) -> u64 {
    meta.resource_version.as_deref().and_then(|v| v.parse().ok()).unwrap_or(0)
}

impl<K> Objects<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + 'static,
    K::DynamicType: Hash + Eq + Clone + Default,
{
    /// Over what a watch fills.
    pub fn new(store: Store<K>) -> Self {
        Self { store, own: Mutex::default() }
    }

    /// The object, in the newest state known.
    pub fn get(&self, name: &Name) -> Option<Arc<K>> {
        let seen = self.store.get(&ObjectRef::new(&name.name).within(&name.namespace));
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        match (seen, own.get(name)) {
            (Some(seen), Some(written)) if version(written.meta()) > version(seen.meta()) => Some(Arc::clone(written)),
            (Some(seen), _) => {
                own.remove(name);
                Some(seen)
            }
            (None, written) => written.cloned(),
        }
    }

    /// Remember what this process wrote.
    pub fn wrote(&self, object: K) {
        let name = Name::of(object.meta());
        self.own.lock().unwrap_or_else(PoisonError::into_inner).insert(name, Arc::new(object));
    }

    /// The watch says that the object is gone.
    pub fn gone(&self, name: &Name) {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// All objects that the watch has shown.
    pub fn all(&self) -> Vec<Arc<K>> {
        self.store.state()
    }

    /// Wait until the watch has shown all that there is.
    pub async fn ready(&self) {
        // The writer only goes away when the process ends.
        let _ = self.store.wait_until_ready().await;
    }
}
