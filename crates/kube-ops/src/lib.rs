//! What one can do to a cluster: apply, read, delete, wait, find drift
