//! Go's `fmt`: how values print.
//!
//! Owns: `Sprint`, `Sprintln`, `Sprintf` and single verbs over [`Value`]s (this file: which text a value has under a verb;
//! `directive`: reading the format; `layout`: flags, width, precision). Does not own: float digits (`float`), quoting
//! (`quote`). Upstream: `fmt/print.go`, `fmt/format.go`.
//! The surprising thing: a wrong verb is not an error but text, `%!d(string=x)`, and inside a list or map it is reported
//! for each element.

mod directive;
mod layout;

use crate::kind::{Elem, Kind};
use crate::list::List;
use crate::map::Map;
use crate::object::Object;
use crate::quote;
use crate::value::Value;
use layout::Layout;

/// The verbs that other code needs outside of a format string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `%v`
    V,
    /// `%s`
    S,
    /// `%+v`
    PlusV,
    /// `%#v`
    SharpV,
}

/// `fmt.Sprint`: the operands as `%v`, with a space between two when neither is a string.
pub fn sprint(args: &[Value]) -> Vec<u8> {
    let mut p = Printer::default();
    let mut after_string = false;
    for (i, arg) in args.iter().enumerate() {
        let string = arg.kind() == Kind::String;
        if i > 0 && !string && !after_string {
            p.out.push(b' ');
        }
        p.print_arg(arg, 'v');
        after_string = string;
    }
    p.out
}

/// `fmt.Sprintln`: the operands as `%v`, with spaces between all and a newline after the last.
pub fn sprintln(args: &[Value]) -> Vec<u8> {
    let mut p = Printer::default();
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            p.out.push(b' ');
        }
        p.print_arg(arg, 'v');
    }
    p.out.push(b'\n');
    p.out
}

/// `fmt.Sprintf`.
pub fn sprintf(format: &[u8], args: &[Value]) -> Vec<u8> {
    let mut p = Printer::default();
    p.out.reserve(format.len());
    p.directives(format, args);
    p.out
}

/// One value under one verb.
pub fn verb(value: &Value, verb: Verb) -> Vec<u8> {
    let mut p = Printer::default();
    p.layout.plus_v = verb == Verb::PlusV;
    p.layout.sharp_v = verb == Verb::SharpV;
    p.print_arg(value, if verb == Verb::S { 's' } else { 'v' });
    p.out
}

/// Append a value as `%v` to `out`; what a template prints.
pub fn append(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::String(s) => out.extend_from_slice(s),
        Value::Bool(b) => out.extend_from_slice(if *b { b"true" } else { b"false" }),
        _ => {
            let mut p = Printer { start: out.len(), out: std::mem::take(out), ..Printer::default() };
            p.print_arg(value, 'v');
            *out = p.out;
        }
    }
}

/// A value as `%v`, as text; bytes that are not UTF-8 become U+FFFD.
pub fn to_text(value: &Value) -> String {
    let mut out = Vec::new();
    append(&mut out, value);
    String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// `time.Duration.String`: `1h2m3.5s`.
pub fn duration(nanos: i64) -> String {
    if nanos == 0 {
        return "0s".to_owned();
    }
    let sign = if nanos < 0 { "-" } else { "" };
    let n = nanos.unsigned_abs();
    let decimal = |whole: u64, unit: u64, digits: usize, name: &str| {
        let (whole, rest) = (whole, n % unit);
        let fraction = format!("{rest:0digits$}");
        let fraction = fraction.trim_end_matches('0');
        if rest == 0 || digits == 0 { format!("{whole}{name}") } else { format!("{whole}.{fraction}{name}") }
    };
    let text = match n {
        0..1_000 => decimal(n, 1, 0, "ns"),
        1_000..1_000_000 => decimal(n / 1_000, 1_000, 3, "µs"),
        1_000_000..1_000_000_000 => decimal(n / 1_000_000, 1_000_000, 6, "ms"),
        _ => {
            let all = n / 1_000_000_000;
            let seconds = decimal(all % 60, 1_000_000_000, 9, "s");
            match (all / 3600, all / 60 % 60) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    };
    format!("{sign}{text}")
}

/// `time.Time.String`: `2006-01-02 15:04:05.999999999 -0700 MST`.
pub fn time(t: &jiff::Zoned) -> String {
    let fraction = match t.subsec_nanosecond() {
        0 => String::new(),
        n => format!(".{n:09}").trim_end_matches('0').to_owned(),
    };
    let offset = t.offset().seconds();
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
    let zone = t.time_zone();
    let zone = if *zone != jiff::tz::TimeZone::UTC && zone.to_fixed_offset().is_ok() {
        format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
    } else {
        zone.to_offset_info(t.timestamp()).abbreviation().to_owned()
    };
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}{fraction} {sign}{:02}{:02} {zone}",
        t.year(),
        t.month(),
        t.day(),
        t.hour(),
        t.minute(),
        t.second(),
        minutes / 60,
        minutes % 60
    )
}

