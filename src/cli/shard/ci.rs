//! What CI systems tell by their variables: which of how many jobs this is, of
//! which run, and which attempt.

use crate::cli::args::ShardChoice;
use jelly_base::model::Shard;
use std::collections::BTreeMap;

type Environment = BTreeMap<String, String>;

/// How a CI system numbers the jobs that it starts side by side.
struct ParallelJobs {
    system: &'static str,
    index: &'static str,
    /// None where there is no such variable.
    total: Option<&'static str>,
    /// What the first job is called.
    first: u32,
}

const PARALLEL_JOBS: [ParallelJobs; 4] = [
    ParallelJobs {
        system: "GitLab",
        index: "CI_NODE_INDEX",
        total: Some("CI_NODE_TOTAL"),
        first: 1,
    },
    ParallelJobs {
        system: "CircleCI",
        index: "CIRCLE_NODE_INDEX",
        total: Some("CIRCLE_NODE_TOTAL"),
        first: 0,
    },
    ParallelJobs {
        system: "Buildkite",
        index: "BUILDKITE_PARALLEL_JOB",
        total: Some("BUILDKITE_PARALLEL_JOB_COUNT"),
        first: 0,
    },
    ParallelJobs {
        system: "Kubernetes",
        index: "JOB_COMPLETION_INDEX",
        total: None,
        first: 0,
    },
];

/// The shard that was asked for.
///
/// # Errors
/// The variables tell none; a sentence that names them, and what would help.
pub fn shard(choice: ShardChoice, env: &Environment) -> Result<Shard, [String; 2]> {
    let told = match choice {
        ShardChoice::Given(shard) => return Ok(shard),
        ShardChoice::Auto(total) => total,
    };
    // GitLab sets its total for jobs of which there is one, too.
    let mut here = PARALLEL_JOBS
        .iter()
        .filter(|row| env.get(row.index).is_some_and(|value| !value.is_empty()));
    let Some(row) = here.next() else {
        let names: Vec<String> = PARALLEL_JOBS.iter().map(ParallelJobs::described).collect();
        return Err([
            format!(
                "--shard auto: no variable tells which of the parallel jobs this is; looked for \
                 {}",
                names.join(", ")
            ),
            "let the CI start several jobs of this one, or write --shard I/N".to_owned(),
        ]);
    };
    if let Some(other) = here.next() {
        return Err([
            format!(
                "--shard auto: both {} of {} and {} of {} are set",
                row.index, row.system, other.index, other.system
            ),
            "write --shard I/N, or unset what does not count here".to_owned(),
        ]);
    }
    let index = number(env, row.index)?;
    let total = match (row.total, told) {
        (None, Some(total)) => total.get(),
        (None, None) => {
            return Err([
                format!(
                    "--shard auto: {} has {}, and no variable for the number of jobs",
                    row.system, row.index
                ),
                "write it behind: --shard auto/N".to_owned(),
            ]);
        }
        (Some(name), told) => {
            let total = number(env, name)?;
            if let Some(told) = told.filter(|told| told.get() != total) {
                return Err([
                    format!("--shard auto/{told}: {name} is {total}"),
                    "write --shard auto, or make both the same".to_owned(),
                ]);
            }
            total
        }
    };
    let shard = index
        .checked_sub(row.first)
        .and_then(|index| Shard::new(index.checked_add(1)?, total));
    shard.ok_or_else(|| {
        let first = row.first;
        [
            format!(
                "--shard auto: {} is {index}, which is none of {total} jobs counted from {first}",
                row.index
            ),
            "write --shard I/N".to_owned(),
        ]
    })
}

impl ParallelJobs {
    fn described(&self) -> String {
        let total = self.total.map_or_else(String::new, |t| format!(" and {t}"));
        format!("{}{total} ({})", self.index, self.system)
    }
}

fn number(env: &Environment, name: &str) -> Result<u32, [String; 2]> {
    let value = env.get(name).map(String::as_str);
    value.and_then(|text| text.parse().ok()).ok_or_else(|| {
        let what = match value {
            Some(value) => format!("{name} is `{value}`, which is no number"),
            None => format!("{name} is not set"),
        };
        [
            format!("--shard auto: {what}"),
            "write --shard I/N".to_owned(),
        ]
    })
}

