//! Which part of the plans a call runs, as it was typed.

use clap::Args;
use jelly_base::model::Shard;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Some of the plans, for one of several runners.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Sharding (one list of plans over several runners)")]
pub struct ShardArgs {
    /// Run only shard I of N (counted from 1); `auto` reads the CI's variables, `auto/N` where they don't give the total
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    pub shard: Option<ShardChoice>,

    /// Balance shards by the durations in this file, written by `jelly history export --durations`; all shards need the same file
    #[arg(long, value_name = "FILE", requires = "shard")]
    pub shard_times: Option<PathBuf>,

    /// Identifier shared by all shards of a run [default: the CI's run ID, otherwise a digest of the plans]
    #[arg(long, value_name = "TEXT", requires = "shard", value_parser = parse_key)]
    pub run_key: Option<String>,

    /// Attempt number of this shard; `jelly merge` uses the highest [default: the CI's, otherwise 1]
    #[arg(long, value_name = "N", requires = "shard", value_parser = clap::value_parser!(u64).range(1..))]
    pub run_attempt: Option<u64>,
}

/// `--shard`, as it was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardChoice {
    /// `3/10`
    Given(Shard),
    /// `auto`, or with a total `auto/10`
    Auto(Option<NonZeroU32>),
}

/// More than any CI system runs side by side.
const SHARDS_MAX: u32 = 10_000;

fn parse_shard(text: &str) -> Result<ShardChoice, String> {
    let (part, total) = match text.split_once('/') {
        None if text == "auto" => return Ok(ShardChoice::Auto(None)),
        None => return Err("write I/N, for example 1/10, or auto".to_owned()),
        Some(parts) => parts,
    };
    let total = total.parse::<NonZeroU32>().ok();
    let total = total
        .filter(|total| total.get() <= SHARDS_MAX)
        .ok_or_else(|| format!("the number of shards must be from 1 to {SHARDS_MAX}"))?;
    if part == "auto" {
        return Ok(ShardChoice::Auto(Some(total)));
    }
    let index = part.parse::<u32>().ok();
    let shard = index.and_then(|index| Shard::new(index, total.get()));
    let shard = shard
        .ok_or_else(|| format!("no such shard: the first number must be from 1 to {total}"))?;
    Ok(ShardChoice::Given(shard))
}

fn parse_key(text: &str) -> Result<String, String> {
    const MAX: usize = 200;
    let fits = !text.is_empty() && text.len() <= MAX && !text.chars().any(char::is_control);
    match fits {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "a key must have 1 to {MAX} bytes and no control characters"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{ShardChoice, parse_shard};
    use jelly_base::model::Shard;

    #[test]
    fn a_shard_is_one_of_so_many() {
        let given = Shard::new(3, 10).unwrap();
        assert_eq!(parse_shard("3/10"), Ok(ShardChoice::Given(given)));
        assert_eq!(parse_shard("auto"), Ok(ShardChoice::Auto(None)));
        let ten = std::num::NonZeroU32::new(10);
        assert_eq!(parse_shard("auto/10"), Ok(ShardChoice::Auto(ten)));
        for wrong in [
            "0/10", "11/10", "1/0", "3", "a/b", "-1/2", "1/2/3", "auto/0", "1/10001",
        ] {
            assert!(parse_shard(wrong).is_err(), "{wrong}");
        }
    }
}
