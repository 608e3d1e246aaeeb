//! How the binary is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=hot.ld");
    // At a fixed address, as Go links Helm: otherwise the loader writes 70,000 pointers (1.6 MiB) at every start, most of
    // them places of panics, which is half of the time of a small `helmrel template`. Only this platform's linker is known
    // to take the option; the static target of the image has its own (see Dockerfile).
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bin=helmrel=-no-pie");
        // What a render calls stands in one place, since the kernel maps 64 KiB around each page of code that is used. The
        // names are those of an optimised build; others have too many functions for so many patterns.
        // `make hot`, which finds out which they are, does without: callgrind knows no other section of code than `.text`.
        println!("cargo:rerun-if-env-changed=HELMREL_WITHOUT_HOT");
        let wanted = std::env::var_os("HELMREL_WITHOUT_HOT").is_none();
        if wanted && target("ARCH") == "x86_64" && std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
            let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
            println!("cargo:rustc-link-arg-bin=helmrel=-Wl,-T,{folder}/hot.ld");
        }
    }
}
