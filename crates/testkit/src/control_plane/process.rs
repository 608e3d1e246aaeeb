//! Child processes that never outlive us.
//!
//! Owns: starting a program with its output in a file, stopping it, and the watchdog that stops it when this process
//! is killed. Does not own: what the programs are told.
//! The surprising thing: the watchdog is a shell that waits for the end of a pipe; the kernel closes our end however
//! we die, which needs no unsafe code and no signal handler.

use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// Reads `pid N`, `dir PATH` and `done`; at the end of its input kills and removes what it was told.
const WATCHDOG: &str = r#"
trap '' INT TERM HUP
pids= dir=
while read -r kind value; do
  case "$kind" in
    pid) pids="$pids $value" ;;
    dir) dir="$value" ;;
    done) exit 0 ;;
  esac
done
[ -n "$pids" ] && kill -9 $pids 2>/dev/null
sleep 1
[ -n "$dir" ] && rm -rf -- "$dir"
"#;

/// Processes and the directory they live in; all end with this value, or with this process.
pub struct Group {
    children: Vec<(String, Child)>,
    watchdog: Child,
    dir: tempfile::TempDir,
}

impl Group {
    /// A group without processes, with a fresh directory.
    ///
    /// # Errors
    /// No directory or no shell.
    pub fn new(prefix: &str) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix(prefix).tempdir()?;
        let watchdog = Command::new("sh")
            .args(["-c", WATCHDOG])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("failed to start the watchdog shell")?;
        let mut group = Self { children: Vec::new(), watchdog, dir };
        let path = group.dir.path().display().to_string();
        group.tell(&format!("dir {path}"))?;
        Ok(group)
    }

    /// The directory; removed with the group.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Write a file into the directory and say where it is.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.dir().join(name);
        std::fs::write(&path, content).with_context(|| format!("failed to write {}", path.display()))?;
        Ok(path)
    }

    /// Start a program; its output goes to `NAME.log` in the directory.
    ///
    /// # Errors
    /// It does not start.
    pub fn spawn(&mut self, name: &str, command: &mut Command) -> Result<()> {
        let log = File::create(self.dir().join(format!("{name}.log")))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn()
            .with_context(|| format!("failed to start {name}"))?;
        let pid = child.id();
        self.children.push((name.to_owned(), child));
        self.tell(&format!("pid {pid}"))
    }

    /// Are all programs still running?
    ///
    /// # Errors
    /// One has ended; the end of its log is in the error.
    pub fn check(&mut self) -> Result<()> {
        for (name, child) in &mut self.children {
            if let Some(status) = child.try_wait()? {
                let log = std::fs::read_to_string(self.dir.path().join(format!("{name}.log"))).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let tail = lines[lines.len().saturating_sub(15)..].join("\n");
                bail!("{name} ended with {status}:\n{tail}");
            }
        }
        Ok(())
    }

    fn tell(&mut self, line: &str) -> Result<()> {
        let pipe = self.watchdog.stdin.as_mut().context("the watchdog has no input")?;
        writeln!(pipe, "{line}").context("the watchdog has ended")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for (_, child) in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = self.tell("done");
        let _ = self.watchdog.wait();
    }
}
