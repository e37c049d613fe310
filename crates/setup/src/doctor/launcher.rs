//! Commands that start servers, and those that fetch the package that they
//! start.

use jelly_base::text::WordList;
use jelly_base::text::launchers::{
    CONTAINER_FLAGS, FOLDER_FLAGS, NODES, OTHER_LAUNCHERS, PYTHON_LAUNCHERS, SCRIPT_RUNNERS,
    carried,
};

/// The package of a command, as it is named there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Package<'a> {
    /// `npx`, `uvx`, `docker`, …
    pub launcher: &'a str,
    pub spec: &'a str,
    /// The place in the arguments.
    pub index: usize,
    pub pinned: bool,
    /// How a pinned one is written.
    pub example: &'static str,
}

/// Shells that run a script, or a line behind `-c`.
pub(super) const SHELLS: &[&str] = &["bash", "dash", "sh", "zsh"];

/// `--name`, `-n` and `--name=value`.
pub(super) fn is_flag(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    let name = name.trim_start_matches('-');
    word.starts_with('-')
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// What a shell understands, and no program does.
const SHELL_WORDS: &[&str] = &["&&", "||", "|", ";"];

/// What only a shell does, and no program.
const SHELL_COMMANDS: &[&str] = &["cd", "export", "source", "."];

/// Whether the words of a command are for a shell.
pub(super) fn is_for_a_shell(words: &[impl AsRef<str>]) -> bool {
    let first = words.first().map(AsRef::as_ref);
    first.is_some_and(|first| SHELL_COMMANDS.contains(&first)) || has_shell_words(words)
}

/// Whether some of the words are a shell's.
pub(super) fn has_shell_words(words: &[impl AsRef<str>]) -> bool {
    let mut words = words.iter().map(AsRef::as_ref);
    words.any(|word| SHELL_WORDS.contains(&word) || redirected(word).is_some())
}

/// Where a word has a shell redirect a stream: `2>/dev/null`, and nothing where
/// the next word says it. `>=3.10` is a range, `>warn` a level perhaps, and
/// `<name>` is to be filled in.
fn redirected(word: &str) -> Option<&str> {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix('&').unwrap_or(rest);
    let is_sure = rest.len() < word.len() || rest.starts_with(">>");
    let target = rest
        .strip_prefix(">>")
        .or_else(|| rest.strip_prefix(['>', '<']))?;
    let is_target = target.starts_with(['&', '/', '~', '$'])
        || target.starts_with("./")
        || target.starts_with("../")
        || is_sure && target.starts_with(|c: char| c.is_ascii_alphabetic());
    (target.is_empty() || is_target && !target.ends_with('>')).then_some(target)
}

/// The words without what a shell redirects, and whither.
pub(super) fn without_redirections(words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match redirected(word) {
            None => kept.push(word.clone()),
            Some("") => {
                words.next();
            }
            Some(_) => {}
        }
    }
    kept
}

/// The variables that a shell would set for a command, by what stands before it.
pub(super) fn assigned(words: &[impl AsRef<str>]) -> Vec<&str> {
    let name = |word: &str| {
        let (name, _) = word.split_once('=')?;
        let is_name = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        (is_name && !name.is_empty()).then_some(name.len())
    };
    let words = words.iter().map(AsRef::as_ref);
    words.map_while(|word| Some(&word[..name(word)?])).collect()
}

struct Launcher {
    command: &'static str,
    /// Words that must follow, as in `pnpm dlx`.
    then: &'static [&'static str],
    /// Flags that name the package.
    package_flags: &'static [&'static str],
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Npm,
    Python,
    Image,
}

impl Kind {
    /// Whether a flag takes the next word.
    fn takes_value(self, flag: &str) -> bool {
        match self {
            Self::Npm => NPM_VALUES.has(flag),
            Self::Python => UV_VALUES.has(flag),
            Self::Image => CONTAINER_FLAGS.has(flag) || DOCKER_VALUES.has(flag),
        }
    }
}

/// Those that fetch packages of Python at each start.
pub(super) fn is_python_launcher(name: &str) -> bool {
    PYTHON_LAUNCHERS.has(name)
}

/// Those that run the scripts of a `package.json`.
pub(super) fn is_script_runner(name: &str) -> bool {
    SCRIPT_RUNNERS.has(name)
}

/// Whether it tells a launcher the folder of a project.
pub(super) fn is_folder_flag(word: &str) -> bool {
    FOLDER_FLAGS.has(word) || word == "--dir"
}

