//! Finding the program, and explaining why it could not be started.
//!
//! The system says ENOENT for a missing command, a missing folder and a
//! missing interpreter alike; a person needs to know which.

use super::CommandSpec;
use super::elf::loader_of;
use jelly_base::model::SpawnError;
use rustix::fs::{Access, access};
use std::collections::HashMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What the C library searches where there is no `PATH`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The program that a command means.
pub(super) struct Target {
    /// Relative to the working directory, unless absolute.
    pub(super) path: PathBuf,
    /// The whole environment of the child.
    pub(super) env: Vec<(OsString, OsString)>,
}

/// Finds the program as the system would.
///
/// # Errors
/// A working directory that can't be entered, a command that is in no folder
/// of `PATH`, an empty argv.
pub(super) fn resolve(spec: &CommandSpec) -> Result<Target, SpawnError> {
    check_cwd(&spec.cwd)?;
    let command = spec
        .argv
        .first()
        .filter(|command| !command.is_empty())
        .ok_or_else(|| error(libc::ENOENT, "the command is empty"))?;
    let env = child_env(&spec.env);
    let path = if command.contains('/') {
        PathBuf::from(command)
    } else {
        search(command, &spec.cwd, path_of(&env))?
    };
    Ok(Target { path, env })
}

/// Whether a command could be started, as far as a look at the file system
/// tells; nothing is executed.
///
/// # Errors
/// As [`super::spawn`] would say it.
pub fn check(spec: &CommandSpec) -> Result<(), SpawnError> {
    let target = resolve(spec)?;
    let file = spec.cwd.join(&target.path);
    let refused = match fs::metadata(&file) {
        Err(e) => e,
        Ok(meta) if meta.is_dir() => io::Error::from_raw_os_error(libc::EISDIR),
        Ok(_) => match access(&file, Access::EXEC_OK) {
            Err(errno) => errno.into(),
            Ok(()) => return Ok(()),
        },
    };
    Err(explain(&refused, spec, &target.path))
}

/// Where the program of a command lies, by the name that it is found under: what
/// links lead to is not looked at.
#[must_use]
pub fn program_of(spec: &CommandSpec) -> Option<PathBuf> {
    let target = resolve(spec).ok()?;
    Some(spec.cwd.join(target.path))
}

