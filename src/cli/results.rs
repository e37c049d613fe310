//! `results.json`, as an earlier run left it.

use super::refusal::Refusal;
use jelly_base::files::open_to_read;
use jelly_base::model::RunReport;
use jelly_base::text::sanitize;
use serde::Deserialize;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Its name.
pub const RESULTS: &str = "results.json";
/// A larger one is not read.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Of a call with several plans.
#[derive(Deserialize)]
struct Several {
    plans: Vec<RunReport>,
}

/// The reports of all plans of one call, at least one.
///
/// # Errors
/// Why it can't be read; fragments that complete "failed to read …:".
pub fn read_results(input: impl Read) -> Result<Vec<RunReport>, String> {
    let bytes = read_bytes(input)?;
    let of_one = serde_json::from_slice::<RunReport>(&bytes).map(|report| vec![report]);
    of_one.or_else(|error| {
        let several = serde_json::from_slice::<Several>(&bytes).map(|all| all.plans);
        match several {
            Ok(plans) if plans.is_empty() => Err("no plan was run".to_owned()),
            Ok(plans) => Ok(plans),
            Err(_) => Err(format!("it is not a results.json of jelly run: {error}")),
        }
    })
}

/// The bytes of such a file.
///
/// # Errors
/// Why it can't be read; fragments that complete "failed to read …:".
pub fn read_bytes(input: impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = input
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    match u64::try_from(read) {
        Ok(read) if read <= MAX_BYTES => Ok(bytes),
        Ok(_) | Err(_) => Err(format!("it has more than {MAX_BYTES} bytes")),
    }
}

/// The report of an earlier run: its folder, or its `results.json`. The file,
/// with the reports of all plans.
///
/// # Errors
/// It can't be had.
pub fn open_results(report: &Path) -> Result<(PathBuf, Vec<RunReport>), Refusal> {
    let file = if report.is_dir() || report.extension().is_none_or(|e| e != "json") {
        report.join(RESULTS)
    } else {
        report.to_owned()
    };
    let shown = file.display();
    let refuse = |why: String| Refusal::invalid(sanitize(&why));
    let opened = open_to_read(&file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!(
            "error: there is no report {shown}\nhelp: a run leaves one (`jelly run PLAN`); where \
             it lies elsewhere, name its folder, as in reports/latest"
        ),
        _ => format!("error: failed to read the report {shown}: {error}"),
    });
    let reports = read_results(opened.map_err(refuse)?).map_err(|why| {
        refuse(format!(
            "error: failed to read the report {shown}: {why}\nhelp: name the folder of a run, as \
             in reports/latest"
        ))
    })?;
    Ok((file, reports))
}
