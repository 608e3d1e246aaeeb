//! Go slices as template code sees them: a typed, immutable sequence.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::kind::{Kind, ListType};
use crate::value::Value;

/// A slice with its Go type. Template functions never write into a slice they were given (sprig copies first), so
/// the elements are immutable and shared.
#[derive(Clone, Debug)]
pub struct List {
    /// The slice's Go type.
    pub ty: ListType,
    /// A nil slice prints like an empty one, but is `null` in JSON and not deeply equal to an empty one.
    pub nil: bool,
    items: Arc<Items>,
}

/// What all clones of a list share.
#[derive(Debug)]
enum Items {
    Values(Vec<Value>),
    /// A `[]uint8`, which takes many times the room as values and is seldom looked at one by one.
    Bytes {
        bytes: Box<[u8]>,
        values: OnceLock<Vec<Value>>,
    },
}

impl Items {
    fn values(&self) -> &[Value] {
        match self {
            Self::Values(values) => values,
            Self::Bytes { bytes, values } => {
                values.get_or_init(|| bytes.iter().map(|&b| Value::Uint(Kind::Uint8, b.into())).collect())
            }
        }
    }

    fn take(&mut self) -> Vec<Value> {
        match self {
            Self::Values(values) => std::mem::take(values),
            Self::Bytes { .. } => Vec::new(),
        }
    }
}

impl Default for Items {
    fn default() -> Self {
        Self::Values(Vec::new())
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        if let Self::Values(values) = self
            && values.iter().any(Value::holds_more)
        {
            crate::map::drop_deep(self.take());
        }
    }
}

impl List {
    /// A non-nil slice of type `ty`.
    pub fn new(ty: ListType, items: Vec<Value>) -> Self {
        Self { ty, nil: false, items: Arc::new(Items::Values(items)) }
    }

    /// A `[]interface {}`.
    pub fn any(items: Vec<Value>) -> Self {
        Self::new(ListType::ANY, items)
    }

    /// A `[]string`.
    pub fn strings<S: Into<crate::Str>>(items: impl IntoIterator<Item = S>) -> Self {
        Self::new(ListType::STRINGS, items.into_iter().map(|s| Value::String(s.into())).collect())
    }

    /// A `[]uint8`.
    pub fn bytes(bytes: &[u8]) -> Self {
        let items = Items::Bytes { bytes: bytes.into(), values: OnceLock::new() };
        Self { ty: ListType::BYTES, nil: false, items: Arc::new(items) }
    }

    /// The bytes, if the list was made of them.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &*self.items {
            Items::Bytes { bytes, .. } => Some(bytes),
            Items::Values(_) => None,
        }
    }

    /// The bytes of a `[]uint8`.
    pub fn to_bytes(&self) -> Cow<'_, [u8]> {
        let byte = |value: &Value| if let Value::Uint(_, n) = value { *n as u8 } else { 0 };
        self.as_bytes().map_or_else(|| self.iter().map(byte).collect(), Cow::Borrowed)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.as_bytes().map_or_else(|| self.items.values().len(), <[u8]>::len)
    }

    /// Has it no elements?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The nil slice of type `ty`.
    pub fn nil(ty: ListType) -> Self {
        Self { ty, nil: true, items: Arc::default() }
    }

    /// Does anybody else hold the same elements? If not, they were put together for this list.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.items) > 1
    }

    /// The elements as a new vector, to build another slice from.
    pub fn to_vec(&self) -> Vec<Value> {
        self.items.values().to_vec()
    }

    /// The elements, if nobody else holds the list; else none.
    pub(crate) fn into_items(self) -> Vec<Value> {
        Arc::into_inner(self.items).map(|mut items| items.take()).unwrap_or_default()
    }
}

impl Deref for List {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        self.items.values()
    }
}
