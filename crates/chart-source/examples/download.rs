//! `download URL FILE`: what `hack/tools.sh` fetches releases with where there is neither curl nor wget.

#![expect(clippy::print_stderr)] // A program of its own, for a script.

use std::process::ExitCode;

use chart_source::{Http, Settings};

/// The largest of the programs has 150 MiB.
const LIMIT: u64 = 1 << 30;

async fn download(url: &str, file: &str) -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings { timeout: std::time::Duration::from_mins(10), ..Settings::default() };
    let bytes = Http::new(&settings)?.get(&chart_source::http::parse_url(url)?, None, "release", LIMIT).await?;
    std::fs::write(file, bytes)?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, file] = arguments.as_slice() else {
        eprintln!("usage: download URL FILE");
        return ExitCode::from(2);
    };
    let Err(error) = download(url, file).await else { return ExitCode::SUCCESS };
    let mut cause = error.source();
    eprint!("download: {error}");
    while let Some(c) = cause {
        eprint!(": {c}");
        cause = c.source();
    }
    eprintln!();
    ExitCode::FAILURE
}
