//! URLs taken apart and put together.
//!
//! Owns: Go's rules for both, with its error texts.
//! Upstream: sprig's `url.go`, Go's package `net/url`.
//! The surprising thing: almost any text is a URL to Go; a bare word is a path.

use go_template::FuncError;
use go_value::quote::quote;
use go_value::{Map, Value};

use crate::args::{NIL_POINTER, Outcome, kind_name, map, text};

/// The parts in which escapes differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Host,
    Zone,
    User,
    Fragment,
}

#[derive(Default)]
struct Url {
    scheme: String,
    opaque: Vec<u8>,
    /// Name and, if there is one, password, unescaped.
    user: Option<(Vec<u8>, Option<Vec<u8>>)>,
    host: Vec<u8>,
    path: Vec<u8>,
    query: Vec<u8>,
    force_query: bool,
    fragment: Vec<u8>,
}

fn must_escape(c: u8, part: Part) -> bool {
    if c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.' | b'~') {
        return false;
    }
    if matches!(part, Part::Host | Part::Zone)
        && matches!(
            c,
            b'!' | b'$'
                | b'&'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b'+'
                | b','
                | b';'
                | b'='
                | b':'
                | b'['
                | b']'
                | b'<'
                | b'>'
                | b'"'
        )
    {
        return false;
    }
    match c {
        b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@' => match part {
            Part::Path => c == b'?',
            Part::User => matches!(c, b'@' | b'/' | b'?' | b':'),
            Part::Fragment => false,
            Part::Host | Part::Zone => true,
        },
        b'!' | b'(' | b')' | b'*' => part != Part::Fragment,
        _ => true,
    }
}

fn escape(s: &[u8], part: Part) -> Vec<u8> {
    let mut out = Vec::with_capacity(s.len());
    for &c in s {
        if must_escape(c, part) {
            out.extend_from_slice(format!("%{c:02X}").as_bytes());
        } else {
            out.push(c);
        }
    }
    out
}

fn unescape(s: &[u8], part: Part) -> Result<Vec<u8>, String> {
    let hex = |b: Option<&u8>| b.and_then(|b| char::from(*b).to_digit(16)).map(|d| d as u8);
    let bad = |i: usize| format!("invalid URL escape {}", quote(&s[i..s.len().min(i + 3)]));
    let mut out = Vec::with_capacity(s.len());
    let mut i = 0;
    while i < s.len() {
        let c = s[i];
        if c != b'%' {
            if matches!(part, Part::Host | Part::Zone) && c < 0x80 && must_escape(c, part) {
                return Err(format!("invalid character {} in host name", quote(&[c])));
            }
            out.push(c);
            i += 1;
            continue;
        }
        let (Some(high), Some(low)) = (hex(s.get(i + 1)), hex(s.get(i + 2))) else { return Err(bad(i)) };
        let value = high << 4 | low;
        let percent = &s[i..i + 3] == b"%25";
        if part == Part::Host && high < 8 && !percent {
            return Err(bad(i));
        }
        if part == Part::Zone && !percent && value != b' ' && must_escape(value, Part::Host) {
            return Err(bad(i));
        }
        out.push(value);
        i += 3;
    }
    Ok(out)
}

fn position(s: &[u8], c: u8) -> Option<usize> {
    s.iter().position(|b| *b == c)
}

fn last_position(s: &[u8], c: u8) -> Option<usize> {
    s.iter().rposition(|b| *b == c)
}

fn port_fits(port: &[u8]) -> bool {
    port.is_empty() || port[0] == b':' && port[1..].iter().all(u8::is_ascii_digit)
}

/// The scheme and what follows its colon; no scheme is no error unless the colon comes first.
fn split_scheme(raw: &[u8]) -> Result<(&[u8], &[u8]), String> {
    for (i, c) in raw.iter().enumerate() {
        match c {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&raw[..i], &raw[i + 1..])),
            _ => break,
        }
    }
    Ok((b"", raw))
}

impl Url {
    /// `url.Parse`
    fn parse(raw: &[u8]) -> Result<Self, String> {
        let (body, fragment) = match position(raw, b'#') {
            Some(i) => (&raw[..i], &raw[i + 1..]),
            None => (raw, &b""[..]),
        };
        let mut url = Self::parse_body(body).map_err(|e| format!("parse {}: {e}", quote(body)))?;
        url.fragment = unescape(fragment, Part::Fragment).map_err(|e| format!("parse {}: {e}", quote(raw)))?;
        Ok(url)
    }

