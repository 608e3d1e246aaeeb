//! Parsed templates, kept from one render to the next.
//!
//! Owns: finding the parsed form of a template by its name and text. Does not own: parsing. The same chart is rendered
//! again and again (drift checks, retries, many releases of one chart), and most of a render's time can be parsing. The
//! surprising thing: nothing is ever wrong in the cache, because the whole text is compared, so it needs no clearing
//! but for its size.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use go_template::{ParseError, Parsed, Set};

use crate::profile::HelmProfile;

/// How many bytes of template texts are kept; parsed they need several times as much.
const MAX_BYTES: usize = 16 << 20;

/// By profile, because the functions that a template may name differ.
type Key = (HelmProfile, Arc<str>);

/// A text and its parsed form.
type Known = (Bytes, Parsed);

#[derive(Default)]
struct Cache {
    entries: HashMap<Key, Vec<Known>>,
    bytes: usize,
}

/// Parsed templates of many charts. Who renders once needs none.
#[derive(Default)]
pub struct TemplateCache(Mutex<Cache>);

impl TemplateCache {
    /// The parsed form of a template; parsed now if it is not known.
    pub(super) fn parsed(
        &self,
        set: &Set,
        profile: HelmProfile,
        name: &str,
        text: &Bytes,
    ) -> Result<Parsed, ParseError> {
        let key = (profile, Arc::from(name));
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().entries.get(&key)
            && let Some((_, parsed)) = known.iter().find(|(own, _)| own == text)
        {
            return Ok(parsed.clone());
        }
        // A copy: what is kept must not keep the whole archive that the text is a part of.
        let text = Bytes::copy_from_slice(text);
        let parsed = set.compile(name, &text)?;
        let mut cache = lock();
        if cache.bytes + text.len() > MAX_BYTES {
            // Rare, and what is in use comes back with the next render.
            *cache = Cache::default();
        }
        cache.bytes += text.len() + name.len() + 64;
        cache.entries.entry(key).or_default().push((text, parsed.clone()));
        Ok(parsed)
    }
}
