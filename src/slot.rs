//! How many passes work at once, and how one that only waits makes room for another.
//!
//! Owns: the slots of a kind of pass, giving one up while a pass waits for a server far away, calling such a pass off.
//! Does not own: which pass comes next. The surprising thing: a pass that waits has begun nothing, so it may be dropped
//! where it stands; whether it waits or works is decided under one lock, never guessed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// As many slots as passes may work at once.
#[derive(Clone, Debug)]
pub struct Slots(Arc<Semaphore>);

impl Slots {
    /// So many, at least one.
    pub fn new(count: usize) -> Self {
        Self(Arc::new(Semaphore::new(count.max(1))))
    }

    /// A slot, as soon as one is free. It is given back when it is dropped.
    pub async fn free(&self) -> Arc<Slot> {
        let permit = permit(&self.0).await;
        Arc::new(Slot {
            all: Arc::clone(&self.0),
            place: Mutex::new(Place::Working { _permit: permit }),
            left: Notify::new(),
        })
    }
}

async fn permit(all: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    // Only a closed semaphore gives none, and these are never closed.
    Arc::clone(all).acquire_owned().await.ok()
}

/// Where a pass is.
#[derive(Debug)]
enum Place {
    /// It works, in its slot.
    Working { _permit: Option<OwnedSemaphorePermit> },
    /// It waits, and its slot is another's.
    Away,
    /// It was called off while it waited.
    CalledOff,
}

/// The slot of one pass.
#[derive(Debug)]
pub struct Slot {
    all: Arc<Semaphore>,
    place: Mutex<Place>,
    left: Notify,
}

tokio::task_local! {
    static SLOT: Arc<Slot>;
}

impl Slot {
    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A pass in this slot: what it hands to [`away`] is waited for outside of it.
    pub fn run<F: Future>(self: &Arc<Self>, pass: F) -> impl Future<Output = F::Output> + use<F> {
        SLOT.scope(Arc::clone(self), pass)
    }

    /// Call the pass off if it is away; it will not come back, and may be dropped.
    pub fn call_off(&self) -> bool {
        let mut place = self.place();
        if matches!(*place, Place::Away) {
            *place = Place::CalledOff;
        }
        matches!(*place, Place::CalledOff)
    }

    /// Wait until the pass goes away. One waiter at a time.
    pub async fn left(&self) {
        self.left.notified().await;
    }

    /// Leave the slot; false for a pass that has left it already.
    fn leave(&self) -> bool {
        let mut place = self.place();
        let leaves = matches!(*place, Place::Working { .. });
        if leaves {
            *place = Place::Away;
            drop(place);
            self.left.notify_one();
        }
        leaves
    }

    async fn come_back(&self) {
        let permit = permit(&self.all).await;
        {
            let mut place = self.place();
            if matches!(*place, Place::Away) {
                *place = Place::Working { _permit: permit };
                return;
            }
        }
        // Called off: whoever did that drops this future.
        std::future::pending::<()>().await;
    }
}

/// Wait for something that may take long and changes nothing that a second try would not change alike. The slot of this
/// pass goes to another meanwhile, and the pass may be called off. Outside of a slot this only waits. `wait` must be
/// awaited to its end, or be dropped together with the pass.
pub async fn away<F: Future>(wait: F) -> F::Output {
    let Ok(slot) = SLOT.try_with(Arc::clone) else { return wait.await };
    if !slot.leave() {
        return wait.await;
    }
    let found = wait.await;
    slot.come_back().await;
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn a_pass_that_waits_makes_room() {
        let slots = Slots::new(1);
        let first = slots.free().await;
        let (tell, told) = oneshot::channel::<u8>();
        let pass = tokio::spawn(first.run(async move { away(away(told)).await }));
        first.left().await;
        drop(first);
        // The only slot is free while the first pass waits, and it comes back only when this one is done.
        let second = slots.free().await;
        tell.send(7).unwrap();
        tokio::task::yield_now().await;
        assert!(!pass.is_finished());
        drop(second);
        assert_eq!(pass.await.unwrap(), Ok(7));
    }

    #[tokio::test]
    async fn only_a_pass_that_waits_is_called_off() {
        let slots = Slots::new(1);
        let slot = slots.free().await;
        assert!(!slot.call_off(), "it works");
        let (tell, told) = oneshot::channel::<u8>();
        let pass = tokio::spawn(slot.run(async move { away(told).await }));
        slot.left().await;
        assert!(slot.call_off());
        tell.send(7).unwrap();
        tokio::task::yield_now().await;
        assert!(!pass.is_finished(), "it never comes back");
        pass.abort();
        assert!(pass.await.unwrap_err().is_cancelled());
        drop(slot);
        slots.free().await;
    }

    #[tokio::test]
    async fn outside_of_a_slot_it_only_waits() {
        assert_eq!(away(async { 1 }).await, 1);
    }
}
