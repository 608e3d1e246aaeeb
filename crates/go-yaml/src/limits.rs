//! Bounds against hostile documents.
//!
//! Upstream allows 10,000 levels; nothing that a cluster accepts is nested nearly as deep, and a smaller bound keeps
//! every recursion of ours small.

/// How deep collections may nest.
pub const MAX_DEPTH: usize = 1000;

/// How many nodes a document may have: keys, values and collections. Some 40 MB of the index of a chart repository.
pub const MAX_NODES: usize = 2_000_000;

/// How many bytes a text may have.
pub const MAX_INPUT: usize = 256 * 1024 * 1024;

/// How much of a document may come from aliases, given how many nodes have been built so far: go-yaml's rule, which
/// lets small documents be nearly all aliases and large ones hardly.
pub(crate) fn allowed_alias_ratio(built: u64) -> f64 {
    const LOW: u64 = 400_000;
    const HIGH: u64 = 4_000_000;
    match built {
        n if n <= LOW => 0.99,
        n if n >= HIGH => 0.10,
        n => 0.99 - 0.89 * ((n - LOW) as f64 / (HIGH - LOW) as f64),
    }
}
