//! What is printed of a rendered chart, or written to files.
//!
//! Owns: the order of manifest and hooks, `--show-only`, `--output-dir`. Follows Helm's `pkg/cmd/template.go` and
//! `renderResources`. The surprising things: the files under crds/ ignore `--release-name`; a hook is appended to a file
//! that is there already, be it from an earlier run; with `--output-dir` there is nothing left for `--show-only`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions, create_dir_all};
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use helm::HelmProfile;
use helm::manifest::{Manifest, Sourced, split};
use helm::release::{Hook, HookEvent};
use helm::render::Rendered;
use kube_object::order::KindOrder;

use super::super::Printer;
use super::super::values_args::go_io_error;
use super::flags::Args;

/// A hook as a document.
fn sourced(hook: &Hook) -> Sourced<'_> {
    Sourced { path: &hook.path, content: &hook.manifest }
}

/// The hooks that are shown.
fn hooks<'a>(hooks: &'a [Hook], args: &Args) -> impl Iterator<Item = &'a Hook> {
    let shown = if args.no_hooks { &[][..] } else { hooks };
    let skip_tests = args.skip_tests;
    shown.iter().filter(move |hook| !(skip_tests && hook.runs_at(HookEvent::Test)))
}

/// Write the manifest without space around it, then the hooks.
///
/// # Errors
/// What was written to fails.
pub(super) fn write(out: &mut dyn Write, rendered: &Rendered, args: &Args) -> io::Result<()> {
    let crds = if args.include_crds { &rendered.crds[..] } else { &[] };
    let crds = crds.iter().map(|crd| (&crd.path, String::from_utf8_lossy(&crd.file.data)));
    let documents = rendered.manifests.iter().map(|m| (&m.name, Cow::Borrowed(m.content.as_str())));
    let mut rest = crds.chain(documents).peekable();
    while let Some((path, content)) = rest.next() {
        let document = Sourced { path, content: &content };
        if rest.peek().is_some() {
            write!(out, "{document}")?;
        } else {
            out.write_all(document.to_string().trim_end().as_bytes())?;
        }
    }
    out.write_all(b"\n")?;
    for hook in hooks(&rendered.hooks, args) {
        write!(out, "{}", sourced(hook))?;
    }
    Ok(())
}

fn with_hooks(manifest: &str, all: &[Hook], args: &Args) -> String {
    let mut text = format!("{}\n", manifest.trim());
    for hook in hooks(all, args) {
        let _ = write!(text, "{}", sourced(hook));
    }
    text
}

/// What there is of a release whose documents are not all YAML: the files as they are, then the hooks that were found.
pub(super) fn unsorted(files: &BTreeMap<String, String>, args: &Args) -> String {
    let (mut manifest, mut found) = (String::new(), Vec::new());
    let mut broken = false;
    for (path, text) in files {
        if !text.trim().is_empty() {
            let _ = write!(manifest, "{}", Sourced { path, content: text });
        }
        // Files are read in this order, up to the first that is none.
        if !broken {
            match helm::manifest::hooks(path, text, args.helm_profile) {
                Ok(mut hooks) => {
                    KindOrder::Install.sort_by_kind(&mut hooks, |h| &h.kind);
                    found.extend(hooks);
                }
                Err(_) => broken = true,
            }
        }
    }
    with_hooks(&manifest, &found, args)
}

/// The documents of templates that match one of the patterns, in the order of the patterns.
///
/// # Errors
/// A pattern that matches nothing, in Helm's words.
pub(super) fn shown_only(text: &str, patterns: &[String], profile: HelmProfile) -> Result<String> {
    let documents = split(text, profile);
    let mut out = String::new();
    for pattern in patterns {
        let mut missing = true;
        for document in &documents {
            if source(document).is_some_and(|p| helm::chart::ignore::glob_match(pattern, p) == Some(true)) {
                let _ = write!(out, "---\n{document}\n");
                missing = false;
            }
        }
        if missing {
            bail!("could not find template {pattern} in chart");
        }
    }
    Ok(out)
}

/// The path below the chart of the template that a document came from: behind the first `# Source: CHART/`.
fn source(document: &str) -> Option<&str> {
    document.split("# Source: ").skip(1).find_map(|rest| {
        let (chart, path) = rest.lines().next()?.split_once('/')?;
        (!chart.is_empty() && !path.is_empty()).then_some(path)
    })
}

/// Write everything to files, and say so.
///
/// # Errors
/// A file or folder cannot be made.
pub(super) fn write_files(
    rendered: &Rendered,
    folder: &str,
    release: &str,
    args: &Args,
    printer: &Printer,
) -> Result<()> {
    let below = if args.release_name { join(folder, release) } else { folder.to_owned() };
    // Helm writes these where it renders, and takes their failure for one of rendering.
    write_manifests(rendered, folder, &below, args, printer).map_err(|e| if args.debug() { e } else { hinted(&e) })?;
    for hook in hooks(&rendered.hooks, args) {
        let there = Path::new(&below).join(&hook.path).exists();
        write_file(&below, &hook.path, &hook.manifest, there, printer)?;
    }
    Ok(())
}

fn write_manifests(rendered: &Rendered, folder: &str, below: &str, args: &Args, printer: &Printer) -> Result<()> {
    let mut written: Vec<&str> = Vec::new();
    for crd in rendered.crds.iter().filter(|_| args.include_crds) {
        let again = written.contains(&crd.path.as_str());
        write_file(folder, &crd.path, &String::from_utf8_lossy(&crd.file.data), again, printer)?;
        written.push(&crd.path);
    }
    for Manifest { name, content, .. } in &rendered.manifests {
        write_file(below, name, content, written.contains(&name.as_str()), printer)?;
        written.push(name);
    }
    Ok(())
}

/// An error with Helm's hint at a release that was rendered in part.
pub(super) fn hinted(error: &dyn std::fmt::Display) -> anyhow::Error {
    anyhow!("{error}\n\nUse --debug flag to render out invalid YAML")
}

/// Go's `filepath.Join`, which also tidies.
fn join(folder: &str, name: &str) -> String {
    Path::new(folder).join(name).components().collect::<std::path::PathBuf>().display().to_string()
}

fn write_file(folder: &str, name: &str, text: &str, append: bool, printer: &Printer) -> Result<()> {
    let path = format!("{folder}/{name}");
    let at = Path::new(&path);
    if let Some(parent) = at.parent() {
        let failed = |step: &str, e: &std::io::Error| anyhow!("{step} {}: {}", parent.display(), go_io_error(e));
        match parent.metadata() {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed("stat", &e)),
            _ => create_dir_all(parent).map_err(|e| failed("mkdir", &e))?,
        }
    }
    let file = if append { OpenOptions::new().append(true).open(at) } else { File::create(at) };
    let mut file = file.map_err(|e| anyhow!("open {path}: {}", go_io_error(&e)))?;
    write!(file, "{}", Sourced { path: name, content: text })
        .map_err(|e| anyhow!("write {path}: {}", go_io_error(&e)))?;
    printer.out(format!("wrote {path}\n"))?;
    Ok(())
}
