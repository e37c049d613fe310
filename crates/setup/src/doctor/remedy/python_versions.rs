//! What mends a server of Python whose dependency has another interface than
//! it was written for: which one by the traceback, and which version by what
//! the server's package asks for.

use super::prescribe::{Doctor, found};
use super::pythons::{
    Env, Frame, Keeper, asked_by_project, frames, module_of, name_of_spec, range_for,
};
use super::steps::Remedy;
use super::uv_tools::from_its_source;
use crate::doctor::versions::{Version, python_allows, python_least};
use jelly_base::text::{LazyPattern, pypi_package, shell_word as word};
use regex::Regex;
use std::path::Path;

/// Packages that changed most in one version, which servers without metadata
/// were mostly written before.
const TURNS: &[(&str, &str)] = &[("fastmcp", "3"), ("mcp", "2")];

/// More packages than these that would have to follow: the version is not to
/// be had here.
const OTHERS: usize = 3;

/// What is to be installed in place of what is there.
pub(super) struct Wanted {
    pub(super) package: String,
    /// As pip takes it: `mcp<2`.
    pub(super) spec: String,
    /// Why it is this one.
    pub(super) why: Option<String>,
    /// Packages that have to follow.
    pub(super) others: Vec<String>,
    /// Whose code asks for it.
    pub(super) asker: Option<String>,
}

/// The package that changed, and who still calls it as it was.
struct Quarrel {
    module: String,
    /// The frame in the code of the one who calls.
    caller: Option<Frame>,
    /// What is missed is not for others to use.
    is_private: bool,
}

