//! Commands that are printed and then run, exactly as printed.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::process::Command;

/// No command of the demo takes longer than this by itself.
const LONGEST: Duration = Duration::from_mins(6);

/// A bash with a folder, a kubeconfig and programs of its own.
#[derive(Clone)]
pub struct Shell {
    /// Where commands run.
    pub folder: PathBuf,
    /// KUBECONFIG.
    pub kubeconfig: PathBuf,
    /// What comes first on the PATH.
    pub programs: PathBuf,
}

impl Shell {
    /// Print a command, run it, print what it says and give that. Not to succeed is an error.
    pub async fn run(&self, command: &str) -> Result<String> {
        self.run_expecting(command, 0).await
    }

    /// The same for a command that ends with this exit code.
    pub async fn run_expecting(&self, command: &str, code: i32) -> Result<String> {
        print_command(command);
        let (text, ended) = self.quietly(command).await?;
        print_output(&text);
        ensure!(ended == code, "`{command}` ended with {ended}, expected {code}");
        Ok(text)
    }

    /// Print a command, repeat it until its output is what is waited for, print that.
    pub async fn until(&self, command: &str, timeout: Duration, is_it: impl Fn(&str) -> bool) -> Result<String> {
        print_command(command);
        let started = Instant::now();
        loop {
            let (text, _) = self.quietly(command).await?;
            if is_it(&text) {
                print_output(&text);
                return Ok(text);
            }
            if started.elapsed() > timeout {
                print_output(&text);
                bail!("`{command}` did not show within {timeout:?} what it should");
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }

    /// Run a command without showing it; its output and its exit code.
    pub async fn quietly(&self, command: &str) -> Result<(String, i32)> {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("set -o pipefail; {{ {command}\n}} 2>&1")])
            .current_dir(&self.folder)
            .env("KUBECONFIG", &self.kubeconfig)
            .env("PATH", format!("{}:{path}", self.programs.display()))
            .env("HOME", &self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("HELM_") {
                bash.env_remove(variable);
            }
        }
        let output = tokio::time::timeout(LONGEST, bash.output())
            .await
            .with_context(|| format!("`{command}` takes longer than {LONGEST:?}"))?
            .context("failed to run bash")?;
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1)))
    }
}

/// Begin a chapter.
pub fn title(text: &str) {
    let (bold, plain) = colours();
    println!("\n{bold}=== {text}{plain}");
}

/// Show a command as a reader would type it.
pub fn print_command(command: &str) {
    let (bold, plain) = colours();
    println!("\n{bold}$ {command}{plain}");
}

fn print_output(text: &str) {
    println!("{}", text.trim_end());
}

fn colours() -> (&'static str, &'static str) {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    if wanted && std::io::stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") }
}