/// How a CI system names a run, and an attempt of a job of it.
struct NamedRuns {
    /// Begins the key.
    system: &'static str,
    /// All of them have to be set.
    key: &'static [&'static str],
    /// Names the job, with ` 1/4` behind it where there are several; part of the
    /// key where it is set.
    job: Option<&'static str>,
    /// What rises when a job is run again.
    attempt: Option<&'static str>,
}

/// GitLab numbers no attempts of a job, but jobs, which rises as well. The number
/// of any other job would pass for an attempt, so that its name is part of the
/// key: not that of its group, which all jobs of a matrix share.
const NAMED_RUNS: [NamedRuns; 5] = [
    NamedRuns {
        system: "github",
        key: &["GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_JOB"],
        job: None,
        attempt: Some("GITHUB_RUN_ATTEMPT"),
    },
    NamedRuns {
        system: "gitlab",
        key: &["CI_PROJECT_ID", "CI_PIPELINE_ID"],
        job: Some("CI_JOB_NAME"),
        attempt: Some("CI_JOB_ID"),
    },
    NamedRuns {
        system: "circleci",
        key: &["CIRCLE_WORKFLOW_ID", "CIRCLE_JOB"],
        job: None,
        attempt: None,
    },
    NamedRuns {
        system: "buildkite",
        key: &["BUILDKITE_BUILD_ID", "BUILDKITE_STEP_ID"],
        job: None,
        attempt: Some("BUILDKITE_RETRY_COUNT"),
    },
    NamedRuns {
        system: "azure",
        key: &["BUILD_BUILDID", "SYSTEM_JOBNAME"],
        job: None,
        attempt: Some("SYSTEM_JOBATTEMPT"),
    },
];

/// What the CI calls the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRun {
    pub key: String,
    /// None where the CI counts none; else what it says, where that is a number
    /// from 1.
    pub attempt: Option<Result<u64, [String; 2]>>,
}

/// The key of the run and the attempt, as far as the CI tells.
pub fn run(env: &Environment) -> Option<NamedRun> {
    let set = |name: &&str| env.get(*name).filter(|value| !value.is_empty());
    let row = NAMED_RUNS
        .iter()
        .find(|row| row.key.iter().all(|name| set(name).is_some()))?;
    let values = row.key.iter().filter_map(set).map(String::as_str);
    let job = row.job.as_ref().and_then(set).map(|name| job_of(name));
    let key: Vec<&str> = std::iter::once(row.system)
        .chain(values)
        .chain(job)
        .collect();
    // Buildkite counts the retries, of which the first run has none.
    let shift = u64::from(row.attempt == Some("BUILDKITE_RETRY_COUNT"));
    let attempt = row.attempt.and_then(|name| {
        let text = set(&name)?;
        let number = text.parse::<u64>().ok();
        let attempt = number.and_then(|number| number.checked_add(shift));
        Some(attempt.filter(|attempt| *attempt > 0).ok_or_else(|| {
            [
                format!("{name} is `{text}`, which is no number of an attempt"),
                "write --run-attempt N".to_owned(),
            ]
        }))
    });
    Some(NamedRun {
        key: key.join("/"),
        attempt,
    })
}

