//! The whole list of plans, and the part of it that is this call's.
//!
//! Main type: [`ShardCall`].

use super::ci;
use crate::cli::args::{BudgetArgs, RunArgs, ShardArgs};
use crate::cli::files::text_within;
use crate::cli::known::KnownList;
use crate::cli::refusal::Refusal;
use crate::cli::rules::project_file;
use crate::cli::settings::{World, inherited_secrets};
use crate::cli::tools::MAX_LOCK;
use indexmap::IndexMap;
use jelly_base::files::read_up_to;
use jelly_base::model::{ShardPlan, ShardRecord};
use jelly_base::text::redact::{looks_secret, secrets_in_variable};
use jelly_harness::shards::{PlanTimes, assign, list_digest, text_digest};
use jelly_plan::{PlanSource, check_in};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Component, Path, PathBuf};

/// A larger file of durations is not read.
const TIMES_MAX: u64 = 64 * 1024 * 1024;

/// A call that runs a part of its plans.
#[derive(Debug)]
pub struct ShardCall {
    pub record: ShardRecord,
}

impl ShardCall {
    /// None where all plans are run here; `runs` holds the path of a plan as
    /// often as it is run.
    ///
    /// # Errors
    /// What was typed, or what it names, can't be used.
    pub fn open(
        args: &RunArgs,
        world: &World,
        (paths, runs): (&[PathBuf], &[&Path]),
        known: Option<&KnownList>,
        rules: Option<&str>,
    ) -> Result<Option<Self>, Refusal> {
        let ShardArgs {
            shard,
            shard_times,
            run_key,
            run_attempt,
        } = &args.shard;
        let Some(choice) = shard else {
            return Ok(None);
        };
        let shard = ci::shard(*choice, &world.env)
            .map_err(|[what, next]| Refusal::with_help(what, next))?;
        let root = project_root(args.project_dir.as_deref(), world);
        let places = places(paths, &root, world)?;
        let times = shard_times.as_deref().map(read_times).transpose()?;
        let total = NonZeroU32::new(shard.total()).unwrap_or(NonZeroU32::MIN);
        let names: Vec<&str> = places.iter().map(String::as_str).collect();
        let shards = assign(&names, total, times.as_ref().map(|(times, _)| times));
        let mut counts: BTreeMap<&Path, u32> = BTreeMap::new();
        for path in runs {
            *counts.entry(path).or_default() += 1;
        }
        let plans: Vec<ShardPlan> = paths
            .iter()
            .zip(&places)
            .zip(shards)
            .map(|((path, place), shard)| ShardPlan {
                path: place.clone(),
                named: path.display().to_string(),
                shard,
                runs: counts.get(path.as_path()).copied().unwrap_or(1),
                sha256: contents_digest(path, &root),
            })
            .collect();
        let plans_sha256 = list_digest(&plans);
        let named = ci::run(&world.env);
        let (key, attempt) = named.map_or((None, None), |run| (Some(run.key), run.attempt));
        let attempt = match (run_attempt, attempt) {
            (Some(told), _) => *told,
            (None, Some(told)) => told.map_err(|[what, next]| Refusal::with_help(what, next))?,
            (None, None) => 1,
        };
        let record = ShardRecord {
            run_key: run_key
                .clone()
                .or(key)
                .unwrap_or_else(|| ShardRecord::key_of_plans(&plans_sha256)),
            attempt,
            index: shard.index(),
            total: shard.total(),
            strict: args.strict,
            flags_sha256: flags_digest(args, rules, world),
            times_sha256: times.map(|(_, digest)| digest),
            known_sha256: known.map(|list| list.sha256.clone()),
            known: known
                .filter(|_| args.only.is_empty() && args.skip.is_empty())
                .map_or_else(Vec::new, |list| list.entries.to_vec()),
            plans_sha256,
            plans,
            left_out: Vec::new(),
        };
        Ok(Some(Self { record }))
    }

    /// Whether this call runs the plan.
    pub fn has(&self, plan: &Path) -> bool {
        let named = plan.display().to_string();
        let own = |plan: &&ShardPlan| plan.shard == self.record.index && plan.named == named;
        self.record.plans.iter().any(|plan| own(&plan))
    }

