//! Charts, archives and values of someone who means harm, through the real binary.
//!
//! Each case has to end soon, within 512 MiB, with exit code 1 and a text that names the place, what was reached, and how
//! to allow more or that it is fixed; where Helm has an error, with Helm's. A few are harmless here and end well.
//! With `--nocapture` it tells the time and the memory of each. `templates`: what templates do; `inputs`: values, YAML,
//! flags and schemas; `archives`: archives and folders.

#![expect(clippy::format_collect, clippy::format_push_string, reason = "tests")]

mod archives;
mod inputs;
mod templates;

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::support::all;

/// What a machine must have for one process, beside the room that is only reserved.
const MEMORY_MIB: usize = 512;
/// The tests' build is many times slower than the release's, which ends within five seconds.
const PATIENCE: Duration = Duration::from_mins(1);
/// What a limit's error ends with where whoever renders can raise it.
const RAISED: &str = "allow more with --render-limits=2 or HELMREL_RENDER_LIMITS=2";

/// Something hostile, and what is to be said of it.
struct Case {
    name: &'static str,
    files: Vec<(String, Vec<u8>)>,
    args: Vec<String>,
    /// Parts of the error; none where it is to end well.
    error: Vec<&'static str>,
}

const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\n";

impl Case {
    /// A chart with these files besides its Chart.yaml.
    fn chart(name: &'static str, files: &[(&str, &[u8])], error: &[&'static str]) -> Self {
        let mut all = vec![("c/Chart.yaml".to_owned(), CHART.as_bytes().to_vec())];
        for (path, data) in files {
            all.retain(|(known, _)| *known != format!("c/{path}"));
            all.push((format!("c/{path}"), data.to_vec()));
        }
        Self { name, files: all, args: vec!["c".into()], error: error.to_vec() }
    }

    /// A chart of one template.
    fn template(name: &'static str, template: &str, error: &[&'static str]) -> Self {
        Self::chart(name, &[("templates/t.yaml", template.as_bytes())], error)
    }

    fn with(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(ToString::to_string));
        self
    }
}

fn check(cases: &[Case]) {
    all(cases, |_, case| {
        let folder = tempfile::tempdir().unwrap();
        for (path, data) in &case.files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, data).unwrap();
        }
        judge(case.name, folder.path(), &case.args, &case.error)
    });
}

/// Run `helmrel template r ARGS`, and say what is wrong with how it ended.
fn judge(name: &str, folder: &Path, args: &[String], error: &[&str]) -> Result<(), String> {
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_helmrel"))
        .args(["template", "r"])
        .args(args)
        .current_dir(folder)
        .env("KUBECONFIG", "/nonexistent/kubeconfig")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    });
    let (mut memory, mut wrong) = (0, String::new());
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        memory = memory.max(resident_mib(child.id()));
        if memory > 2 * MEMORY_MIB || began.elapsed() > PATIENCE {
            child.kill().unwrap();
            wrong += "killed; ";
            break child.wait().unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let took = began.elapsed();
    let text = reader.join().unwrap().unwrap();
    let shown: String = text.chars().take(700).collect();
    eprintln!("{name}: {:.1} s, {memory} MiB, {status}: {}", took.as_secs_f32(), shown.trim_end());
    if memory > MEMORY_MIB || took > PATIENCE {
        let _ = write!(wrong, "{} s and {memory} MiB; ", took.as_secs());
    }
    // What was printed need not be an object.
    let harmless = error.is_empty() && (status.success() || text.contains("Error: YAML parse error on c/templates"));
    if !harmless && (error.is_empty() || status.code() != Some(1)) {
        let _ = write!(wrong, "{status}; ");
    }
    if text.contains("panicked") || text.contains("overflowed its stack") {
        wrong += "it panicked; ";
    }
    for part in error.iter().filter(|part| !text.contains(**part)) {
        let _ = write!(wrong, "no {part:?} in it; ");
    }
    if text.len() > 4 << 20 {
        let _ = write!(wrong, "{} bytes of error; ", text.len());
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{name}: {wrong}{shown}")) }
}

/// The most memory that a `helmrel` has had so far.
fn resident_mib(process: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    // Until it is one, its memory is that of this process.
    if !status.starts_with("Name:\thelmrel\n") {
        return 0;
    }
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<usize>().ok()).unwrap_or_default() / 1024
}
