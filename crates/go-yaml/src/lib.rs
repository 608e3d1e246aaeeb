//! YAML with the rules of go-yaml and sigs.k8s.io/yaml, both ways.
//!
//! Owns: reading YAML as Helm and Kubernetes read it (YAML 1.1 scalars, merge keys, the trip through JSON, the texts of
//! errors) and writing it byte for byte as `toYaml`, `toYamlPretty` and Flux's config digest need it.
//! Does not own: splitting rendered templates into manifests, JSON text ([`go_value::json`]).
//! Upstream: go.yaml.in/yaml v2 and v3, sigs.k8s.io/yaml.
//! The surprising thing: nothing here is "the YAML specification". Where go-yaml deviates, so do we.

mod decode;
mod document;
mod emit;
mod encode;
mod error;
pub mod limits;
pub mod located;
mod order;
mod parse;
mod quick;
mod resolve;
mod scan;
mod target;
mod timestamp;
mod tree;

pub use document::{
    Duplicates, decode, decode_json, decode_json_entries, decode_json_stream, decode_list, decode_map, decode_with,
    scalar_as_string, split,
};
pub use encode::{encode, encode_json, encode_pretty, encode_sorted, from_json};
pub use error::Error;
