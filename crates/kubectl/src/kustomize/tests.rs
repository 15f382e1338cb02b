//! An overlay with one of everything; what the real program made of it.

use super::*;
use kubestep_model::Instant;
use std::collections::BTreeMap;

fn built(files: &[(&str, &str)], folder: &str) -> Result<String, String> {
    let files: BTreeMap<String, String> =
        files.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
    let kc = Kc::new(&files, "default".into(), Instant::START, &[]);
    let texts: Vec<String> = build(&kc, folder)?.iter().map(|v| yaml::to_yaml(v)).collect();
    Ok(texts.join("---\n"))
}

const KUSTOMIZATION: &str = r#"apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namePrefix: dev-
nameSuffix: -v2
namespace: shop
labels:
- pairs: {team: red}
  includeSelectors: true
commonAnnotations: {note: hello}
resources: [web.yaml]
images:
- {name: example/web, newTag: "2"}
replicas:
- {name: web, count: 4}
configMapGenerator:
- name: settings
  literals: [A=1, B=two]
secretGenerator:
- name: pass
  literals: [P=x]
patches:
- patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      template:
        spec:
          containers:
          - name: web
            env: [{name: X, value: "1"}]
- target: {kind: Deployment}
  patch: |-
    - op: add
      path: /metadata/labels
      value: {extra: "yes"}
"#;

const WEB: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example/web:1
        envFrom:
        - configMapRef: {name: settings}
        - secretRef: {name: pass}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
"#;

const BUILT: &str = r#"apiVersion: v1
data:
  A: "1"
  B: two
kind: ConfigMap
metadata:
  annotations:
    note: hello
  labels:
    team: red
  name: dev-settings-v2-6b56fdfggc
  namespace: shop
---
apiVersion: v1
data:
  P: eA==
kind: Secret
metadata:
  annotations:
    note: hello
  labels:
    team: red
  name: dev-pass-v2-d292k9tbmg
  namespace: shop
type: Opaque
---
apiVersion: v1
kind: Service
metadata:
  annotations:
    note: hello
  labels:
    team: red
  name: dev-web-v2
  namespace: shop
spec:
  ports:
  - port: 80
  selector:
    app: web
    team: red
---
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    note: hello
  labels:
    extra: "yes"
    team: red
  name: dev-web-v2
  namespace: shop
spec:
  replicas: 4
  selector:
    matchLabels:
      app: web
      team: red
  template:
    metadata:
      annotations:
        note: hello
      labels:
        app: web
        team: red
    spec:
      containers:
      - env:
        - name: X
          value: "1"
        envFrom:
        - configMapRef:
            name: dev-settings-v2-6b56fdfggc
        - secretRef:
            name: dev-pass-v2-d292k9tbmg
        image: example/web:2
        name: web
"#;

#[test]
fn an_overlay_is_built_as_upstream_builds_it() {
    let files = [("kustomization.yaml", KUSTOMIZATION), ("web.yaml", WEB)];
    assert_eq!(built(&files, ".").unwrap(), BUILT);
    // Names follow through two layers; the hash comes last, once.
    let top = "resources: [../base]\nnamePrefix: top-\npatches:\n- target: {kind: Deployment, name: web}\n  patch: '[{\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 9}]'\n";
    let files = [
        ("over/kustomization.yaml", top),
        ("base/kustomization.yaml", KUSTOMIZATION),
        ("base/web.yaml", WEB),
    ];
    let two = built(&files, "over").unwrap();
    for line in
        ["  name: top-dev-web-v2", "            name: top-dev-settings-v2-6b56fdfggc", "  replicas: 9"]
    {
        assert!(two.contains(&format!("{line}\n")), "{line}\n{two}");
    }
}

#[test]
fn what_is_not_understood_is_refused_by_its_name() {
    for (text, want) in [
        ("components: [a]", "kustomization.yaml: components: Kubestep does not do this"),
        ("nothing: 1", "invalid Kustomization: json: unknown field \"nothing\""),
        (
            "resources: [https://example.com/a]",
            "https://example.com/a: Kubestep does not read from the network",
        ),
        ("resources: [..]", "'..' leads out of the editor's files"),
        ("replicas: [{name: web, count: 1}]", "resource with name web does not match"),
        (
            "patches: [{patch: '{kind: Pod, apiVersion: v1, metadata: {name: a}}'}]",
            "no resource matches strategic merge patch",
        ),
        ("configMapGenerator: [{name: a, literals: [b]}]", "invalid literal source b, expected key=value"),
    ] {
        let why = built(&[("kustomization.yaml", text)], "").unwrap_err();
        assert!(why.starts_with(want), "{text}: {why}");
    }
    assert!(built(&[], ".").unwrap_err().starts_with("unable to find one of 'kustomization.yaml'"));
    assert!(built(&[], "nowhere").unwrap_err().starts_with("must build at directory: not a valid directory"));
}
