//! Helm's rules without a cluster: charts, values, rendering, release records
