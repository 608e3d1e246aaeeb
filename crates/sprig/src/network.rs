//! DNS.
//!
//! Upstream: sprig's `network.go`.
//! The surprising thing: a name without addresses is a panic upstream (of the random choice among none).

use go_value::Value;

use crate::args::{Outcome, utf8};
use crate::host::Host;

pub(crate) fn get_host_by_name(host: &dyn Host, a: &[Value]) -> Outcome {
    let addresses = host.lookup_host(&utf8(a, 0));
    if addresses.is_empty() {
        return Err("invalid argument to Intn".into());
    }
    let pick = host.below(addresses.len() as u64) as usize;
    Ok(addresses[pick].as_str().into())
}
