//! `helmrel diff` against a real API server: what it shows, what it hides, what it refuses, and how it ends.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use testkit::control_plane::run;
use testkit::{Archive, ChartBuilder, ChartRepo, ControlPlane};

use crate::lab::{self, Controller, Shown, condition};

const LIMIT: Duration = Duration::from_secs(30);

/// A namespace with a chart repository.
struct Desk {
    plane: Arc<ControlPlane>,
    client: kube::Client,
    repo: ChartRepo,
    namespace: String,
}

impl Desk {
    async fn new(charts: &[Archive]) -> Result<Self> {
        let plane = ControlPlane::shared().await;
        lab::add_kinds(&plane).await?;
        let namespace = plane.namespace("diff").await?;
        let repo = ChartRepo::start()?;
        for chart in charts {
            repo.add(chart);
        }
        let client = plane.client().await?;
        Ok(Self { plane, client, repo, namespace })
    }

    fn repository(&self) -> Value {
        lab::repository(&self.namespace, "repo", &self.repo.url())
    }

    fn release(&self, name: &str, chart: &str, version: &str, spec: &Value) -> Value {
        lab::release(&self.namespace, name, chart, version, spec)
    }

    fn secret(&self, values: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "values", "namespace": self.namespace},
            "stringData": {"values.yaml": values}})
    }

    /// Install something with the controller, and wait for it.
    async fn install(&self, name: &str, objects: &[Value]) -> Result<()> {
        lab::kubectl_apply(&self.plane, &[self.repository()])?;
        lab::kubectl_apply(&self.plane, objects)?;
        let controller = Controller::start(self.plane.kubeconfig(), &["--namespace", &self.namespace]).await?;
        let path = lab::path("helm.toolkit.fluxcd.io/v2", "HelmRelease", &self.namespace, name);
        let ready = lab::eventually(&format!("{name} is ready"), LIMIT, || async {
            let release = lab::read(&self.client, &path).await?.context("no release")?;
            let ready = condition(&release, "Ready").is_some_and(|c| c["status"] == "True");
            if let Some(c) = condition(&release, "Ready").filter(|c| c["reason"] == "InstallFailed") {
                bail!("{}", c["message"]);
            }
            Ok(if ready { Ok(()) } else { Err(release["status"].to_string()) })
        })
        .await;
        ready.map_err(|e| e.context(controller.log()))?;
        controller.stop().await
    }

    /// Preview a file of this text.
    fn diff_text(&self, file: &str, text: &str, flags: &[&str]) -> Result<Shown> {
        lab::diff(&self.plane, file, text, flags)
    }

    /// Preview these objects, with the repository.
    fn diff(&self, objects: &[Value]) -> Result<Shown> {
        let documents: Vec<String> = objects.iter().chain([&self.repository()]).map(ToString::to_string).collect();
        self.diff_text("objects.yaml", &documents.join("\n---\n"), &[])
    }

    fn kubectl(&self, args: &[&str]) -> Result<String> {
        run(self.plane.kubectl()?.args(["-n", &self.namespace]).args(args))
    }
}

