//! Helm's verbs against a cluster
