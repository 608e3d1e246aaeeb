//! Running the binary, many cases at once, and saying which ones fail.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The folder that a variable names; without it the test is skipped, aloud.
pub(crate) fn folder(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).filter(|v| !v.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        eprintln!("SKIPPED: {variable} is not set");
    }
    folder
}

/// What a run of the binary gave.
pub(crate) struct Run {
    pub(crate) ok: bool,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

/// `helmrel ARGS` in a folder.
pub(crate) fn helmrel<S: AsRef<std::ffi::OsStr>>(folder: &Path, args: &[S]) -> Run {
    let done = Command::new(env!("CARGO_BIN_EXE_helmrel"))
        .args(args)
        .current_dir(folder)
        // The namespace of whoever runs the tests is not ours.
        .env("KUBECONFIG", "/nonexistent/kubeconfig")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run { ok: done.status.success(), out: done.stdout, err: String::from_utf8_lossy(&done.stderr).into_owned() }
}

/// Check all cases, two at a time; `check` says what is wrong with one. Fails with the names of the bad ones.
pub(crate) fn all<T: Sync>(cases: &[T], check: impl Fn(usize, &T) -> Result<(), String> + Sync) {
    let (next, bad) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(i) else { break };
                    if let Err(what) = check(i, case) {
                        bad.lock().unwrap().push((i, what));
                    }
                }
            });
        }
    });
    let mut bad = bad.into_inner().unwrap();
    bad.sort();
    let shown: Vec<String> = bad.iter().take(20).map(|(i, what)| format!("\n#{i} {what}")).collect();
    let shown = shown.concat();
    assert!(bad.is_empty(), "{} of {} cases differ:{shown}", bad.len(), cases.len());
}

/// Text with every run of white space as one space.
pub(crate) fn squash(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The message of an error without what comes before and the hint behind it.
pub(crate) fn message(stderr: &str) -> String {
    let text = stderr.find("Error: ").map_or(stderr, |i| &stderr[i + 7..]);
    squash(text).replace(" Use --debug flag to render out invalid YAML", "")
}

/// Where two texts part, and a little of both.
pub(crate) fn first_difference(want: &str, got: &str) -> String {
    let (mut want_lines, mut got_lines) = (want.lines(), got.lines());
    for n in 1.. {
        match (want_lines.next(), got_lines.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => return format!("line {n}: want {a:?}, got {b:?}"),
        }
    }
    "only line ends differ".into()
}
