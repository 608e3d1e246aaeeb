//! Unlock: end a revision that a killed process left pending.

use helm::release::{Release, Status};

use crate::context::Context;
use crate::error::Error;
use crate::outcome::{Outcome, Run};

/// Mark the newest revision as failed if it is pending.
pub async fn unlock(context: &Context) -> Outcome {
    let mut run = Run::new();
    let result = attempt(context, &mut run).await;
    run.finish(result)
}

async fn attempt(context: &Context, run: &mut Run) -> Result<(), Error> {
    let last = context.storage.last(&context.release).await?.ok_or(Error::NotFound)?;
    let status = last.info.status;
    if !status.is_pending() && status != Status::Uninstalling {
        return Ok(());
    }
    let mut release = Release::clone(&last);
    release.set_status(Status::Failed, format!("Release unlocked from stale '{status}' state"));
    run.stored(context.storage.update(release).await?);
    Ok(())
}
