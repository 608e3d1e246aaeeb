//! Tables of Helm's answers: templates, values, YAML both ways.

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::support::{all, folder, helmrel, message, squash};

fn table(folder: &Path, file: &str) -> Json {
    serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap()
}

fn write(folder: &Path, file: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The base64 texts in quotes that begin lines `NAME: "…"`.
fn quoted<'a>(out: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    out.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(": \"")?.strip_suffix('"'))
}

/// The day on which Helm answered; what asks the clock has it in its answer.
const RECORDED: &str = "2026-11-30";

fn today() -> String {
    jiff::Zoned::now().date().to_string()
}

#[test]
fn templates() {
    let Some(oracle) = folder("HELMREL_ORACLE") else { return };
    let table = table(&oracle, "tmpl-4.3.json");
    let values = table["values"].as_str().unwrap();
    all(table["cases"].as_array().unwrap(), |_, case| {
        let template = case["tmpl"].as_str().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let chart = dir.path().join("c");
        write(
            &chart,
            "Chart.yaml",
            "apiVersion: v2\nname: c\nversion: 0.1.0\nappVersion: \"1.16.0\"\ndescription: a chart\ntype: application\n\
             keywords: [k1, k2]\nmaintainers: [{name: m, email: m@x}]\nannotations: {note: yes please}\n",
        );
        write(&chart, "values.yaml", values);
        write(&chart, "files/a.txt", "line1\nline2\n\nline4");
        write(&chart, "files/b.bin", [0, 255, 10]);
        write(&chart, "files/sub/c.yaml", "x: 1\n");
        write(&chart, "templates/_helpers.tpl", "{{ define \"helper\" }}H-{{ .Release.Name }}{{ end }}");
        write(&chart, "templates/_case.tpl", template);
        write(
            &chart,
            "templates/out.yaml",
            "r: {{ include (print $.Template.BasePath \"/_case.tpl\") . | b64enc | quote }}\n",
        );
        let day = today();
        let run = helmrel(dir.path(), &["template", "r", "c", "-n", "demo", "--kube-version", "1.35.0"]);
        if let Some(want) = case["err"].as_str() {
            let (want, got) = (message(want), squash(&run.err));
            let same = !run.ok && got.contains(&want);
            return if same { Ok(()) } else { Err(format!("{template}: want {want}, got {got}")) };
        }
        let want = match case["ok_b64"].as_str() {
            Some(text) => STANDARD.decode(text).unwrap(),
            None => case["ok"].as_str().unwrap().into(),
        };
        let out = run.text();
        let got = quoted(&out, "r").next().and_then(|text| STANDARD.decode(text).ok());
        let text = String::from_utf8_lossy(&want);
        let is_today =
            |day: &String| text.contains(RECORDED) && got.as_deref() == Some(text.replace(RECORDED, day).as_bytes());
        if got.as_ref() == Some(&want) || [day, today()].iter().any(is_today) {
            Ok(())
        } else {
            Err(format!("{template}: {:.300} {:?}", run.err, got))
        }
    });
}

/// Numbers are equal by what they are: 1 and 1.0 are the same to Python, which made the table.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, a)| b.get(k).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

#[test]
fn values() {
    let Some(oracle) = folder("HELMREL_ORACLE") else { return };
    let table = table(&oracle, "values-4.3.json");
    all(table.as_array().unwrap(), |_, case| {
        let dir = tempfile::tempdir().unwrap();
        for (path, name, values) in
            [("p", "p", "parent"), ("p/charts/kid", "kid", "child"), ("p/charts/kid/charts/kid", "kid", "grand")]
        {
            let chart = dir.path().join(path);
            write(&chart, "Chart.yaml", format!("apiVersion: v2\nname: {name}\nversion: 0.1.0\n"));
            write(&chart, "values.yaml", case[values].to_string());
            write(&chart, "templates/o.yaml", "r: {{ .Values | toJson | b64enc | quote }}\n");
        }
        let mut args: Vec<String> =
            ["template", "r", "p", "-n", "demo", "--kube-version", "1.35.0"].map(String::from).into();
        for (i, file) in case["files"].as_array().into_iter().flatten().enumerate() {
            write(dir.path(), &format!("v{i}.yaml"), file.to_string());
            args.extend(["-f".into(), format!("v{i}.yaml")]);
        }
        for set in case["sets"].as_array().into_iter().flatten() {
            args.extend([set[0].as_str().unwrap().into(), set[1].as_str().unwrap().into()]);
        }
        let run = helmrel(dir.path(), &args);
        if let Some(want) = case["err"].as_str() {
            let same = !run.ok && message(&run.err).contains(&message(want));
            return if same { Ok(()) } else { Err(format!("{}: want {want}, got {}", case["sets"], run.err)) };
        }
        let mut got = json!({});
        let out = run.text();
        for document in out.split("# Source: ").skip(1) {
            let source = document.lines().next().unwrap_or_default();
            let text = quoted(document, "r").next().and_then(|t| STANDARD.decode(t).ok()).unwrap_or_default();
            got[source] = serde_json::from_slice(&text).unwrap_or_default();
        }
        if same(&got, &case["ok"]) {
            return Ok(());
        }
        Err(format!("parent {} sets {}: want {}, got {got} {}", case["parent"], case["sets"], case["ok"], run.err))
    });
}

/// A table of documents and what each expression makes of them, all in one render.
fn expressions(oracle: &Path, file: &str, before: &str, expressions: &[&str]) {
    let text = std::fs::read_to_string(oracle.join(file)).unwrap();
    let rows: Vec<Vec<String>> = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split('\t').map(|field| serde_json::from_str(field).unwrap()).collect())
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let chart = dir.path().join("c");
    write(&chart, "Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n");
    let docs: Vec<String> = rows.iter().map(|row| STANDARD.encode(&row[0])).collect();
    write(&chart, "values.yaml", json!({ "docs": docs }).to_string());
    let mut template = String::from("{{ range $i, $e := .Values.docs }}{{ $d := b64dec $e }}");
    template.push_str(before);
    template.push_str("\nr{{ $i }}: \"");
    for (i, expression) in expressions.iter().enumerate() {
        let _ = write!(template, "{}{{{{ {expression} | b64enc }}}}", if i > 0 { "," } else { "" });
    }
    template.push_str("\"{{ end }}\n");
    write(&chart, "templates/o.yaml", template);
    let run = helmrel(dir.path(), &["template", "r", "c"]);
    assert!(run.ok, "{}", run.err);
    let out = run.text();
    all(&rows, |i, row| {
        let name = format!("r{i}");
        let line = quoted(&out, &name).next().unwrap_or_default();
        let decode = |text| String::from_utf8_lossy(&STANDARD.decode(text).unwrap_or_default()).into_owned();
        let got: Vec<String> = line.split(',').map(decode).collect();
        let same = got == row[1..=expressions.len()];
        if same { Ok(()) } else { Err(format!("{:?}: want {:?}, got {got:?}", row[0], &row[1..])) }
    });
}

#[test]
fn yaml_both_ways() {
    let Some(oracle) = folder("HELMREL_ORACLE") else { return };
    expressions(
        &oracle,
        "yaml-oracle.tsv",
        "",
        &["fromYaml $d | toJson", "fromYaml $d | toYaml", "fromYaml $d | toYamlPretty", "fromYamlArray $d | toJson"],
    );
    expressions(
        &oracle,
        "yaml-emit-oracle.tsv",
        "{{ $j := fromJson $d }}",
        &["$j | toJson", "$j | toYaml", "$j | toYamlPretty", "$j | toYaml | fromYaml | toJson"],
    );
}
