//! Semantic versions.
//!
//! Owns: the version as templates see it, with its methods.
//! Does not own: the rules (`go_semver`).
//! Upstream: sprig's `semver.go`, the methods of `*semver.Version`.
//! The surprising thing: `semver` gives an object, so `(semver "1.2.3").Major` works and printing it drops a leading `v`.

use std::sync::Arc;

use go_semver::{Constraints, Version};
use go_template::FuncError;
use go_value::object::{Method, Param};
use go_value::{Kind, Object, Value};

use crate::args::{Outcome, utf8};

/// A `*semver.Version`, or a `semver.Version` as some of its methods give it.
#[derive(Debug)]
pub struct SemVer {
    version: Version,
    pointer: bool,
    /// The text it was made from is lost.
    copied: bool,
}

pub(crate) fn semver(a: &[Value]) -> Outcome {
    let version = Version::parse(&utf8(a, 0)).map_err(|e| FuncError::Other(Box::new(e)))?;
    Ok(object(version, true))
}

pub(crate) fn semver_compare(a: &[Value]) -> Outcome {
    let range = Constraints::parse(&utf8(a, 0)).map_err(|e| FuncError::Other(Box::new(e)))?;
    let version = Version::parse(&utf8(a, 1)).map_err(|e| FuncError::Other(Box::new(e)))?;
    Ok(range.check(&version).into())
}

fn object(version: Version, pointer: bool) -> Value {
    Value::Object(Arc::new(SemVer { version, pointer, copied: false }))
}

/// The version behind a value, found by its text: objects of other crates cannot be looked into.
fn version_of(value: Option<&Value>) -> Result<Version, String> {
    match value {
        Some(Value::Object(o)) if o.type_name() == "*semver.Version" => {
            let text = o.display();
            Version::parse(&String::from_utf8_lossy(&text)).map_err(|e| e.to_string())
        }
        Some(Value::Nil) | None => Err(crate::args::NIL_POINTER.to_owned()),
        Some(other) => Err(format!("wrong type for value; expected *semver.Version; got {}", other.type_name())),
    }
}

impl SemVer {
    fn original(&self) -> &str {
        if self.copied { "" } else { self.version.original() }
    }
}

impl Object for SemVer {
    fn type_name(&self) -> &str {
        if self.pointer { "*semver.Version" } else { "semver.Version" }
    }

    fn kind(&self) -> Kind {
        if self.pointer { Kind::Pointer } else { Kind::Struct }
    }

    fn method(&self, name: &str) -> Option<Method> {
        let params: &'static [Param] = match name {
            "Major" | "Minor" | "Patch" | "Prerelease" | "Metadata" | "String" | "MarshalText" | "IncPatch"
            | "IncMinor" | "IncMajor" => &[],
            "Original" | "MarshalJSON" if self.pointer => &[],
            "SetPrerelease" | "SetMetadata" => &[Param::STRING],
            "Compare" | "Equal" | "LessThan" | "LessThanEqual" | "GreaterThan" | "GreaterThanEqual" if self.pointer => {
                &[Param::Named("*semver.Version", Kind::Pointer)]
            }
            _ => return None,
        };
        Some(Method { params, variadic: false })
    }

    fn call(&self, name: &str, args: &[Value]) -> Result<Value, String> {
        let v = &self.version;
        let number = |n: u64| Ok(Value::Uint(Kind::Uint64, n));
        let overflow = |part: &str, n: u64| {
            if n == u64::MAX { Err(format!("{part} version increment would overflow uint64")) } else { Ok(()) }
        };
        let other = || version_of(args.first());
        match name {
            "Major" => number(v.major),
            "Minor" => number(v.minor),
            "Patch" => number(v.patch),
            "Prerelease" => Ok(v.pre.as_str().into()),
            "Metadata" => Ok(v.metadata.as_str().into()),
            "String" => Ok(v.to_string().into()),
            "Original" => Ok(self.original().into()),
            "MarshalText" => Ok(Value::bytes(v.to_string().as_bytes())),
            "MarshalJSON" => Ok(Value::bytes(format!("\"{v}\"").as_bytes())),
            "IncPatch" => {
                overflow("patch", if v.pre.is_empty() { v.patch } else { 0 })?;
                Ok(object(v.inc_patch(), false))
            }
            "IncMinor" => {
                overflow("minor", v.minor)?;
                Ok(object(v.inc_minor(), false))
            }
            "IncMajor" => {
                overflow("major", v.major)?;
                Ok(object(v.inc_major(), false))
            }
            "SetPrerelease" => Ok(object(v.with_prerelease(&utf8(args, 0)).map_err(|e| e.to_string())?, false)),
            "SetMetadata" => Ok(object(v.with_metadata(&utf8(args, 0)).map_err(|e| e.to_string())?, false)),
            "Compare" => Ok(Value::int(v.cmp(&other()?) as i64)),
            "Equal" => Ok((*v == other()?).into()),
            "LessThan" => Ok((*v < other()?).into()),
            "LessThanEqual" => Ok((*v <= other()?).into()),
            "GreaterThan" => Ok((*v > other()?).into()),
            "GreaterThanEqual" => Ok((*v >= other()?).into()),
            _ => Err(format!("can't evaluate field {name} in type {}", self.type_name())),
        }
    }

    fn display(&self) -> Vec<u8> {
        self.version.to_string().into_bytes()
    }

    fn is_stringer(&self) -> bool {
        true
    }

    fn deep_copy(&self) -> Option<Value> {
        // None of its fields is exported, so nothing is left of it.
        let version = Version::parse("0.0.0").ok()?;
        Some(Value::Object(Arc::new(Self { version, pointer: self.pointer, copied: true })))
    }

    fn struct_fields(&self) -> Option<Vec<(&'static str, Value)>> {
        let v = &self.version;
        let number = |n: u64| Value::Uint(Kind::Uint64, n);
        Some(vec![
            ("major", number(v.major)),
            ("minor", number(v.minor)),
            ("patch", number(v.patch)),
            ("pre", v.pre.as_str().into()),
            ("metadata", v.metadata.as_str().into()),
            ("original", self.original().into()),
        ])
    }

    fn data(&self) -> Option<Value> {
        Some(self.version.to_string().into())
    }
}