    /// With those of its plans of which nothing was selected.
    pub fn leaving_out<'p>(&self, plans: impl IntoIterator<Item = &'p Path>) -> ShardRecord {
        let mut record = self.record.clone();
        for plan in plans {
            let named = plan.display().to_string();
            let known = record.plans.iter().find(|plan| plan.named == named);
            record.left_out.extend(known.map(|plan| plan.path.clone()));
        }
        record
    }
}

/// Of the flags that decide which steps run, how they are judged, and what is
/// counted of them; `rules` is a digest of the user's own. Whoever has the
/// digest can try values until one fits, so that what is a secret counts by its
/// name only.
fn flags_digest(args: &RunArgs, rules: Option<&str>, world: &World) -> String {
    let vars: BTreeMap<&String, Option<&Value>> = args
        .vars
        .iter()
        .map(|(name, value)| {
            let open = !is_secret(name, value, world);
            (name, open.then_some(value))
        })
        .collect();
    let lock = args
        .locked
        .then(|| lock_digest(&world.cwd.join(&args.lock)));
    let BudgetArgs {
        max_iterations,
        retries,
        confirms,
        mcp_repairs,
        test_fixes,
        code_refines,
        deadline,
    } = &args.budgets;
    let budgets = [
        max_iterations,
        retries,
        confirms,
        mcp_repairs,
        test_fixes,
        code_refines,
    ];
    let judged = json!([
        args.no_repair,
        args.accept_repairs,
        args.no_confirm,
        args.trust_plan,
        args.fail_fast,
        args.no_hooks,
        args.wire_check,
        args.ladder.no_adapt,
        args.ladder.generic_threshold,
        args.coverage.is_wanted(),
        rules,
        budgets,
        deadline.map(|limit| limit.as_millis().to_string()),
    ]);
    let flags = json!([args.only, args.skip, args.skip_missing, vars, lock, judged]);
    text_digest(&flags.to_string())
}

fn is_secret(name: &str, value: &Value, world: &World) -> bool {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    looks_secret(name)
        || !secrets_in_variable(name, &text).is_empty()
        || inherited_secrets(&world.env).any(|(_, secret)| secret == text)
}

/// Of a lock that can't be read, or is larger than any that is used, nothing:
/// the call ends with that.
fn lock_digest(lock: &Path) -> Option<String> {
    let text = text_within(lock, MAX_LOCK).ok()?;
    Some(text_digest(&text))
}

/// The folder that paths of plans are relative to: as told, else that of
/// `jelly.yaml`, else the repository's, else this one.
pub fn project_root(told: Option<&Path>, world: &World) -> PathBuf {
    let of_settings = || Some(project_file(&world.cwd)?.parent()?.to_owned());
    let of_repository = || {
        let mut above = world.cwd.ancestors();
        above.find(|folder| folder.join(".git").exists())
    };
    let told = told.map(|folder| world.cwd.join(folder));
    let found = told
        .or_else(of_settings)
        .or_else(|| of_repository().map(Path::to_owned));
    plain(&world.cwd.join(found.unwrap_or_default()))
}

/// A path below `root` as it is on every runner, with `/` between folders.
pub fn relative_path(path: &Path, root: &Path, world: &World) -> Option<String> {
    let path = plain(&world.cwd.join(path));
    let parts: Option<Vec<&str>> = path
        .strip_prefix(root)
        .ok()?
        .components()
        .map(|part| part.as_os_str().to_str())
        .collect();
    parts.filter(|parts| !parts.is_empty()).map(|p| p.join("/"))
}

/// Without `.` and `..`, as it is written: links may lead elsewhere on another
/// runner.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// The paths of all plans, no two alike.
fn places(paths: &[PathBuf], root: &Path, world: &World) -> Result<Vec<String>, Refusal> {
    let mut seen: BTreeMap<String, &Path> = BTreeMap::new();
    let mut places = Vec::with_capacity(paths.len());
    for path in paths {
        let Some(place) = relative_path(path, root, world) else {
            return Err(Refusal::with_help(
                format!(
                    "--shard: the plan {} does not lie in the project {}, so that its path may \
                     be another one on each runner",
                    path.display(),
                    root.display()
                ),
                "name a folder that holds all plans with --project-dir",
            ));
        };
        if let Some(first) = seen.insert(place.clone(), path) {
            return Err(Refusal::with_help(
                format!(
                    "--shard: {} and {} are the same plan",
                    first.display(),
                    path.display()
                ),
                "name each plan once",
            ));
        }
        places.push(place);
    }
    Ok(places)
}

