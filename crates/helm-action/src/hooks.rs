//! Running hooks.
//!
//! Owns: order, deletion policies, waiting, what is written into a record about runs. Follows Helm's `action/hooks.go`.
//! The surprising things: weight comes before name and name before kind; hooks get no ownership metadata and survive
//! the release; a hook without a policy is deleted before it is created again.

use std::time::Duration;

use helm::manifest::parse_objects;
use helm::release::{Hook, HookEvent, HookExecution, Release};
use kube_object::status::{Verdict, hook_outcome};
use kube_object::{Object, status::Status};
use kube_ops::apply::ApplyOptions;
use kube_ops::delete::Propagation;

use crate::build::{named, place};
use crate::context::Context;
use crate::error::Error;
use crate::outcome::Run;

const BEFORE_CREATION: &str = "before-hook-creation";
const SUCCEEDED: &str = "hook-succeeded";
const FAILED: &str = "hook-failed";

/// The hooks of an event in the order they run: by weight, then by name. Indexes into the release's hooks.
pub fn order(hooks: &[Hook], event: HookEvent) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..hooks.len()).filter(|&i| hooks[i].runs_at(event)).collect();
    chosen.sort_by(|&a, &b| hooks[a].weight.cmp(&hooks[b].weight).then_with(|| hooks[a].name.cmp(&hooks[b].name)));
    chosen
}

/// Run all hooks of an event, one after another. What becomes of them is written into `release`; the caller stores it.
///
/// # Errors
/// The first hook that fails, with Helm's words around it.
pub(crate) async fn run(
    context: &Context,
    run: &mut Run,
    release: &mut Release,
    event: HookEvent,
    timeout: Duration,
) -> Result<(), Error> {
    let chosen = order(&release.hooks, event);
    for (position, &index) in chosen.iter().enumerate() {
        if release.hooks[index].delete_policies.is_empty() {
            release.hooks[index].delete_policies = vec![BEFORE_CREATION.into()];
        }
        let objects = objects(context, &release.hooks[index]).await?;
        if has(&release.hooks[index], BEFORE_CREATION) {
            delete(context, &objects, timeout).await?;
        }
        run.log(format!("starting hook {} {}", event.as_str(), release.hooks[index].path));
        release.hooks[index].last_run =
            HookExecution { started_at: context.now_text(), completed_at: String::new(), phase: "Running".into() };
        let sent = send(context, &objects).await;
        run.touched |= sent.is_ok();
        let outcome = match sent {
            Ok(live) => watch(context, live, timeout).await,
            Err(e) => {
                finish(context, &mut release.hooks[index], "Failed");
                return Err(Error::Hook {
                    event: event.as_str(),
                    path: release.hooks[index].path.clone(),
                    source: Box::new(e),
                });
            }
        };
        if let Err(e) = outcome {
            finish(context, &mut release.hooks[index], "Failed");
            if has(&release.hooks[index], FAILED) {
                delete(context, &objects, timeout).await?;
            }
            for &earlier in &chosen[..position] {
                clean_up(context, &release.hooks[earlier], timeout).await?;
            }
            return Err(e);
        }
        finish(context, &mut release.hooks[index], "Succeeded");
    }
    for &index in chosen.iter().rev() {
        clean_up(context, &release.hooks[index], timeout).await?;
    }
    Ok(())
}

fn has(hook: &Hook, policy: &str) -> bool {
    hook.delete_policies.iter().any(|p| p == policy)
}

fn finish(context: &Context, hook: &mut Hook, phase: &str) {
    hook.last_run.completed_at = context.now_text();
    hook.last_run.phase = phase.into();
}

async fn clean_up(context: &Context, hook: &Hook, timeout: Duration) -> Result<(), Error> {
    if has(hook, SUCCEEDED) {
        let objects = objects(context, hook).await?;
        delete(context, &objects, timeout).await?;
    }
    Ok(())
}

async fn objects(context: &Context, hook: &Hook) -> Result<Vec<Object>, Error> {
    let mut objects = Vec::new();
    for parsed in parse_objects(&hook.manifest, context.profile)? {
        let mut object = parsed.object;
        let resource = context.cluster.resource_of(&object).await?;
        place(&mut object, &resource, &context.namespace);
        named(&object, &hook.path)?;
        objects.push(object);
    }
    Ok(objects)
}

/// Definitions are never deleted by policy: their objects would go with them.
async fn delete(context: &Context, objects: &[Object], timeout: Duration) -> Result<(), Error> {
    let mut gone = Vec::new();
    for object in objects.iter().filter(|o| o.kind() != "CustomResourceDefinition") {
        if context.cluster.delete(object, Propagation::Background).await? {
            gone.push(object.clone());
        }
    }
    context.cluster.wait_gone(&gone, timeout).await?;
    Ok(())
}

async fn send(context: &Context, objects: &[Object]) -> Result<Vec<Object>, Error> {
    let mut live = Vec::new();
    for object in objects {
        let options = ApplyOptions { force: true, ..ApplyOptions::default() };
        live.push(context.cluster.apply(object, options).await?);
    }
    Ok(live)
}

async fn watch(context: &Context, live: Vec<Object>, timeout: Duration) -> Result<(), Error> {
    let judge = |object: Option<&Object>| match object {
        Some(object) => hook_outcome(object),
        // A finished Job that its time to live took away.
        None => Verdict { status: Status::Current, message: "Resource is gone".into() },
    };
    context.cluster.wait_ready(live, &judge, timeout).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_then_name() {
        let hook = |name: &str, weight: i64, event: HookEvent| Hook {
            name: name.into(),
            weight,
            events: vec![event],
            ..Hook::default()
        };
        let hooks = [
            hook("b", 5, HookEvent::PreInstall),
            hook("z", -1, HookEvent::PreInstall),
            hook("x", 0, HookEvent::Test),
            hook("a", 5, HookEvent::PreInstall),
        ];
        assert_eq!(order(&hooks, HookEvent::PreInstall), [1, 3, 0]);
    }
}
