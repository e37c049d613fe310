//! Which files a command starts, by its words. Pure: what lies where is asked.

use jelly_base::text::launchers::{FOLDER_FLAGS, LOAD_PATHS, LOADERS, NODE_CODE, NODES};
use jelly_base::text::{WordList, is_code_file};
use std::path::{Path, PathBuf};

/// Programs that run the file that an argument names, beside those of JavaScript.
const INTERPRETERS: WordList =
    WordList("python pypy ruby perl php lua Rscript java bash sh zsh dash uv go");

/// Words before the one that names the file.
const SUBCOMMANDS: WordList = WordList("run x exec watch");

/// Other flags with the code itself behind them, or in place of a file.
const INLINE: WordList = WordList("- -c -lc -ec -s");

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lies {
    File,
    Folder,
    Nowhere,
}

/// The files that a command runs: all of them have to be known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Started {
    /// What is run, and what else of its words is code. Never empty.
    pub files: Vec<PathBuf>,
    /// What runs it, if it does not run by itself.
    pub interpreter: Option<PathBuf>,
}

/// Which files `program` starts, called in `cwd` with these arguments; none where
/// the words do not say.
pub(super) fn started(
    program: &Path,
    args: &[String],
    cwd: &Path,
    lies: &dyn Fn(&Path) -> Lies,
) -> Option<Started> {
    let name = program.file_name()?.to_str()?;
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_interpreter = NODES.has(name) || INTERPRETERS.has(name);
    let (mut files, rest, base) = match is_interpreter {
        true => {
            let (file, rest, base) = file_of(args, cwd, lies)?;
            (vec![file], rest, base)
        }
        false => (vec![program.to_owned()], args, cwd.to_owned()),
    };
    // Some run what another word names, too.
    for word in rest {
        let value = word.split_once('=').map_or(word.as_str(), |(_, v)| v);
        let path = base.join(value);
        if is_code_file(value) && lies(&path) == Lies::File {
            files.push(path);
        }
    }
    Some(Started {
        files,
        interpreter: is_interpreter.then(|| program.to_owned()),
    })
}

/// The folders that the variables of a command have code loaded from; none where they
/// may have any other code run.
pub(super) fn load_folders(env: &[(String, String)], cwd: &Path) -> Option<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for (name, value) in env {
        let loads = |word: &str| value.contains(word);
        if LOADERS.has(name)
            && ["/", "-r", "import", "loader", "agent"]
                .into_iter()
                .any(loads)
        {
            return None;
        }
        if LOAD_PATHS.has(name) {
            let paths = std::env::split_paths(value).filter(|path| path != Path::new(""));
            folders.extend(paths.map(|path| cwd.join(path)));
        }
    }
    Some(folders)
}