/// The digest of a plan with the files that it includes or sends; none where it
/// can't be read. Of one that is no plan it is that of its own text.
fn contents_digest(path: &Path, project: &Path) -> Option<String> {
    let source = PlanSource::read(path).ok()?;
    let own = source.sha256();
    let Ok(plan) = check_in(source, &IndexMap::new(), Some(project)) else {
        return Some(own);
    };
    let included = plan.included.iter().map(PlanSource::sha256);
    let sent = plan.files.digests().map(|(_, digest)| digest.to_owned());
    let others: Vec<String> = included.chain(sent).collect();
    match others.is_empty() {
        true => Some(own),
        false => Some(text_digest(&format!("{own} {}", others.join(" ")))),
    }
}

/// The durations with the digest of their file.
fn read_times(file: &Path) -> Result<(PlanTimes, String), Refusal> {
    let shown = file.display();
    let failed = |why: String| {
        Refusal::with_help(
            format!("--shard-times {shown}: {why}"),
            "`jelly history export --durations` writes such a file",
        )
    };
    let bytes = read_up_to(file, TIMES_MAX).map_err(|error| failed(error.to_string()))?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read > TIMES_MAX) {
        return Err(failed(format!("it has more than {TIMES_MAX} bytes")));
    }
    // Its errors name line and column.
    let times: PlanTimes =
        serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?;
    if times.schema_version != 1 {
        let version = times.schema_version;
        return Err(failed(format!(
            "its schema_version is {version}; this version of jelly reads 1"
        )));
    }
    let digest = Sha256::digest(&bytes);
    let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((times, digest))
}

#[cfg(test)]
mod tests {
    use super::{flags_digest, plain};
    use crate::cli::args::{ColorChoice, RunArgs};
    use crate::cli::settings::World;
    use clap::Parser;
    use std::path::{Path, PathBuf};

    fn digest(set: &[&str], flags: &[&str]) -> String {
        #[derive(Parser)]
        struct Typed {
            #[command(flatten)]
            run: RunArgs,
        }
        let typed = Typed::try_parse_from([&["jelly"], flags].concat()).unwrap();
        let mut world = World::look(ColorChoice::Never).unwrap();
        let set = set.iter().filter_map(|pair| pair.split_once('='));
        world.env = set.map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        flags_digest(&typed.run, None, &world)
    }

    #[test]
    fn a_secret_among_the_variables_can_not_be_guessed_from_the_digest() {
        let of = |flag: &str| digest(&["API_TOKEN=squeamish-ossifrage"], &["--var", flag]);
        assert_ne!(of("size=1"), of("size=2"));
        assert_eq!(of("pin_code_password=1234"), of("pin_code_password=1235"));
        assert_eq!(
            of("word=squeamish-ossifrage"),
            of("word=squeamish-ossifrage")
        );
        assert_ne!(of("word=squeamish-ossifrage"), of("word=other"));
        assert_ne!(of("password=1234"), of("passphrase=1234"));
        // Green by a gate that one shard alone looked at.
        let none = digest(&[], &[]);
        for flag in ["--coverage", "--no-confirm", "--retries=1", "--wire-check"] {
            assert_ne!(digest(&[], &[flag]), none, "{flag}");
        }
        let inherited = digest(&["API_TOKEN=other-secret"], &["--var", "word=other-secret"]);
        assert_eq!(of("word=squeamish-ossifrage"), inherited);
    }

    #[test]
    fn a_path_is_told_without_detours() {
        let told = plain(Path::new("/a/./b/../c//d.yaml"));
        assert_eq!(told, PathBuf::from("/a/c/d.yaml"));
    }
}
