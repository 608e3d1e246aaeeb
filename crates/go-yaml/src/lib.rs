//! YAML with the rules of go-yaml and sigs.k8s.io/yaml, both ways
