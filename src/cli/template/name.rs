//! The release's name and the chart, from what stands on the command line.
//!
//! Owns: `NAME CHART` against `--name-template` and `--generate-name`. Follows `NameAndChart` in Helm's install action.
//! The surprising thing: without a name it is always `release-name`; `--generate-name` changes nothing.

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use go_template::{FuncMap, Options, Set};
use go_value::Value;

use super::flags::Args;
use crate::host::SystemHost;

/// The name and the chart's reference.
///
/// # Errors
/// Helm's text.
pub(super) fn name_and_chart(args: &Args) -> Result<(String, &str)> {
    let template = args.name_template.as_deref().unwrap_or_default();
    match args.positional.as_slice() {
        [name, chart] => {
            if args.generate_name {
                bail!("cannot set --generate-name and also specify a name");
            }
            if !template.is_empty() {
                bail!("cannot set --name-template and also specify a name");
            }
            Ok((name.clone(), chart))
        }
        [chart] if !template.is_empty() => Ok((rendered(template)?, chart)),
        [chart] => Ok(("release-name".into(), chart)),
        [_, _, more @ ..] => bail!("expected at most two arguments, unexpected arguments: {}", more.join(", ")),
        [] => bail!("\"helmrel template\" requires at least 1 argument"),
    }
}

fn rendered(template: &str) -> Result<String> {
    const NAME: &str = "name-template";
    let mut functions = FuncMap::new();
    let host: Arc<dyn sprig::Host> = Arc::new(SystemHost::default());
    sprig::register(&mut functions, &host);
    let mut set = Set::new(NAME, functions);
    set.parse(NAME, template).map_err(|e| anyhow!("{e}"))?;
    let out = set.execute(NAME, &Value::Nil, &Options::default(), &mut ()).map_err(|e| anyhow!("{e}"))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
