//! Random charts through our engine and through Helm 4.3.1, compared byte for byte: `make fuzz-diff`.
//!
//! Owns: the loop, the comparison, the search for a smaller case, what is written down. Does not own: what cases look
//! like (`case`), either answer (`ours`, `reference`). hack/fuzz-diff/run.sh says which variables are read. A finding
//! is a folder of its own: `case.json`, which crates/helm/testdata/fuzz takes as it is, the chart, and both answers.

#![expect(clippy::print_stdout, clippy::format_push_string, reason = "a tool for developers")]

mod case;
mod ours;
mod reference;
mod templates;
mod tree;
mod words;
mod yaml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use case::Case;
use ours::Answer;
use reference::Reference;
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

/// How long one finding may be made smaller.
const SHRINKING: Duration = Duration::from_secs(5);
/// How many findings of one kind are written down.
const ALIKE: usize = 2;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.is_empty())
}

fn main() -> Result<(), Failure> {
    let minutes: f64 = variable("MINUTES").map_or(Ok(5.0), |m| m.parse())?;
    let out = PathBuf::from(variable("OUT").unwrap_or_else(|| "target/fuzz-diff".into()));
    let mut helm = match (variable("FUZZ_ANSWERS"), variable("FUZZ_HELM")) {
        (Some(path), _) => Reference::program(path.into()),
        (None, Some(path)) => Reference::binary(path.into()),
        (None, None) => return Err("neither FUZZ_ANSWERS nor FUZZ_HELM is set; use make fuzz-diff".into()),
    };
    // Panics are findings; their texts would only be in the way.
    std::panic::set_hook(Box::new(|_| {}));
    if let Some(seed) = variable("CASE") {
        let case = Case::grow(seed.parse()?);
        let both = ask(&mut helm, &case)?;
        for (name, tree) in &case.parts {
            println!("==> {name}\n{}", tree.shown());
        }
        println!("==> Helm\n{}\n==> ours\n{}", both.0.as_ref().map_or("(none)".into(), shown), shown(&both.1));
        return Ok(());
    }
    let start = match variable("SEED") {
        Some(seed) => seed.parse()?,
        None => SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs() * 1_000_000,
    };
    let began = Instant::now();
    let end = began + Duration::from_secs_f64(minutes * 60.0);
    let (mut cases, mut rendered, mut silent, mut differ) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    while Instant::now() < end {
        let seed = start + cases;
        cases += 1;
        let case = Case::grow(seed);
        let both = ask(&mut helm, &case)?;
        silent += u64::from(both.0.is_none());
        rendered += u64::from(both.1.is_ok());
        if !differs(&both) {
            continue;
        }
        differ += 1;
        let kind = alike(&both);
        if kinds.get(&kind).is_some_and(|n| *n >= ALIKE) || !steady(&mut helm, &case)? {
            continue;
        }
        *kinds.entry(kind).or_default() += 1;
        let case = shrink(&mut helm, case)?;
        let both = ask(&mut helm, &case)?;
        let Some(theirs) = &both.0 else { continue };
        let small = format!("small {}", alike(&both));
        let known = kinds.entry(small).or_default();
        *known += 1;
        if *known <= ALIKE {
            write(&out.join(seed.to_string()), seed, &case, theirs, &both.1)?;
            println!("{}", summary(seed, &case, theirs, &both.1));
        }
    }
    let per_minute = cases as f64 * 60.0 / began.elapsed().as_secs_f64();
    println!(
        "{cases} cases from seed {start} on, {per_minute:.0} a minute; {rendered} rendered, {silent} without an answer of Helm's; \
         {differ} differ, {} kinds; see {}",
        kinds.keys().filter(|k| k.starts_with("small ")).count(),
        out.display()
    );
    if differ > 0 { Err("there are differences".into()) } else { Ok(()) }
}

type Both = (Option<Answer>, Answer);

