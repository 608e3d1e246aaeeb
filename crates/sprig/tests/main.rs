//! The vectors in `testdata/functions.tsv`, made with sprig itself by `testdata/oracle`, and what cannot have vectors.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::path::Path;
use std::sync::Arc;

use go_template::{FuncMap, Options, Set};
use go_value::{Value, json};
use sprig::{FixedHost, Host};

fn host() -> Arc<dyn Host> {
    Arc::new(FixedHost::new("2026-11-30T12:00:00Z".parse().unwrap(), 1))
}

/// What the oracle's program has as data.
fn data() -> Value {
    let program =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/oracle/main.go")).unwrap();
    let start = program.find("const data = `").unwrap() + "const data = `".len();
    let end = start + program[start..].find('`').unwrap();
    json::decode(&program.as_bytes()[start..end]).unwrap()
}

fn run(template: &str) -> String {
    let mut functions = FuncMap::new();
    sprig::register(&mut functions, &host());
    let mut set = Set::new("t", functions);
    if let Err(e) = set.parse("t", template) {
        return format!("! {e}");
    }
    match set.execute("t", &data(), &Options::default(), &mut ()) {
        Err(e) => format!("! {e}"),
        Ok(out) => {
            // As the oracle's JSON shows bytes that are not UTF-8.
            let mut text = String::new();
            for chunk in out.utf8_chunks() {
                text.push_str(chunk.valid());
                chunk.invalid().iter().for_each(|_| text.push('\u{fffd}'));
            }
            text
        }
    }
}

#[test]
fn vectors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/functions.tsv");
    let only = std::env::var("ONLY").unwrap_or_default();
    let (mut all, mut wrong) = (0, 0);
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let fields: Vec<Value> = line.split('\t').map(|f| json::decode(f.as_bytes()).unwrap()).collect();
        let (template, want) = (fields[0].as_str().unwrap().to_string(), fields[1].as_str().unwrap().to_string());
        if !template.contains(&only) {
            continue;
        }
        all += 1;
        let got = run(&template);
        if got != want {
            wrong += 1;
            if wrong < 80 {
                println!("{template}\n  want {want:?}\n  got  {got:?}");
            }
        }
    }
    println!("{} of {all} equal", all - wrong);
    assert_eq!(wrong, 0);
}

#[test]
fn all_of_sprigs_functions_are_there() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/names.txt");
    let names = std::fs::read_to_string(path).unwrap();
    let mut functions = FuncMap::new();
    sprig::register(&mut functions, &host());
    // Helm takes these two out.
    let want: Vec<&str> = names.lines().filter(|n| !matches!(*n, "env" | "expandenv")).collect();
    assert_eq!(functions.names(), want);
}

#[test]
fn clock_and_chance_come_from_the_host() {
    assert_eq!(run("{{ now | date \"2006-01-02 15:04:05\" }}"), "2026-11-30 12:00:00");
    assert_eq!(run("{{ ago (int64 1796039990) }}"), "10s");
    assert_eq!(run("{{ date \"2006\" \"no time\" }}"), "2026");
    assert_eq!(run("{{ durationRound (now | dateModify \"-50h\") }}"), "2d");
    assert_eq!(run("{{ uuidv4 }}"), run("{{ uuidv4 }}"));
    for (template, pattern) in [
        ("{{ uuidv4 }}", "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"),
        ("{{ randAlphaNum 200 }}", "^[0-9A-Za-z]{200}$"),
        ("{{ randAlpha 200 }}", "^[A-Za-z]{200}$"),
        ("{{ randNumeric 20 }}", "^[0-9]{20}$"),
        ("{{ randAscii 200 }}", "^[ -~]{200}$"),
        ("{{ randBytes 16 }}", "^[0-9A-Za-z+/]{22}==$"),
        ("{{ toString (randInt 5 8) }}", "^[567]$"),
        ("{{ shuffle \"abc\" }}", "^[abc]{3}$"),
        ("{{ htpasswd \"u\" \"p\" }}", "^u:\\$2a\\$10\\$[./0-9A-Za-z]{53}$"),
        ("{{ randAlpha -1 }}", "^$"),
    ] {
        let check = format!("{{{{ regexMatch {pattern:?} .s }}}}")
            .replace(".s", &format!("({})", &template[3..template.len() - 3]));
        assert_eq!(run(&check), "true", "{template}: {}", run(template));
    }
    assert_eq!(run("{{ decryptAES \"k\" (encryptAES \"k\" \"some text of 20 bytes\") }}"), "some text of 20 bytes");
}