const NPM_PACKAGE: &[&str] = &["-p", "--package"];

const NPM_VALUES: WordList = WordList("--registry --cache --prefix -w --workspace");
const UV_VALUES: WordList = WordList(
    "-p --python --with --index-url --extra-index-url --index --directory --project \
     --refresh-package",
);
/// Beside those of all containers.
const DOCKER_VALUES: WordList =
    WordList("--entrypoint --gpus --tmpfs --cap-drop --cap-add --security-opt --runtime");

const LAUNCHERS: &[Launcher] = &[
    npm("npx", &[]),
    npm("bunx", &[]),
    npm("pnpx", &[]),
    npm("npm", &["exec"]),
    npm("pnpm", &["dlx"]),
    npm("yarn", &["dlx"]),
    npm("bun", &["x"]),
    python("uvx", &[], &["--from"]),
    python("uv", &["tool", "run"], &["--from"]),
    python("pipx", &["run"], &["--spec"]),
    image("docker"),
    image("podman"),
];

const fn npm(command: &'static str, then: &'static [&'static str]) -> Launcher {
    Launcher {
        command,
        then,
        package_flags: NPM_PACKAGE,
        kind: Kind::Npm,
    }
}

const fn python(
    command: &'static str,
    then: &'static [&'static str],
    package_flags: &'static [&'static str],
) -> Launcher {
    Launcher {
        command,
        then,
        package_flags,
        kind: Kind::Python,
    }
}

const fn image(command: &'static str) -> Launcher {
    Launcher {
        command,
        then: &["run"],
        package_flags: &[],
        kind: Kind::Image,
    }
}

/// The name of a command without its folder and Windows' endings.
pub(super) fn name_of(command: &str) -> &str {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    [".cmd", ".exe", ".bat", ".ps1"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name)
}

/// The package that a command fetches, as it is named there, its version and
/// all; none where it fetches none.
#[must_use]
pub fn package_name<'a>(command: &'a str, args: &[&'a str]) -> Option<&'a str> {
    package(command, args).map(|package| package.spec)
}

/// The package that is fetched, if one is.
pub(super) fn package<'a>(command: &'a str, args: &[&'a str]) -> Option<Package<'a>> {
    let name = name_of(command);
    // A shell of Windows before the command that is meant.
    if matches!(name, "cmd")
        && let [flag, inner, ..] = args
        && flag.eq_ignore_ascii_case("/c")
    {
        let found = package(inner, &args[2..])?;
        return Some(Package {
            index: found.index + 2,
            ..found
        });
    }
    let launcher = launcher_of(name, args)?;
    let (index, spec) = specs(launcher, args)
        .into_iter()
        .find(|(_, spec)| !is_node(launcher, spec))?;
    // Of this machine, or of a repository: its version is elsewhere.
    if spec.starts_with(['.', '/', '~']) || spec.contains("://") || spec.contains("${") {
        return None;
    }
    let (pinned, example) = match launcher.kind {
        Kind::Npm => (is_pinned_npm(spec), "name@<version>"),
        Kind::Python => (is_pinned_python(spec), "name==<version>"),
        Kind::Image => (is_pinned_image(spec), "image:<tag>"),
    };
    Some(Package {
        launcher: name,
        spec,
        index,
        pinned,
        example,
    })
}

/// Which argument names the Node or the Python that the server is to run on,
/// and what it says: `node@16` for npx, `--python 3.9` for uv.
pub(super) fn runtime<'a>(command: &str, args: &[&'a str]) -> Option<(usize, &'a str)> {
    let name = name_of(command);
    if matches!(name, "uv" | "uvx") {
        let flag = args
            .iter()
            .position(|arg| matches!(*arg, "-p" | "--python") || arg.starts_with("--python="))?;
        return match args[flag].strip_prefix("--python=") {
            Some(version) => Some((flag, version)),
            None => Some((flag + 1, *args.get(flag + 1)?)),
        };
    }
    let launcher = launcher_of(name, args)?;
    specs(launcher, args)
        .into_iter()
        .find(|(_, spec)| is_node(launcher, spec))
}

/// Where the flags of a launcher stand, before what it starts.
pub(super) fn flags_at(command: &str, args: &[&str]) -> usize {
    let name = name_of(command);
    if name == "uv" {
        return args
            .iter()
            .position(|arg| *arg == "run")
            .map_or(0, |run| run + 1);
    }
    launcher_of(name, args).map_or(0, |launcher| launcher.then.len())
}

