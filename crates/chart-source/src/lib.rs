//! From a reference to a chart: HTTP repositories, OCI registries, artifacts
