//! Flux's resource types: HelmRelease and the sources
