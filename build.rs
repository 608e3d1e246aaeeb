//! How the binary is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // At a fixed address, as Go links Helm: otherwise the loader writes 70,000 pointers (1.6 MiB) at every start, most of
    // them places of panics, which is half of the time of a small `helmrel template`. Only this platform's linker is known
    // to take the option; the static target of the image has its own (see Dockerfile).
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bin=helmrel=-no-pie");
    }
}
