//! What is to be done, and when.
//!
//! Owns: one entry per object, so that changes during a pass make one more pass and not many; delays; pauses that grow
//! with failures; fairness between namespaces. Does not own: what a pass does. The surprising thing: an object whose
//! turn it is goes behind objects of namespaces that have waited longer, so that one namespace with a thousand releases
//! does not hold up the others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::{Instant, sleep_until};

use crate::reconcile::Next;

/// An object in a queue.
pub trait Key: Clone + Eq + Hash + Ord + Send + 'static {
    /// The namespace it counts for.
    fn namespace(&self) -> &str;
}

#[derive(Debug, Default)]
struct Entry {
    queued: bool,
    running: bool,
    again: bool,
    due: Option<Instant>,
    failures: u32,
}

/// What became of an object that was queued.
#[derive(Debug, PartialEq, Eq)]
enum Pushed {
    /// It waits for its turn.
    Queued,
    /// It is being worked on, and will be once more.
    Running,
}

struct Inner<K> {
    entries: HashMap<K, Entry>,
    /// Waiting objects by namespace, and the order of the namespaces.
    ready: BTreeMap<String, VecDeque<K>>,
    turns: VecDeque<String>,
    timers: BinaryHeap<Reverse<(Instant, K)>>,
    closed: bool,
}

/// A queue of objects.
pub struct Queue<K> {
    inner: Mutex<Inner<K>>,
    notify: Notify,
    /// Something changed about an object that is being worked on, or the queue was closed.
    news: Notify,
    backoff: Backoff,
}

/// Pauses after failures.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// After the first.
    pub min: Duration,
    /// At most.
    pub max: Duration,
}

impl Backoff {
    fn pause(self, failures: u32) -> Duration {
        self.min.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1).min(24))).min(self.max)
    }
}

impl<K: Key> Queue<K> {
    /// An empty queue.
    pub fn new(backoff: Backoff) -> Self {
        let inner = Inner {
            entries: HashMap::new(),
            ready: BTreeMap::new(),
            turns: VecDeque::new(),
            timers: BinaryHeap::new(),
            closed: false,
        };
        Self { inner: Mutex::new(inner), notify: Notify::new(), news: Notify::new(), backoff }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<K>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something changed: do it now, or once more if it is being done.
    pub fn add(&self, key: K) {
        if self.lock().push(key) == Pushed::Running {
            self.news.notify_waiters();
        }
        self.notify.notify_one();
    }

    /// Completes when something changes about an object that is being worked on, or the queue is closed. Counts from
    /// the call on, not only while it is awaited.
    pub fn news(&self) -> Notified<'_> {
        self.news.notified()
    }

    /// Will no pass start any more?
    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// No new pass starts from now on.
    pub fn close(&self) {
        self.lock().closed = true;
        self.notify.notify_waiters();
        self.notify.notify_one();
        self.news.notify_waiters();
    }

    /// The object is gone: forget it.
    pub fn forget(&self, key: &K) {
        let mut inner = self.lock();
        if inner.entries.get(key).is_some_and(|e| !e.running && !e.queued) {
            inner.entries.remove(key);
        }
    }

    /// The next object whose turn it is. Nothing once the queue is closed.
    pub async fn next(&self) -> Option<K> {
        loop {
            let wait = {
                let mut inner = self.lock();
                if inner.closed {
                    self.notify.notify_one();
                    return None;
                }
                inner.ripen(Instant::now());
                if let Some(key) = inner.pop() {
                    if !inner.turns.is_empty() {
                        self.notify.notify_one();
                    }
                    return Some(key);
                }
                inner.timers.peek().map(|Reverse((at, _))| *at)
            };
            let notified = self.notify.notified();
            match wait {
                Some(at) => {
                    tokio::select! {
                        () = notified => {}
                        () = sleep_until(at) => {}
                    }
                }
                None => notified.await,
            }
        }
    }