/// `plans` of `plans 1/4`.
fn job_of(name: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match name.rsplit_once(' ') {
        Some((job, part))
            if part
                .split_once('/')
                .is_some_and(|(index, total)| is_number(index) && is_number(total)) =>
        {
            job
        }
        Some(_) | None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::{Environment, NamedRun, run, shard};
    use crate::cli::args::ShardChoice;
    use std::num::NonZeroU32;

    fn env(set: &str) -> Environment {
        let pairs = set.split_whitespace();
        pairs
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap();
                (name.to_owned(), value.to_owned())
            })
            .collect()
    }

    fn auto(total: u32, set: &str) -> Result<String, String> {
        let choice = ShardChoice::Auto(NonZeroU32::new(total));
        let shard = shard(choice, &env(set));
        shard.map(|s| s.to_string()).map_err(|told| told.join("\n"))
    }

    #[test]
    fn each_system_counts_in_its_own_way() {
        for (total, set, wanted) in [
            (0, "CI_NODE_INDEX=1 CI_NODE_TOTAL=3", "1/3"),
            (
                0,
                "CI_NODE_INDEX=2 CI_NODE_TOTAL=3 CIRCLE_NODE_INDEX=",
                "2/3",
            ),
            (3, "CI_NODE_INDEX=3 CI_NODE_TOTAL=3", "3/3"),
            (0, "CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=2", "1/2"),
            (
                0,
                "BUILDKITE_PARALLEL_JOB=4 BUILDKITE_PARALLEL_JOB_COUNT=5",
                "5/5",
            ),
            (4, "JOB_COMPLETION_INDEX=0", "1/4"),
        ] {
            assert_eq!(auto(total, set).as_deref(), Ok(wanted), "{set}");
        }
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        for (total, set, named) in [
            (0, "", "JOB_COMPLETION_INDEX (Kubernetes)"),
            (0, "CI_NODE_TOTAL=1", "CI_NODE_INDEX and CI_NODE_TOTAL"),
            (0, "CI_NODE_INDEX=1", "CI_NODE_TOTAL is not set"),
            (0, "JOB_COMPLETION_INDEX=1", "--shard auto/N"),
            (2, "JOB_COMPLETION_INDEX=2", "none of 2 jobs"),
            (0, "CI_NODE_INDEX=0 CI_NODE_TOTAL=2", "counted from 1"),
            (0, "CIRCLE_NODE_INDEX=x CIRCLE_NODE_TOTAL=2", "is `x`"),
            (3, "CI_NODE_INDEX=1 CI_NODE_TOTAL=2", "CI_NODE_TOTAL is 2"),
            (
                0,
                "CI_NODE_INDEX=1 CI_NODE_TOTAL=2 JOB_COMPLETION_INDEX=0",
                "both CI_NODE_INDEX of GitLab and JOB_COMPLETION_INDEX",
            ),
        ] {
            let told = auto(total, set).unwrap_err();
            assert!(told.contains(named), "{set}: {told}");
        }
    }

    #[test]
    fn a_run_and_its_attempt_are_what_the_system_calls_them() {
        let told = |set: &str| match run(&env(set)) {
            Some(NamedRun { key, attempt }) => (Some(key), attempt.and_then(Result::ok)),
            None => (None, None),
        };
        let github = "GITHUB_REPOSITORY=o/r GITHUB_RUN_ID=7 GITHUB_JOB=plans GITHUB_RUN_ATTEMPT=2";
        assert_eq!(told(github), (Some("github/o/r/7/plans".into()), Some(2)));
        let buildkite = "BUILDKITE_BUILD_ID=b BUILDKITE_STEP_ID=s BUILDKITE_RETRY_COUNT=0";
        assert_eq!(told(buildkite), (Some("buildkite/b/s".into()), Some(1)));
        assert_eq!(told("GITHUB_RUN_ID=7"), (None, None));
        for wrong in ["x", "0", "99999999999999999999"] {
            let github = github.replace("ATTEMPT=2", &format!("ATTEMPT={wrong}"));
            let [what, _] = run(&env(&github)).unwrap().attempt.unwrap().unwrap_err();
            assert!(
                what.contains(&format!("GITHUB_RUN_ATTEMPT is `{wrong}`")),
                "{what}"
            );
        }
    }

    /// The number of another job passed for a later attempt of the same one.
    #[test]
    fn two_jobs_of_a_pipeline_are_two_runs() {
        let of_job = |name: &str| {
            let mut env = env("CI_PROJECT_ID=1 CI_PIPELINE_ID=2 CI_JOB_ID=101");
            env.insert("CI_JOB_NAME".to_owned(), name.to_owned());
            run(&env).unwrap().key
        };
        assert_eq!(of_job("plans 1/4"), "gitlab/1/2/plans");
        assert_eq!(of_job("plans 2/4"), of_job("plans 1/4"));
        assert_ne!(of_job("mac 1/4"), of_job("linux 1/4"));
        assert_ne!(of_job("plans: [mac]"), of_job("plans: [linux]"));
        assert_eq!(of_job("plans a/b"), "gitlab/1/2/plans a/b");
    }
}
