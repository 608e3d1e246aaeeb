//! The binary: set the crypto provider up, hand over to the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    // One provider for every TLS connection of the process. It can only fail if someone was first, and nobody is.
    let _ = rustls::crypto::ring::default_provider().install_default();
    helmrel::cli::main()
}
