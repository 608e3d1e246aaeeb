//! What one step would change.
//!
//! Owns: the plan of each kind of step, with objects of kinds that are not there yet, and the files under `crds/`. Does
//! not own: the comparison and the dry runs, which are helm-action's; hooks (`hooks.rs`).

use anyhow::{Result, anyhow};
use flux_api::HelmRelease;
use helm::release::{ApplyMethod, Hook, Release, Status};
use helm_action::build::Built;
use helm_action::crds::CrdsPolicy;
use helm_action::drift::DriftKind;
use helm_action::plan::{
    ObjectChange, Plan, UNKNOWN_KIND, applied, check_install, check_name, check_upgrade, dropped_by_rollback,
    dropped_by_uninstall, dropped_by_upgrade, moved, original, patched,
};
use helm_action::upgrade::ServerSide;
use kube_object::Object;
use kube_ops::apply::ApplyOptions;

use super::scope;
use crate::reconcile::decide::{Observed, Step};
use crate::reconcile::desired::Desired;
use crate::reconcile::redact::Secrets;
use crate::reconcile::{remedy, step};

/// What is known when a step is planned.
pub struct Planner<'a> {
    /// The HelmRelease.
    pub release: &'a HelmRelease,
    /// What it should be.
    pub desired: &'a Desired,
    /// What it is.
    pub observed: &'a Observed,
    /// Its surroundings.
    pub actions: &'a helm_action::Context,
    /// What goes with another release that is uninstalled first, if there is one.
    pub moved: Option<&'a [ObjectChange]>,
}

/// The definitions that the chart brings under `crds/`, and what becomes of them.
struct Definitions {
    plan: Plan,
    all: Vec<Object>,
    applied: bool,
}

