//! A folder → the result of a shard.

use crate::cli::refusal::complain;
use crate::cli::results::{RESULTS, read_bytes};
use jelly_base::files::open_to_read;
use jelly_base::model::{MatrixReport, RunReport, SCHEMA_VERSION, ShardRecord};
use jelly_base::text::sanitize;
use jelly_harness::shards::ShardResult;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};

/// What a shard wrote.
#[derive(Deserialize)]
struct WrittenResult {
    #[serde(default)]
    schema_version: Option<u32>,
    run_id: String,
    exit_code: u8,
    #[serde(default)]
    in_progress: bool,
    shard: ShardRecord,
    plans: Vec<RunReport>,
    #[serde(default)]
    matrix: Vec<MatrixReport>,
}

/// The result that lies in `dir`, and its file.
///
/// # Errors
/// There is none; a sentence that names the folder, and the shard where it is
/// known.
pub fn read_shard(dir: &Path) -> Result<(PathBuf, ShardResult), String> {
    let folder = run_folder(dir)?;
    let file = folder.join(RESULTS);
    let shown = file.display();
    let opened = open_to_read(&file).map_err(|error| format!("{shown} can't be read: {error}"))?;
    let bytes = read_bytes(opened).map_err(|why| format!("{shown} can't be read: {why}"))?;
    let written: WrittenResult = serde_json::from_slice(&bytes).map_err(|error| {
        let what = match record_of(&bytes) {
            Some(record) => {
                let ShardRecord {
                    index,
                    total,
                    attempt,
                    ..
                } = record;
                format!("shard {index}/{total}, attempt {attempt}, is truncated")
            }
            None if error.is_eof() => "it is truncated".to_owned(),
            None => "not a result of `jelly run --shard`".to_owned(),
        };
        format!("{shown}: {what}: {error}")
    })?;
    let WrittenResult {
        schema_version,
        run_id,
        exit_code,
        in_progress,
        shard,
        mut plans,
        matrix,
    } = written;
    if schema_version != Some(SCHEMA_VERSION) {
        let found = schema_version.map_or("none".to_owned(), |version| version.to_string());
        let ShardRecord { index, total, .. } = shard;
        return Err(format!(
            "{shown}: shard {index}/{total}: its schema_version is {found}, and this version of \
             jelly reads {SCHEMA_VERSION}"
        ));
    }
    for plan in &mut plans {
        found_again(&folder, plan);
    }
    let result = ShardResult {
        folder: folder.display().to_string(),
        began: began(&run_id),
        run_id,
        exit_code,
        in_progress,
        record: shard,
        plans,
        matrix,
    };
    Ok((file, result))
}

/// The folder of the run: the one that is named, or in it the latest, past runs of no
/// shard, or the only one.
fn run_folder(dir: &Path) -> Result<PathBuf, String> {
    let shown = dir.display();
    let holds = |folder: &Path| folder.join(RESULTS).is_file();
    let latest = dir.join("latest");
    if holds(dir) {
        return Ok(dir.to_owned());
    }
    let is_hidden = match holds(&latest) {
        true if !is_of_another_run(&latest.join(RESULTS)) => return Ok(latest),
        is_hidden => is_hidden,
    };
    let entries = dir.read_dir();
    let entries = entries.map_err(|error| format!("{shown} can't be read: {error}"))?;
    let mut runs: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| holds(path))
        .collect();
    runs.sort();
    if is_hidden {
        // A rerun, or a merge, was written beside it since. Their names tell when runs
        // began.
        runs.retain(|run| run != &latest && !is_of_another_run(&run.join(RESULTS)));
        let Some(run) = runs.pop() else {
            return Ok(latest);
        };
        complain(&sanitize(&format!(
            "note: {} is no result of a shard; {} is merged",
            latest.display(),
            run.display()
        )));
        return Ok(run);
    }
    match runs.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(format!("{shown}: there is no {RESULTS} in it")),
        several => Err(format!(
            "{shown}: it holds {} runs; name the folder of one",
            several.len()
        )),
    }
}

/// Whether a file is whole, and the result of no shard.
fn is_of_another_run(file: &Path) -> bool {
    #[derive(Deserialize)]
    struct MarkOfShard {
        #[serde(default)]
        shard: Option<IgnoredAny>,
    }
    let bytes = open_to_read(file)
        .ok()
        .and_then(|opened| read_bytes(opened).ok());
    let read = bytes.and_then(|bytes| serde_json::from_slice::<MarkOfShard>(&bytes).ok());
    read.is_some_and(|mark| mark.shard.is_none())
}

/// When a run began, by its id: `20261126-052353-3516`.
fn began(run_id: &str) -> Option<i64> {
    let moment = DateTime::strptime("%Y%m%d-%H%M%S", run_id.get(..15)?).ok()?;
    Some(moment.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

/// The report of a plan lies elsewhere than on the runner that wrote it, if it was
/// brought along.
fn found_again(folder: &Path, plan: &mut RunReport) {
    let there = plan.report_dir.take();
    let name = there.as_ref().and_then(|dir| Path::new(dir).file_name());
    let here = name.map(|name| folder.join(name));
    let here = here.filter(|here| here.is_dir());
    plan.report_dir = here.map(|here| here.display().to_string());
}

/// The record of a shard, where a file that is cut still holds it.
fn record_of(bytes: &[u8]) -> Option<ShardRecord> {
    struct Seek<'r>(&'r RefCell<Option<ShardRecord>>);
    impl<'de> Visitor<'de> for Seek<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<String>()? {
                if key == "shard" {
                    *self.0.borrow_mut() = Some(map.next_value()?);
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(())
        }
    }
    let found = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    // It ends in an error, behind what is looked for.
    let _ = reader.deserialize_map(Seek(&found));
    found.into_inner()
}

#[cfg(test)]
mod tests {
    use super::{began, record_of};

    #[test]
    fn the_id_of_a_run_tells_when_it_began() {
        assert_eq!(began("19700102-000001-3516"), Some(86_401));
        assert_eq!(began("mine"), None);
    }

    #[test]
    fn a_cut_file_may_still_tell_its_shard() {
        let record =
            r#"{"run_key":"k","attempt":2,"index":3,"total":4,"plans_sha256":"","plans":[]}"#;
        let cut = format!(r#"{{"schema_version":1,"shard":{record},"plans":[{{"na"#);
        let found = record_of(cut.as_bytes()).unwrap();
        assert_eq!((found.index, found.total, found.attempt), (3, 4, 2));
        assert_eq!(record_of(br#"{"schema_version":1,"sha"#), None);
    }
}
