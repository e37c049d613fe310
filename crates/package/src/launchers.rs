//! The commands that fetch a package and start it, and their grammars.
//!
//! In the order in which MCP clients put it: the launcher, its own arguments,
//! the package, the package's arguments.

use super::launch::Piece;
use super::spec;
use super::trouble::Warning;
use super::types::{Package, Registry};

/// What a launcher has between its name and the package, and behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grammar {
    /// `npx -y NAME@VERSION`
    Npx,
    /// `npm exec --yes -- NAME@VERSION`
    NpmExec,
    /// `bunx NAME@VERSION`, and those after a word or two.
    Plain(&'static [&'static str]),
    /// `uvx NAME@VERSION`
    Uv(&'static [&'static str]),
    /// `pipx run --spec NAME==VERSION NAME`
    Pipx,
    /// `docker run -i --rm -e NAME IMAGE:TAG`
    Container,
    /// `dnx NAME@VERSION --yes -- ARGS`
    Dnx(&'static [&'static str]),
}

/// Launchers by the word that `runtimeHint` names them with. A hint that is
/// none of them is never run: a definition must not choose any command.
const LAUNCHERS: [(Family, &str, Grammar); 14] = [
    (Family::Npm, "npx", Grammar::Npx),
    (Family::Npm, "npm", Grammar::NpmExec),
    (Family::Npm, "bunx", Grammar::Plain(&[])),
    (Family::Npm, "bun", Grammar::Plain(&["x"])),
    (Family::Npm, "pnpm", Grammar::Plain(&["dlx"])),
    (Family::Npm, "yarn", Grammar::Plain(&["dlx"])),
    (Family::Pypi, "uvx", Grammar::Uv(&[])),
    (Family::Pypi, "uv", Grammar::Uv(&["tool", "run"])),
    (Family::Pypi, "pipx", Grammar::Pipx),
    (Family::Oci, "docker", Grammar::Container),
    (Family::Oci, "podman", Grammar::Container),
    (Family::Oci, "nerdctl", Grammar::Container),
    (Family::Nuget, "dnx", Grammar::Dnx(&[])),
    (Family::Nuget, "dotnet", Grammar::Dnx(&["tool", "exec"])),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Npm,
    Pypi,
    Oci,
    Nuget,
}

impl Family {
    fn of(registry: &Registry) -> Option<Self> {
        match registry {
            Registry::Npm => Some(Self::Npm),
            Registry::Pypi => Some(Self::Pypi),
            Registry::Oci => Some(Self::Oci),
            Registry::Nuget => Some(Self::Nuget),
            Registry::Other(_) => None,
        }
    }
}

impl Package {
    /// The command that would start it, whatever its arguments lack; `None`
    /// for a registry without a launcher.
    #[must_use]
    pub fn launcher(&self) -> Option<&'static str> {
        let family = Family::of(&self.registry)?;
        Some(chosen(family, self.runtime_hint.as_deref(), &mut Vec::new()).0)
    }
}

/// A whole command line, as far as it is the launcher's affair.
pub(super) struct Line {
    pub command: String,
    pub args: Vec<Piece>,
}

/// Puts the words together; `None` for a registry without a launcher.
pub(super) fn line(
    package: &Package,
    runtime: Vec<Piece>,
    own: Vec<Piece>,
    env: &[String],
    warnings: &mut Vec<Warning>,
) -> Option<Line> {
    let family = Family::of(&package.registry)?;
    let (command, grammar) = chosen(family, package.runtime_hint.as_deref(), warnings);
    warnings.extend(spec::unpinned(package).map(Warning));
    warnings.extend(spec::disagreement(package).map(Warning));
    let mut assembly = Assembly {
        package,
        runtime,
        args: Vec::new(),
        warnings,
    };
    match grammar {
        Grammar::Npx => assembly.npx(),
        Grammar::NpmExec => assembly.npm_exec(),
        Grammar::Plain(words) => assembly.plain(words),
        Grammar::Uv(words) => assembly.uv(words),
        Grammar::Pipx => assembly.pipx(),
        Grammar::Container => assembly.container(env),
        Grammar::Dnx(words) => assembly.dnx(words, !own.is_empty()),
    }
    let mut args = assembly.args;
    args.extend(own);
    Some(Line {
        command: command.to_owned(),
        args,
    })
}

