use super::*;

const INDEX: &str = r#"apiVersion: v1
entries:
  demo:
  - {name: demo, version: 1.2.0, urls: [charts/demo-1.2.0.tgz], created: "2024-01-01T00:00:00Z", digest: abc}
  - {name: demo, version: 1.10.0, urls: [a, b], deprecated: true}
  - {name: demo, version: 2.0.0-rc.1}
  - {name: demo, version: "1.10.0+late", created: "2024-02-01T00:00:00Z"}
  - {name: demo, version: "3.0"}
  - {name: demo, version: nonsense}
  - {name: ../demo, version: 9.0.0}
  - {version: 9.0.0}
  - {name: demo, version: 9.0.0, type: strange}
  - null
  other:
  - name: other
    version: 0.1.0
    description: |
      several
      lines
    maintainers:
    - name: x
    dependencies:
    - name: y
      import-values: [a, {child: b, parent: c}]
generated: "2024-01-01T00:00:00Z"
"#;

fn chosen(index: &Index, version: &str) -> String {
    index.choose("demo", version).map_or_else(|e| e.to_string(), |e| e.version.clone())
}

fn check(index: &Index) {
    assert_eq!(index.charts().collect::<Vec<_>>(), ["demo", "other"]);
    assert_eq!(index.versions("demo").len(), 5);
    assert_eq!(chosen(index, ""), "1.10.0+late");
    assert_eq!(chosen(index, "*"), "1.10.0+late");
    assert_eq!(chosen(index, "1.10.0"), "1.10.0");
    assert_eq!(chosen(index, "~1.2"), "1.2.0");
    assert_eq!(chosen(index, ">=2.0.0-0"), "2.0.0-rc.1");
    assert_eq!(chosen(index, "2.0.0-rc.1"), "2.0.0-rc.1");
    // Masterminds takes two parts, Flux does not; as an exact text it is found.
    assert_eq!(chosen(index, "3.0"), "3.0");
    assert_eq!(chosen(index, "3.x"), "no 'demo' chart with version matching '3.x' found");
    assert_eq!(index.choose("none", "").unwrap_err().to_string(), "no chart name found");
    let entry = index.choose("demo", "1.2.0").unwrap();
    assert_eq!(
        (entry.urls.as_slice(), entry.digest.as_deref()),
        (&["charts/demo-1.2.0.tgz".to_owned()][..], Some("abc"))
    );
    assert!(index.choose("demo", "1.10.0").unwrap().deprecated);
}

#[test]
fn yaml_and_json_say_the_same() {
    check(&Index::parse(INDEX.as_bytes()).unwrap());
    let json = go_yaml::decode_json(INDEX.as_bytes(), go_yaml::Duplicates::Refuse).unwrap();
    check(&Index::parse(json.to_string().as_bytes()).unwrap());
}

#[test]
fn aliases_are_read_as_well() {
    let text =
        "apiVersion: v1\nentries:\n  demo:\n  - &a {name: demo, version: 1.1.0}\n  - *a\n  - {<<: *a, urls: [x]}\n";
    let index = Index::parse(text.as_bytes()).unwrap();
    assert_eq!(chosen(&index, ""), "1.1.0");
}

fn error(text: &str) -> String {
    Index::parse(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn what_helm_refuses_is_refused_with_its_words() {
    assert_eq!(error(""), "failed to load index: empty index.yaml file");
    assert_eq!(error("entries: {}\n"), "failed to load index: no API version specified");
    assert_eq!(error("{\"entries\": {}}"), "failed to load index: no API version specified");
    assert!(error("apiVersion: v1\nentires: {}\n").ends_with("json: unknown field \"entires\""));
    assert!(error("apiVersion: v1\napiVersion: v1\n").contains("already set in map"));
    assert!(error("apiVersion: v1\nentries:\n  a:\n  - {name: a, nmae: b}\n").ends_with("unknown field \"nmae\""));
    assert!(error("apiVersion: v1\nentries: [").contains("yaml: "));
    assert!(error("<html><body>no</body></html>").contains("cannot unmarshal string"));
    assert!(error("apiVersion: v1\nentries: [a]\n").contains("while decoding JSON"));
}

#[test]
fn hostile_texts_end() {
    let deep = format!("apiVersion: v1\nannotations: {}", "[".repeat(100_000));
    assert!(!error(&deep).is_empty());
    assert!(!error(&format!("{{\"a\": {}", "[".repeat(100_000))).is_empty());
    assert!(!error("apiVersion: v1\nentries: !!\n  \u{1}").is_empty());
}

#[test]
fn unknown_json_fields_are_skipped() {
    let index = Index::parse(
        br#"{"apiVersion": "v1", "x": 1, "entries": {"a": [{"name": "a", "version": "1.0.0", "y": []}]}}"#,
    );
    assert_eq!(index.unwrap().versions("a").len(), 1);
}
