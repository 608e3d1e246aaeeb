//! A real control plane, a simulated kubelet, a chart repository and a counting proxy for tests
