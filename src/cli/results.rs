//! `results.json`, as an earlier run left it.

use crate::model::RunReport;
use serde::Deserialize;
use std::io::Read;

/// A larger one is not read.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Of a call with several plans.
#[derive(Deserialize)]
struct Several {
    #[serde(default)]
    plans: Vec<RunReport>,
}

/// The reports of all plans of one call, at least one.
///
/// # Errors
/// Why it can't be read; fragments that complete "failed to read …:".
pub fn read_results(input: impl Read) -> Result<Vec<RunReport>, String> {
    let mut bytes = Vec::new();
    let read = input
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if u64::try_from(read).is_ok_and(|read| read > MAX_BYTES) {
        return Err(format!("it has more than {MAX_BYTES} bytes"));
    }
    let of_one = serde_json::from_slice::<RunReport>(&bytes).map(|report| vec![report]);
    of_one
        .or_else(|error| {
            let several = serde_json::from_slice::<Several>(&bytes).map(|all| all.plans);
            several.ok().filter(|all| !all.is_empty()).ok_or(error)
        })
        .map_err(|error| format!("it is no results.json of jelly run: {error}"))
}