#[test]
fn what_contains_itself_is_an_error() {
    let text = run("{{ $_ := set .m \"self\" .m }}{{ deepCopy .m }}");
    assert!(text.starts_with("! "), "{text}");
    let text = run(
        "{{ $a := dict }}{{ $_ := set $a \"x\" $a }}{{ $b := dict }}{{ $_ := set $b \"x\" $b }}{{ has $a (list $b) }}",
    );
    assert!(text.contains("exceeded maximum depth (1000)"), "{text}");
    let text = run("{{ $_ := set .m \"self\" .m }}{{ mustToJson .m }}");
    assert!(text.ends_with("encountered a cycle via map[string]interface {}"), "{text}");
}

#[test]
fn certificates_and_keys() {
    let out = run(concat!(
        "{{ $ca := genCA \"my ca\" 10 }}",
        "{{ $c := genSignedCert \"host\" (list \"10.0.0.1\" \"::1\") (list \"a.example\" \"b\") 5 $ca }}",
        "{{ $ca.Cert }}{{ $c.Cert }}{{ $c.Key }}{{ typeOf $c }}",
    ));
    if let Some(dir) = std::env::var_os("SPRIG_PEM_DIR") {
        std::fs::write(Path::new(&dir).join("chain.pem"), &out).unwrap();
        for kind in ["rsa", "ecdsa", "ed25519", "dsa"] {
            let key = run(&format!("{{{{ genPrivateKey {kind:?} }}}}"));
            std::fs::write(Path::new(&dir).join(format!("{kind}.pem")), key).unwrap();
        }
    }
    assert_eq!(out.matches("-----BEGIN CERTIFICATE-----").count(), 2);
    assert_eq!(out.matches("-----BEGIN RSA PRIVATE KEY-----").count(), 1);
    assert!(out.ends_with("sprig.certificate"));
    for kind in ["ecdsa", "ed25519"] {
        let template = format!(
            "{{{{ $k := genPrivateKey {kind:?} }}}}{{{{ $ca := genCAWithKey \"ca\" 1 $k }}}}{{{{ $c := genSelfSignedCertWithKey \"c\" nil nil 1 $k }}}}{{{{ eq $c.Key $k }}}} {{{{ eq $ca.Key $k }}}}{{{{ with buildCustomCert (b64enc $ca.Cert) (b64enc $k) }}}} {{{{ eq .Cert $ca.Cert }}}}{{{{ end }}}}{{{{ $s := genSignedCertWithKey \"x\" nil (list \"x\") 1 $ca $k }}}} {{{{ hasPrefix \"-----BEGIN CERT\" $s.Cert }}}}"
        );
        assert_eq!(run(&template), "true true true true", "{kind}");
    }
    let text = run(
        "{{ $a := genCAWithKey \"a\" 1 (genPrivateKey \"ecdsa\") }}{{ $b := genCAWithKey \"b\" 1 (genPrivateKey \"ecdsa\") }}{{ genSignedCertWithKey \"x\" nil nil 1 (buildCustomCert (b64enc $a.Cert) (b64enc $b.Key)) $b.Key }}",
    );
    assert!(text.contains("provided PrivateKey doesn't match parent's PublicKey"), "{text}");
}