fn ask(helm: &mut Reference, case: &Case) -> Result<Both, Failure> {
    let (files, user) = case.files();
    helm.ask(&files, &user)?;
    let ours = ours::answer(&files, &user);
    Ok((helm.answer(), ours))
}

fn differs(both: &Both) -> bool {
    both.0.as_ref().is_some_and(|theirs| *theirs != both.1)
}

/// Does Helm say the same each time? Go's maps have no order.
fn steady(helm: &mut Reference, case: &Case) -> Result<bool, Failure> {
    let first = ask(helm, case)?.0;
    for _ in 0..2 {
        if ask(helm, case)?.0 != first {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Take away as long as the answers still differ, and in the same way: error or output on the same sides.
fn shrink(helm: &mut Reference, mut case: Case) -> Result<Case, Failure> {
    let end = Instant::now() + SHRINKING;
    let shape = |b: &Both| (b.0.as_ref().is_some_and(Result::is_ok), b.1.is_ok());
    let want = shape(&ask(helm, &case)?);
    'again: loop {
        for smaller in case.smaller() {
            if Instant::now() > end {
                break 'again;
            }
            let both = ask(helm, &smaller)?;
            if differs(&both) && shape(&both) == want && steady(helm, &smaller)? {
                case = smaller;
                continue 'again;
            }
        }
        break;
    }
    Ok(case)
}

/// What findings of one kind have in common: the texts without numbers and what is quoted.
fn alike(both: &Both) -> String {
    let short = |a: &Answer| match a {
        Ok(_) => "output".to_owned(),
        Err(e) => {
            let mut out = String::new();
            let mut quoted = false;
            for c in e.chars() {
                match c {
                    '"' | '<' | '>' => quoted = !quoted && c != '>',
                    c if quoted || c.is_ascii_digit() => {}
                    c => out.push(c),
                }
            }
            out
        }
    };
    let mut kind = format!("{} / {}", both.0.as_ref().map_or("-".into(), &short), short(&both.1));
    if let (Some(Ok(a)), Ok(b)) = (&both.0, &both.1) {
        let at = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let around = |t: &[u8]| t.get(at.saturating_sub(2)..(at + 3).min(t.len())).map(<[u8]>::to_vec);
        kind.push_str(&format!("{:?} {:?}", around(a), around(b)));
    }
    kind
}

fn shown(answer: &Answer) -> String {
    match answer {
        Ok(text) => String::from_utf8_lossy(text).into_owned(),
        Err(text) => format!("Error: {text}"),
    }
}

fn summary(seed: u64, case: &Case, theirs: &Answer, ours: &Answer) -> String {
    let mut text = format!("==== {seed}\n");
    for (name, tree) in &case.parts {
        let part = tree.shown();
        if !part.is_empty() {
            text.push_str(&format!("{name}: {part:?}\n"));
        }
    }
    text.push_str(&format!("  Helm: {:?}\n  ours: {:?}", shown(theirs), shown(ours)));
    text
}

fn write(folder: &Path, seed: u64, case: &Case, theirs: &Answer, ours: &Answer) -> Result<(), Failure> {
    let (files, user) = case.files();
    for (name, data) in &files {
        let path = folder.join("chart").join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(path, data)?;
    }
    let texts: BTreeMap<&str, _> =
        files.iter().map(|(name, data)| (name.as_str(), String::from_utf8_lossy(data))).collect();
    let mut json = json!({"seed": seed, "files": texts, "values": String::from_utf8_lossy(&user)});
    match theirs {
        Ok(text) => match std::str::from_utf8(text) {
            Ok(text) => json["out"] = text.into(),
            Err(_) => json["out_b64"] = STANDARD.encode(text).into(),
        },
        Err(text) => json["err"] = text.as_str().into(),
    }
    std::fs::write(folder.join("values.yaml"), user)?;
    std::fs::write(folder.join("case.json"), format!("{json:#}\n"))?;
    std::fs::write(folder.join("helm.txt"), shown(theirs))?;
    std::fs::write(folder.join("ours.txt"), shown(ours))?;
    Ok(())
}