    /// A pass has ended.
    pub fn done(&self, key: &K, next: Next) {
        let mut inner = self.lock();
        let Some(entry) = inner.entries.get_mut(key) else { return };
        entry.running = false;
        let pause = match next {
            Next::After(pause) => {
                entry.failures = 0;
                Some(pause)
            }
            Next::AwaitChange => {
                entry.failures = 0;
                None
            }
            Next::Backoff => {
                entry.failures = entry.failures.saturating_add(1);
                Some(self.backoff.pause(entry.failures))
            }
        };
        if std::mem::take(&mut entry.again) {
            entry.due = None;
            inner.push(key.clone());
        } else {
            entry.due = pause.map(|p| Instant::now() + p);
            if let Some(at) = entry.due {
                inner.timers.push(Reverse((at, key.clone())));
            }
        }
        drop(inner);
        self.notify.notify_one();
    }
}

impl<K: Key> Inner<K> {
    fn push(&mut self, key: K) -> Pushed {
        let entry = self.entries.entry(key.clone()).or_default();
        if entry.running {
            entry.again = true;
            return Pushed::Running;
        }
        entry.due = None;
        if entry.queued {
            return Pushed::Queued;
        }
        entry.queued = true;
        let namespace = key.namespace().to_string();
        let waiting = self.ready.entry(namespace.clone()).or_default();
        if waiting.is_empty() {
            self.turns.push_back(namespace);
        }
        waiting.push_back(key);
        Pushed::Queued
    }

    /// Move what is due to those that wait for their turn.
    fn ripen(&mut self, now: Instant) {
        while let Some(Reverse((at, _))) = self.timers.peek() {
            if *at > now {
                break;
            }
            let Some(Reverse((at, key))) = self.timers.pop() else { break };
            // A timer that was overtaken by a change, or by another timer, is void.
            if self.entries.get(&key).is_some_and(|e| e.due == Some(at)) {
                self.push(key);
            }
        }
    }

    fn pop(&mut self) -> Option<K> {
        let namespace = self.turns.pop_front()?;
        let waiting = self.ready.get_mut(&namespace)?;
        let key = waiting.pop_front();
        if waiting.is_empty() {
            self.ready.remove(&namespace);
        } else {
            self.turns.push_back(namespace);
        }
        let key = key?;
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.queued = false;
            entry.running = true;
        }
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type K = (String, u32);

    impl Key for K {
        fn namespace(&self) -> &str {
            &self.0
        }
    }

    fn key(namespace: &str, n: u32) -> K {
        (namespace.into(), n)
    }

    fn queue() -> Queue<K> {
        Queue::new(Backoff { min: Duration::from_millis(10), max: Duration::from_secs(1) })
    }

    #[tokio::test]
    async fn changes_during_a_pass_make_one_more() {
        let q = queue();
        q.add(key("a", 1));
        q.add(key("a", 1));
        assert_eq!(q.next().await, Some(key("a", 1)));
        q.add(key("a", 1));
        q.add(key("a", 1));
        q.done(&key("a", 1), Next::AwaitChange);
        assert_eq!(q.next().await, Some(key("a", 1)));
        q.done(&key("a", 1), Next::AwaitChange);
        q.close();
        assert_eq!(q.next().await, None);
    }

    #[tokio::test]
    async fn namespaces_take_turns() {
        let q = queue();
        for n in 0..3 {
            q.add(key("big", n));
        }
        q.add(key("small", 0));
        let mut order = Vec::new();
        for _ in 0..4 {
            order.push(q.next().await.unwrap());
        }
        assert_eq!(order, [key("big", 0), key("small", 0), key("big", 1), key("big", 2)]);
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_and_a_change_cuts_them_short() {
        let q = queue();
        q.add(key("a", 1));
        let start = Instant::now();
        for _ in 0..3 {
            let k = q.next().await.unwrap();
            q.done(&k, Next::Backoff);
        }
        let k = q.next().await.unwrap();
        assert_eq!(start.elapsed().as_millis(), 10 + 20 + 40);
        q.done(&k, Next::After(Duration::from_hours(1)));
        q.add(k.clone());
        assert_eq!(q.next().await, Some(k));
        assert!(start.elapsed() < Duration::from_secs(1));
    }
}
