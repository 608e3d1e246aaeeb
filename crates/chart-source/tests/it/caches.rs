//! Caches: shared, bounded, one fetch for many.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chart_source::cache::ArchiveStore;
use chart_source::{ChartCache, Error, digest};

use crate::chart;

#[tokio::test]
async fn many_that_ask_at_once_share_one_fetch() {
    let cache = Arc::new(ChartCache::new(1 << 20));
    let (fetches, bytes) = (Arc::new(AtomicUsize::new(0)), chart("demo", "1.0.0").bytes);
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (cache, fetches, bytes) = (cache.clone(), fetches.clone(), bytes.clone());
            tokio::spawn(async move {
                let fetch = || async move {
                    fetches.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    Ok(bytes)
                };
                cache.get_or_fetch("sha256:a", fetch).await.unwrap()
            })
        })
        .collect();
    let mut charts = Vec::new();
    for task in tasks {
        charts.push(task.await.unwrap());
    }
    assert_eq!(fetches.load(Ordering::SeqCst), 1);
    assert!(charts.windows(2).all(|pair| Arc::ptr_eq(&pair[0], &pair[1])));
}

#[tokio::test]
async fn errors_are_not_remembered() {
    let cache = ChartCache::new(1 << 20);
    let failed = cache.get_or_fetch("sha256:a", || async { Err(Error::ArtifactNotFound) }).await;
    assert!(matches!(failed, Err(Error::ArtifactNotFound)));
    let broken = cache.get_or_fetch("sha256:a", || async { Ok(b"no chart".to_vec()) }).await;
    assert!(matches!(broken, Err(Error::Chart(_))));
    assert!(cache.get("sha256:a").is_none());
    cache.get_or_fetch("sha256:a", || async { Ok(chart("demo", "1.0.0").bytes) }).await.unwrap();
    assert!(cache.get("sha256:a").is_some());
}

#[tokio::test]
async fn the_longest_unused_charts_go_first() {
    let cache = ChartCache::new(1 << 20);
    cache.get_or_fetch("one", || async { Ok(chart("demo", "1.0.0").bytes) }).await.unwrap();
    let size = cache.bytes();
    let cache = ChartCache::new(size * 2 + size / 2);
    for digest in ["one", "two"] {
        cache.get_or_fetch(digest, || async { Ok(chart("demo", "1.0.0").bytes) }).await.unwrap();
    }
    assert!(cache.get("one").is_some());
    cache.get_or_fetch("three", || async { Ok(chart("demo", "1.0.0").bytes) }).await.unwrap();
    assert!(cache.get("two").is_none() && cache.get("one").is_some() && cache.get("three").is_some());
    assert!(cache.bytes() <= size * 2 + size / 2);
}

#[test]
fn archives_on_disk_are_checked_and_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let store = ArchiveStore::open(dir.path(), 25).unwrap();
    let put = |bytes: &[u8]| {
        let digest = digest::sha256(bytes);
        store.put(&digest, bytes).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        digest
    };
    let (one, two) = (put(b"0123456789"), put(b"abcdefghij"));
    assert_eq!(store.get(&one).unwrap(), b"0123456789");
    std::thread::sleep(Duration::from_millis(20));
    let three = put(b"ABCDEFGHIJ");
    assert!(store.get(&two).is_none() && store.get(&one).is_some() && store.get(&three).is_some());
    assert!(store.put(&one, b"other").is_err());
    assert!(store.get("sha256:../../etc/passwd").is_none());
    let file = dir.path().join(one.replace(':', "-"));
    std::fs::write(&file, b"damaged").unwrap();
    assert!(store.get(&one).is_none() && !file.exists());
}