/// The launcher of the hint, if it is one for this kind of package, else the
/// usual one.
fn chosen(
    family: Family,
    hint: Option<&str>,
    warnings: &mut Vec<Warning>,
) -> (&'static str, Grammar) {
    let mut of_family = LAUNCHERS.into_iter().filter(|(of, _, _)| *of == family);
    let hinted = hint.and_then(|hint| {
        // Some write the whole of `npx -y`.
        let word = hint.split_whitespace().next()?.to_ascii_lowercase();
        of_family.clone().find(|(_, name, _)| *name == word)
    });
    let usual = of_family
        .next()
        .map_or(("npx", Grammar::Npx), |(_, name, grammar)| (name, grammar));
    match (hint, hinted) {
        (_, Some((_, name, grammar))) => (name, grammar),
        (Some(hint), None) => {
            warnings.push(Warning(format!(
                "`runtimeHint: {hint}` is no launcher of such packages; `{}` is used",
                usual.0
            )));
            usual
        }
        (None, None) => usual,
    }
}

/// Whether a word is one of these itself, and not the value of a flag.
fn is_one_of(piece: &Piece, words: &[&str]) -> bool {
    !piece.of_flag && words.contains(&piece.text.as_str())
}

struct Assembly<'a> {
    package: &'a Package,
    runtime: Vec<Piece>,
    args: Vec<Piece>,
    warnings: &'a mut Vec<Warning>,
}

