//! How many fetches run at once.
//!
//! Owns: a share for every host, and one for all of them: a server that hangs, or a namespace that names many, does not
//! keep the others waiting, and what is being read stays within bounds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Fetches from one host at once.
const OF_ONE: usize = 8;
/// Fetches at once. Each holds at most one archive or index in memory.
const OF_ALL: usize = 64;

/// The fetches that run.
#[derive(Debug)]
pub struct Hosts {
    all: Arc<Semaphore>,
    one: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Default for Hosts {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(OF_ALL)), one: Mutex::default() }
    }
}

/// Leave to fetch, until it is dropped.
#[derive(Debug)]
pub struct Leave {
    _of_one: Option<OwnedSemaphorePermit>,
    _of_all: Option<OwnedSemaphorePermit>,
}

impl Hosts {
    /// Wait for leave to fetch from the host of an address.
    pub async fn admit(&self, url: &str) -> Leave {
        let one = self.share(host(url));
        // Neither is ever closed. The host's share comes first: who waits for it takes nothing from the others.
        let of_one = one.acquire_owned().await.ok();
        let of_all = Arc::clone(&self.all).acquire_owned().await.ok();
        Leave { _of_one: of_one, _of_all: of_all }
    }

    fn share(&self, host: &str) -> Arc<Semaphore> {
        let mut one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        one.retain(|_, share| Arc::strong_count(share) > 1);
        Arc::clone(one.entry(host.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(OF_ONE))))
    }
}

/// Host and port as they stand in an address, without user and password.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_host_has_its_share_and_no_more() {
        let hosts = Hosts::default();
        let mut held = Vec::new();
        for _ in 0..OF_ONE {
            held.push(hosts.admit("https://slow.example/charts/index.yaml").await);
        }
        let ninth = hosts.admit("https://user@slow.example");
        let mut ninth = std::pin::pin!(ninth);
        assert!(futures::poll!(&mut ninth).is_pending());
        drop(hosts.admit("https://quick.example").await);
        held.pop();
        assert!(futures::poll!(&mut ninth).is_ready());
        held.clear();
        drop(hosts.admit("oci://quick.example/charts").await);
        assert_eq!(hosts.one.lock().unwrap().len(), 1, "shares that nobody uses are forgotten");
    }
}
