//! The template parser: whatever the text, no panic; and
//!
//! - an error names the template and a line that the text has,
//! - a text without actions is one template that prints the text.

#![no_main]

use bytes::Bytes;
use go_template::{FuncMap, Options, Set};
use go_value::Value;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let mut functions = FuncMap::new();
    let host: std::sync::Arc<dyn sprig::Host> = std::sync::Arc::new(sprig::FixedHost::new(jiff::Timestamp::UNIX_EPOCH, 1));
    sprig::register(&mut functions, &host);
    let mut set = Set::new("gotpl", functions);
    match set.compile("t", &Bytes::copy_from_slice(text)) {
        Ok(parsed) => {
            set.add(&parsed);
            if !text.windows(2).any(|w| w == b"{{") {
                let out = set.execute("t", &Value::Nil, &Options::default(), &mut ()).map_err(|e| e.to_string());
                assert_eq!(out.as_deref(), Ok(text));
            }
        }
        Err(e) => {
            let error = e.to_string();
            let rest = error.strip_prefix("template: t:").unwrap_or_else(|| panic!("{error}"));
            let line: usize = rest.split(':').next().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{error}"));
            let lines = text.iter().filter(|&&b| b == b'\n').count() + 1;
            assert!((1..=lines).contains(&line), "{lines} lines: {error}");
        }
    }
});
