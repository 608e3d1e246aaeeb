//! Go slices as template code sees them: a typed, immutable sequence.

use std::ops::Deref;
use std::sync::Arc;

use crate::kind::ListType;
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
#[derive(Debug, Default)]
struct Items(Vec<Value>);

impl Drop for Items {
    fn drop(&mut self) {
        if self.0.iter().any(Value::holds_more) {
            crate::map::drop_deep(std::mem::take(&mut self.0));
        }
    }
}

impl List {
    /// A non-nil slice of type `ty`.
    pub fn new(ty: ListType, items: Vec<Value>) -> Self {
        Self { ty, nil: false, items: Arc::new(Items(items)) }
    }

    /// A `[]interface {}`.
    pub fn any(items: Vec<Value>) -> Self {
        Self::new(ListType::ANY, items)
    }

    /// A `[]string`.
    pub fn strings<S: Into<crate::Str>>(items: impl IntoIterator<Item = S>) -> Self {
        Self::new(ListType::STRINGS, items.into_iter().map(|s| Value::String(s.into())).collect())
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
        self.items.0.clone()
    }

    /// The elements, if nobody else holds the list; else none.
    pub(crate) fn into_items(self) -> Vec<Value> {
        Arc::into_inner(self.items).map(|mut items| std::mem::take(&mut items.0)).unwrap_or_default()
    }
}

impl Deref for List {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        &self.items.0
    }
}