/// A chart that writes a value of its own into all sorts of places.
fn leaky() -> Result<Archive> {
    ChartBuilder::new("leaky", "1.0.0")
        .template(
            "objects.yaml",
            r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  annotations:
    checksum/config: {{ .Values.password | sha256sum }}
    note: "the password is {{ .Values.password }}"
data:
  url: postgres://{{ .Values.user }}:{{ .Values.password }}@db:5432
  encoded: {{ .Values.password | b64enc }}
  config.ini: |
    greeting = {{ .Values.greeting }}
    password = {{ .Values.password }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: 0
  selector:
    matchLabels: {app: {{ .Release.Name }}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
    spec:
      containers:
      - name: main
        image: example.test/main:1
        env:
        - {name: PASSWORD, value: {{ .Values.password | quote }}}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Secret
  metadata:
    name: {{ .Release.Name }}-listed
  stringData:
    plain: in-the-chart-itself
    password: {{ .Values.password | quote }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-hook
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
data:
  password: {{ .Values.password | quote }}
"#,
        )
        .build()
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_secrets_stay_hidden_and_their_changes_show() -> Result<()> {
    let desk = Desk::new(&[leaky()?]).await?;
    let release = |greeting: &str| {
        let spec = json!({"valuesFrom": [{"kind": "Secret", "name": "values"}], "values": {"greeting": greeting}});
        desk.release("leaky", "leaky", "1.0.0", &spec)
    };
    let (old, new) = ("user: someone\npassword: 0ld-w0rd!\n", "user: someone\npassword: n3w-w0rd!\n");
    let hidden = [
        "0ld-w0rd",
        "n3w-w0rd",
        "someone",
        "MGxkLXcwcmQh",
        "bjN3LXcwcmQh",
        "in-the-chart-itself",
        "aW4tdGhlLWNoYXJ0LWl0c2VsZg==",
    ];

    let shown = desk.diff(&[desk.secret(old), release("hello")])?;
    shown.ended(1)?;
    shown.hides(&hidden)?;
    shown.has(&["url: postgres://***:***@db:5432", "note: the password is ***", "greeting = hello", "created"])?;

    desk.install("leaky", &[desk.secret(old), release("hello")]).await?;
    let shown = desk.diff(&[release("hello")])?;
    shown.ended(0)?;

    // What the Secret held before is in the cluster still, in the record and in the objects.
    let shown = desk.diff(&[desk.secret(new), release("welcome")])?;
    shown.ended(1)?;
    shown.hides(&hidden)?;
    shown.has(&[
        "-  url: postgres://***:*** (before)@db:5432",
        "+  url: postgres://***:*** (after)@db:5432",
        "-    greeting = hello",
        "+    greeting = welcome",
        "-    password = *** (before)",
        "+    password = *** (after)",
    ])?;
    shown.has(&[
        "value: '*** (before)'",
        "value: '*** (after)'",
        "-listed changed",
        "leaky-hook changed",
        "checksum",
    ])?;

    // Also when the reference itself goes.
    let shown = desk.diff(&[desk.release(
        "leaky",
        "leaky",
        "1.0.0",
        &json!({"values": {
        "greeting": "hello", "user": "nobody-else", "password": "in-the-open"}}),
    )])?;
    shown.ended(1)?;
    shown.hides(&hidden[..3])?;
    shown.has(&["postgres://nobody-else:in-the-open@db"])?;
    Ok(())
}

/// A chart with hooks that end at once.
fn hooked(version: &str, step: &str) -> Result<Archive> {
    let hook = |name: &str, events: &str, more: &str, data: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  annotations:\n    helm.sh/hook: {events}\n{more}data:\n  step: {data}\n---\n"
        )
    };
    let weight =
        "    helm.sh/hook-weight: \"-5\"\n    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded\n";
    let hooks = [
        hook("after", "post-install,post-upgrade", "", "same"),
        hook("second", "pre-install,pre-upgrade", "", "same"),
        hook("first", "pre-install,pre-upgrade", weight, step),
        hook(&format!("only-{}", version.replace('.', "-")), "pre-delete", "", "same"),
        hook("check", "test", "", "same"),
    ];
    // A Job's template cannot be changed: it is deleted first, so that is no refusal.
    let job = format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: job\n  annotations:\n    helm.sh/hook: pre-install,pre-upgrade\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{{name: main, image: \"example.test/job:{step}\"}}]\n"
    );
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n";
    ChartBuilder::new("hooked", version)
        .template("hooks.yaml", &hooks.concat())
        .template("job.yaml", &job)
        .template("map.yaml", object)
        .build()
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_and_tests_are_shown_in_order() -> Result<()> {
    let desk = Desk::new(&[hooked("1.0.0", "one")?, hooked("1.1.0", "two")?]).await?;
    let n = &desk.namespace;
    let release = |version: &str, spec: &Value| desk.release("hooked", "hooked", version, spec);
    let tested = json!({"test": {"enable": true}});
    let shown = desk.diff(&[release("1.0.0", &tested)])?;
    shown.ended(1)?;
    shown.has(&[
        &format!(
            "  hook pre-install: ConfigMap/{n}/first, weight -5, deleted by before-hook-creation, hook-succeeded; new
  hook pre-install: Job/{n}/job, weight 0, deleted by before-hook-creation; new
  hook pre-install: ConfigMap/{n}/second, weight 0, deleted by before-hook-creation; new
  hook post-install: ConfigMap/{n}/after, weight 0, deleted by before-hook-creation; new
  hook test: ConfigMap/{n}/check, weight 0, deleted by before-hook-creation; new\n"
        ),
        &format!("hook ConfigMap/{n}/first created"),
        "hooks: 6 new, 0 changed, 0 removed",
    ])?;
    desk.install("hooked", &[release("1.0.0", &json!({}))]).await?;

    let shown = desk.diff(&[release("1.1.0", &json!({}))])?;
    shown.ended(1)?;
    shown.has(&[
        &format!("hook pre-upgrade: ConfigMap/{n}/first, weight -5, deleted by before-hook-creation, hook-succeeded; changed\n"),
        &format!("hook pre-upgrade: ConfigMap/{n}/second, weight 0, deleted by before-hook-creation\n"),
        "note: tests are not run",
        "-  step: one\n+  step: two",
        &format!("hook Job/{n}/job changed\n"),
        &format!("hook ConfigMap/{n}/only-1-1-0 created"),
        &format!("hook ConfigMap/{n}/only-1-0-0 removed"),
        "0 created, 0 changed, 0 deleted, 1 unchanged\nhooks: 1 new, 2 changed, 1 removed\n",
    ])?;
    let shown = desk.diff(&[release("1.1.0", &json!({"upgrade": {"disableHooks": true}}))])?;
    shown.ended(1)?;
    shown.has(&["note: hooks are not run: spec.upgrade.disableHooks is set", "+  step: two"])?;
    shown.hides(&["hook pre-upgrade"])?;
    // Nothing was changed by looking.
    let left = desk.kubectl(&["get", "configmap", "-o", "name"])?;
    ensure!(!left.contains("only-") && left.contains("configmap/second"), "{left}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_the_server_would_not_take_are_refused() -> Result<()> {
    let desk = Desk::new(&[]).await?;
    let spec = |extra: &Value| desk.release("a", "none", "1.0.0", extra);
    let bad = format!("{}\n---\n{}\n", desk.repository(), spec(&json!({"intervall": "1m", "maxHistory": "3"})));
    let shown = desk.diff_text("bad.yaml", &bad, &[])?;
    shown.ended(2)?;
    let n = &desk.namespace;
    for part in [
        format!("bad.yaml, document 2: HelmRelease/{n}/a: unknown field \"spec.intervall\"\n"),
        format!("bad.yaml, document 2: HelmRelease/{n}/a: spec.maxHistory: must be of type integer, not string\n"),
    ] {
        ensure!(shown.err.contains(&part), "{part}: {}", shown.all());
    }
    ensure!(shown.out.is_empty(), "{}", shown.all());
    let list =
        json!({"apiVersion": "v1", "kind": "List", "items": [desk.repository(), spec(&json!({"values": 1, "x": 1}))]});
    let shown = desk.diff_text("list.json", &list.to_string(), &[])?;
    shown.ended(2)?;
    ensure!(shown.err.contains("list.json, item 2: HelmRelease"), "{}", shown.all());

    // The server's own verdict is the same.
    let cases = [
        json!({}),
        json!({"values": {"any": [1, null, {"a": 1}]}}),
        json!({"install": null}),
        json!({"intervall": "1m"}),
        json!({"interval": 5}),
        json!({"interval": "soon"}),
        json!({"upgrade": {"remediation": {"retries": 3, "retrys": 3}}}),
        json!({"upgrade": {"remediation": {"retries": "3"}}}),
        json!({"valuesFrom": [{"kind": "Secret", "name": "a", "optionl": true}]}),
        json!({"valuesFrom": [{"kind": "Secrets", "name": "a"}]}),
        json!({"valuesFrom": [{"kind": "Secret"}]}),
        json!({"driftDetection": {"mode": "on"}}),
        json!({"driftDetection": {"ignore": [{"paths": ["/a"], "target": {"kind": "Deployment", "nam": "a"}}]}}),
        json!({"chartRef": {"kind": "OCIRepository", "name": "a"}}),
        json!({"releaseName": ""}),
        json!({"releaseName": "a-very-long-name-that-is-longer-than-a-release-may-be-called"}),
        json!({"commonMetadata": {"labels": {"a": 1}}}),
        json!({"dependsOn": [{"name": "b", "namespac": "c"}]}),
        json!({"timeout": null}),
        json!({"interval": null}),
        json!({"postRenderers": [{"kustomize": {"patches": [{"patch": "a", "target": {"kind": "x"}}], "image": []}}]}),
        json!({"values": "text"}),
        json!({"maxHistory": 2.5}),
    ];
    let dir = tempfile::tempdir()?;
    for case in cases {
        let release = spec(&case);
        let file = dir.path().join("case.json");
        std::fs::write(&file, release.to_string())?;
        let theirs =
            run(desk.plane.kubectl()?.args(["apply", "--dry-run=server", "--validate=strict", "-f"]).arg(&file));
        let ours = desk.diff_text("case.yaml", &release.to_string(), &[])?;
        let refused = ours.err.contains("case.yaml: HelmRelease/");
        ensure!(theirs.is_err() == refused, "{case}: the server: {theirs:?}; ours: {}", ours.all());
    }
    Ok(())
}

fn definition(group: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: gadgets.{group}\nspec:\n  group: {group}\n  scope: Namespaced\n  names:\n    kind: Gadget\n    plural: gadgets\n    singular: gadget\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_refuses_is_told_and_the_rest_is_shown() -> Result<()> {
    let service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  ports: [{port: {{ .Values.port }}}]\n---\n";
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {policy: {{ .Values.policy | quote }}}\ndata: {greeting: {{ .Values.greeting | quote }}}\n---\n";
    let pod = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {{ .Release.Name }}\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  serviceAccountName: {{ .Release.Name }}\n  containers: [{name: main, image: example.test/main:1}]\n";
    let desk = Desk::new(&[
        ChartBuilder::new("tried", "1.0.0")
            .values("port: 80\npolicy: good\ngreeting: hello\n")
            .template("objects.yaml", &format!("{service}{map}"))
            .build()?,
        ChartBuilder::new("pod", "1.0.0").template("objects.yaml", pod).build()?,
    ])
    .await?;
    let n = &desk.namespace;
    let values = |port: i64, policy: &str| json!({"values": {"port": port, "policy": policy, "greeting": "hi"}});
    let release = |spec: &Value| desk.release("tried", "tried", "1.0.0", spec);

    // A field out of range, in an object that is new.
    let shown = desk.diff(&[release(&values(99999, "good"))])?;
    shown.ended(2)?;
    shown.has(&[
        &format!("Service/{n}/tried created, refused by the server"),
        &format!("ConfigMap/{n}/tried created\n"),
    ])?;
    ensure!(
        shown.err.contains(&format!("HelmRelease {n}/tried: Service/{n}/tried would be refused: "))
            && shown.err.contains("spec.ports[0].port")
            && shown.err.contains("1 object(s) would be refused"),
        "{}",
        shown.all()
    );

    // A quota.
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none", "namespace": n},
        "spec": {"hard": {"services": "0"}}});
    lab::kubectl_apply(&desk.plane, &[quota])?;
    lab::eventually("the quota holds", LIMIT, || async {
        let quota = lab::read(&desk.client, &lab::path("v1", "ResourceQuota", n, "none")).await?.unwrap_or_default();
        let counted = quota["status"]["hard"]["services"] == "0" && quota["status"]["used"]["services"] == "0";
        Ok(if counted { Ok(()) } else { Err(quota.to_string()) })
    })
    .await?;
    let shown = desk.diff(&[release(&values(80, "good"))])?;
    shown.ended(2)?;
    ensure!(shown.err.contains("exceeded quota: none"), "{}", shown.all());
    desk.kubectl(&["delete", "resourcequota", "none"])?;

    // An admission policy, about an object that is there.
    desk.install("tried", &[release(&values(80, "good"))]).await?;
    let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": n}, "spec": {"failurePolicy": "Fail",
        "matchConstraints": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": n}},
            "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                "resources": ["configmaps"]}]},
        "validations": [{"expression": "!has(object.metadata.labels) || !('policy' in object.metadata.labels) || object.metadata.labels['policy'] != 'bad'",
            "message": "bad policies are not allowed"}]}});
    let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": n}, "spec": {"policyName": n, "validationActions": ["Deny"]}});
    lab::kubectl_apply(&desk.plane, &[policy, binding])?;
    lab::eventually("the policy holds", LIMIT, || async {
        let refused = desk.kubectl(&["label", "configmap", "tried", "policy=bad", "--overwrite", "--dry-run=server"]);
        Ok(if refused.is_err() { Ok(()) } else { Err("it does not".to_owned()) })
    })
    .await?;
    let shown = desk.diff(&[release(&values(81, "bad"))])?;
    shown.ended(2)?;
    shown.has(&[
        &format!("ConfigMap/{n}/tried changed, refused by the server"),
        "-    policy: good\n+    policy: bad",
        &format!("Service/{n}/tried changed\n"),
    ])?;
    ensure!(shown.err.contains("bad policies are not allowed"), "{}", shown.all());
    desk.kubectl(&["delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", n])?;

    // Someone without rights.
    lab::kubectl_apply(
        &desk.plane,
        &[
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader", "namespace": n}}),
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "reader", "namespace": n},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": n}]}),
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "reader", "namespace": n},
            "rules": [{"apiGroups": [""], "resources": ["*"], "verbs": ["get", "list"]}]}),
        ],
    )?;
    let mut spec = values(80, "good");
    spec["serviceAccountName"] = json!("reader");
    spec["values"]["greeting"] = json!("good day");
    let text = format!("{}\n---\n{}", desk.repository(), release(&spec));
    let shown = desk.diff_text("objects.yaml", &text, &["--impersonate"])?;
    shown.ended(2)?;
    shown.has(&["+  greeting: good day"])?;
    ensure!(shown.err.contains("is forbidden: User"), "{}", shown.all());

    // What cannot be tried is no error.
    let shown = desk.diff(&[desk.release("pod", "pod", "1.0.0", &json!({}))])?;
    shown.ended(1)?;
    shown.has(&[&format!(
        "  not tried: it needs ServiceAccount/{n}/pod, which the same action creates: Pod/{n}/pod\n"
    )])?;
    let away = json!({"targetNamespace": "diff-nowhere", "install": {"createNamespace": true}});
    let shown = desk.diff(&[release(&away)])?;
    shown.ended(1)?;
    shown.has(&["  not tried: the namespace diff-nowhere is not there: ConfigMap/diff-nowhere/"])?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_that_come_with_the_chart_have_their_scope() -> Result<()> {
    let gadget = |group: &str| {
        format!("apiVersion: {group}/v1\nkind: Gadget\nmetadata:\n  name: {{{{ .Release.Name }}}}\nspec: {{}}\n")
    };
    let desk = Desk::new(&[
        ChartBuilder::new("under-crds", "1.0.0")
            .file("crds/gadget.yaml", definition("crds.diff.example.com"))
            .template("gadget.yaml", &gadget("crds.diff.example.com"))
            .build()?,
        ChartBuilder::new("rendered", "1.0.0")
            .template("crd.yaml", &definition("rendered.diff.example.com"))
            .template("gadget.yaml", &gadget("rendered.diff.example.com"))
            .build()?,
    ])
    .await?;
    let n = &desk.namespace;
    let shown = desk.diff(&[desk.release("one", "under-crds", "1.0.0", &json!({}))])?;
    shown.ended(1)?;
    shown.has(&[
        "CustomResourceDefinition/gadgets.crds.diff.example.com created",
        &format!("Gadget/{n}/one created\n"),
        &format!("+  namespace: {n}\n"),
        &format!("  not tried: the kind comes with the same chart: Gadget/{n}/one\n"),
    ])?;
    // A definition among the templates comes too late: the action maps all objects to kinds first.
    let shown = desk.diff(&[desk.release("two", "rendered", "1.0.0", &json!({}))])?;
    shown.ended(2)?;
    shown.has(&[&format!("Gadget/{n}/two created, refused by the server\n")])?;
    ensure!(shown.err.contains("no matches for kind \"Gadget\""), "{}", shown.all());
    let failed = desk.install("two", &[desk.release("two", "rendered", "1.0.0", &json!({}))]).await;
    ensure!(failed.is_err_and(|e| format!("{e:#}").contains("no matches for kind")), "it works");
    Ok(())
}

