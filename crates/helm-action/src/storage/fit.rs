//! What fits into a Secret.
//!
//! Owns: the choice between a whole and a compact record, made before an action changes anything. The surprising things:
//! the API server's limit is one of the Secret's data, not of the whole object; a record grows a little until its
//! action ends, so a new one leaves room for that.

use std::sync::Arc;

use helm::release::{Release, codec, parts};

use crate::error::Error;

/// How many bytes the data of a Secret may have.
pub const MAX_SECRET: usize = 1024 * 1024;

/// Room for the description of the final state.
const ROOM: usize = 16 * 1024;
/// Room for the times and the phase of a hook's run. They hardly pack, and the packed bytes are written as base64.
const ROOM_PER_HOOK: usize = 160;
/// How much of a description stays where there is no room for the whole.
const MAX_DESCRIPTION: usize = 512;

/// A new record that fits, as it will be stored.
#[derive(Clone, Debug)]
pub struct Packed {
    /// The revision; its chart is compact where the whole one would not fit.
    pub release: Arc<Release>,
    /// What is said about a compact record.
    pub note: Option<String>,
    pub(super) data: Vec<u8>,
}

/// Pack a new record.
///
/// # Errors
/// [`Error::TooLarge`]: it does not even fit in its compact form.
pub(super) fn pack(mut release: Release, namespace: &str) -> Result<Packed, Error> {
    let data = codec::encode(&release)?;
    if fits(&release, &data) {
        return Ok(Packed { release: Arc::new(release), note: None, data });
    }
    let note = format!(
        "the record {} is stored without the chart's templates and files: with them it would take {} bytes of the {MAX_SECRET} that a Secret may hold, mostly {}",
        codec::object_name(&release.name, release.version),
        largest_size(&release, &data),
        parts::largest(&release, 3)
    );
    release.chart = release.chart.compact();
    let data = codec::encode(&release)?;
    if fits(&release, &data) {
        return Ok(Packed { release: Arc::new(release), note: Some(note), data });
    }
    Err(too_large(&release, &data, namespace))
}

/// Check what is known of a record before its chart is rendered.
///
/// # Errors
/// [`Error::TooLarge`]: chart and values alone take more than there is.
pub(super) fn check_unrendered(mut release: Release, namespace: &str) -> Result<(), Error> {
    release.chart = release.chart.bare();
    let data = codec::encode(&release)?;
    if fits(&release, &data) { Ok(()) } else { Err(too_large(&release, &data, namespace)) }
}

/// Pack the new state of a record that is stored already. What has grown beyond the limit all the same loses what no
/// one needs, rather than the state.
pub(super) fn repack(mut release: Release) -> Result<(Arc<Release>, Vec<u8>), Error> {
    let mut data = codec::encode(&release)?;
    if data.len() > MAX_SECRET {
        release.chart = release.chart.compact();
        cut(&mut release.info.description);
        data = codec::encode(&release)?;
    }
    Ok((Arc::new(release), data))
}

fn cut(text: &mut String) {
    if text.len() > MAX_DESCRIPTION {
        text.truncate(text.floor_char_boundary(MAX_DESCRIPTION));
        text.push('…');
    }
}

/// How large the record may become before its action ends.
fn largest_size(release: &Release, data: &[u8]) -> usize {
    data.len() + ROOM + release.hooks.len() * ROOM_PER_HOOK
}

fn fits(release: &Release, data: &[u8]) -> bool {
    largest_size(release, data) <= MAX_SECRET
}

