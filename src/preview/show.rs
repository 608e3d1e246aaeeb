//! A preview as text.
//!
//! Owns: the unified diffs, the masking of Secrets, the summary. Pure. The surprising thing: Secrets are masked here, on
//! both sides at once, so that a reader still sees which keys differ.

use std::fmt::Write as _;

use helm_action::plan::{ObjectChange, comparable};
use kube_object::Object;
use kube_object::mask::mask_pair;
use similar::{ChangeTag, TextDiff};

use super::Preview;

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// The lines around a change that are shown with it.
const CONTEXT: usize = 3;

/// How output is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// With colours.
    pub colour: bool,
}

/// The whole preview.
pub fn text(preview: &Preview, style: Style) -> String {
    let mut out = String::new();
    let paint = |code: &str, text: &str| if style.colour { format!("{code}{text}{RESET}") } else { text.to_owned() };
    let because = preview.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let _ = writeln!(out, "{}", paint(BOLD, &format!("HelmRelease {}: {}{because}", preview.name, preview.action)));
    for note in &preview.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    let (mut created, mut changed, mut deleted, mut kept) = (0, 0, 0, 0);
    for change in &preview.changes {
        match change {
            ObjectChange::Keep(_) => kept += 1,
            ObjectChange::Kept(id, why) => {
                let _ = writeln!(
                    out,
                    "\n{}",
                    paint(BOLD, &format!("{id} is kept, although the new revision does not have it: {why}"))
                );
            }
            ObjectChange::Create(object) => {
                created += 1;
                one(&mut out, "created", None, Some(object), style);
            }
            ObjectChange::Update { before, after } => {
                changed += 1;
                one(&mut out, "changed", Some(before), Some(after), style);
            }
            ObjectChange::Delete(object) => {
                deleted += 1;
                one(&mut out, "deleted", Some(object), None, style);
            }
        }
    }
    if preview.acts && created + changed + deleted + kept > 0 {
        let _ = writeln!(out, "{created} created, {changed} changed, {deleted} deleted, {kept} unchanged");
    }
    out
}

fn one(out: &mut String, verb: &str, before: Option<&Object>, after: Option<&Object>, style: Style) {
    let Some(id) = after.or(before).map(Object::id) else { return };
    let (mut before, mut after) = (before.map(comparable), after.map(comparable));
    mask_pair(before.as_mut(), after.as_mut());
    let title = format!("{id} {verb}");
    let title = if style.colour { format!("{BOLD}{title}{RESET}") } else { title };
    let _ = writeln!(out, "\n{title}");
    let (old, new) = (yaml(before.as_ref()), yaml(after.as_ref()));
    let diff = TextDiff::from_lines(&old, &new);
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let head = hunk.header().to_string();
        let _ = writeln!(out, "{}", if style.colour { format!("{CYAN}{head}{RESET}") } else { head });
        for change in hunk.iter_changes() {
            let (sign, code) = match change.tag() {
                ChangeTag::Delete => ("-", RED),
                ChangeTag::Insert => ("+", GREEN),
                ChangeTag::Equal => (" ", ""),
            };
            let line = change.value().trim_end_matches('\n');
            let _ = if style.colour && !code.is_empty() {
                writeln!(out, "{code}{sign}{line}{RESET}")
            } else {
                writeln!(out, "{sign}{line}")
            };
        }
    }
}

fn yaml(object: Option<&Object>) -> String {
    object.map_or_else(String::new, |o| go_yaml::encode_json(&o.clone().into_json()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(json: serde_json::Value) -> Object {
        Object::from_json(json).unwrap()
    }

    fn preview(changes: Vec<ObjectChange>) -> Preview {
        Preview {
            name: "apps/web".into(),
            action: "upgrade to web@1.2.0".into(),
            why: Some("release config values changed".into()),
            notes: vec!["the controller would wait first: x".into()],
            changes,
            acts: true,
        }
    }

    #[test]
    fn changes_are_unified_diffs_with_a_summary() {
        let map = |value: &str| {
            object(json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "m", "namespace": "apps", "resourceVersion": value}, "data": {"k": value}}))
        };
        let shown = text(
            &preview(vec![
                ObjectChange::Update { before: map("1"), after: map("2") },
                ObjectChange::Keep(map("1").id()),
                ObjectChange::Delete(map("3")),
            ]),
            Style::default(),
        );
        let expected = concat!(
            "HelmRelease apps/web: upgrade to web@1.2.0 (release config values changed)\n",
            "  note: the controller would wait first: x\n",
            "\nConfigMap/apps/m changed\n",
            "@@ -1,6 +1,6 @@\n apiVersion: v1\n data:\n-  k: \"1\"\n+  k: \"2\"\n kind: ConfigMap\n metadata:\n   name: m\n",
            "\nConfigMap/apps/m deleted\n",
            "@@ -1,7 +0,0 @@\n-apiVersion: v1\n-data:\n-  k: \"3\"\n-kind: ConfigMap\n-metadata:\n-  name: m\n-  namespace: apps\n",
            "0 created, 1 changed, 1 deleted, 1 unchanged\n",
        );
        assert_eq!(shown, expected);
    }

    #[test]
    fn secrets_never_show() {
        let secret = |value: &str| {
            object(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "apps"},
                "data": {"password": value}}))
        };
        let changes = vec![
            ObjectChange::Update { before: secret("b2xk"), after: secret("bmV3") },
            ObjectChange::Create(secret("bmV3")),
            ObjectChange::Delete(secret("b2xk")),
        ];
        let shown = text(&preview(changes), Style { colour: true });
        assert!(shown.contains("password"), "{shown}");
        assert!(!shown.contains("b2xk") && !shown.contains("bmV3"), "{shown}");
    }
}
