//! Versions and ranges by the rules of Masterminds/semver v3