fn too_large(release: &Release, data: &[u8], namespace: &str) -> Error {
    Error::TooLarge {
        object: format!("{namespace}/{}", codec::object_name(&release.name, release.version)),
        size: largest_size(release, data),
        limit: MAX_SECRET,
        parts: parts::largest(release, 3),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use helm::chart::File;
    use helm::release::Hook;

    /// Text that takes about `bytes` bytes of a record: hexadecimal digits of noise pack to half and are base64 then.
    fn noise(bytes: usize) -> String {
        let mut state: u64 = 7;
        let mut text = String::new();
        while text.len() < bytes * 3 / 2 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let _ = write!(text, "{:08x}", state >> 32);
        }
        text
    }

    fn release(files: usize, manifest: usize, values: usize) -> Release {
        let mut release = Release { name: "r".into(), version: 3, ..Release::default() };
        release.chart.files =
            vec![File { name: "files/noise".into(), data: noise(files).into_bytes().into(), modified: None }];
        release.manifest = format!("---\n# Source: c/templates/a.yaml\na: {}\n", noise(manifest));
        release.config = helm::values::load_values(format!("blob: {:?}", noise(values)).as_bytes()).unwrap();
        release
    }

    #[test]
    fn whole_compact_or_refused() {
        const K: usize = 1024;
        // Bytes of files, manifest and values in KiB; stored whole, compact or not at all, and what is named first.
        let table = [
            (1, 1, 1, "whole", ""),
            (500, 100, 100, "whole", ""),
            (1500, 1, 1, "compact", "files/noise"),
            (1500, 500, 300, "compact", "files/noise"),
            (1, 1500, 1, "refused", "what c/templates/a.yaml renders"),
            (1, 500, 900, "refused", "`blob` in the release's values"),
        ];
        for (files, manifest, values, want, first) in table {
            let name = format!("{files} {manifest} {values}");
            match pack(release(files * K, manifest * K, values * K), "ns") {
                Ok(packed) => {
                    assert_eq!(if packed.note.is_some() { "compact" } else { "whole" }, want, "{name}");
                    assert!(packed.data.len() + ROOM <= MAX_SECRET);
                    let back = codec::decode(&packed.data).unwrap();
                    assert_eq!(back.chart.files.len(), usize::from(want == "whole"), "{name}");
                    assert_eq!(back.manifest, packed.release.manifest, "{name}");
                    let note = packed.note.unwrap_or_default();
                    assert!(note.contains(first) && note.len() < 400, "{name}: {note}");
                }
                Err(e) => {
                    assert_eq!(want, "refused", "{name}: {e}");
                    let text = e.to_string();
                    assert!(text.contains("ns/sh.helm.release.v1.r.v3") && text.contains("1048576"), "{text}");
                    assert!(text.contains(&format!("the largest parts are {first} (")), "{name}: {text}");
                }
            }
        }
    }

    #[test]
    fn values_are_refused_before_anything_is_rendered() {
        assert!(check_unrendered(release(2_000_000, 0, 100_000), "ns").is_ok());
        let error = check_unrendered(release(0, 0, 1_500_000), "ns").unwrap_err();
        assert!(error.to_string().contains("`blob` in the release's values (9"), "{error}");
    }

    #[test]
    fn a_final_state_has_room() {
        // As large as just fits, then all hooks have run and the description is long.
        let mut release = release(0, 0, 0);
        release.hooks = (0..1000)
            .map(|n| Hook { name: format!("h{n}"), path: "c/templates/h.yaml".into(), ..Hook::default() })
            .collect();
        let (mut low, mut high) = (0, 1_100_000);
        while high - low > 64 {
            let middle = usize::midpoint(low, high);
            release.manifest = noise(middle);
            let fits = fits(&release, &codec::encode(&release).unwrap());
            *(if fits { &mut low } else { &mut high }) = middle;
        }
        release.manifest = noise(low);
        let packed = pack(release, "ns").unwrap();
        let mut last = Release::clone(&packed.release);
        last.info.description = noise(7_000);
        for (n, hook) in last.hooks.iter_mut().enumerate() {
            let time = |n: usize| format!("2026-01-02T03:04:05.{:09}Z", (n * 48_271_939) % 1_000_000_007);
            hook.delete_policies = vec!["before-hook-creation".into()];
            hook.last_run.started_at = time(n + 1);
            hook.last_run.completed_at = time(n + 77);
            hook.last_run.phase = "Succeeded".into();
        }
        let (stored, data) = repack(last.clone()).unwrap();
        assert!(data.len() <= MAX_SECRET, "{}", data.len());
        assert_eq!(stored.info, last.info, "nothing had to go");
        // And an endless description is cut.
        last.info.description = format!("{}é", "x".repeat(MAX_DESCRIPTION - 1)) + &noise(200_000);
        let (stored, data) = repack(last).unwrap();
        assert!(data.len() <= MAX_SECRET && stored.info.description.ends_with("x…"), "{}", data.len());
    }
}
