//! The record of what goes over the wire in a run.

use super::invalid::chain;
use crate::report::ReportDir;
use jelly_base::model::Warnings;
use jelly_wire::Recorder;

/// It, or none with a warning: a recording that can't be written fails no run.
pub fn recorder(report_dir: &ReportDir, warnings: &Warnings) -> Option<Recorder> {
    let opened = report_dir
        .wire_file()
        .map_err(|error| chain(&error))
        .and_then(|_| Recorder::create(&report_dir.wire_path()).map_err(|error| error.to_string()));
    match opened {
        Ok(recorder) => Some(recorder),
        Err(error) => {
            warnings.warn(format!("nothing is recorded: failed to {error}"));
            None
        }
    }
}
