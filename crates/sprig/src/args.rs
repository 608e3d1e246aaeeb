//! Reading arguments and failing as Go does.
//!
//! Owns: access to arguments whose types the executor has checked, the texts of Go's run-time panics.
//! Does not own: conversions that a function itself does ([`crate::cast`]).
//! The surprising thing: a panic in a Go function is an error of the call, with the panic's text.

use std::borrow::Cow;

use go_template::FuncError;
use go_value::limits::{MAX_DEPTH, MAX_ITEMS, MAX_TEXT, text_too_long, too_deep, too_many_items};
use go_value::quote::decode_char;
use go_value::{Kind, List, Map, Str, Value, format};

/// What a function answers.
pub(crate) type Outcome = Result<Value, FuncError>;

/// The text of Go's nil pointer panic, which most list functions run into for nil.
pub(crate) const NIL_POINTER: &str = "runtime error: invalid memory address or nil pointer dereference";

/// Is the value nested no deeper than this, and not too large? One that contains itself is not.
pub(crate) fn fits(value: &Value, depth: usize) -> bool {
    value.nests_within(depth, &mut { MAX_ITEMS })
}

/// `reflect.DeepEqual`, for values of which one at least does not contain itself.
pub(crate) fn equal(a: &Value, b: &Value) -> Result<bool, FuncError> {
    if !fits(a, MAX_DEPTH) && !fits(b, MAX_DEPTH) {
        return Err(too_deep().into());
    }
    Ok(go_value::compare::deep_equal(a, b))
}

static EMPTY: std::sync::LazyLock<Str> = std::sync::LazyLock::new(Str::default);

/// A `string` argument.
pub(crate) fn text(args: &[Value], i: usize) -> &Str {
    args.get(i).and_then(Value::as_str).unwrap_or(&EMPTY)
}

/// A `string` argument as UTF-8, with U+FFFD for what is not.
pub(crate) fn utf8(args: &[Value], i: usize) -> Cow<'_, str> {
    text(args, i).to_text()
}

/// An `int` (or any other integer) argument.
pub(crate) fn int(args: &[Value], i: usize) -> i64 {
    match args.get(i) {
        Some(Value::Int(_, n) | Value::Duration(n)) => *n,
        Some(Value::Uint(_, n)) => *n as i64,
        _ => 0,
    }
}

/// Any argument.
pub(crate) fn any(args: &[Value], i: usize) -> &Value {
    static NIL: Value = Value::Nil;
    args.get(i).unwrap_or(&NIL)
}

/// A map argument; nil maps read as empty.
pub(crate) fn map(args: &[Value], i: usize) -> Option<Map> {
    match args.get(i) {
        Some(Value::Map(m)) => Some(m.clone()),
        Some(Value::Object(o)) => match o.data() {
            Some(Value::Map(m)) => Some(m),
            _ => None,
        },
        _ => None,
    }
}

/// The elements of a slice, if the value is one.
pub(crate) fn elements(value: &Value) -> Option<List> {
    match value {
        Value::List(l) => Some(l.clone()),
        Value::Object(o) if matches!(o.kind(), Kind::Slice | Kind::Array) => match o.data() {
            Some(Value::List(l)) => Some(l),
            _ => None,
        },
        _ => None,
    }
}

/// sprig's `strval`: strings and bytes as they are, the rest as `%v`.
pub(crate) fn strval(value: &Value) -> Str {
    match value {
        Value::String(s) => s.clone(),
        Value::List(l) if l.ty == go_value::ListType::BYTES => Str::from(&*l.to_bytes()),
        other => {
            let mut out = Vec::new();
            format::append(&mut out, other);
            out.into()
        }
    }
}

/// sprig's `strslice`: the elements as strings, nil ones left out; something that is no slice as its only element.
pub(crate) fn strslice(value: &Value) -> Vec<Str> {
    match elements(value) {
        Some(list) => list.iter().filter(|v| !v.is_nil()).map(strval).collect(),
        None if value.is_nil() => Vec::new(),
        None => vec![strval(value)],
    }
}

/// The characters of a Go string; each byte that is not UTF-8 is U+FFFD.
pub(crate) fn runes(mut bytes: &[u8]) -> Vec<char> {
    let mut out = Vec::with_capacity(bytes.len());
    while !bytes.is_empty() {
        let (c, size) = decode_char(bytes);
        out.push(c);
        bytes = &bytes[size.max(1)..];
    }
    out
}

/// A Go string from characters.
pub(crate) fn from_runes(chars: impl IntoIterator<Item = char>) -> Value {
    Value::string(chars.into_iter().collect::<String>())
}

/// A slice expression `s[from:to]` on bytes, with Go's panic texts.
pub(crate) fn cut(s: &[u8], from: Option<i64>, to: Option<i64>) -> Result<&[u8], FuncError> {
    let len = s.len() as i64;
    let fail = |what: String| Err(FuncError::Text(format!("runtime error: slice bounds out of range {what}")));
    let end = to.unwrap_or(len);
    if end < 0 {
        return fail(format!("[:{end}]"));
    }
    if end > len {
        return fail(format!("[:{end}] with length {len}"));
    }
    let start = from.unwrap_or(0);
    if start < 0 {
        return fail(format!("[{start}:]"));
    }
    if start > end {
        return fail(format!("[{start}:{end}]"));
    }
    Ok(&s[start as usize..end as usize])
}

/// `strings.Repeat`, bounded.
pub(crate) fn repeat(s: &[u8], count: i64) -> Result<Vec<u8>, FuncError> {
    if count < 0 {
        return Err("strings: negative Repeat count".into());
    }
    /// As much as Go allocates at once on a machine of 64 bits.
    const MAX_ALLOC: u128 = 1 << 48;
    let length = (s.len() as u128) * (count as u128);
    if (MAX_ALLOC + 1..=i64::MAX as u128).contains(&length) {
        return Err("runtime error: makeslice: len out of range".into());
    }
    if length > i64::MAX as u128 {
        return Err("strings: Repeat output length overflow".into());
    }
    if length > MAX_TEXT as u128 {
        return Err(text_too_long().into());
    }
    Ok(s.repeat(count as usize))
}

/// May a list with so many items have one more?
pub(crate) fn items_fit(count: usize) -> Result<(), FuncError> {
    if count < MAX_ITEMS { Ok(()) } else { Err(too_many_items().into()) }
}

/// The name of a value's kind, as `reflect.Kind` prints it.
pub(crate) fn kind_name(value: &Value) -> &'static str {
    value.kind().name()
}
