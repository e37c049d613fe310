//! Where a run comes from: project, branch and commit, as the CI tells or else
//! the repository does.

use super::files::text_within;
use super::settings::World;
use super::shard::named_run;
use jelly_triage::history::RunOrigin;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Variables = BTreeMap<String, String>;

/// Larger files of a repository are not read.
const GIT_FILE_MAX: u64 = 4 * 1024 * 1024;

/// How a CI system tells what is being built. Of several names the first that is
/// set counts.
struct BuildVariables {
    /// Set where it is this system.
    mark: &'static str,
    /// Parts of the project's name, joined by `/`; all have to be set.
    project: &'static [&'static str],
    /// The number of a pull request, and what stands before it in the name of its
    /// branch here: two people may call their branches alike.
    pull: &'static [(&'static str, &'static str)],
    /// Set for a tag: its name.
    tag: &'static [&'static str],
    branch: &'static [&'static str],
    commit: &'static [&'static str],
}

const BUILDS: [BuildVariables; 5] = [
    BuildVariables {
        mark: "GITHUB_REPOSITORY",
        project: &["GITHUB_REPOSITORY"],
        // GITHUB_REF is refs/pull/7/merge then.
        pull: &[("GITHUB_REF", "pull")],
        tag: &[],
        // GITHUB_REF is refs/tags/v1 for a tag.
        branch: &["GITHUB_REF", "GITHUB_REF_NAME"],
        commit: &["GITHUB_SHA"],
    },
    BuildVariables {
        mark: "GITLAB_CI",
        project: &["CI_PROJECT_PATH"],
        pull: &[
            ("CI_MERGE_REQUEST_IID", "merge-request"),
            ("CI_EXTERNAL_PULL_REQUEST_IID", "pull"),
        ],
        tag: &["CI_COMMIT_TAG"],
        branch: &["CI_COMMIT_BRANCH", "CI_COMMIT_REF_NAME"],
        commit: &["CI_COMMIT_SHA"],
    },
    BuildVariables {
        mark: "CIRCLECI",
        project: &["CIRCLE_PROJECT_USERNAME", "CIRCLE_PROJECT_REPONAME"],
        pull: &[("CIRCLE_PR_NUMBER", "pull")],
        tag: &["CIRCLE_TAG"],
        branch: &["CIRCLE_BRANCH"],
        commit: &["CIRCLE_SHA1"],
    },
    BuildVariables {
        mark: "BUILDKITE",
        project: &["BUILDKITE_ORGANIZATION_SLUG", "BUILDKITE_PIPELINE_SLUG"],
        pull: &[("BUILDKITE_PULL_REQUEST", "pull")],
        tag: &["BUILDKITE_TAG"],
        branch: &["BUILDKITE_BRANCH"],
        commit: &["BUILDKITE_COMMIT"],
    },
    BuildVariables {
        mark: "TF_BUILD",
        project: &["BUILD_REPOSITORY_NAME"],
        pull: &[("SYSTEM_PULLREQUEST_PULLREQUESTID", "pull")],
        tag: &[],
        branch: &["BUILD_SOURCEBRANCH"],
        commit: &["BUILD_SOURCEVERSION"],
    },
];

/// Where a run that starts here comes from. What can't be found out stays
/// unknown, and then it may be anything.
#[must_use]
pub fn provenance(world: &World) -> RunOrigin {
    let mut origin = of_variables(&world.env);
    if let Some(run) = named_run(&world.env) {
        origin.run_key = Some(run.key);
        // An attempt that can't be read is not known.
        origin.attempt = run.attempt.and_then(Result::ok);
    }
    if (origin.project.is_none() || origin.branch.is_none() || origin.commit.is_none())
        && let Some(repository) = Repository::find(&world.cwd)
    {
        origin.project = origin.project.or_else(|| repository.project());
        let (branch, commit) = repository.head();
        // A pull request is checked out without a branch.
        origin.branch = origin.branch.or(branch);
        origin.commit = origin.commit.or(commit);
    }
    origin
}

