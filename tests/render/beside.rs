//! The binary beside the real Helm, on the same arguments in the same surroundings.
//!
//! Owns: finding Helm without a download, a world of its own for both (home, caches, no kubeconfig), and what has to be
//! equal: standard output, the text of the error, the exit code, the files that were written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::support::{first_difference, message};

/// Helm 4.3, if it is on this machine; otherwise the test is skipped, aloud.
pub(crate) fn helm() -> Option<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hack/tools.sh");
    let asked = Command::new("bash")
        .arg(script)
        .arg("helm4")
        .env("HELMREL_TOOLS_SKIP", "download,build")
        .stdin(Stdio::null())
        .output();
    let text = asked.ok().filter(|o| o.status.success()).map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    let path = text.and_then(|t| t.lines().find_map(|l| l.strip_prefix("helm4 ")).map(PathBuf::from));
    if path.is_none() {
        eprintln!("SKIPPED: helm 4 is not on this machine (hack/tools.sh helm4 obtains it)");
    }
    path
}

/// A folder with the charts of testdata, and surroundings that are the same for both programs.
pub(crate) struct World {
    helm: PathBuf,
    dir: tempfile::TempDir,
    env: Vec<(String, String)>,
}

/// What a program left.
pub(crate) struct Left {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    files: BTreeMap<String, String>,
}

impl World {
    pub(crate) fn new(helm: PathBuf) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        let env = [("HOME", home.display().to_string()), ("KUBECONFIG", home.join("none").display().to_string())];
        Self { helm, dir, env: env.map(|(k, v)| (k.to_owned(), v)).into() }
    }

    /// Where the programs run.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.env.push((name.into(), value.into()));
    }

    /// Write a file below the folder.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn run(&self, program: &Path, args: &[&str], stdin: Option<&str>) -> Left {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path()).env_clear().envs(self.env.iter().cloned());
        command
            .stdin(stdin.map_or_else(Stdio::null, |name| std::fs::File::open(self.path().join(name)).unwrap().into()));
        let done = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut files = BTreeMap::new();
        let written = self.path().join("written");
        collect(&written, &written, &mut files);
        Left { code: done.status.code().unwrap(), out: text(&done.stdout), err: text(&done.stderr), files }
    }

    pub(crate) fn helm(&self, args: &[&str]) -> Left {
        self.run(&self.helm, args, None)
    }

    pub(crate) fn helmrel(&self, args: &[&str]) -> Left {
        self.run(Path::new(env!("CARGO_BIN_EXE_helmrel")), args, None)
    }

    /// Run both, after each other, and say what is not equal. Files belong below `written/`.
    pub(crate) fn compare(&self, args: &[&str], stdin: Option<&str>) -> Result<Left, String> {
        let written = self.path().join("written");
        let _ = std::fs::remove_dir_all(&written);
        let want = self.run(&self.helm, args, stdin);
        let _ = std::fs::remove_dir_all(&written);
        let got = self.run(Path::new(env!("CARGO_BIN_EXE_helmrel")), args, stdin);
        let shown = args.join(" ");
        if want.code != got.code {
            return Err(format!("{shown}: exit code {}, want {}: {}{}", got.code, want.code, got.err, want.err));
        }
        let error = |left: &Left| left.err.contains("Error: ").then(|| without_body(message(&left.err)));
        if error(&want) != error(&got) {
            return Err(format!("{shown}: error\n  {:?}\nwant\n  {:?}", error(&got), error(&want)));
        }
        if want.out != got.out {
            return Err(format!("{shown}: output: {}", first_difference(&want.out, &got.out)));
        }
        if want.err.contains("Use --debug") != got.err.contains("Use --debug") {
            return Err(format!("{shown}: the hint at --debug is only on one side"));
        }
        if want.files != got.files {
            return Err(format!("{shown}: files {:?}, want {:?}", got.files, want.files));
        }
        Ok(got)
    }
}

/// A registry's refusal up to its status: Helm's text goes on with the body of the answer, ours with the code's name.
fn without_body(mut text: String) -> String {
    const STATUS: &str = "response status code ";
    if let Some(at) = text.find(STATUS) {
        text.truncate(at + STATUS.len() + 3);
    }
    text
}

fn collect(top: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(top, &path, files);
        } else {
            let name = path.strip_prefix(top).unwrap().display().to_string();
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// Copy a folder.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}