/// The words of a command up to the program that it starts, without those
/// that are the program's own.
pub(super) fn up_to_program(command: &str, args: &[&str]) -> usize {
    let words: Vec<&str> = std::iter::once(command)
        .chain(args.iter().copied())
        .collect();
    match carried(&words) {
        0 => up_to_its_program(command, args),
        at => at + up_to_its_program(words[at], &words[at + 1..]),
    }
}

fn up_to_its_program(command: &str, args: &[&str]) -> usize {
    let last_spec = launcher_of(name_of(command), args).and_then(|launcher| {
        let found = specs(launcher, args);
        let (last, _) = *found.last()?;
        let named_by_flag = last > 0 && launcher.package_flags.contains(&args[last - 1])
            || args[last].starts_with('-');
        // Behind packages comes the program, and perhaps `--` before it.
        let program = |index: usize| {
            let own = args
                .iter()
                .skip(index + 1)
                .position(|arg| !arg.starts_with('-'));
            own.map_or(args.len(), |own| index + 2 + own)
        };
        Some(if named_by_flag || is_node(launcher, args[last]) {
            program(last)
        } else {
            last + 1
        })
    });
    last_spec.unwrap_or_else(|| {
        let name = name_of(command);
        let is_launcher = [NODES, SCRIPT_RUNNERS, PYTHON_LAUNCHERS, OTHER_LAUNCHERS]
            .iter()
            .any(|names| names.has(name))
            || name.starts_with("python")
            || name.starts_with("pypy");
        // A program of its own has all arguments for itself.
        if !is_launcher {
            return 0;
        }
        if let Some(module) = args.iter().position(|arg| *arg == "-m") {
            return (module + 2).min(args.len());
        }
        let is_uv = name_of(command) == "uv";
        let is_value = |index: usize| is_uv && index > 0 && UV_VALUES.has(args[index - 1]);
        let first = args.iter().enumerate().position(|(index, arg)| {
            let is_word = !arg.starts_with('-') && !is_value(index);
            is_word && !matches!(*arg, "run" | "exec" | "start" | "tool")
        });
        first.map_or(0, |first| first + 1)
    })
}

fn launcher_of(name: &str, args: &[&str]) -> Option<&'static Launcher> {
    LAUNCHERS.iter().find(|launcher| {
        launcher.command == name
            && args.len() >= launcher.then.len()
            && launcher.then.iter().zip(args).all(|(a, b)| a == b)
    })
}

/// Node itself, which is on npm as well.
fn is_node(launcher: &Launcher, spec: &str) -> bool {
    matches!(launcher.kind, Kind::Npm) && (spec == "node" || spec.starts_with("node@"))
}

/// All packages that are named: those of flags, else the first word that is
/// none.
fn specs<'a>(launcher: &Launcher, args: &[&'a str]) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    let mut words = args.iter().copied().enumerate().skip(launcher.then.len());
    while let Some((index, word)) = words.next() {
        let joined = launcher.package_flags.iter().find_map(|flag| {
            word.strip_prefix(flag)
                .and_then(|rest| rest.strip_prefix('='))
        });
        if launcher.package_flags.contains(&word) {
            found.extend(words.next());
        } else if let Some(spec) = joined {
            found.push((index, spec));
        } else if launcher.kind.takes_value(word) {
            words.next();
        } else if !word.starts_with('-') {
            if found.is_empty() {
                found.push((index, word));
            }
            break;
        }
    }
    found
}

/// One version, and no range or tag.
fn is_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.matches('.').count() >= 1
        && !text.contains(['x', '*', ' ', '|', '<', '>'])
}

fn is_pinned_npm(spec: &str) -> bool {
    spec.char_indices()
        .skip(1)
        .find(|(_, c)| *c == '@')
        .is_some_and(|(at, _)| is_version(&spec[at + 1..]))
}

fn is_pinned_python(spec: &str) -> bool {
    let version = spec
        .split_once("==")
        .map(|(_, version)| version)
        .or_else(|| spec.split_once('@').map(|(_, version)| version));
    version.is_some_and(|version| is_version(version.trim_start_matches('=').trim()))
}

