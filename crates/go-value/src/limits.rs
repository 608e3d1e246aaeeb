//! The bounds on single values, so that no function can be made to fill the memory.
//!
//! Owns: the fixed limits that all functions share, and their texts. Does not own: what a whole render may use up
//! (`go_template::Limits`). Upstream: none; Go takes what memory there is, and then the process dies.
//! The surprising thing: they cannot be raised. An object in a cluster is at most a few megabytes, so what is larger by
//! an order of magnitude is a mistake or an attack.

/// How many bytes a text may have that a function is given or makes.
pub const MAX_TEXT: usize = 32 << 20;

/// How many items a list may have that a function makes, and how many values may be in what is read or written.
pub const MAX_ITEMS: usize = 1_000_000;

/// How deep values may nest for functions that look into all of them.
pub const MAX_DEPTH: usize = 1000;

/// What is said of a text that is too long.
pub fn text_too_long() -> String {
    format!("exceeded maximum text size ({MAX_TEXT} bytes); it is fixed, as no cluster takes an object of that size")
}

/// What is said of too many items.
pub fn too_many_items() -> String {
    format!("exceeded maximum number of items ({MAX_ITEMS}); it is fixed, as no cluster takes an object with so many")
}

/// What is said of a value that nests too deep, or is too large to be looked into.
pub fn too_deep() -> String {
    format!(
        "exceeded maximum depth ({MAX_DEPTH}) or number ({MAX_ITEMS}) of nested values; both are fixed, as no cluster \
         takes such an object (does the value contain itself?)"
    )
}
