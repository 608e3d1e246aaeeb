//! Pure functions over Kubernetes objects: status, order, ownership, patches, differences, masking