/// A chart with one ConfigMap that is named as the release.
fn one_map(name: &str, extra: &str) -> Result<Archive> {
    let map = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{{{ .Release.Name }}}}\ndata:\n  chart: {{{{ .Chart.Name }}}}\n---\n{extra}"
    );
    ChartBuilder::new(name, "1.0.0").template("objects.yaml", &map).build()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_file_of_a_stalled_release_plans_nothing() -> Result<()> {
    let wrong = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  ports: []\n";
    let desk = Desk::new(&[one_map("wrong", wrong)?]).await?;
    let release = desk.release("stuck", "wrong", "1.0.0", &json!({"values": {"a": null, "b": 1}}));
    lab::kubectl_apply(&desk.plane, &[desk.repository()])?;
    lab::kubectl_apply(&desk.plane, std::slice::from_ref(&release))?;
    let controller = Controller::start(desk.plane.kubeconfig(), &["--namespace", &desk.namespace]).await?;
    let path = lab::path("helm.toolkit.fluxcd.io/v2", "HelmRelease", &desk.namespace, "stuck");
    lab::eventually("it is stalled", LIMIT, || async {
        let release = lab::read(&desk.client, &path).await?.context("no release")?;
        let stalled = condition(&release, "Stalled").is_some_and(|c| c["status"] == "True");
        Ok(if stalled { Ok(()) } else { Err(release["status"].to_string()) })
    })
    .await?;
    controller.stop().await?;
    let shown = desk.diff(&[release])?;
    shown.ended(0)?;
    shown.has(&["stuck: nothing (it is stalled: Failed to install after 1 attempt(s)"])?;
    // Another spec is another try.
    let shown = desk.diff(&[desk.release("stuck", "wrong", "1.0.0", &json!({"values": {"b": 2}}))])?;
    shown.has(&["upgrade to wrong@1.0.0"])
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_with_a_move_and_comes_back_is_told_as_that() -> Result<()> {
    let gone = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-gone\n";
    let desk = Desk::new(&[one_map("first", gone)?, one_map("second", "")?]).await?;
    desk.install("moved", &[desk.release("moved", "first", "1.0.0", &json!({}))]).await?;
    let shown = desk.diff(&[desk.release("moved", "second", "1.0.0", &json!({}))])?;
    shown.ended(1)?;
    let of = |name: &str| format!("ConfigMap/{}/{name}", desk.namespace);
    shown.has(&[
        &format!("{} deleted and created again\n", of("moved")),
        "-  chart: first\n+  chart: second",
        &format!("{} deleted\n", of("moved-gone")),
        "1 deleted and created again, 0 created, 0 changed, 1 deleted, 0 unchanged",
    ])?;
    shown.hides(&[&format!("{} changed", of("moved")), &format!("{} deleted\n", of("moved"))])?;
    // Nothing about the objects is different, and still they go for a while.
    let elsewhere = json!({"storageNamespace": "default"});
    let shown = desk.diff(&[desk.release("moved", "first", "1.0.0", &elsewhere)])?;
    shown.ended(1)?;
    shown.has(&["2 deleted and created again, 0 created, 0 changed, 0 deleted, 0 unchanged"])
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ends_before_it_begins_is_an_error() -> Result<()> {
    let desk = Desk::new(&[one_map("plain", "")?]).await?;
    desk.install("away", &[desk.release("away", "plain", "1.0.0", &json!({}))]).await?;
    run(desk.plane.helm4()?.args(["-n", &desk.namespace, "uninstall", "--keep-history", "away"]))?;
    let shown = desk.diff(&[desk.release("away", "plain", "1.0.0", &json!({}))])?;
    shown.ended(2)?;
    let failed = format!("Helm upgrade failed for release {}/away with chart plain@1.0.0", desk.namespace);
    ensure!(shown.err.contains(&format!("{failed}: \"away\" has no deployed releases")), "{}", shown.all());
    shown.hides(&["created,"])?;

    desk.kubectl(&["create", "configmap", "taken"])?;
    let untaken = json!({"install": {"disableTakeOwnership": true}});
    let shown = desk.diff(&[desk.release("taken", "plain", "1.0.0", &untaken)])?;
    shown.ended(2)?;
    ensure!(
        shown.err.contains("Helm install failed") && shown.err.contains("invalid ownership metadata"),
        "{}",
        shown.all()
    );
    desk.diff(&[desk.release("taken", "plain", "1.0.0", &json!({}))])?.ended(1)?;

    let depends = json!({"dependsOn": [{"name": "away", "readyExpr": "dep.status.("}]});
    let shown = desk.diff(&[desk.release("circle", "plain", "1.0.0", &depends)])?;
    shown.ended(2)?;
    ensure!(shown.err.contains("would be stalled") && shown.err.contains("terminal error"), "{}", shown.all());
    shown.hides(&["ConfigMap/"])
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_the_upgrade_of_a_client_side_release_removes_are_shown() -> Result<()> {
    let deployment = r"apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: main, image: 'example.test/a:1', env: {{ toJson .Values.env }}}]}
";
    let chart = ChartBuilder::new("env", "1.0.0").values("env: []\n").template("object.yaml", deployment).build()?;
    let desk = Desk::new(std::slice::from_ref(&chart)).await?;
    let (a, b) = (json!({"name": "A", "value": "from-a"}), json!({"name": "B", "value": "from-b"}));
    let url = desk.repo.url();
    run(desk
        .plane
        .helm3()?
        .args(["-n", &desk.namespace, "install", "three", "env", "--repo", &url, "--set-json"])
        .arg(format!("env={}", json!([a, b]))))?;
    let shown = desk.diff(&[desk.release("three", "env", "1.0.0", &json!({"values": {"env": [b]}}))])?;
    shown.ended(1)?;
    shown.has(&["0 created, 1 changed, 0 deleted, 0 unchanged", "from-a"])?;
    ensure!(shown.out.lines().any(|l| l.starts_with('-') && l.contains("from-a")), "{}", shown.all());
    desk.install("three", &[desk.release("three", "env", "1.0.0", &json!({"values": {"env": [b]}}))]).await?;
    let live = desk.kubectl(&["get", "deployment", "three", "-o", "jsonpath={..env[*].name}"])?;
    ensure!(live.trim() == "B", "{live}");
    desk.diff(&[desk.release("three", "env", "1.0.0", &json!({"values": {"env": [b]}}))])?.ended(0)
}