/// A digest, or a tag that is no moving one.
fn is_pinned_image(spec: &str) -> bool {
    let name = spec.rsplit('/').next().unwrap_or(spec);
    spec.contains("@sha256:")
        || name
            .split_once(':')
            .is_some_and(|(_, tag)| tag.contains(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{has_shell_words, name_of, package, runtime, up_to_program, without_redirections};

    #[test]
    fn redirections_are_a_shells_and_ranges_are_not() {
        for (line, kept) in [
            ("srv.py > /tmp/log 2>&1", "srv.py"),
            ("srv.py 2>/dev/null --x", "srv.py --x"),
            ("srv.py >>log <./in &>all", "srv.py"),
            ("srv.py 2> err", "srv.py"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert!(has_shell_words(&words), "{line}");
            assert_eq!(without_redirections(&words).join(" "), kept, "{line}");
        }
        for word in [
            ">=3.10", "<2", "<name>", "</name>", ">warn", "a>b", "->", "&x", "12",
        ] {
            assert!(!has_shell_words(&[word]), "{word}");
        }
    }

    #[test]
    fn packages_are_found_behind_the_launchers_flags() {
        for (line, spec, pinned) in [
            ("npx -y @a/b dir", "@a/b", false),
            ("npx -y @a/b@1.2.3", "@a/b@1.2.3", true),
            ("npx -y b@latest", "b@latest", false),
            ("npx b@^1.2", "b@^1.2", false),
            ("npx --package=b@1.0 cmd", "b@1.0", true),
            ("npx -p b cmd", "b", false),
            ("npx -y -p node@12 -p b cmd", "b", false),
            (
                "npx --package=node@12 --package=b@1.0 -- cmd",
                "b@1.0",
                true,
            ),
            ("pnpm dlx b", "b", false),
            ("cmd /c npx -y b", "b", false),
            (r"C:\node\npx.cmd -y b", "b", false),
            ("uvx b", "b", false),
            ("uvx b==1.2", "b==1.2", true),
            ("uvx b@1.2.0", "b@1.2.0", true),
            ("uvx --python 3.12 --from b[x]==2.0 cmd", "b[x]==2.0", true),
            ("uv tool run b", "b", false),
            ("pipx run b", "b", false),
            ("docker run -i --rm -e KEY mcp/b", "mcp/b", false),
            ("docker run -i mcp/b:latest", "mcp/b:latest", false),
            ("docker run -i mcp/b:1.0", "mcp/b:1.0", true),
            ("docker run h:5000/b@sha256:ab", "h:5000/b@sha256:ab", true),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let found = package(words[0], &words[1..]).unwrap();
            assert_eq!((found.spec, found.pinned), (spec, pinned), "{line}");
            assert_eq!(
                words[found.index + 1].trim_start_matches("--package="),
                spec
            );
        }
    }

    #[test]
    fn what_fetches_nothing_has_no_package() {
        for line in [
            "node x.js",
            "npx ./local",
            "npx",
            "uv run x.py",
            "npm start",
            "npx -y node@16 x.js",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(package(words[0], &words[1..]), None, "{line}");
        }
        assert_eq!(name_of("/usr/bin/npx"), "npx");
    }

    #[test]
    fn the_runtime_and_the_programs_own_words_are_told_apart() {
        for (line, named, shown) in [
            ("npx -y b --flag x", None, "npx -y b"),
            (
                "npx -y -p node@12 -p b cmd --flag",
                Some("node@12"),
                "npx -y -p node@12 -p b cmd",
            ),
            (
                "npx --package=node@12 --package=b -- cmd x",
                Some("node@12"),
                "npx --package=node@12 --package=b -- cmd",
            ),
            (
                "npx -y node@16 x.js --flag",
                Some("node@16"),
                "npx -y node@16 x.js",
            ),
            (
                "uvx --python 3.9 b --flag",
                Some("3.9"),
                "uvx --python 3.9 b",
            ),
            (
                "uv run --python=3.9 x.py --flag",
                Some("3.9"),
                "uv run --python=3.9 x.py",
            ),
            (
                "uv run --directory /d b --flag",
                None,
                "uv run --directory /d b",
            ),
            ("python3 -m b --flag", None, "python3 -m b"),
            ("node x.js --flag", None, "node x.js"),
            ("srv --flag", None, "srv"),
            ("/opt/srv http --flag", None, "/opt/srv"),
            ("npm run b --flag", None, "npm run b"),
            (
                "setsid --wait docker run --rmm x --flag",
                None,
                "setsid --wait docker run --rmm x",
            ),
            ("sudo -u me srv --flag", None, "sudo -u me srv"),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let found = runtime(words[0], &words[1..]).map(|(_, spec)| spec);
            assert_eq!(found, named, "{line}");
            let end = up_to_program(words[0], &words[1..]);
            assert_eq!(words[..=end].join(" "), shown, "{line}");
        }
    }
}
