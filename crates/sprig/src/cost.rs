//! What functions cost that take longer than the length of their arguments tells.
//!
//! Owns: estimates in steps of a template (some 100 ns each), which the executor counts before the call. Does not own: the
//! limit (`go_template::Limits`), nor what every function costs by the texts and lists that it is given.
//! The surprising thing: keys and passwords are slow by design, so that hundreds of them are a chart's limit.

use go_value::Value;
use go_value::limits::MAX_ITEMS;

use crate::args::{any, elements, text};
use crate::re2;

/// How to estimate a call by its arguments.
pub(crate) type Cost = fn(&[Value]) -> u64;

/// The estimate of a function; nothing where its arguments' lengths are enough.
pub(crate) fn of(name: &str) -> Option<Cost> {
    if name.starts_with("regex") && name != "regexQuoteMeta" || name.starts_with("mustRegex") {
        return Some(|a| re2::cost(text(a, 0), text(a, 1)));
    }
    Some(match name {
        "deepCopy" | "mustDeepCopy" | "deepEqual" | "merge" | "mustMerge" | "mergeOverwrite" | "mustMergeOverwrite" => {
            nested
        }
        "has" | "mustHas" => |a| pairs(count(any(a, 0)), length(any(a, 1))).saturating_add(nested(&a[1..])),
        "without" | "mustWithout" => {
            |a| pairs(nested(&a[1..]).saturating_mul(ITEMS_A_STEP), length(any(a, 0))).saturating_add(nested(&a[..1]))
        }
        "uniq" | "mustUniq" => |a| pairs(length(any(a, 0)), count(any(a, 0))).saturating_add(nested(a)),
        "trimAll" | "trimall" => |a| pairs(text(a, 0).len() as u64, text(a, 1).len() as u64) / 8,
        "genPrivateKey" => |_| 2_000_000,
        "genCA"
        | "genCAWithKey"
        | "genSelfSignedCert"
        | "genSelfSignedCertWithKey"
        | "genSignedCert"
        | "genSignedCertWithKey" => |_| 500_000,
        "derivePassword" => |_| 800_000,
        "bcrypt" | "htpasswd" => |_| 400_000,
        _ => return None,
    })
}

/// Values that a step's time is enough for.
const ITEMS_A_STEP: u64 = 4;

fn count(value: &Value) -> u64 {
    value.count(MAX_ITEMS) as u64
}

fn nested(values: &[Value]) -> u64 {
    values.iter().map(count).fold(0, u64::saturating_add) / ITEMS_A_STEP
}

fn length(value: &Value) -> u64 {
    elements(value).map_or(0, |list| list.len() as u64)
}

fn pairs(a: u64, b: u64) -> u64 {
    a.saturating_mul(b) / ITEMS_A_STEP
}
