//! What functions need from the world: a clock, randomness, DNS.
//!
//! Owns: the trait and a fixed host for tests and reproducible renders.
//! Does not own: the real ones; whoever runs templates for real hands them in.
//! The surprising thing: randomness goes through [`Host::fill`] alone, keys and certificates included, so a host with
//! fixed bytes makes every function repeatable.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// The world as template functions see it.
pub trait Host: Send + Sync {
    /// The time of `now`, in the local zone.
    fn now(&self) -> Zoned;

    /// What Go's `time.Local` is.
    fn local_zone(&self) -> TimeZone;

    /// Fill the buffer with random bytes, fit for keys.
    fn fill(&self, buffer: &mut [u8]);

    /// The addresses of a host name; empty when there are none or DNS is not allowed.
    fn lookup_host(&self, name: &str) -> Vec<String>;

    /// A random number below `bound`, which must not be 0.
    fn below(&self, bound: u64) -> u64 {
        // Numbers from the last, incomplete stretch of multiples are drawn again, so that all are equally likely.
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let mut bytes = [0; 8];
            self.fill(&mut bytes);
            let n = u64::from_le_bytes(bytes);
            if n < limit {
                return n % bound;
            }
        }
    }
}

/// A host whose clock stands still and whose randomness is a counter: for tests, and for renders that must not change.
pub struct FixedHost {
    now: Timestamp,
    state: AtomicU64,
}

impl FixedHost {
    /// A host at this time (UTC), with random numbers that follow from `seed`.
    pub fn new(now: Timestamp, seed: u64) -> Self {
        Self { now, state: AtomicU64::new(seed) }
    }
}

impl Host for FixedHost {
    fn now(&self) -> Zoned {
        self.now.to_zoned(TimeZone::UTC)
    }

    fn local_zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let state = self.state.fetch_add(splitmix::STEP, Ordering::Relaxed).wrapping_add(splitmix::STEP);
            chunk.copy_from_slice(&splitmix::mix(state).to_le_bytes()[..chunk.len()]);
        }
    }

    fn lookup_host(&self, _name: &str) -> Vec<String> {
        Vec::new()
    }
}

impl fmt::Debug for FixedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FixedHost").field("now", &self.now).finish_non_exhaustive()
    }
}