impl Planner<'_> {
    /// An install or upgrade, and the hooks of the new revision.
    ///
    /// # Errors
    /// The chart does not render, or the cluster cannot be asked.
    pub async fn release(&self, step: &Step, notes: &mut Vec<String>) -> Result<(Plan, Vec<Hook>)> {
        let upgrade = *step == Step::Upgrade;
        self.may_begin(upgrade).await?;
        let mut request = step::request(self.release, self.desired, upgrade);
        let last = self.observed.last.as_deref().filter(|_| upgrade);
        request.revision = last.map_or(1, |l| l.version + 1);
        if upgrade
            && self.release.upgrade().preserve_values == Some(true)
            && let Some(last) = last
        {
            request.values = helm_action::upgrade::merged_values(&request.values, &last.config);
        }
        let prepared = helm_action::prepare::prepare(self.actions, &request).await?;
        notes.extend(helm_action::revision::size_note(self.actions, &request, &prepared)?);
        let mut definitions = self.definitions(&prepared.rendered.chart, upgrade, notes).await?;
        let (built, unknown) = helm_action::build::build_known(self.actions, &prepared.manifest).await?;
        let mut whole = std::mem::take(&mut definitions.plan);
        let deleted = self.moved.unwrap_or_default();
        let goes =
            |b: &&Built| deleted.iter().any(|d| matches!(d, ObjectChange::Delete(live) if live.id() == b.object.id()));
        let (again, rest): (Vec<Built>, Vec<Built>) = built.iter().cloned().partition(|b| goes(&b));
        self.may_take(upgrade, &rest).await?;
        whole.append(moved(self.actions, &again, deleted, self.apply(last)).await?);
        whole.append(if upgrade && !self.server_side(last) {
            patched(self.actions, &rest, &original(self.actions).await?).await?
        } else {
            applied(self.actions, &rest, self.apply(last)).await?
        });
        if upgrade {
            whole.changes.extend(dropped_by_upgrade(self.actions, &built, &self.desired.chart).await?);
        }
        self.unknown(unknown, &built, &definitions, &mut whole);
        Ok((whole, prepared.rendered.hooks))
    }

    /// Would the action end before it renders anything?
    async fn may_begin(&self, upgrade: bool) -> Result<()> {
        let begun = if upgrade {
            // A revision that is in the middle of something is unlocked first, and counts as failed then.
            let last = self.observed.last.as_ref().map(|l| l.info.status);
            match last {
                Some(status) if status.is_pending() || status == Status::Uninstalling => Ok(()),
                _ => helm_action::upgrade::baseline(self.actions).await.map(|_| ()),
            }
        } else if self.moved.is_some() {
            Ok(())
        } else {
            check_name(self.actions, &step::install_options(self.release, self.desired)).await
        };
        begun.map_err(|e| self.failed(upgrade, &e))
    }

    /// Would the action end because objects belong to others?
    async fn may_take(&self, upgrade: bool, built: &[Built]) -> Result<()> {
        let taken = if upgrade {
            check_upgrade(self.actions, built, &step::upgrade_options(self.release, self.desired)).await
        } else {
            check_install(self.actions, built, &step::install_options(self.release, self.desired)).await
        };
        taken.map_err(|e| self.failed(upgrade, &e))
    }

    /// The controller's words about an action that ends before anything is stored.
    fn failed(&self, upgrade: bool, error: &helm_action::Error) -> anyhow::Error {
        if error.is_transient() {
            return anyhow!("{error}");
        }
        let word = if upgrade { "upgrade" } else { "install" };
        let name = self.desired.full_name();
        let text = format!("Helm {word} failed for release {name} with chart {}: {error}", self.desired.chart_text());
        anyhow!(remedy::with(text, remedy::of_error(error)))
    }

    /// How an install, or an upgrade of a revision, applies: on the server's side unknown fields are refused.
    fn apply(&self, last: Option<&Release>) -> ApplyOptions {
        ApplyOptions { ignore_unknown_fields: !self.server_side(last), ..ApplyOptions::default() }
    }

    fn server_side(&self, last: Option<&Release>) -> bool {
        match last {
            None => step::install_options(self.release, self.desired).server_side,
            Some(last) => match step::upgrade_options(self.release, self.desired).server_side {
                ServerSide::Enabled => true,
                ServerSide::Disabled => false,
                ServerSide::Auto => last.apply_method == ApplyMethod::ServerSide,
            },
        }
    }

    /// Objects of kinds that the cluster has not: those under `crds/` come first, any other kind fails the action.
    fn unknown(&self, unknown: Vec<Object>, built: &[Built], definitions: &Definitions, into: &mut Plan) {
        let under_crds: Vec<&Object> = definitions.all.iter().collect();
        let rendered: Vec<&Object> = built.iter().map(|b| &b.object).collect();
        for mut object in unknown {
            let first = scope::definition(&object, &under_crds);
            if let Some(definition) = first.or_else(|| scope::definition(&object, &rendered)) {
                scope::place(&mut object, definition, self.actions);
            }
            if first.is_some() && definitions.applied {
                into.untried.push((object.id(), "the kind comes with the same chart".into()));
            } else {
                let known = scope::definition(&object, &rendered).is_some();
                let late = if known { "; its definition is among the templates, which is too late" } else { "" };
                into.refused.push((object.id(), format!("{}{late}", unknown_kind(&object))));
            }
            into.changes.push(ObjectChange::Create(object));
        }
    }

    /// The files under `crds/`, by the policy of the action.
    async fn definitions(&self, chart: &helm::Chart, upgrade: bool, notes: &mut Vec<String>) -> Result<Definitions> {
        let policy = if upgrade {
            step::upgrade_options(self.release, self.desired).crds
        } else {
            step::install_options(self.release, self.desired).crds
        };
        let (all, skipped) = helm_action::crds::definitions(chart, self.actions)?;
        let mut found = Definitions { plan: Plan::default(), all, applied: policy != CrdsPolicy::Skip };
        if !found.applied {
            return Ok(found);
        }
        notes.extend(skipped);
        let mut built = Vec::new();
        for mut object in found.all.clone() {
            self.desired.metadata.apply(&mut object);
            let resource = self.actions.cluster.resource_of(&object).await?;
            // Definitions that are there already stay as they are.
            if policy == CrdsPolicy::Create && self.actions.cluster.get(&resource, "", object.name()).await?.is_some() {
                continue;
            }
            built.push(Built { object, resource, source: String::new() });
        }
        let options = ApplyOptions { ignore_unknown_fields: true, ..ApplyOptions::default() };
        found.plan = applied(self.actions, &built, options).await?;
        Ok(found)
    }

    /// A rollback, and the hooks of the revision that comes back.
    ///
    /// # Errors
    /// The revision is gone, or the cluster cannot be asked.
    pub async fn rollback(&self, version: i64, secrets: &mut Secrets) -> Result<(Plan, Vec<Hook>)> {
        let target = self
            .actions
            .storage
            .get(&self.actions.release, version)
            .await?
            .ok_or_else(|| anyhow!("revision {version} is no longer in storage"))?;
        secrets.learn(&target.config);
        let (built, unknown) = helm_action::build::build_known(self.actions, &target.manifest).await?;
        let mut found = applied(self.actions, &built, ApplyOptions::default()).await?;
        found.changes.extend(dropped_by_rollback(self.actions, &built).await?);
        found.refused.extend(unknown.iter().map(|object| (object.id(), unknown_kind(object))));
        found.changes.extend(unknown.into_iter().map(ObjectChange::Create));
        Ok((found, target.hooks.clone()))
    }

    /// An uninstall.
    ///
    /// # Errors
    /// The cluster cannot be asked.
    pub async fn uninstall(&self) -> Result<Plan> {
        Ok(Plan { changes: dropped_by_uninstall(self.actions).await?, ..Plan::default() })
    }

    /// A repair of what drifted.
    ///
    /// # Errors
    /// The cluster cannot be asked.
    pub async fn repair(&self, drifted: Vec<helm_action::drift::Drifted>) -> Result<Plan> {
        // What is missing comes back first.
        let (missing, changed): (Vec<_>, Vec<_>) =
            drifted.into_iter().partition(|d| matches!(d.kind, DriftKind::Missing));
        let built: Vec<Built> = missing.into_iter().chain(changed).map(|d| d.built).collect();
        let client_side = self.observed.last.as_ref().is_some_and(|l| l.apply_method == ApplyMethod::ClientSide);
        // As the repair sends them: nothing is known to have gone.
        Ok(if client_side {
            patched(self.actions, &built, &built).await?
        } else {
            applied(self.actions, &built, ApplyOptions::default()).await?
        })
    }
}

fn unknown_kind(object: &Object) -> String {
    let gvk = object.gvk();
    format!("{UNKNOWN_KIND}{:?} in version {:?}: ensure CRDs are installed first", gvk.kind, gvk.api_version())
}
