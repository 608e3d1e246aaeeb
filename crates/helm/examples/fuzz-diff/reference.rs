//! Helm's answer to a case.
//!
//! Owns: the talk with hack/fuzz-diff/main.go, many cases per process, or one run of the helm binary per case where that
//! program is not there. The surprising thing: Helm dies of some templates; then a new process is started, and the case
//! counts as one without an answer.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::ours::{Answer, Files};

pub enum Reference {
    Program { path: PathBuf, running: Option<(Child, ChildStdin, BufReader<ChildStdout>)> },
    Binary { path: PathBuf, folder: PathBuf, pending: Option<Answer> },
}

impl Reference {
    pub fn program(path: PathBuf) -> Self {
        Self::Program { path, running: None }
    }

    pub fn binary(path: PathBuf) -> Self {
        let folder = std::env::temp_dir().join(format!("helmrel-fuzz-{}", std::process::id()));
        Self::Binary { path, folder, pending: None }
    }

    /// Hand a case over; the answer is fetched later, so that both sides work at the same time.
    pub fn ask(&mut self, files: &Files, user: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Program { path, running } => {
                if running.is_none() {
                    let mut child = Command::new(path)
                        .env("TZ", "UTC")
                        .stdin(Stdio::piped())
                        .stdout(Stdio::piped())
                        .stderr(Stdio::null())
                        .spawn()?;
                    if let (Some(i), Some(o)) = (child.stdin.take(), child.stdout.take()) {
                        *running = Some((child, i, BufReader::new(o)));
                    }
                }
                let Some((_, stdin, _)) = running else { return Ok(()) };
                let files: serde_json::Map<String, Json> =
                    files.iter().map(|(name, data)| (name.clone(), STANDARD.encode(data).into())).collect();
                writeln!(stdin, "{}", json!({"files": files, "values": STANDARD.encode(user)}))
            }
            Self::Binary { path, folder, pending } => {
                *pending = Some(run_binary(path, folder, files, user)?);
                Ok(())
            }
        }
    }

    /// The answer, if Helm lived to give one.
    pub fn answer(&mut self) -> Option<Answer> {
        let found = match self {
            Self::Program { running, .. } => {
                let mut line = String::new();
                let read = running.as_mut().map(|(_, _, out)| out.read_line(&mut line));
                let json: Json = serde_json::from_str(&line).unwrap_or_default();
                if !matches!(read, Some(Ok(1..))) || json["err"] == "timeout" {
                    if let Some((mut child, ..)) = running.take() {
                        let _ = child.kill();
                        let _ = child.wait();
                    }
                    return None;
                }
                match json["err"].as_str() {
                    Some("") | None => Ok(STANDARD.decode(json["out"].as_str().unwrap_or_default()).ok()?),
                    Some(text) => Err(text.to_owned()),
                }
            }
            Self::Binary { pending, .. } => pending.take()?,
        };
        match found {
            Err(text) if text.starts_with("panic: ") => None,
            found => Some(found),
        }
    }
}

fn run_binary(path: &PathBuf, folder: &PathBuf, files: &Files, user: &[u8]) -> std::io::Result<Answer> {
    let _ = std::fs::remove_dir_all(folder);
    for (name, data) in files {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap_or(folder))?;
        std::fs::write(file, data)?;
    }
    let mut child = Command::new(path)
        .args(["template", "r"])
        .arg(folder)
        .args(["-n", "demo", "--kube-version", "1.35.0", "--values", "-"])
        .env("TZ", "UTC")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(user)?;
    }
    let done = child.wait_with_output()?;
    if done.status.success() {
        return Ok(Ok(done.stdout));
    }
    // Warnings stand before the error.
    let text = String::from_utf8_lossy(&done.stderr);
    let text = text.find("Error: ").map_or("panic: ", |at| &text[at + 7..]);
    Ok(Err(text.strip_suffix('\n').unwrap_or(text).to_owned()))
}
