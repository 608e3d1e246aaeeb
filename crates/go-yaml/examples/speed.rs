//! How long a repository's large index takes, both ways: `cargo run --release -p go-yaml --example speed`.

#![expect(clippy::print_stdout)] // It is for a person to look at.

use std::fmt::Write as _;

fn main() -> Result<(), go_yaml::Error> {
    let mut text = String::from("apiVersion: v1\nentries:\n");
    for chart in 0..425 {
        let _ = writeln!(text, "  chart-{chart}:");
        for version in 0..60 {
            let _ = write!(
                text,
                "  - apiVersion: v2\n    appVersion: 1.{version}.0\n    created: \"2026-01-02T03:04:05.678Z\"\n    description: A Helm chart for Kubernetes number {chart} with a longer text in it\n    digest: e15c415d62760896bd8bec192a44c5716dc224db9e0fc609b9ac14718f8f9e56\n    icon: https://example.com/icons/chart-{chart}.png\n    keywords:\n    - one\n    - two\n    maintainers:\n    - email: someone@example.com\n      name: someone\n    name: chart-{chart}\n    sources:\n    - https://example.com/src/chart-{chart}\n    type: application\n    urls:\n    - https://example.com/charts/chart-{chart}-0.{version}.0.tgz\n    version: 0.{version}.0\n"
            );
        }
    }
    let start = std::time::Instant::now();
    let value = go_yaml::decode(text.as_bytes())?;
    println!("{} MB decoded in {:?}", text.len() / 1_000_000, start.elapsed());
    let start = std::time::Instant::now();
    let again = go_yaml::encode(&value)?;
    println!("{} MB encoded in {:?}", again.len() / 1_000_000, start.elapsed());
    Ok(())
}
