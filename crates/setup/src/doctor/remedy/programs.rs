//! What mends an entry whose program or package is not there.

use super::commands::{elsewhere, launchers_like, packages_like};
use super::entries::Change;
use super::npm::package_name;
use super::prescribe::{Doctor, blank, found};
use super::pythons::{name_of_spec, normal};
use super::steps::Remedy;
use crate::doctor::entry::Place;
use crate::doctor::launcher::{Package, is_python_launcher};
use jelly_base::model::Phase;
use jelly_base::text::{LazyPattern, shell_word as word};
use std::path::Path;

/// What rules say of a program that is not found, where another is meant.
const MEANT: &[&str] = &["install-program", "compare-path", "find-program"];

/// The same, where it is installed.
const INSTALLED: &[&str] = &[
    "install-program",
    "install-launcher",
    "compare-path",
    "find-program",
];

/// What rules say of a program that the server starts.
const UPSTREAM_INSTALLS: &[&str] = &[
    "install-program",
    "install-program-there",
    "install-missing-program",
];

/// The same, where it can't be found by looking.
pub(super) const UPSTREAM: &[&str] = &[
    "install-program",
    "install-program-there",
    "install-missing-program",
    "find-program",
];

/// Functions of shells, with the program that people mean by them.
const SHELL_FUNCTIONS: [(&str, &str); 4] = [
    ("nvm", "node"),
    ("rvm", "ruby"),
    ("sdk", "java"),
    ("workon", "python"),
];