fn child_env(delta: &[(String, String)]) -> Vec<(OsString, OsString)> {
    let latest: HashMap<&OsStr, &OsStr> = delta
        .iter()
        .map(|(name, value)| (OsStr::new(name), OsStr::new(value)))
        .collect();
    let mut env: Vec<_> = env::vars_os()
        .filter(|(name, _)| !latest.contains_key(name.as_os_str()))
        .collect();
    env.extend(
        latest
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    env.sort();
    env
}

fn path_of(env: &[(OsString, OsString)]) -> &OsStr {
    env.iter()
        .find(|(name, _)| name == "PATH")
        .map_or(OsStr::new(DEFAULT_PATH), |(_, value)| value)
}

fn search(command: &str, cwd: &Path, path: &OsStr) -> Result<PathBuf, SpawnError> {
    let mut not_executable = None;
    for folder in env::split_paths(path) {
        // The folder may be relative: the child searches after it has changed
        // into its working directory. An empty entry is that directory.
        let candidate = cwd.join(folder).join(command);
        if !candidate.is_file() {
            continue;
        }
        if access(&candidate, Access::EXEC_OK).is_ok() {
            return std::path::absolute(&candidate).map_err(|e| explain_other(&e));
        }
        not_executable.get_or_insert(candidate);
    }
    Err(match not_executable {
        Some(file) => error(
            libc::EACCES,
            &format!("{} (not marked as executable)", quote(&file)),
        ),
        None => error(
            libc::ENOENT,
            &format!("'{command}' (command not found in PATH)"),
        ),
    })
}

fn check_cwd(cwd: &Path) -> Result<(), SpawnError> {
    let cwd_error = |errno, why| Err(error(errno, &format!("{} ({why})", quote(cwd))));
    match fs::metadata(cwd) {
        Err(e) => match e.raw_os_error() {
            Some(libc::ENOENT) => cwd_error(libc::ENOENT, "the working directory does not exist"),
            Some(errno) => cwd_error(errno, "the working directory can't be entered"),
            None => Err(explain_other(&e)),
        },
        Ok(meta) if !meta.is_dir() => {
            cwd_error(libc::ENOTDIR, "the working directory is not a directory")
        }
        Ok(_) if access(cwd, Access::EXEC_OK).is_err() => {
            cwd_error(libc::EACCES, "the working directory can't be entered")
        }
        Ok(_) => Ok(()),
    }
}

/// Says what the system meant when it refused to execute `program`.
pub(super) fn explain(failed: &io::Error, spec: &CommandSpec, program: &Path) -> SpawnError {
    let Some(errno) = failed.raw_os_error() else {
        return explain_other(failed);
    };
    // It may have gone away only just now.
    if let Err(error) = check_cwd(&spec.cwd) {
        return error;
    }
    let file = spec.cwd.join(program);
    // Systems say of it that it may not be executed, as of a file.
    let errno = match errno {
        libc::EACCES if file.is_dir() => libc::EISDIR,
        errno => errno,
    };
    let why = match errno {
        libc::ENOENT if file.exists() => Some(missing_interpreter(&file)),
        libc::ENOENT => Some("the command does not exist".to_owned()),
        libc::EISDIR => Some("a directory, not a program".to_owned()),
        libc::EACCES if file.exists() && access(&file, Access::EXEC_OK).is_err() => {
            Some("not marked as executable".to_owned())
        }
        libc::EACCES => match interpreter_of(&file) {
            Some(interpreter) => Some(format!(
                "its interpreter '{interpreter}', or a folder on the way, may not be used"
            )),
            None => Some("a folder on the way, or its file system, forbids it".to_owned()),
        },
        libc::ENOEXEC => Some("neither a program of this machine nor a script with #!".to_owned()),
        libc::E2BIG => Some("arguments and environment are too large together".to_owned()),
        _ => None,
    };
    let quoted = quote(program);
    error(
        errno,
        &why.map_or_else(|| quoted.clone(), |why| format!("{quoted} ({why})")),
    )
}

/// An error that has nothing to do with the command.
pub(super) fn explain_other(failed: &io::Error) -> SpawnError {
    match failed.raw_os_error() {
        Some(errno) => error(errno, "could not start a process"),
        None => SpawnError {
            errno: None,
            name: None,
            text: Some(failed.to_string()),
        },
    }
}

fn missing_interpreter(script: &Path) -> String {
    match interpreter_of(script) {
        Some(interpreter) if interpreter.ends_with('\r') => format!(
            "its interpreter '{}\\r' does not exist: the file has Windows line ends",
            interpreter.trim_end_matches('\r')
        ),
        Some(interpreter) => format!("its interpreter '{interpreter}' does not exist"),
        None => match loader_of(script) {
            Some(loader) => {
                format!("the loader '{loader}' that the program asks for does not exist")
            }
            None => "the loader that the program asks for does not exist".to_owned(),
        },
    }
}

/// The first word after `#!`, a carriage return included.
fn interpreter_of(script: &Path) -> Option<String> {
    let mut start = Vec::new();
    File::open(script)
        .ok()?
        .take(256)
        .read_to_end(&mut start)
        .ok()?;
    let line = start.strip_prefix(b"#!")?.split(|b| *b == b'\n').next()?;
    let word = line
        .split(|b| *b == b' ' || *b == b'\t')
        .find(|word| !word.is_empty())?;
    Some(String::from_utf8_lossy(word).into_owned())
}

fn quote(path: &Path) -> String {
    format!("'{}'", path.display())
}

fn error(errno: i32, about: &str) -> SpawnError {
    SpawnError {
        errno: Some(errno),
        name: errno_name(errno).map(str::to_owned),
        text: Some(format!("{}: {about}", errno_text(errno))),
    }
}

/// The system's own words, without the number that the library appends.
fn errno_text(errno: i32) -> String {
    let text = io::Error::from_raw_os_error(errno).to_string();
    match text.rsplit_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

/// As in `ENOENT`: those that starting a process can give.
fn errno_name(errno: i32) -> Option<&'static str> {
    const NAMES: &[(i32, &str)] = &[
        (libc::E2BIG, "E2BIG"),
        (libc::EACCES, "EACCES"),
        (libc::EAGAIN, "EAGAIN"),
        (libc::EINVAL, "EINVAL"),
        (libc::EIO, "EIO"),
        (libc::EISDIR, "EISDIR"),
        (libc::ELOOP, "ELOOP"),
        (libc::EMFILE, "EMFILE"),
        (libc::ENAMETOOLONG, "ENAMETOOLONG"),
        (libc::ENFILE, "ENFILE"),
        (libc::ENOENT, "ENOENT"),
        (libc::ENOEXEC, "ENOEXEC"),
        (libc::ENOMEM, "ENOMEM"),
        (libc::ENOSPC, "ENOSPC"),
        (libc::ENOSYS, "ENOSYS"),
        (libc::ENOTDIR, "ENOTDIR"),
        (libc::EPERM, "EPERM"),
        (libc::ESTALE, "ESTALE"),
        (libc::ETXTBSY, "ETXTBSY"),
    ];
    NAMES
        .iter()
        .find(|(number, _)| *number == errno)
        .map(|(_, name)| *name)
}
