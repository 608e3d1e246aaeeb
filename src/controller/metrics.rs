//! Metrics, with Flux's names.
//!
//! Owns: the families and their labels, all bounded by the number of objects.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ObjectLabels {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: String,
}

/// Whose passes, and how they ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct PassLabels {
    /// `helmrelease` or the kind of a source.
    pub controller: String,
    /// `success`, `requeue_after` or `error`.
    pub result: String,
}

/// All metrics.
pub struct Metrics {
    registry: Mutex<Registry>,
    durations: Family<ObjectLabels, Histogram, fn() -> Histogram>,
    passes: Family<PassLabels, Counter>,
}

fn buckets() -> Histogram {
    Histogram::new([0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0])
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::default();
        let durations: Family<ObjectLabels, Histogram, fn() -> Histogram> = Family::new_with_constructor(buckets);
        let passes: Family<PassLabels, Counter> = Family::default();
        registry.register(
            "gotk_reconcile_duration_seconds",
            "The duration in seconds of a pass over an object",
            durations.clone(),
        );
        registry.register("controller_runtime_reconcile", "Passes by controller and result", passes.clone());
        Self { registry: Mutex::new(registry), durations, passes }
    }
}

impl Metrics {
    /// A pass has ended.
    pub fn observe(&self, kind: &str, namespace: &str, name: &str, took: Duration, result: &str) {
        let labels = ObjectLabels { kind: kind.into(), name: name.into(), namespace: namespace.into() };
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
        let labels = PassLabels { controller: kind.to_lowercase(), result: result.into() };
        self.passes.get_or_create(&labels).inc();
    }

    /// The object is gone.
    pub fn forget(&self, kind: &str, namespace: &str, name: &str) {
        let labels = ObjectLabels { kind: kind.into(), name: name.into(), namespace: namespace.into() };
        self.durations.remove(&labels);
    }

    /// All metrics as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing into a string cannot fail.
        let _ = encode(&mut text, &registry);
        text
    }
}