fn of_variables(env: &Variables) -> RunOrigin {
    let set = |name: &str| env.get(name).filter(|value| !value.trim().is_empty());
    let Some(build) = BUILDS.iter().find(|build| set(build.mark).is_some()) else {
        return RunOrigin::default();
    };
    let parts: Option<Vec<&str>> = build
        .project
        .iter()
        .map(|name| set(name).map(String::as_str))
        .collect();
    let pull = build
        .pull
        .iter()
        .find_map(|(name, word)| Some(format!("{word}/{}", pull_number(set(name)?)?)));
    let branch = build.branch.iter().find_map(|name| set(name));
    let branch = branch.map(|name| match name.strip_prefix("refs/tags/") {
        Some(tag) => format!("tag/{tag}"),
        None => name.strip_prefix("refs/heads/").unwrap_or(name).to_owned(),
    });
    // A tag may be called as a branch is.
    let tag = build.tag.iter().find_map(|name| set(name));
    let tag = tag.map(|name| format!("tag/{name}"));
    // Buildkite says HEAD where it does not know yet.
    let commit = build.commit.iter().find_map(|name| set(name));
    let commit = commit.filter(|commit| is_commit(commit));
    RunOrigin {
        project: parts.map(|parts| parts.join("/")),
        branch: pull.or(tag).or(branch),
        commit: commit.cloned(),
        ..RunOrigin::default()
    }
}

/// Of `7` and of `refs/pull/7/merge`.
fn pull_number(told: &str) -> Option<&str> {
    let number = match told.strip_prefix("refs/pull/") {
        Some(rest) => rest.split('/').next()?,
        None => told,
    };
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(number)
}

