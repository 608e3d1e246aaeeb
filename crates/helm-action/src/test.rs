//! Helm tests.
//!
//! Writes: runs the hooks of the event `test` of the newest revision and keeps how they went in its record. Follows
//! Helm's `action/release_testing.go`.

use std::time::Duration;

use helm::release::{HookEvent, Release};

use crate::context::Context;
use crate::error::Error;
use crate::hooks;
use crate::outcome::{Outcome, Run};

/// Run the tests of the newest revision. `chosen` says by name which ones.
pub async fn test(context: &Context, timeout: Duration, chosen: &(dyn Fn(&str) -> bool + Send + Sync)) -> Outcome {
    let mut run = Run::new();
    let result = attempt(context, timeout, chosen, &mut run).await;
    run.finish(result)
}

async fn attempt(
    context: &Context,
    timeout: Duration,
    chosen: &(dyn Fn(&str) -> bool + Send + Sync),
    run: &mut Run,
) -> Result<(), Error> {
    let last = context.storage.last(&context.release).await?.ok_or(Error::NotFound)?;
    let mut release = Release::clone(&last);
    // Those that are left out go first, as Helm keeps them.
    let (mut hooks, left_out): (Vec<_>, Vec<_>) =
        std::mem::take(&mut release.hooks).into_iter().partition(|h| !h.runs_at(HookEvent::Test) || chosen(&h.name));
    std::mem::swap(&mut release.hooks, &mut hooks);
    let result = hooks::run(context, run, &mut release, HookEvent::Test, timeout).await;
    let mut all = left_out;
    all.append(&mut release.hooks);
    release.hooks = all;
    run.stored(context.storage.update(release).await?);
    result
}