    fn parse_body(raw: &[u8]) -> Result<Self, String> {
        let mut url = Self::default();
        if raw.iter().any(|b| *b < 0x20 || *b == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if raw == b"*" {
            url.path = raw.to_vec();
            return Ok(url);
        }
        let (scheme, mut rest) = split_scheme(raw)?;
        url.scheme = String::from_utf8_lossy(scheme).to_ascii_lowercase();
        if let Some(i) = position(rest, b'?') {
            url.force_query = i + 1 == rest.len();
            url.query = rest[i + 1..].to_vec();
            rest = &rest[..i];
        }
        if !rest.starts_with(b"/") {
            if !url.scheme.is_empty() {
                url.opaque = rest.to_vec();
                return Ok(url);
            }
            let segment = &rest[..position(rest, b'/').unwrap_or(rest.len())];
            if segment.contains(&b':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        if (!url.scheme.is_empty() || !rest.starts_with(b"///")) && rest.starts_with(b"//") {
            let end = position(&rest[2..], b'/').map_or(rest.len(), |i| i + 2);
            url.set_authority(&rest[2..end])?;
            rest = &rest[end..];
        }
        url.path = unescape(rest, Part::Path)?;
        Ok(url)
    }

    fn set_authority(&mut self, authority: &[u8]) -> Result<(), String> {
        let at = last_position(authority, b'@');
        let host = &authority[at.map_or(0, |i| i + 1)..];
        self.host = parse_host(&self.scheme, host)?;
        let Some(at) = at else { return Ok(()) };
        let user = &authority[..at];
        let fits = |c: &u8| c.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(c);
        if !user.iter().all(fits) {
            return Err("net/url: invalid userinfo".to_owned());
        }
        self.user = Some(match position(user, b':') {
            None => (unescape(user, Part::User)?, None),
            Some(i) => (unescape(&user[..i], Part::User)?, Some(unescape(&user[i + 1..], Part::User)?)),
        });
        Ok(())
    }

    fn user_text(&self) -> Vec<u8> {
        let Some((name, password)) = &self.user else { return Vec::new() };
        let mut out = escape(name, Part::User);
        if let Some(password) = password {
            out.push(b':');
            out.extend(escape(password, Part::User));
        }
        out
    }

    fn hostname(&self) -> &[u8] {
        let mut host = &self.host[..];
        if let Some(i) = last_position(host, b':')
            && port_fits(&host[i..])
        {
            host = &host[..i];
        }
        host.strip_prefix(b"[").and_then(|h| h.strip_suffix(b"]")).unwrap_or(host)
    }

    /// `url.URL.String`, for parts that `urlJoin` can set.
    fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.scheme.is_empty() {
            out.extend_from_slice(self.scheme.as_bytes());
            out.push(b':');
        }
        if self.opaque.is_empty() {
            let has_host = !self.host.is_empty() || self.user.is_some();
            if has_host || !self.scheme.is_empty() && !self.path.is_empty() {
                out.extend_from_slice(b"//");
            }
            if self.user.is_some() {
                out.extend(self.user_text());
                out.push(b'@');
            }
            out.extend(escape(&self.host, Part::Host));
            let path = if self.path == b"*" { self.path.clone() } else { escape(&self.path, Part::Path) };
            if !path.is_empty() && path[0] != b'/' && !self.host.is_empty() {
                out.push(b'/');
            }
            if out.is_empty() && path[..position(&path, b'/').unwrap_or(path.len())].contains(&b':') {
                out.extend_from_slice(b"./");
            }
            out.extend(path);
        } else {
            out.extend_from_slice(&self.opaque);
        }
        if self.force_query || !self.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push(b'#');
            out.extend(escape(&self.fragment, Part::Fragment));
        }
        out
    }
}

fn parse_host(scheme: &str, host: &[u8]) -> Result<Vec<u8>, String> {
    let checked_port = |port: &[u8]| {
        if port_fits(port) { Ok(()) } else { Err(format!("invalid port {} after host", quote(port))) }
    };
    match last_position(host, b'[') {
        Some(0) => {
            let end = last_position(host, b']').ok_or("missing ']' in host")?;
            checked_port(&host[end + 1..])?;
            let port = unescape(&host[end + 1..], Part::Host)?;
            let name = &host[1..end];
            let name = match memchr::memmem::find(name, b"%25") {
                Some(zone) => [unescape(&name[..zone], Part::Host)?, unescape(&name[zone..], Part::Zone)?].concat(),
                None => unescape(name, Part::Host)?,
            };
            crate::addresses::check(&name).map_err(|e| format!("invalid host: {e}"))?;
            if crate::addresses::is_ipv4(&name) {
                return Err("invalid IP-literal".to_owned());
            }
            return Ok([b"[", &name[..], b"]", &port].concat());
        }
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    // Lists of hosts with ports are known from databases, but not on the web.
    let web = matches!(scheme, "http" | "https");
    if let Some(i) = if web { position(host, b':') } else { last_position(host, b':') } {
        checked_port(&host[i..])?;
    }
    unescape(host, Part::Host)
}

pub(crate) fn url_parse(a: &[Value]) -> Outcome {
    let url = Url::parse(text(a, 0)).map_err(|e| format!("unable to parse url: {e}"))?;
    let dict = Map::new();
    dict.insert("scheme", url.scheme.as_str());
    let parts: [(&str, Vec<u8>); 7] = [
        ("host", url.host.clone()),
        ("hostname", url.hostname().to_vec()),
        ("path", url.path.clone()),
        ("query", url.query.clone()),
        ("opaque", url.opaque.clone()),
        ("fragment", url.fragment.clone()),
        ("userinfo", url.user_text()),
    ];
    for (name, part) in parts {
        dict.insert(name, Value::string(part));
    }
    Ok(Value::Map(dict))
}

pub(crate) fn url_join(a: &[Value]) -> Outcome {
    let dict = map(a, 0).unwrap_or_default();
    let part = |key: &str| -> Result<Vec<u8>, FuncError> {
        match dict.get(key) {
            None => Ok(Vec::new()),
            Some(Value::String(s)) => Ok(s.to_vec()),
            Some(Value::Nil) => Err(NIL_POINTER.into()),
            Some(other) => {
                let kind = kind_name(&other);
                Err(format!("unable to parse {key} key, must be of type string, but {kind} found").into())
            }
        }
    };
    let mut url = Url {
        scheme: String::from_utf8_lossy(&part("scheme")?).into_owned(),
        host: part("host")?,
        path: part("path")?,
        query: part("query")?,
        opaque: part("opaque")?,
        fragment: part("fragment")?,
        ..Url::default()
    };
    let user = part("userinfo")?;
    if !user.is_empty() {
        let around = [b"proto://", &user[..], b"@host"].concat();
        url.user = Url::parse(&around).map_err(|e| format!("unable to parse userinfo in dict: {e}"))?.user;
    }
    Ok(Value::string(url.write()))
}