fn is_commit(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A checkout, of which a few files are read: no program need be installed.
struct Repository {
    /// Of this work tree.
    git: PathBuf,
    /// Of all work trees.
    common: PathBuf,
}

impl Repository {
    fn find(cwd: &Path) -> Option<Self> {
        let root = cwd.ancestors().find(|at| at.join(".git").exists())?;
        let mut git = root.join(".git");
        if git.is_file() {
            let text = text_within(&git, GIT_FILE_MAX).ok()?;
            git = root.join(text.strip_prefix("gitdir:")?.trim());
        }
        let common = match text_within(&git.join("commondir"), GIT_FILE_MAX) {
            Ok(told) => git.join(told.trim()),
            Err(_) => git.clone(),
        };
        Some(Self { git, common })
    }

    /// The branch and the commit that are checked out.
    fn head(&self) -> (Option<String>, Option<String>) {
        let Ok(head) = text_within(&self.git.join("HEAD"), GIT_FILE_MAX) else {
            return (None, None);
        };
        let head = head.trim();
        let Some(name) = head.strip_prefix("ref: ") else {
            return (None, is_commit(head).then(|| head.to_owned()));
        };
        let branch = name.strip_prefix("refs/heads/").map(str::to_owned);
        (branch, self.commit_of(name))
    }

    fn commit_of(&self, name: &str) -> Option<String> {
        let loose = text_within(&self.common.join(name), GIT_FILE_MAX);
        if let Ok(commit) = loose {
            return Some(commit.trim().to_owned()).filter(|commit| is_commit(commit));
        }
        let packed = text_within(&self.common.join("packed-refs"), GIT_FILE_MAX).ok()?;
        let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
        lines
            .find(|(_, packed)| *packed == name)
            .map(|(commit, _)| commit.to_owned())
    }

    /// What the repository that it was cloned from is called there.
    fn project(&self) -> Option<String> {
        let config = text_within(&self.common.join("config"), GIT_FILE_MAX).ok()?;
        let mut lines = config.lines().map(str::trim);
        lines.find(|line| *line == "[remote \"origin\"]")?;
        let url = lines
            .take_while(|line| !line.starts_with('['))
            .find_map(|line| line.strip_prefix("url")?.trim_start().strip_prefix('='))?;
        project_of_url(url.trim())
    }
}

/// `acme/shop` of `https://host/acme/shop.git` and `git@host:acme/shop.git`.
fn project_of_url(url: &str) -> Option<String> {
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => url.split_once(':')?.1,
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (!path.is_empty()).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Repository, of_variables, project_of_url};
    use jelly_triage::history::RunOrigin;
    use std::fs;

    fn told(set: &str) -> [Option<String>; 3] {
        let pairs = set
            .split_whitespace()
            .filter_map(|pair| pair.split_once('='));
        let env = pairs.map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        let RunOrigin {
            project,
            branch,
            commit,
            ..
        } = of_variables(&env);
        [project, branch, commit]
    }

    fn origin(parts: [&str; 3]) -> [Option<String>; 3] {
        parts.map(|part| (!part.is_empty()).then(|| part.to_owned()))
    }

    #[test]
    fn each_system_names_what_it_builds_and_pull_requests_apart_from_branches() {
        for (set, wanted) in [
            ("", ["", "", ""]),
            (
                "GITHUB_REPOSITORY=acme/shop GITHUB_REF=refs/heads/main GITHUB_REF_NAME=main \
                 GITHUB_SHA=0123456789abcdef",
                ["acme/shop", "main", "0123456789abcdef"],
            ),
            (
                "GITHUB_REPOSITORY=acme/shop GITHUB_REF=refs/pull/7/merge \
                 GITHUB_REF_NAME=7/merge GITHUB_HEAD_REF=main GITHUB_SHA=0123456789abcdef",
                ["acme/shop", "pull/7", "0123456789abcdef"],
            ),
            (
                "GITLAB_CI=true CI_PROJECT_PATH=acme/shop CI_MERGE_REQUEST_IID=12 \
                 CI_COMMIT_REF_NAME=main",
                ["acme/shop", "merge-request/12", ""],
            ),
            (
                "GITLAB_CI=true CI_PROJECT_PATH=acme/shop CI_EXTERNAL_PULL_REQUEST_IID=3 \
                 CI_COMMIT_REF_NAME=main",
                ["acme/shop", "pull/3", ""],
            ),
            (
                "GITLAB_CI=true CI_PROJECT_PATH=acme/shop CI_COMMIT_TAG=main \
                 CI_COMMIT_REF_NAME=main",
                ["acme/shop", "tag/main", ""],
            ),
            (
                "GITHUB_REPOSITORY=acme/shop GITHUB_REF=refs/tags/main GITHUB_REF_NAME=main",
                ["acme/shop", "tag/main", ""],
            ),
            (
                "CIRCLECI=true CIRCLE_PROJECT_USERNAME=acme CIRCLE_PROJECT_REPONAME=shop \
                 CIRCLE_BRANCH=next CIRCLE_SHA1=0123456789abcdef",
                ["acme/shop", "next", "0123456789abcdef"],
            ),
            (
                "BUILDKITE=true BUILDKITE_ORGANIZATION_SLUG=acme BUILDKITE_PIPELINE_SLUG=shop \
                 BUILDKITE_PULL_REQUEST=false BUILDKITE_BRANCH=main BUILDKITE_COMMIT=HEAD",
                ["acme/shop", "main", ""],
            ),
            (
                "TF_BUILD=True BUILD_REPOSITORY_NAME=shop BUILD_SOURCEBRANCH=refs/heads/main",
                ["shop", "main", ""],
            ),
            (
                "TF_BUILD=True BUILD_REPOSITORY_NAME=shop BUILD_SOURCEBRANCH=refs/tags/v1",
                ["shop", "tag/v1", ""],
            ),
        ] {
            assert_eq!(told(set), origin(wanted), "{set}");
        }
    }

    #[test]
    fn a_checkout_tells_without_any_program() {
        let folder = tempfile::TempDir::new().unwrap();
        let git = folder.path().join(".git");
        fs::create_dir_all(git.join("refs/heads")).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(
            git.join("config"),
            "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@host:acme/shop.git\n",
        )
        .unwrap();
        let packed = "# pack-refs\n0123456789abcdef refs/heads/main\n";
        fs::write(git.join("packed-refs"), packed).unwrap();
        let below = folder.path().join("plans");
        fs::create_dir(&below).unwrap();
        let repository = Repository::find(&below).unwrap();
        assert_eq!(repository.project().as_deref(), Some("acme/shop"));
        let [_, branch, commit] = origin(["", "main", "0123456789abcdef"]);
        assert_eq!(repository.head(), (branch, commit));
        fs::write(git.join("HEAD"), "fedcba9876543210\n").unwrap();
        assert_eq!(
            repository.head(),
            (None, Some("fedcba9876543210".to_owned()))
        );
        let https = project_of_url("https://user:word@host/acme/shop.git");
        assert_eq!(https.as_deref(), Some("acme/shop"));
    }
}
