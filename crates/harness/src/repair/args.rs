//! The paths that a server is given: its arguments and its working directory.

use super::paths::normalise;
use super::strings::each_string;
use super::types::Facts;
use jelly_plan::{DocPath, Server, Template};
use std::path::{Path, PathBuf};

/// An argument of a server that may be a path.
pub(super) struct PathArgument {
    /// Where the plan writes it: in `args` or in `package_args`.
    pub at: DocPath,
    /// What stands before the path as written, as in `--root=`.
    pub flag: String,
    /// Absolute and normalised.
    pub path: PathBuf,
}

/// The arguments of a server as paths. Whether one is meant as a path, only
/// the server knows; whoever asks has to hold it against what it said.
pub(super) fn path_arguments(server: &Server, facts: &Facts<'_>) -> Vec<PathArgument> {
    let Some(command) = server.command() else {
        return Vec::new();
    };
    let base = working_dir(server, facts);
    let mut words: Vec<(DocPath, Template)> = Vec::new();
    if let Some(used) = command.launched() {
        let at = server.path.key("package_args");
        for (name, value) in &used.args {
            each_string(value, &at.key(name), &mut |at, text| {
                words.extend(Template::parse(text).map(|t| (at.clone(), t)));
            });
        }
    }
    let at = server.path.key("args");
    let args = command.args.iter().cloned().enumerate();
    words.extend(args.map(|(index, arg)| (at.index(index), arg)));
    words
        .into_iter()
        .filter_map(|(at, arg)| {
            let resolved = arg.resolve_str(facts.scope, &server.name).ok()?;
            let (flag, path) = split_flag(&arg, &resolved)?;
            Some(PathArgument {
                at,
                flag,
                path: normalise(&base.join(path)),
            })
        })
        .collect()
}

/// Where the server runs, absolute and normalised.
fn working_dir(server: &Server, facts: &Facts<'_>) -> PathBuf {
    named_working_dir(server, facts).unwrap_or_else(|| facts.project_dir.to_owned())
}

/// The same where the plan names it.
pub(super) fn named_working_dir(server: &Server, facts: &Facts<'_>) -> Option<PathBuf> {
    let cwd = server.command()?.cwd.as_ref()?;
    let cwd = cwd.resolve_str(facts.scope, &server.name).ok()?;
    Some(normalise(&facts.project_dir.join(Path::new(&cwd))))
}

/// `--root=/srv` is a flag with a path; another word with a dash at its head
/// is none.
fn split_flag<'r>(arg: &Template, resolved: &'r str) -> Option<(String, &'r str)> {
    if !resolved.starts_with('-') {
        return (!resolved.is_empty()).then_some((String::new(), resolved));
    }
    let (flag, path) = resolved.split_once('=')?;
    let flag = format!("{flag}=");
    // The flag must stand there as written, so that it can be kept so.
    (!path.is_empty() && arg.raw.starts_with(&flag)).then_some((flag, path))
}