impl Doctor<'_> {
    pub(super) fn command(&self) -> Remedy {
        // What a server that runs looks for is not the entry's command.
        let phase = self.context.failure.phase;
        if !matches!(phase, Some(Phase::Config | Phase::Spawn)) {
            return self.upstream();
        }
        if let Some(remedy) = self.known_command() {
            return remedy;
        }
        let started = self.started;
        let name = started.command.text.trim();
        if name.contains(['/', '\\']) {
            return self.nothing_there(name);
        }
        let full = blank(&format!("full path of {name}"));
        self.fetching(name)
            .write("Install it, or write its full path", started.command(&full))
            .instead_of(&["install-program"])
    }

    /// What a look at the machine shows of a program that was not started: which one is meant,
    /// where it lies, or what was lost.
    pub(super) fn known_command(&self) -> Option<Remedy> {
        let (started, sight) = (self.started, self.context.sight);
        let name = started.command.text.trim();
        if let Some(members) = self.split() {
            let what = format!(
                "`{}` holds a whole command line; write its words apart,",
                started.format.command_name()
            );
            return Some(known_program(what, members, MEANT));
        }
        if name.contains('/') && sight.is_there(&self.whole(name)) {
            return Some(self.without_interpreter(name));
        }
        if name.contains(['/', '\\']) {
            return self.lost_program(name);
        }
        if let Some(path) = started.variable("PATH") {
            let found = sight.on_path(name);
            let full = found.map_or_else(
                || blank(&format!("full path of {name}")),
                |path| path.display().to_string(),
            );
            let what = format!(
                "The PATH of the entry, at {}, replaces the whole PATH, and `{name}` lies in \
                 none of its folders; delete it there, or write:",
                self.at(path.place)
            );
            let remedy = Remedy::new()
                .say(what)
                .paste(started.command(&full).members);
            return Some(remedy.instead_of(INSTALLED));
        }
        // What shells load when somebody signs in, no client can start.
        if let Some((_, program)) = SHELL_FUNCTIONS
            .iter()
            .find(|(function, _)| *function == name)
        {
            let what = format!(
                "`{name}` is a function of the shells that people type into, and no program; write \
                 the path that `command -v {program}` tells there"
            );
            let full = blank(&format!("full path of {program}"));
            return Some(known_program(what, started.command(&full), INSTALLED));
        }
        let meant = launchers_like(name);
        if let Some(meant) = meant.iter().find(|name| sight.on_path(name).is_some()) {
            let what = format!("`{name}` is probably `{meant}`, mistyped; write");
            return Some(known_program(what, started.command(meant), MEANT));
        }
        let is_file = |path: &Path| sight.is_there(path) && !sight.is_folder(path);
        if let Some(path) = elsewhere(name, self.context.home, &is_file) {
            let what = "It is installed, in a folder that the PATH does not name; write";
            let path = path.display().to_string();
            return Some(known_program(what, started.command(&path), INSTALLED));
        }
        let meant = meant.first()?;
        let what = format!(
            "`{name}` is probably `{meant}`, mistyped; that is not installed here either: install \
             it, and write"
        );
        let instead_of = &["install-program", "compare-path"];
        Some(known_program(what, started.command(meant), instead_of))
    }

    /// A program that the server starts: its path is often a word of the entry.
    fn upstream(&self) -> Remedy {
        static AWAY: [LazyPattern; 1] =
            [LazyPattern::new(r"can't be found: (?P<it>\S+?)\.(?:\s|$)")];
        let Some(name) = found(&AWAY, &self.told) else {
            return Remedy::new();
        };
        let started = self.started;
        let given = started.args.iter().position(|arg| arg.text == name);
        if let (Some(index), "uv") = (given, started.program()) {
            return self.program_of_project(index);
        }
        if let (Some(index), Some(fetched)) = (given, started.fetched()) {
            // What npx looks for is a program of the package that it fetched.
            return Remedy::new()
                .write(
                    format!("The package has no program `{name}`; write one that it has,"),
                    started.with(index, &blank("name of its program")),
                )
                .run(format!("npm view {} bin", word(fetched.spec)))
                .instead_of(UPSTREAM);
        }
        let variable = started.env.iter().find(|(_, spot)| spot.text == name);
        let path = blank(&format!("full path of {name}"));
        let change = match (given, variable) {
            (Some(index), _) => started.with(index, &path),
            (None, Some((key, spot))) => started.env_with(key, &path).at(spot.place),
            (None, None) => return Remedy::new().instead_of(&["install-missing-program"]),
        };
        Remedy::new()
            .write(
                format!("Install `{name}`, or write the path where it lies,"),
                change,
            )
            .instead_of(UPSTREAM_INSTALLS)
    }

    /// The arguments with another package, which npx is allowed to install.
    fn with_package(&self, index: usize, text: &str) -> Change {
        let mut words = self.started.words_with(index, text);
        let is_npx = self.started.program() == "npx";
        if is_npx && !words.iter().any(|word| matches!(&**word, "-y" | "--yes")) {
            words.insert(0, "-y".to_owned());
        }
        self.started.args(&words).at(self.at_arg(index))
    }

    /// The package is there, and one that it asks for is not.
    fn lacking_dependency(&self, fetched: &Package<'_>) -> Option<Remedy> {
        static LACKING: [LazyPattern; 2] = [
            LazyPattern::new(r"No matching version found for (?P<it>@?[\w./-]+)@"),
            LazyPattern::new(r"404\s+'(?P<it>@?[\w./-]+)@[^'\n]*' is not in this registry"),
        ];
        let lacking = found(&LACKING, self.stderr)?;
        let own = package_name(fetched.spec);
        if fetched.launcher != "npx" || lacking == own {
            return None;
        }
        let what = format!(
            "`{own}` is there, and asks for `{lacking}`, which is not to be had; take another \
             version of it, and write"
        );
        let other = format!("{own}@{}", blank("version"));
        let remedy = Remedy::new()
            .write(what, self.with_package(fetched.index, &other))
            .run(format!("npm view {} time", word(own)));
        Some(remedy.instead_of(&["check-package-name", "show-package-on-npm"]))
    }

    /// The package is there, and its program is to be named apart.
    fn named_program(&self, fetched: &Package<'_>, at: Place, is_python: bool) -> Remedy {
        let args = self.started.args;
        // The program that was named apart is the one that is not there.
        let before = fetched.index.checked_sub(1).map(|at| &*args[at].text);
        let apart = matches!(before, Some("--from" | "--package" | "-p" | "--spec"));
        let own = (fetched.index + 1 + usize::from(apart)).min(args.len());
        let listed = listed_programs(self.stderr);
        let program = match listed.as_slice() {
            [only] => only.clone(),
            several => match server_among(several) {
                Some(server) => server.to_owned(),
                None => blank("name of its program"),
            },
        };
        let spec = fetched.spec;
        let mut words = match is_python {
            true => vec!["--from".to_owned(), spec.to_owned()],
            false => ["-y", &format!("--package={spec}"), "--"]
                .map(str::to_owned)
                .into(),
        };
        words.push(program);
        words.extend(self.started.words().split_off(own));
        let what = "Write the program of the package besides,";
        let mut remedy = Remedy::new().write(what, self.started.args(&words).at(at));
        if listed.len() > 1 {
            let listed: Vec<String> = listed.iter().map(|name| format!("`{name}`")).collect();
            remedy = remedy.say(format!("It has these programs: {}.", listed.join(", ")));
        }
        if !is_python {
            remedy = remedy
                .say("These are its programs; if there are none, it is no server's:")
                .run(format!("npm view {} bin", word(spec)));
        }
        remedy.instead_of(&["name-program"])
    }

    /// The package is there, and what else is asked for has no such version.
    fn other_requirement(&self, own: &str) -> Option<Remedy> {
        static LACKING: [LazyPattern; 3] = [
            LazyPattern::new(
                r"\bthere (?:is no version|are no versions) of (?P<it>[\w.-]+?)[=<>!~]",
            ),
            LazyPattern::new(r"\bonly (?P<it>[\w.-]+?)(?:[<>=!~]\S*)? is available"),
            LazyPattern::new(
                r"(?i)satisfies the requirement (?P<it>[\w.-]+?)(?:[<>=!~]\S*)? \(from versions: \d",
            ),
        ];
        let lacking = found(&LACKING, self.stderr)?;
        let is_lacking = |text: &str| normal(name_of_spec(text)) == normal(&lacking);
        if is_lacking(own) {
            return None;
        }
        let index = self
            .started
            .args
            .iter()
            .position(|arg| is_lacking(&arg.text));
        let Some(index) = index else {
            return Some(Remedy::new());
        };
        let asked = &self.started.args[index].text;
        let what =
            format!("`{asked}` is no version of `{lacking}`; choose one that exists, and write");
        let remedy = Remedy::new()
            .write(
                what,
                self.with_package(index, &format!("{lacking}==<version>")),
            )
            .run(format!("pip index versions {}", word(&lacking)));
        Some(remedy.instead_of(&["check-package-name", "show-versions-on-pypi"]))
    }

    pub(super) fn package(&self) -> Remedy {
        static NO_VERSION: [LazyPattern; 3] = [
            LazyPattern::new(r"(?P<it>(?i:no matching version|there is no version))"),
            LazyPattern::new(r"(?P<it>is available)\b"),
            LazyPattern::new(r"(?P<it>\(from versions: \d)"),
        ];
        let Some(fetched) = self.started.fetched() else {
            return Remedy::new();
        };
        let at = self.at_arg(fetched.index);
        let is_python = is_python_launcher(fetched.launcher);
        let has_none = self.stderr.contains("does not provide any executables");
        if self.rule.ends_with("executable") && !has_none {
            return self.named_program(&fetched, at, is_python);
        }
        if let Some(remedy) = self.lacking_dependency(&fetched) {
            return remedy;
        }
        let version = fetched.spec.char_indices().skip(1);
        let mut version = version.filter(|(_, c)| "@=<>~!".contains(*c));
        let unpinned = version
            .next()
            .map_or(fetched.spec, |(end, _)| &fetched.spec[..end]);
        let mut meant = packages_like(unpinned, is_python);
        // PyPI takes either mark for the other.
        let normal = |name: &str| name.to_ascii_lowercase().replace(['_', '.'], "-");
        meant.retain(|meant| !is_python || normal(meant) != normal(unpinned));
        if !meant.is_empty() {
            return meant.iter().fold(Remedy::new(), |remedy, meant| {
                let what = format!("`{unpinned}` is probably `{meant}`, mistyped; write");
                remedy.write(what, self.with_package(fetched.index, meant))
            });
        }
        if is_python && let Some(other) = self.other_requirement(unpinned) {
            return other;
        }
        if unpinned != fetched.spec && found(&NO_VERSION, self.stderr).is_some() {
            let (text, list) = match is_python {
                true => (format!("{unpinned}==<version>"), "pip index versions"),
                false => (format!("{unpinned}@<version>"), "npm view"),
            };
            let end = if is_python { "" } else { " versions" };
            let what = "There is no such version; choose one that exists, and write";
            return Remedy::new()
                .write(what, self.with_package(fetched.index, &text))
                .run(format!("{list} {}{end}", word(unpinned)))
                .instead_of(&[
                    "check-package-name",
                    "show-package-on-npm",
                    "show-versions-on-pypi",
                ]);
        }
        Remedy::new()
            .write(
                "Write the right name, from the server's own documentation,",
                self.with_package(fetched.index, "<name of the package>"),
            )
            .instead_of(&["show-package-on-npm", "show-versions-on-pypi"])
    }
}