impl Doctor<'_> {
    pub(super) fn python_dependency(&self) -> Remedy {
        const PINS: &[&str] = &[
            "compare-versions",
            "install-locked-versions",
            "npm-list",
            "pin-dependency",
            "pip-check",
            "pip-list",
            "show-dependencies",
        ];
        // A package of its name is a stranger's.
        let is_own = |module: String| self.is_own_module(&module);
        if self.module_in_quarrel().is_some_and(is_own) {
            return Remedy::new();
        }
        let Some(wanted) = self.wanted() else {
            // Nobody knows which one it is.
            return match self.installing("<dependency>==<version>", &[]) {
                Some(remedy) => remedy.instead_of(PINS),
                None => Remedy::new(),
            };
        };
        if let Some(remedy) = self.in_own_environment(&wanted) {
            return remedy.instead_of(PINS);
        }
        if wanted.others.len() > OTHERS {
            let package = &wanted.package;
            return Remedy::new().why(format!(
                "Other packages here need the {package} that is installed: it is the server's \
                 code that has to follow."
            ));
        }
        let remedy = match self.installing(&wanted.spec, &wanted.others) {
            Some(remedy) => remedy.instead_of(PINS),
            None => Remedy::new(),
        };
        let remedy = match self.started.is_uv() && !remedy.is_empty() {
            true => {
                let newest = ["--exclude-newer", "<day, such as 2025-06-30>"];
                let words = self.started.with_flags(&newest);
                let what = "Or have all packages as they were on a day when it worked:";
                remedy.say(what).paste(self.started.args(&words).members)
            }
            false => remedy,
        };
        match wanted.why {
            Some(why) => remedy.why(why),
            None => remedy,
        }
    }

    /// The arguments with a package in this version; where it is named there
    /// already, there.
    fn with_package_besides(&self, spec: &str) -> Vec<String> {
        let package = name_of_spec(spec);
        let range = &spec[package.len()..];
        let given = self.started.args;
        let named = (1..given.len()).find(|index| {
            let asked = range_for(&given[*index].text, package);
            given[*index - 1].text == "--with" && asked.is_some_and(|asked| asked.is_empty())
        });
        match named {
            Some(index) => {
                let mut words = self.started.words();
                words[index] = format!("{}{range}", given[index].text.trim());
                words
            }
            None => self.started.with_flags(&["--with", spec]),
        }
    }

    /// Whether it is Python that says what is wrong.
    pub(super) fn is_pythons(&self) -> bool {
        self.rule.starts_with("python/") || !frames(self.stderr).is_empty()
    }

    /// What has a package installed for the Python that runs the server.
    fn installing(&self, spec: &str, others: &[String]) -> Option<Remedy> {
        if self.started.is_python_launcher() {
            let what = "Have the version installed that the server was written for; write";
            let words = self.with_package_besides(spec);
            return Some(Remedy::new().write(what, self.started.args(&words)));
        }
        let spec = word(spec);
        let others = others.iter().map(|other| format!(" {}", word(other)));
        let others: String = others.collect();
        let (what, line) = match self.env().and_then(|env| env.keeper()) {
            Some(Keeper::UvTool(None)) => {
                return Some(Remedy::new().say(from_its_source(&spec)));
            }
            Some(Keeper::UvTool(Some(source))) => (
                "It was installed by uv; have it installed again, with the version that it was \
                 written for:",
                format!("uv tool install --with {spec} {source}"),
            ),
            Some(Keeper::Pipx(name)) => (
                "It was installed by pipx; have the version put beside it that it was written for:",
                format!("pipx inject {} {spec}{others}", word(&name)),
            ),
            keeper => {
                let (own, has_pip) = match keeper {
                    Some(Keeper::Plain { python, has_pip }) => (Some(python), has_pip),
                    _ => (None, true),
                };
                let python = self.python().or(own)?.display().to_string();
                let python = self.started.shown(&python);
                (
                    "Install the version that the server was written for:",
                    pip_install(&python, has_pip, &format!("{spec}{others}")),
                )
            }
        };
        Some(Remedy::new().say(what).run(line))
    }

    /// The environment that the server runs in: that of its traceback, else
    /// that of its Python.
    pub(super) fn env(&self) -> Option<Env<'_>> {
        static SITE: [LazyPattern; 1] = [LazyPattern::new(
            r"(?P<it>/[^\s'\x22():]+/(?:site|dist)-packages)/",
        )];
        let sight = self.context.sight;
        let traced = frames(self.stderr)
            .iter()
            .rev()
            .find_map(|frame| module_of(&frame.file));
        if let Some((site, _)) = traced {
            return Some(Env::at(site, sight));
        }
        // Some errors name the file that they are about.
        let named = found(&SITE, self.stderr);
        if let Some(site) = named {
            return Some(Env::at(site.into(), sight));
        }
        let program = self.whole(&self.started.command.text);
        let on_path = sight.on_path(&self.started.command.text);
        let program = on_path.unwrap_or(program);
        // A tool that was installed is a link into its environment; the
        // Python of an environment is one out of it.
        Env::of_program(&program, sight).or_else(|| Env::of_program(&sight.real(&program)?, sight))
    }

    fn wanted(&self) -> Option<Wanted> {
        static PIN: [LazyPattern; 1] = [LazyPattern::new(
            r"\bpin ['\x22`](?P<it>[\w.-]+ ?[<>=!~]=? ?[\w.]+)['\x22`]",
        )];
        let whole = self.whole_story();
        let env = self.env();
        // Some packages say it themselves.
        let said = found(&PIN, &whole);
        let (mut wanted, below) = match said {
            Some(spec) => {
                let package = name_of_spec(&spec).to_owned();
                let below = spec[package.len()..]
                    .trim_start_matches(['<', ' '])
                    .to_owned();
                let wanted = Wanted {
                    package,
                    spec,
                    why: None,
                    others: Vec::new(),
                    asker: None,
                };
                (wanted, Some(below))
            }
            None => {
                let quarrel = self.quarrel(&whole)?;
                let dist = env.as_ref().and_then(|env| env.dist(&quarrel.module));
                let version = dist.as_ref().and_then(|dist| dist.version.clone());
                // A package with the name of a module may be a stranger's.
                let known = || pypi_package(&quarrel.module, "").map(str::to_owned);
                let name = dist.map(|dist| dist.name).or_else(known)?;
                let wanted = self.by_its_caller(&quarrel, &name, version.as_ref());
                let below = wanted.spec.split_once('<');
                let below = below.map(|(_, below)| below.to_owned());
                (wanted, below)
            }
        };
        let below = below.and_then(|below| Version::of(&below));
        if let (Some(env), Some(below)) = (&env, below)
            && !self.started.is_python_launcher()
        {
            wanted.others = env.needing(&wanted.package, &below);
        }
        Some(wanted)
    }

    /// The version that the one who calls it asks for.
    fn by_its_caller(
        &self,
        quarrel: &Quarrel,
        package: &str,
        installed: Option<&Version>,
    ) -> Wanted {
        let caller = quarrel.caller.as_ref();
        let (asker, range) = match caller.map(|frame| module_of(&frame.file)) {
            Some(Some((site, module))) => {
                let dist = Env::at(site, self.context.sight).dist(&module);
                let range = dist.as_ref().and_then(|dist| dist.asks_for(package));
                (dist.map(|dist| dist.name), range)
            }
            Some(None) => {
                let script = caller.map_or(Path::new("/"), |frame| &frame.file);
                (None, asked_by_project(script, package, self.context.sight))
            }
            None => (None, None),
        };
        let named = asker.clone();
        let asker = asker.map_or_else(|| "The server".to_owned(), |name| format!("`{name}`"));
        let range = range.unwrap_or_default();
        let of = |spec: String, why: Option<String>| Wanted {
            package: package.to_owned(),
            spec,
            why,
            others: Vec::new(),
            asker: named.clone(),
        };
        let turn = TURNS
            .iter()
            .find(|(known, _)| *known == package)
            .map(|(_, first)| *first);
        let Some(installed) = installed else {
            return match turn {
                Some(first) if range.is_empty() => of(format!("{package}<{first}"), None),
                None if range.is_empty() => of(format!("{package}==<version>"), None),
                Some(_) | None => of(format!("{package}{range}"), None),
            };
        };
        if python_allows(&range, installed) == Some(false) {
            let why = format!("{asker} asks for `{package}{range}`, and {installed} is installed.");
            return of(format!("{package}{range}"), Some(why));
        }
        if let Some(least) = python_least(&range) {
            // What grew up since has broken more often than once: nobody wrote for what
            // there was below 1.0, and much of that was never published.
            let known = turn
                .and_then(Version::of)
                .filter(|first| *first <= *installed);
            let is_guess = least.is_early() && !installed.is_early() && known.is_none();
            let next = match least.is_early() && !installed.is_early() {
                true => known.unwrap_or_else(|| installed.series()),
                false => least.next_breaking(),
            };
            let (below, limit) = if next <= *installed {
                (next, "sets no upper limit; ")
            } else {
                // Also what is not for others to use, and may change any day.
                (installed.minor(), "")
            };
            // Of so old a bound nobody knows whether it ever held.
            let why = match is_guess {
                true => format!(
                    "{asker} asks for `{package}{range}`, {limit}{installed} is installed, which \
                     does not have what it takes from it; an earlier version may."
                ),
                false => format!(
                    "{asker} was written for `{package}{range}`, {limit}{installed} is installed, \
                     which has another interface."
                ),
            };
            return of(format!("{package}<{below}"), Some(why));
        }
        let below = match turn.and_then(Version::of) {
            // It came after what is installed; a launcher fetched the newest
            // that there is, and there it has gone.
            Some(first)
                if *installed < first && package == "mcp" && !self.started.is_python_launcher() =>
            {
                let why =
                    format!("{package} {installed} is installed, which does not have it yet.");
                return of(format!("{package}>{installed},<{first}"), Some(why));
            }
            Some(first) if *installed >= first => first,
            Some(_) => installed.minor(),
            None if quarrel.is_private => installed.minor(),
            None => installed.series(),
        };
        let asker = asker.replace("The server", "the server");
        let why = format!(
            "{package} {installed} is installed, and {asker} does not say which version it needs."
        );
        of(format!("{package}<{below}"), Some(why))
    }

    /// The module that does not have what is taken from it.
    pub(super) fn module_in_quarrel(&self) -> Option<String> {
        Some(self.quarrel(&self.whole_story())?.module)
    }

    /// Which package changed, by the words of the exception and by the code
    /// that raised it.
    fn quarrel(&self, whole: &str) -> Option<Quarrel> {
        static NAMED: [LazyPattern; 3] = [
            LazyPattern::new(r"No module named ['\x22](?P<it>\w+)\."),
            LazyPattern::new(
                r"cannot import name ['\x22]\w+['\x22] from (?:partially initialized module )?['\x22](?P<it>\w+)",
            ),
            LazyPattern::new(r"module ['\x22](?P<it>\w+)[\w.]*['\x22] has no attribute"),
        ];
        static PRIVATE: [LazyPattern; 1] = [LazyPattern::new(r"(?P<it>['\x22.]_\w+)")];
        let mut frames = frames(self.stderr);
        let named = found(&NAMED, whole);
        let module = named
            .or_else(|| self.by_class(whole, &frames))
            .or_else(|| {
                // It raises itself what it has against its caller.
                let (_, inner) = module_of(&frames.last()?.file)?;
                let is_other =
                    |frame: &Frame| module_of(&frame.file).is_none_or(|(_, m)| m != inner);
                frames.iter().any(is_other).then_some(inner)
            })?;
        let calls = |frame: &Frame| module_of(&frame.file).is_none_or(|(_, own)| own != module);
        let caller = frames
            .iter()
            .rposition(calls)
            .map(|at| frames.swap_remove(at));
        let is_private = found(&PRIVATE, whole).is_some();
        Some(Quarrel {
            module,
            caller,
            is_private,
        })
    }

    /// The module from which the innermost frames have the class or function
    /// that the exception names.
    fn by_class(&self, whole: &str, frames: &[Frame]) -> Option<String> {
        static BY_CLASS: [LazyPattern; 4] = [
            LazyPattern::new(r"['\x22](?P<it>\w+)['\x22] object has no attribute"),
            LazyPattern::new(r"type object ['\x22](?P<it>\w+)['\x22] has no attribute"),
            LazyPattern::new(
                r"(?P<it>\w+)(?:\.\w+)?\(\) (?:got an unexpected keyword argument|missing \d+ required|takes )",
            ),
            LazyPattern::new(r"(?P<it>\w+)\(\) no longer accepts"),
        ];
        let name = found(&BY_CLASS, whole)?;
        let name = regex::escape(&name);
        let imported = Regex::new(&format!(
            r"(?m)^\s*from (\w+)[\w.]* import (?:\([^)]*?\b{name}\b|[^\n(]*\b{name}\b)"
        ))
        .ok()?;
        let used = Regex::new(&format!(r"\b(\w+)(?:\.\w+)*\.{name}\b")).ok()?;
        frames.iter().rev().take(3).find_map(|frame| {
            let text = self.context.sight.text(&frame.file)?;
            let module = imported.captures(&text).map(|found| found[1].to_owned());
            module.or_else(|| {
                let module = used.captures(&text)?[1].to_owned();
                let import = format!("import {module}");
                text.lines()
                    .any(|line| line.trim() == import)
                    .then_some(module)
            })
        })
    }
}

/// `pip install` for a Python; uv's environments have none.
pub(super) fn pip_install(python: &str, has_pip: bool, what: &str) -> String {
    match has_pip {
        true => format!("{} -m pip install {what}", word(python)),
        false => format!("uv pip install --python {} {what}", word(python)),
    }
}
