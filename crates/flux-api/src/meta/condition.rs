//! Conditions.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Summary of the object's state.
pub const READY: &str = "Ready";
/// A pass is running or will be tried again.
pub const RECONCILING: &str = "Reconciling";
/// Nothing will happen until someone changes something.
pub const STALLED: &str = "Stalled";
/// The last install or upgrade.
pub const RELEASED: &str = "Released";
/// The last rollback or uninstall after a failure.
pub const REMEDIATED: &str = "Remediated";
/// The last run of Helm tests.
pub const TEST_SUCCESS: &str = "TestSuccess";
/// The last comparison with the cluster.
pub const DRIFTED: &str = "Drifted";

/// The longest message of a condition, in bytes.
pub const MAX_MESSAGE: usize = 32768;

/// One aspect of an object's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Which aspect.
    #[serde(rename = "type")]
    #[schemars(length(max = 316))]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// The generation the condition was set for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When status, reason or message last changed, RFC 3339 in seconds.
    #[serde(default)]
    pub last_transition_time: String,
    /// One CamelCase word.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1024))]
    pub reason: String,
    /// For people.
    #[serde(default)]
    #[schemars(length(max = 32768))]
    pub message: String,
}

impl Condition {
    /// Is it `True`?
    pub fn is_true(&self) -> bool {
        self.status == "True"
    }

    /// Is it `False`?
    pub fn is_false(&self) -> bool {
        self.status == "False"
    }
}

/// The condition of this type.
pub fn get<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|c| c.kind == kind)
}

/// Remove the condition of this type.
pub fn remove(conditions: &mut Vec<Condition>, kind: &str) {
    conditions.retain(|c| c.kind != kind);
}

/// Set a condition as Flux does: the time moves when status, reason or message change, long messages are cut, and the
/// list is kept in Flux's order.
pub fn set(
    conditions: &mut Vec<Condition>,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    generation: Option<i64>,
    now: Timestamp,
) {
    let message = cut(message);
    match conditions.iter_mut().find(|c| c.kind == kind) {
        Some(c) => {
            if c.status != status || c.reason != reason || c.message != message {
                c.last_transition_time = rfc3339(now);
            }
            c.status = status.into();
            c.reason = reason.into();
            c.message = message;
            c.observed_generation = generation;
        }
        None => conditions.push(Condition {
            kind: kind.into(),
            status: status.into(),
            observed_generation: generation,
            last_transition_time: rfc3339(now),
            reason: reason.into(),
            message,
        }),
    }
    sort(conditions);
}

/// Flux's order: Stalled, Reconciling, Ready, then the highest observed generation, then the name.
pub fn sort(conditions: &mut [Condition]) {
    let rank = |c: &Condition| match c.kind.as_str() {
        STALLED => 0,
        RECONCILING => 1,
        READY => 2,
        _ => 3,
    };
    conditions.sort_by(|a, b| {
        rank(a)
            .cmp(&rank(b))
            .then_with(|| b.observed_generation.cmp(&a.observed_generation))
            .then_with(|| a.kind.cmp(&b.kind))
    });
}

/// A message within [`MAX_MESSAGE`] bytes.
fn cut(message: &str) -> String {
    let message = message.trim_end();
    if message.len() <= MAX_MESSAGE {
        return message.into();
    }
    let mut end = MAX_MESSAGE - 3;
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &message[..end])
}

/// A time in whole seconds, UTC, as Kubernetes writes it.
pub fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_moves_only_with_content() {
        let (t0, t1) = (Timestamp::from_second(0).unwrap(), Timestamp::from_second(60).unwrap());
        let mut all = Vec::new();
        set(&mut all, READY, "True", "R", "m", Some(1), t0);
        set(&mut all, READY, "True", "R", "m", Some(2), t1);
        assert_eq!(all[0].last_transition_time, "1970-01-01T00:00:00Z");
        assert_eq!(all[0].observed_generation, Some(2));
        set(&mut all, READY, "True", "R", "other", Some(2), t1);
        assert_eq!(all[0].last_transition_time, "1970-01-01T00:01:00Z");
        set(&mut all, DRIFTED, "False", "R", "", Some(2), t1);
        set(&mut all, RELEASED, "True", "R", "", Some(3), t1);
        set(&mut all, STALLED, "True", "R", "", Some(1), t1);
        let kinds: Vec<&str> = all.iter().map(|c| c.kind.as_str()).collect();
        assert_eq!(kinds, [STALLED, READY, RELEASED, DRIFTED]);
    }

    #[test]
    fn long_messages_are_cut() {
        let mut all = Vec::new();
        set(&mut all, READY, "True", "R", &"é".repeat(20000), None, Timestamp::UNIX_EPOCH);
        assert!(all[0].message.len() <= MAX_MESSAGE && all[0].message.ends_with("..."));
    }
}