/// The one thing to do where the program that is meant is known.
fn known_program(
    what: impl Into<String>,
    change: Change,
    instead_of: &'static [&'static str],
) -> Remedy {
    Remedy::new().write(what, change).instead_of(instead_of)
}

/// The programs of a package, as uv lists them.
fn listed_programs(stderr: &str) -> Vec<String> {
    let mut lines = stderr.lines();
    let heads = lines.any(|line| line.contains("executables are available:"));
    let listed = lines.map_while(|line| line.trim().strip_prefix("- "));
    let names = listed.filter_map(|line| line.split([' ', '(']).next());
    let names = names.filter(|name| heads && !name.is_empty());
    names.map(str::to_owned).collect()
}

/// The one that is called like a server, where no other is.
fn server_among(programs: &[String]) -> Option<&str> {
    let called = |word: &str| {
        let mut named = programs.iter().filter(|name| name.contains(word));
        named.next().filter(|_| named.next().is_none())
    };
    let others = programs.iter().filter(|name| !name.contains("client"));
    let mut others = others.fuse();
    let only = others.next().filter(|_| others.next().is_none());
    called("server").or(only).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::{listed_programs, server_among};

    #[test]
    fn the_server_is_chosen_among_the_programs_of_a_package() {
        let stderr = "An executable named `x` is not provided by package `x`.\nThe following \
                      executables are available:\n- sample-mcp-client\n- sample-mcp-server\n\nUse \
                      `uvx --from x sample-mcp-client` instead.\n";
        let listed = listed_programs(stderr);
        assert_eq!(listed, ["sample-mcp-client", "sample-mcp-server"]);
        assert_eq!(server_among(&listed), Some("sample-mcp-server"));
        let two = ["a".to_owned(), "b".to_owned()];
        assert_eq!(server_among(&two), None);
        assert!(listed_programs("- nothing\n").is_empty());
    }
}
