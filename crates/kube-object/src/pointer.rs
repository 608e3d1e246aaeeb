//! JSON pointers (RFC 6901).

use serde_json::Value as Json;

/// A key as one token of a pointer.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Remove what the pointer names; nothing happens where there is nothing.
pub fn remove(document: &mut Json, pointer: &str) {
    let Some((parent, last)) = pointer.rsplit_once('/') else { return };
    let Some(parent) = document.pointer_mut(parent) else { return };
    let key = last.replace("~1", "/").replace("~0", "~");
    match parent {
        Json::Object(map) => {
            map.remove(&key);
        }
        Json::Array(items) => {
            if let Ok(i) = key.parse::<usize>()
                && i < items.len()
            {
                items.remove(i);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn removes_what_is_there() {
        let mut doc = json!({"a": {"b/c": 1, "d": [1, 2]}});
        for p in ["/a/b~1c", "/a/d/0", "/x/y", "", "/a/d/7"] {
            remove(&mut doc, p);
        }
        assert_eq!(doc, json!({"a": {"d": [2]}}));
    }
}
