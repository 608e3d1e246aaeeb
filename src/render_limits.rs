//! How far templates may go, for every command that renders.
//!
//! Owns: the flag, and the words that a limit's error ends with. Does not own: the limits (`go_template::Limits`).
//! Not Helm's: it has none. What the flag does not raise is fixed, and its error says so.

use helm::engine::Limits;

/// How far templates may go.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LimitsArgs {
    /// Let templates do N times as much as usual before they are stopped: steps, bytes of output, bytes of memory
    #[arg(
        long,
        env = "HELMREL_RENDER_LIMITS",
        hide_env_values = true,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    render_limits: u32,
}

impl LimitsArgs {
    /// The limits of a render.
    pub fn limits(self) -> Limits {
        let hint = "; allow more with --render-limits=2 or HELMREL_RENDER_LIMITS=2";
        Limits { hint, ..Limits::default() }.times(self.render_limits)
    }
}
