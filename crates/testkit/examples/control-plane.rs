//! Start a control plane with simulated pods and keep it until this process ends:
//! `cargo run -p testkit --example control-plane`, then `export KUBECONFIG=…` as it says.

use testkit::ControlPlane;

#[tokio::main]
#[allow(clippy::print_stdout)] // Its only output.
async fn main() -> anyhow::Result<()> {
    let plane = ControlPlane::start().await?;
    println!("export KUBECONFIG={}", plane.kubeconfig_path().display());
    tokio::signal::ctrl_c().await?;
    Ok(())
}