impl Assembly<'_> {
    fn word(&mut self, text: impl Into<String>) {
        self.args.push(Piece::fixed(text));
    }

    fn words(&mut self, words: &[&str]) {
        words.iter().for_each(|word| self.word(*word));
    }

    fn runtime_has(&self, words: &[&str]) -> bool {
        self.runtime.iter().any(|piece| is_one_of(piece, words))
    }

    /// Takes words out that jelly writes itself.
    fn leave_out(&mut self, words: &[&str]) {
        self.runtime.retain(|piece| !is_one_of(piece, words));
    }

    fn take_runtime(&mut self) {
        self.args.append(&mut self.runtime);
    }

    /// Some publishers write the package among the launcher's own arguments.
    fn runtime_has_package(&mut self) -> bool {
        let (name, _) = spec::split(&self.package.registry, &self.package.identifier);
        // Of the values of flags, only one of these is what is started; what
        // stands behind `--from` is another matter.
        let fetches = |flag: &str| matches!(flag, "--package" | "-p" | "--spec");
        let mut before = "";
        let mut found = false;
        for piece in &self.runtime {
            let text = piece.text.strip_prefix("--package=").unwrap_or(&piece.text);
            found |= (!piece.of_flag || fetches(before))
                && piece.from.is_none()
                && self.package.is_named_by(text);
            before = &piece.text;
        }
        if found {
            self.warnings.push(Warning(format!(
                "the launcher's arguments name `{name}` themselves; it is not passed twice"
            )));
        }
        found
    }

    /// `flag URL`, for a registry that is not the launcher's own.
    fn registry(&mut self, flag: &str, usual: &str) {
        if let Some(url) = &self.package.registry_base_url
            && !url.contains(usual)
        {
            let url = url.clone();
            self.words(&[flag, &url]);
        }
    }

    fn npx(&mut self) {
        let says_yes = self.runtime_has(&["-y", "--yes"]);
        let has_package = self.runtime_has_package();
        if !says_yes {
            self.word("-y");
        }
        self.registry("--registry", "registry.npmjs.org");
        self.take_runtime();
        if !has_package {
            self.word(spec::at_version(self.package));
        }
    }

    fn npm_exec(&mut self) {
        self.word("exec");
        if !self.runtime_has(&["-y", "--yes"]) {
            self.word("--yes");
        }
        self.leave_out(&["exec", "--"]);
        self.registry("--registry", "registry.npmjs.org");
        let has_package = self.runtime_has_package();
        if has_package {
            self.take_runtime();
            self.word("--");
        } else {
            self.take_runtime();
            self.word("--");
            self.word(spec::at_version(self.package));
        }
    }

    fn plain(&mut self, words: &[&str]) {
        self.words(words);
        let has_package = self.runtime_has_package();
        self.take_runtime();
        if !has_package {
            self.word(spec::at_version(self.package));
        }
    }

    fn uv(&mut self, words: &[&str]) {
        self.words(words);
        self.registry("--index-url", "pypi.org");
        // `--from WHAT` says what is fetched; then the first of the package's
        // arguments is what is run.
        let from = self.runtime.iter().position(|piece| piece.text == "--from");
        let is_from = match from {
            Some(at) => at + 1 < self.runtime.len(),
            None => self.runtime.iter().any(|p| p.text.starts_with("--from=")),
        };
        let has_package = !is_from && self.runtime_has_package();
        self.take_runtime();
        if is_from || has_package {
            return;
        }
        let (name, own) = spec::split(&self.package.registry, &self.package.identifier);
        match (name.split_once('['), from) {
            // Extras can be asked for only where a requirement stands.
            (Some((plain, _)), None) => {
                let requirement = spec::requirement(self.package);
                self.words(&["--from", &requirement, plain]);
            }
            (_, Some(_)) => self.word(spec::requirement(self.package)),
            (None, None) if own.is_some() => {
                let version = own.unwrap_or_default();
                self.word(format!("{name}@{version}"));
            }
            (None, None) => self.word(spec::at_version(self.package)),
        }
    }

    fn pipx(&mut self) {
        self.word("run");
        self.leave_out(&["run"]);
        self.registry("--index-url", "pypi.org");
        let has_package = self.runtime_has_package();
        self.take_runtime();
        if !has_package {
            let (name, _) = spec::split(&self.package.registry, &self.package.identifier);
            let plain = name.split('[').next().unwrap_or_default().to_owned();
            let requirement = spec::requirement(self.package);
            self.words(&["--spec", &requirement, &plain]);
        }
    }

    fn container(&mut self, env: &[String]) {
        // Some write the whole command.
        self.leave_out(&["run", "-i", "--rm", "--interactive"]);
        self.words(&["run", "-i", "--rm"]);
        for name in env {
            if !self.passes_on(name) {
                self.words(&["-e", name]);
            }
        }
        let has_package = self.runtime_has_package();
        self.take_runtime();
        if !has_package {
            self.word(spec::image(self.package));
        }
    }

    /// Whether the launcher's arguments hand the variable on already.
    fn passes_on(&self, name: &str) -> bool {
        let is_it = |text: &str| {
            text.strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        let mut before = "";
        for piece in &self.runtime {
            let text = piece.text.as_str();
            let joined = ["-e=", "--env="].iter().find_map(|f| text.strip_prefix(f));
            if (matches!(before, "-e" | "--env") && is_it(text)) || joined.is_some_and(is_it) {
                return true;
            }
            before = text;
        }
        false
    }

    fn dnx(&mut self, words: &[&str], has_arguments: bool) {
        self.words(words);
        let says_yes = self.runtime_has(&["-y", "--yes"]);
        let has_package = self.runtime_has_package();
        self.take_runtime();
        if !has_package {
            self.word(spec::at_version(self.package));
        }
        if !says_yes {
            self.word("--yes");
        }
        self.registry("--source", "api.nuget.org");
        if has_arguments {
            self.word("--");
        }
    }
}
