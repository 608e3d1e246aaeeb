//! JSON text of values and back, as Go's `encoding/json` does it.
//!
//! Owns: encoding (compact, indented, with or without HTML escapes) and decoding with Go's error texts.
//! Does not own: decoding into types; whoever needs that uses `serde_json`.
//! Upstream: Go's package `encoding/json` (version 1).
//! The surprising thing: bytes that are not UTF-8 become U+FFFD one by one, a `[]uint8` becomes base64 text, and `<`,
//! `>`, `&`, U+2028 and U+2029 are escaped unless asked otherwise (the last two always).

mod decode;
mod encode;

pub use decode::{MAX_DEPTH, decode, decode_list, decode_map, mismatch};
pub use encode::{Style, encode, encode_with, float, rfc3339_nano, write_string};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{List, ListType, Map, Value};

    fn round(text: &str) -> String {
        decode(text.as_bytes()).and_then(|v| encode(&v)).unwrap_or_else(|e| format!("! {e}"))
    }

    #[test]
    fn encodes_as_go_does() {
        assert_eq!(
            round(r#"{"b":1,"a":[true,null,"<&>\u2028é\ud83d\ude00\ud800"],"":{}}"#),
            "{\"\":{},\"a\":[true,null,\"\\u003c\\u0026\\u003e\\u2028é😀\u{fffd}\"],\"b\":1}"
        );
        assert_eq!(
            round("[1e21,1e20,1e-7,123456789,0.000001,-0]"),
            "[1e+21,100000000000000000000,1e-7,123456789,0.000001,-0]"
        );
        assert_eq!(encode(&Value::float(f64::INFINITY)).unwrap_err(), "json: unsupported value: +Inf");
        assert_eq!(encode(&Value::bytes(b"hello")).unwrap(), "\"aGVsbG8=\"");
        assert_eq!(encode(&Value::List(List::nil(ListType::ANY))).unwrap(), "null");
        assert_eq!(encode(&Value::string(&b"a\xff\x01"[..])).unwrap(), "\"a\\ufffd\\u0001\"");
        let v = decode(b"{\"a\":[1,{}],\"b\":[]}").unwrap();
        assert_eq!(encode_with(&v, Style::PRETTY).unwrap(), "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
        let loops = Map::new();
        loops.insert("a", Value::Map(loops.clone()));
        assert_eq!(
            encode(&Value::Map(loops)).unwrap_err(),
            "json: unsupported value: encountered a cycle via map[string]interface {}"
        );
    }

    #[test]
    fn syntax_errors_are_gos() {
        for (text, want) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("\"a", "unexpected end of JSON input"),
            ("1,", "invalid character ',' after top-level value"),
            ("tru", "invalid character ' ' in literal true (expecting 'e')"),
            ("-", "invalid character ' ' in numeric literal"),
            ("1.", "invalid character ' ' after decimal point in numeric literal"),
            ("1e+", "invalid character ' ' in exponent of numeric literal"),
            ("\"\\", "invalid character ' ' in string escape code"),
            ("\"\\u1", "invalid character ' ' in \\u hexadecimal character escape"),
            ("{a", "invalid character 'a' looking for beginning of object key string"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"", "invalid character '\"' after object key:value pair"),
            ("[1 2]", "invalid character '2' after array element"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("1 x", "invalid character 'x' after top-level value"),
            ("\"a\nb\"", "invalid character '\\n' in string literal"),
            ("\"\\x\"", "invalid character 'x' in string escape code"),
            ("\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"),
            ("-x", "invalid character 'x' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1ex", "invalid character 'x' in exponent of numeric literal"),
            ("trux", "invalid character 'x' in literal true (expecting 'e')"),
            ("'a'", "invalid character '\\'' looking for beginning of value"),
            ("1e999", "json: cannot unmarshal number 1e999 into Go value of type float64"),
        ] {
            assert_eq!(decode(text.as_bytes()).unwrap_err(), want, "{text}");
        }
        assert_eq!(
            decode_list(b"{}").unwrap_err(),
            "json: cannot unmarshal object into Go value of type []interface {}"
        );
    }
}
