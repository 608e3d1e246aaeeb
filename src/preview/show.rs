//! A preview as text.
//!
//! Owns: the unified diffs, the lines about hooks and about what could not be tried, the summary. Pure. Does not own:
//! what must not be shown (`veil.rs`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use helm_action::plan::ObjectChange;
use kube_object::{Object, ObjectId};
use similar::{ChangeTag, TextDiff};

use super::hooks::HookRun;
use super::{Preview, veil};

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

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.colour && !code.is_empty() { format!("{code}{text}{RESET}") } else { text.to_owned() }
    }
}

/// How many objects are what.
#[derive(Default)]
struct Counts {
    created: usize,
    changed: usize,
    deleted: usize,
    kept: usize,
    recreated: usize,
}

/// The whole preview.
pub fn text(preview: &Preview, style: Style) -> String {
    let mut out = String::new();
    let because = preview.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let title = format!("HelmRelease {}: {}{because}", preview.name, preview.action);
    let _ = writeln!(out, "{}", style.paint(BOLD, &preview.secrets.redact(&title)));
    for note in &preview.notes {
        let _ = writeln!(out, "  note: {}", preview.secrets.redact(note));
    }
    for run in &preview.hooks.runs {
        let _ = writeln!(out, "  {}", hook(run, &preview.hooks.changes));
    }
    for (why, objects) in untried(preview) {
        let _ = writeln!(out, "  not tried: {}: {}", preview.secrets.redact(why), objects.join(", "));
    }
    let objects = changes(&mut out, preview, &preview.plan.changes, "", style);
    let hooks = changes(&mut out, preview, &preview.hooks.changes, "hook ", style);
    let Counts { created, changed, deleted, kept, recreated } = objects;
    if preview.acts && created + changed + deleted + kept + recreated > 0 {
        let again = if recreated > 0 { format!("{recreated} deleted and created again, ") } else { String::new() };
        let _ = writeln!(out, "{again}{created} created, {changed} changed, {deleted} deleted, {kept} unchanged");
    }
    let Counts { created, changed, deleted, .. } = hooks;
    if created + changed + deleted > 0 {
        let _ = writeln!(out, "hooks: {created} new, {changed} changed, {deleted} removed");
    }
    out
}

/// One hook that would run: when, what, its place, what becomes of it, whether it differs.
fn hook(run: &HookRun, changes: &[ObjectChange]) -> String {
    let of = |id: &ObjectId| {
        changes.iter().find_map(|c| match c {
            ObjectChange::Create(o) if o.id() == *id => Some("; new"),
            ObjectChange::Update { after, .. } if after.id() == *id => Some("; changed"),
            _ => None,
        })
    };
    let state = run.objects.iter().find_map(of).unwrap_or_default();
    format!(
        "hook {}: {}, weight {}, deleted by {}{state}",
        run.event.as_str(),
        joined(&run.objects),
        run.weight,
        run.delete_policies.join(", ")
    )
}

fn joined(objects: &[ObjectId]) -> String {
    objects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The objects that could not be tried, by reason.
fn untried(preview: &Preview) -> BTreeMap<&str, Vec<String>> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (id, why) in &preview.plan.untried {
        let objects = reasons.entry(why).or_default();
        let id = id.to_string();
        if !objects.contains(&id) {
            objects.push(id);
        }
    }
    reasons
}

fn changes(out: &mut String, preview: &Preview, changes: &[ObjectChange], what: &str, style: Style) -> Counts {
    let mut counts = Counts::default();
    for change in changes {
        match change {
            ObjectChange::Keep(_) => counts.kept += 1,
            ObjectChange::Kept(id, why) => {
                let line = format!("{id} is kept, although the new revision does not have it: {why}");
                let _ = writeln!(out, "\n{}", style.paint(BOLD, &line));
            }
            ObjectChange::Create(object) => {
                counts.created += 1;
                one(out, preview, (what, "created"), (None, Some(object)), style);
            }
            ObjectChange::Update { before, after } => {
                counts.changed += 1;
                one(out, preview, (what, "changed"), (Some(before), Some(after)), style);
            }
            ObjectChange::Recreate { before, after } => {
                counts.recreated += 1;
                one(out, preview, (what, "deleted and created again"), (Some(before), Some(after)), style);
            }
            ObjectChange::Delete(object) => {
                counts.deleted += 1;
                let verb = if what.is_empty() { "deleted" } else { "removed" };
                one(out, preview, (what, verb), (Some(object), None), style);
            }
        }
    }
    counts
}

fn one(
    out: &mut String,
    preview: &Preview,
    (what, verb): (&str, &str),
    (before, after): (Option<&Object>, Option<&Object>),
    style: Style,
) {
    let Some(id) = after.or(before).map(Object::id) else { return };
    let refused = if preview.plan.refused.iter().any(|(r, _)| *r == id) { ", refused by the server" } else { "" };
    let _ = writeln!(out, "\n{}", style.paint(BOLD, &format!("{what}{id} {verb}{refused}")));
    let (old, new) = veil::texts(before, after, &preview.secrets);
    let diff = TextDiff::from_lines(&old, &new);
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let _ = writeln!(out, "{}", style.paint(CYAN, &hunk.header().to_string()));
        for change in hunk.iter_changes() {
            let (sign, code) = match change.tag() {
                ChangeTag::Delete => ("-", RED),
                ChangeTag::Insert => ("+", GREEN),
                ChangeTag::Equal => (" ", ""),
            };
            let _ = writeln!(out, "{}", style.paint(code, &format!("{sign}{}", change.value().trim_end_matches('\n'))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hooks::Hooks;
    use super::*;
    use crate::reconcile::redact::Secrets;
    use helm::release::HookEvent;
    use helm_action::plan::Plan;
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
            plan: Plan { changes, ..Plan::default() },
            hooks: Hooks::default(),
            acts: true,
            secrets: Secrets::default(),
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
                ObjectChange::Recreate { before: map("4"), after: map("4") },
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
            "\nConfigMap/apps/m deleted and created again\n",
            "1 deleted and created again, 0 created, 1 changed, 1 deleted, 1 unchanged\n",
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

    #[test]
    fn hooks_and_what_was_not_tried_come_first() {
        let job = |image: &str| {
            object(json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "apps"},
                "image": image}))
        };
        let mut shown = preview(Vec::new());
        shown.hooks.runs = vec![HookRun {
            event: HookEvent::PreUpgrade,
            objects: vec![job("1").id()],
            weight: -5,
            delete_policies: vec!["before-hook-creation".into(), "hook-succeeded".into()],
        }];
        shown.hooks.changes = vec![ObjectChange::Update { before: job("1"), after: job("2") }];
        shown.plan.untried = vec![(job("1").id(), "why".into()), (job("1").id(), "why".into())];
        let shown = text(&shown, Style::default());
        let expected = concat!(
            "  hook pre-upgrade: Job/apps/j, weight -5, deleted by before-hook-creation, hook-succeeded; changed\n",
            "  not tried: why: Job/apps/j\n",
            "\nhook Job/apps/j changed\n@@ -1,5 +1,5 @@\n apiVersion: batch/v1\n-image: \"1\"\n+image: \"2\"\n kind: Job\n",
            " metadata:\n   name: j\nhooks: 0 new, 1 changed, 0 removed\n",
        );
        assert!(shown.ends_with(expected), "{shown}");
    }
}