/// The months as Go names them, from January on.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `time.Time.GoString`: `time.Date(2006, time.January, 2, 15, 4, 5, 0, time.Local)`.
pub fn go_time(t: &jiff::Zoned) -> String {
    let month = usize::try_from(t.month() - 1).ok().and_then(|i| MONTHS.get(i)).copied().unwrap_or_default();
    // Where a time comes from is not kept: what is read is in the local zone, or in a nameless one if it had an offset.
    let zone = if t.offset().seconds() == 0 || t.time_zone().iana_name().is_some() {
        "time.Local"
    } else {
        "time.Location(\"\")"
    };
    let clock = format!("{}, {}, {}, {}", t.hour(), t.minute(), t.second(), t.subsec_nanosecond());
    format!("time.Date({}, time.{month}, {}, {clock}, {zone})", t.year(), t.day())
}

/// How deep maps and lists are printed; deeper ones are `%!v(TOODEEP=type)`.
const MAX_DEPTH: usize = 1000;

/// Where printing stops: shared lists can be longer than any memory when they are written out.
/// Templates refuse a text of this size.
pub use crate::limits::MAX_TEXT;

/// The state of one print: what is printed so far and the flags of the directive at hand.
#[derive(Default)]
struct Printer {
    out: Vec<u8>,
    /// How long `out` was before.
    start: usize,
    layout: Layout,
    /// The maps that are being printed.
    open: Vec<usize>,
    /// Printing the operand of a bad verb: methods are not called, so that this ends.
    erroring: bool,
}

impl Printer {
    fn bad_verb(&mut self, value: &Value, verb: char) {
        self.erroring = true;
        self.out.extend_from_slice(b"%!");
        self.push_char(verb);
        self.out.push(b'(');
        if value.is_nil() {
            self.out.extend_from_slice(b"<nil>");
        } else {
            self.out.extend_from_slice(value.type_name().as_bytes());
            self.out.push(b'=');
            self.print_value(value, 'v', 0);
        }
        self.out.push(b')');
        self.erroring = false;
    }

