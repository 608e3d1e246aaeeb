//! The order in which Helm installs and uninstalls kinds.
//!
//! Follows Helm 4's `kind_sorter.go`. The surprising things: the group does not count, and kinds that are not in the
//! list come last in both directions, by name.

const INSTALL: [&str; 38] = [
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

const UNINSTALL: [&str; 38] = [
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "APIService",
    "Ingress",
    "IngressClass",
    "Service",
    "CronJob",
    "Job",
    "StatefulSet",
    "HorizontalPodAutoscaler",
    "Deployment",
    "ReplicaSet",
    "ReplicationController",
    "Pod",
    "DaemonSet",
    "RoleBindingList",
    "RoleBinding",
    "RoleList",
    "Role",
    "ClusterRoleBindingList",
    "ClusterRoleBinding",
    "ClusterRoleList",
    "ClusterRole",
    "CustomResourceDefinition",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "StorageClass",
    "ConfigMap",
    "SecretList",
    "Secret",
    "ServiceAccount",
    "PodDisruptionBudget",
    "PodSecurityPolicy",
    "LimitRange",
    "ResourceQuota",
    "NetworkPolicy",
    "Namespace",
    "PriorityClass",
];

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindOrder {
    /// What others need comes first.
    Install,
    /// What needs others goes first.
    Uninstall,
}

impl KindOrder {
    /// A key that sorts kinds: known ones by their place, unknown ones after them by name.
    pub fn key(self, kind: &str) -> (usize, &str) {
        let list = match self {
            Self::Install => &INSTALL,
            Self::Uninstall => &UNINSTALL,
        };
        match list.iter().position(|k| *k == kind) {
            Some(place) => (place, ""),
            None => (list.len(), kind),
        }
    }

    /// Sort items by kind; equals keep their order.
    pub fn sort_by_kind<T>(self, items: &mut [T], kind: impl Fn(&T) -> &str) {
        items.sort_by(|a, b| self.key(kind(a)).cmp(&self.key(kind(b))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_kinds_come_last_by_name() {
        let mut kinds = vec!["Zed", "Service", "Alpha", "Namespace", "Deployment", "Service"];
        KindOrder::Install.sort_by_kind(&mut kinds, |k| k);
        assert_eq!(kinds, ["Namespace", "Service", "Service", "Deployment", "Alpha", "Zed"]);
        KindOrder::Uninstall.sort_by_kind(&mut kinds, |k| k);
        assert_eq!(kinds, ["Service", "Service", "Deployment", "Namespace", "Alpha", "Zed"]);
    }
}