/// The file or folder that an interpreter is told to run, the words behind it, and
/// the folder that words are relative to.
fn file_of<'a>(
    args: &'a [String],
    cwd: &Path,
    lies: &dyn Fn(&Path) -> Lies,
) -> Option<(PathBuf, &'a [String], PathBuf)> {
    let mut base = cwd.to_owned();
    let mut behind_flag = false;
    let mut at = 0;
    while let Some(word) = args.get(at) {
        at += 1;
        let (flag, joined) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (word.as_str(), None),
        };
        if FOLDER_FLAGS.has(flag) {
            let folder = match joined {
                Some(folder) => folder,
                None => {
                    at += 1;
                    args.get(at - 1)?
                }
            };
            base = cwd.join(folder);
            behind_flag = false;
        } else if NODE_CODE.has(word) || INLINE.has(word) {
            return None;
        } else if word == "-m" || word == "--module" {
            // Isolated, it does not look where it is called.
            let isolates = |flag: &String| !flag.starts_with("--") && flag.contains(['I', 'P']);
            if args[..at].iter().any(isolates) {
                return None;
            }
            let module = args.get(at)?.replace('.', "/");
            let file = base.join(format!("{module}.py"));
            let main = base.join(&module).join("__main__.py");
            let found = [file, main].into_iter().find(|f| lies(f) == Lies::File)?;
            return Some((found, &args[at + 1..], base));
        } else if word.starts_with('-') {
            behind_flag = joined.is_none();
        } else {
            let path = base.join(word);
            match lies(&path) {
                Lies::File => return Some((path, &args[at..], base)),
                // The value of a flag, it may be.
                Lies::Folder if !behind_flag => return Some((path, &args[at..], base)),
                Lies::Folder | Lies::Nowhere if behind_flag => behind_flag = false,
                Lies::Nowhere if SUBCOMMANDS.has(word) => {}
                Lies::Folder | Lies::Nowhere => return None,
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Lies, load_folders, started};
    use std::path::{Path, PathBuf};

    /// Of `/w/server.js`, `/w/pkg/__main__.py`, `/w/cmd/` and the like.
    fn lies(path: &Path) -> Lies {
        let known = [
            "/w/server.js",
            "/w/hook.js",
            "/w/src/server.py",
            "/w/pkg/__main__.py",
            "/w/mod.py",
            "/w/bin/serve",
            "/opt/other.js",
        ];
        let path = path.to_string_lossy().replace("/./", "/");
        if known.contains(&path.as_str()) {
            Lies::File
        } else if ["/w", "/w/src", "/w/cmd"].contains(&path.trim_end_matches("/.")) {
            Lies::Folder
        } else {
            Lies::Nowhere
        }
    }

    fn of(line: &str) -> Option<Vec<PathBuf>> {
        let mut words = line.split(' ');
        let program = match words.next().unwrap() {
            own if own.starts_with("./") => Path::new("/w").join(&own[2..]),
            other => Path::new("/usr/bin").join(other),
        };
        let args: Vec<String> = words.map(str::to_owned).collect();
        started(&program, &args, Path::new("/w"), &lies).map(|started| started.files)
    }

    #[test]
    fn the_file_that_is_run_is_found_behind_what_runs_it() {
        for (line, files) in [
            ("node server.js", &["/w/server.js"][..]),
            (
                "node --enable-source-maps server.js --port 1",
                &["/w/server.js"],
            ),
            (
                "node -r ./hook.js server.js",
                &["/w/hook.js", "/w/server.js"],
            ),
            ("python3.12 -u src/server.py", &["/w/src/server.py"]),
            ("python3 -W ignore src/server.py", &["/w/src/server.py"]),
            ("python -m pkg", &["/w/pkg/__main__.py"]),
            ("python -m mod --x", &["/w/mod.py"]),
            ("uv run src/server.py", &["/w/src/server.py"]),
            ("uv --directory src run server.py", &["/w/src/server.py"]),
            ("uv run --directory=src server.py", &["/w/src/server.py"]),
            ("deno run -A server.js", &["/w/server.js"]),
            ("go run ./cmd", &["/w/./cmd"]),
            ("node .", &["/w/."]),
            ("./bin/serve server.js", &["/w/bin/serve", "/w/server.js"]),
            ("serve --config x.json", &["/usr/bin/serve"]),
            (
                "node /opt/other.js server.js",
                &["/opt/other.js", "/w/server.js"],
            ),
        ] {
            let wanted: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            assert_eq!(of(line), Some(wanted), "{line}");
        }
    }

    #[test]
    fn variables_may_have_other_code_loaded() {
        let of = |name: &str, value: &str| {
            let env = [(name.to_owned(), value.to_owned())];
            load_folders(&env, Path::new("/w"))
        };
        let folders = ["/w/src", "/opt/lib"].map(PathBuf::from).to_vec();
        assert_eq!(of("PYTHONPATH", "src:/opt/lib:"), Some(folders));
        assert_eq!(
            of("NODE_OPTIONS", "--max-old-space-size=4096"),
            Some(vec![])
        );
        assert_eq!(of("NODE_OPTIONS", "--require=./hook.js"), None);
        assert_eq!(of("LD_PRELOAD", "/opt/x.so"), None);
        assert_eq!(of("KEY", "--require /x"), Some(vec![]));
    }

    #[test]
    fn what_names_no_file_starts_none() {
        for line in [
            "node",
            "node -e 1",
            "node missing.js",
            "python3 -c pass",
            "python3 -m missing",
            "python3 -I -m mod",
            "uv run my-server",
            "sh -c server.js",
            "sh -s server.js",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