    fn push_char(&mut self, c: char) {
        self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// A whole operand.
    fn print_arg(&mut self, value: &Value, verb: char) {
        match (verb, value) {
            ('T' | 'v', Value::Nil) => self.layout.pad(&mut self.out, b"<nil>"),
            (_, Value::Nil) => self.bad_verb(value, verb),
            ('T', _) => self.layout.string(&mut self.out, value.type_name().as_bytes()),
            ('p', _) => self.pointer(value, verb),
            // Its own static type is printed by that name only here.
            ('v' | 'd', Value::List(l)) if self.layout.sharp_v && l.ty.name == "[]uint8" => {
                self.print_sharp_bytes(l, "[]byte");
            }
            _ => self.print_value(value, verb, 0),
        }
    }

    /// A value inside another or, at depth 0, an operand. Never an interface: see [`Printer::element`].
    fn print_value(&mut self, value: &Value, verb: char, depth: usize) {
        if self.out.len() - self.start > MAX_TEXT {
            return;
        }
        if verb == 'w' && !self.erroring && (depth > 0 || !is_plain(value)) {
            return self.bad_verb(value, verb);
        }
        match value {
            Value::Nil => match verb {
                'v' => self.out.extend_from_slice(b"<nil>"),
                _ => self.bad_verb(value, verb),
            },
            Value::Bool(b) => match verb {
                't' | 'v' => self.layout.pad(&mut self.out, if *b { b"true" } else { b"false" }),
                _ => self.bad_verb(value, verb),
            },
            Value::Int(_, n) => self.integer(value, *n as u64, true, verb),
            Value::Uint(_, n) => self.integer(value, *n, false, verb),
            Value::Float(kind, f) => self.float(value, *f, if *kind == Kind::Float32 { 32 } else { 64 }, verb),
            Value::Complex(re, im) => self.complex(value, *re, *im, verb),
            Value::String(s) => self.string(value, s, verb),
            Value::List(l) => self.list(l, verb, depth),
            Value::Map(m) => self.map(m, verb, depth),
            Value::Duration(n) if self.calls_methods(verb) => self.string(value, duration(*n).as_bytes(), verb),
            Value::Duration(n) => self.integer(value, *n as u64, true, verb),
            Value::Time(t) if self.calls_methods(verb) => self.string(value, time(t).as_bytes(), verb),
            Value::Time(t) if self.layout.sharp_v => self.out.extend_from_slice(go_time(t).as_bytes()),
            // Go shows the fields of the struct here, with the address of the zone.
            Value::Time(t) => self.out.extend_from_slice(time(t).as_bytes()),
            Value::Object(o) => self.object(value, o.as_ref(), verb, depth),
        }
    }

    /// An element whose static type is `interface {}` may be nil, and is so under any verb.
    fn element(&mut self, value: &Value, elem: Elem, verb: char, depth: usize) {
        match (value, elem) {
            (Value::Nil, Elem::Any) if self.layout.sharp_v => self.out.extend_from_slice(b"interface {}(nil)"),
            (Value::Nil, Elem::Any) => self.out.extend_from_slice(b"<nil>"),
            _ => self.print_value(value, verb, depth),
        }
    }

    /// Does Go ask a `Stringer` for its text under this verb?
    fn calls_methods(&self, verb: char) -> bool {
        !self.erroring && !self.layout.sharp_v && matches!(verb, 'v' | 's' | 'x' | 'X' | 'q')
    }

    fn object(&mut self, value: &Value, object: &dyn Object, verb: char, depth: usize) {
        if object.is_stringer() && self.calls_methods(verb) {
            return self.string(value, &object.display(), verb);
        }
        match (object.kind(), object.struct_fields()) {
            (Kind::Struct, Some(fields)) => self.fields(object.type_name(), &fields, verb, depth),
            (Kind::Pointer, Some(fields)) if depth == 0 => {
                self.out.push(b'&');
                self.fields(object.type_name().trim_start_matches('*'), &fields, verb, depth + 1);
            }
            // Go shows the address, another one in each run. This looks like one, and is always the same.
            (Kind::Pointer, Some(_)) if verb == 'v' && !self.layout.sharp_v => {
                self.out.extend_from_slice(b"0xc000000000");
            }
            (Kind::Pointer, _) if matches!(verb, 'v' | 'd' | 'x' | 'X' | 'o' | 'b') => {
                self.out.extend_from_slice(&object.display());
            }
            (Kind::Pointer, Some(_)) => self.bad_verb(value, verb),
            _ => match object.data() {
                Some(Value::Int(_, n)) => self.integer(value, n as u64, true, verb),
                Some(data) if !data.is_nil() => self.print_value(&data, verb, depth),
                _ if verb == 'v' => self.out.extend_from_slice(&object.display()),
                _ => self.bad_verb(value, verb),
            },
        }
    }

    fn fields(&mut self, type_name: &str, fields: &[(&str, Value)], verb: char, depth: usize) {
        let sharp_v = self.layout.sharp_v;
        if sharp_v {
            self.out.extend_from_slice(type_name.as_bytes());
        }
        self.out.push(b'{');
        for (i, (name, field)) in fields.iter().enumerate() {
            if i > 0 {
                self.out.extend_from_slice(if sharp_v { b", " } else { b" " });
            }
            if sharp_v || self.layout.plus_v {
                self.out.extend_from_slice(name.as_bytes());
                self.out.push(b':');
            }
            self.print_value(field, verb, depth + 1);
        }
        self.out.push(b'}');
    }

    fn integer(&mut self, value: &Value, n: u64, signed: bool, verb: char) {
        let out = &mut self.out;
        match verb {
            'v' if self.layout.sharp_v && !signed => self.layout.hex0x(out, n, true),
            'v' | 'd' => self.layout.integer(out, n, 10, signed, verb),
            'b' => self.layout.integer(out, n, 2, signed, verb),
            'o' | 'O' => self.layout.integer(out, n, 8, signed, verb),
            'x' | 'X' => self.layout.integer(out, n, 16, signed, verb),
            'c' => {
                let c = u32::try_from(n).ok().and_then(char::from_u32).unwrap_or(quote::REPLACEMENT);
                self.layout.pad(out, c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            'q' => {
                let c = u32::try_from(n).unwrap_or(quote::REPLACEMENT.into());
                self.layout.pad(out, quote::quote_char(c, self.layout.plus).as_bytes());
            }
            'U' => self.layout.unicode(out, n),
            _ => self.bad_verb(value, verb),
        }
    }

    fn float(&mut self, value: &Value, f: f64, bits: u8, verb: char) {
        let (layout_verb, precision) = match verb {
            'v' => (b'g', None),
            'b' | 'g' | 'G' | 'x' | 'X' => (verb as u8, None),
            'f' | 'e' | 'E' => (verb as u8, Some(6)),
            'F' => (b'f', Some(6)),
            _ => return self.bad_verb(value, verb),
        };
        self.layout.float(&mut self.out, f, bits, layout_verb, precision);
    }

    fn complex(&mut self, value: &Value, re: f64, im: f64, verb: char) {
        if !matches!(verb, 'v' | 'b' | 'g' | 'G' | 'x' | 'X' | 'f' | 'F' | 'e' | 'E') {
            return self.bad_verb(value, verb);
        }
        let plus = self.layout.plus;
        self.out.push(b'(');
        self.float(value, re, 64, verb);
        self.layout.plus = true;
        self.float(value, im, 64, verb);
        self.out.extend_from_slice(b"i)");
        self.layout.plus = plus;
    }

    fn string(&mut self, value: &Value, s: &[u8], verb: char) {
        let out = &mut self.out;
        match verb {
            'v' if self.layout.sharp_v => self.layout.quoted(out, s),
            'v' | 's' => self.layout.string(out, s),
            'x' | 'X' => self.layout.hex_bytes(out, s, verb == 'X'),
            'q' => self.layout.quoted(out, s),
            _ => self.bad_verb(value, verb),
        }
    }

    /// Is this the end of printing a value? Go overflows its stack on a map that contains itself.
    fn too_deep(&mut self, type_name: &str, depth: usize, address: Option<usize>) -> bool {
        let cycle = address.is_some_and(|a| self.open.contains(&a));
        if !cycle && depth <= MAX_DEPTH {
            return false;
        }
        self.out.extend_from_slice(if cycle { b"%!v(CYCLE=" } else { b"%!v(TOODEEP=" });
        self.out.extend_from_slice(type_name.as_bytes());
        self.out.push(b')');
        true
    }

    fn list(&mut self, list: &List, verb: char, depth: usize) {
        if self.too_deep(list.ty.name, depth, None) {
            return;
        }
        if list.ty.elem == Elem::Of(Kind::Uint8) && matches!(verb, 's' | 'q' | 'x' | 'X') {
            let bytes = list.to_bytes();
            return match verb {
                's' => self.layout.string(&mut self.out, &bytes),
                'q' => self.layout.quoted(&mut self.out, &bytes),
                _ => self.layout.hex_bytes(&mut self.out, &bytes, verb == 'X'),
            };
        }
        if self.layout.sharp_v {
            self.out.extend_from_slice(list.ty.name.as_bytes());
            if list.nil {
                return self.out.extend_from_slice(b"(nil)");
            }
        }
        let (open, separator, close): (_, &[u8], _) =
            if self.layout.sharp_v { (b'{', b", ", b'}') } else { (b'[', b" ", b']') };
        self.out.push(open);
        for (i, item) in list.iter().enumerate() {
            if i > 0 {
                self.out.extend_from_slice(separator);
            }
            self.element(item, list.ty.elem, verb, depth + 1);
        }
        self.out.push(close);
    }

    fn print_sharp_bytes(&mut self, list: &List, name: &str) {
        self.out.extend_from_slice(name.as_bytes());
        if list.nil {
            return self.out.extend_from_slice(b"(nil)");
        }
        self.out.push(b'{');
        for (i, item) in list.iter().enumerate() {
            if i > 0 {
                self.out.extend_from_slice(b", ");
            }
            self.print_value(item, 'v', 1);
        }
        self.out.push(b'}');
    }

    fn map(&mut self, map: &Map, verb: char, depth: usize) {
        if self.too_deep(map.ty.name, depth, Some(map.address())) {
            return;
        }
        let sharp_v = self.layout.sharp_v;
        if sharp_v && map.nil {
            self.out.extend_from_slice(map.ty.name.as_bytes());
            return self.out.extend_from_slice(b"(nil)");
        }
        self.open.push(map.address());
        if sharp_v {
            self.out.extend_from_slice(map.ty.name.as_bytes());
            self.out.push(b'{');
        } else {
            self.out.extend_from_slice(b"map[");
        }
        for (i, (key, value)) in map.entries().iter().enumerate() {
            if i > 0 {
                self.out.extend_from_slice(if sharp_v { b", " } else { b" " });
            }
            self.print_value(&Value::String(key.clone()), verb, depth + 1);
            self.out.push(b':');
            self.element(value, map.ty.elem, verb, depth + 1);
        }
        self.out.push(if sharp_v { b'}' } else { b']' });
        self.open.pop();
    }

    fn pointer(&mut self, value: &Value, verb: char) {
        let address = match value {
            Value::Map(m) => m.address(),
            Value::List(l) => l.as_ptr() as usize,
            Value::Object(o) if matches!(o.kind(), Kind::Pointer | Kind::Map | Kind::Slice | Kind::Func) => {
                std::sync::Arc::as_ptr(o).cast::<u8>() as usize
            }
            _ => return self.bad_verb(value, verb),
        };
        let prefix = !self.layout.sharp;
        self.layout.hex0x(&mut self.out, address as u64, prefix);
    }
}

/// One of the types that `fmt` prints without looking for methods.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Map(_) | Value::Time(_) | Value::Duration(_) | Value::Object(_) => false,
        Value::List(l) => l.ty.name == "[]uint8",
        _ => true,
    }
}
