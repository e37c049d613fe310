//! Packages of npm as they lie on the machine: what is installed, what asks
//! for it in which range, and on which Node it runs.

use super::npm::{LEVELS, NpmPackage, installed_at, is_installed, package_in, package_name};
use super::prescribe::{Doctor, blank, found};
use super::steps::{Remedy, put_aside};
use super::withheld::Withheld;
use crate::doctor::launcher::Package;
use crate::doctor::versions::{Version, npm_allows};
use jelly_base::text::{LazyPattern, shell_word as word};
use std::path::{Path, PathBuf};

/// Folders of npx that are looked into.
const CACHED: usize = 500;
/// Dependencies of a package that are looked at.
const NEEDED: usize = 100;

/// An installed package that lacks what is imported from it.
pub(super) struct Lack {
    package: String,
    /// Where it is installed.
    folder: PathBuf,
    installed: Option<Version>,
    /// The file that imports it.
    importer: Option<PathBuf>,
    /// What it lacks, in words.
    part: String,
    /// A file of its own is what it lacks.
    is_torn: bool,
    /// The file that is meant, which the import names without its ending.
    meant: Option<String>,
    /// It is there, and not for this import.
    withheld: Option<Withheld>,
}

impl Lack {
    /// What happened, and why.
    pub(super) fn told(&self, doctor: &Doctor<'_>) -> (String, String) {
        let version = self
            .installed
            .as_ref()
            .map(|v| format!(" {v}"))
            .unwrap_or_default();
        let what = format!(
            "The installed `{}`{version} has no {}.",
            self.package, self.part
        );
        if let Some(withheld) = &self.withheld {
            return withheld.told(&format!("`{}`{version}", self.package), &self.part);
        }
        if let Some(meant) = &self.meant {
            let why = format!("`{meant}` is there, and a module names a file with its ending.");
            return (what, why);
        }
        let why = match (self.is_torn, self.asker(doctor)) {
            (true, _) => "Its installation is not whole, or it was never built.".to_owned(),
            (false, Some((name, range))) => format!("{name} asks for `{}@{range}`.", self.package),
            (false, None) => "What imports it was written for another version of it, or misspells \
                              the name."
                .to_owned(),
        };
        (what, why)
    }

    fn asker(&self, doctor: &Doctor<'_>) -> Option<(String, String)> {
        let package = NpmPackage::of(self.importer.as_ref()?, doctor.context.sight)?;
        let range = package.asks_for(&self.package)?.to_owned();
        let name = package.name().map_or_else(
            || package.folder.join("package.json").display().to_string(),
            |name| format!("`{name}`"),
        );
        Some((name, range))
    }

    /// The version to be installed in its place, where something says which.
    fn wanted(&self, doctor: &Doctor<'_>) -> Option<String> {
        let (_, range) = self.asker(doctor)?;
        let allows = self
            .installed
            .as_ref()
            .and_then(|version| npm_allows(&range, version));
        let is_open = range.starts_with(['>', '*']) || matches!(&*range, "" | "x" | "latest");
        let is_exact =
            range.starts_with(|c: char| c.is_ascii_digit()) && range.matches('.').count() > 1;
        match (allows, &self.installed) {
            (Some(false) | None, _)
                if range.starts_with(|c: char| "^~>=<*".contains(c) || c.is_ascii_digit()) =>
            {
                Some(range)
            }
            // What it was written for came before what is there.
            (Some(true), Some(installed)) if is_open => {
                let least = Version::of(range.trim_start_matches(['>', '=', ' ']));
                let least = least.filter(|least| least.next_breaking() <= *installed);
                let below = least.map_or_else(|| installed.series(), |least| least.next_breaking());
                Some(format!("<{below}"))
            }
            (Some(true), _) if !is_exact => Some(range),
            _ => None,
        }
    }
}

impl Doctor<'_> {
    /// What an installed package lacks, by the error of Node.
    pub(super) fn lack(&self) -> Option<Lack> {
        static MISSING: [LazyPattern; 1] = [LazyPattern::new(
            r"Cannot find (?:module|package) ['\x22](?P<it>[^'\x22]+)['\x22]",
        )];
        static NAMED_EXPORT: [LazyPattern; 1] =
            [LazyPattern::new(r"Named export ['\x22](?P<it>[^'\x22]+)")];
        static EXPORT: [LazyPattern; 1] =
            [LazyPattern::new(r"export named ['\x22](?P<it>[^'\x22]+)")];
        static IMPORTED: [LazyPattern; 1] = [LazyPattern::new(
            r"The requested module ['\x22](?P<it>[^'\x22]+)['\x22] (?:does not provide an export|is a CommonJS module)",
        )];
        static SUBPATH: [LazyPattern; 1] = [LazyPattern::new(
            r"Package subpath ['\x22](?P<it>[^'\x22]+)",
        )];
        static UNDEFINED: [LazyPattern; 1] = [LazyPattern::new(
            r"(?:No \x22exports\x22 main|not defined by \x22exports\x22).{0,20} in (?P<it>/[^\s'\x22]+)/package\.json",
        )];
        let whole = format!("{}\n{}", self.stderr, self.told);
        let sight = self.context.sight;
        let importer = self.importer(&whole);
        let undefined = found(&UNDEFINED, &whole);
        if let Some(folder) = undefined {
            let (folder, package, _) = installed_at(Path::new(&folder))?;
            let subpath = found(&SUBPATH, &whole);
            let withheld = Withheld::of(subpath.as_deref().unwrap_or("."), &folder, sight);
            let part = subpath.map_or_else(|| "main file".to_owned(), |part| format!("`{part}`"));
            return Some(Lack {
                withheld,
                ..self.lacking(folder, package, importer, part, false)
            });
        }
        if let Some(specifier) = found(&IMPORTED, &whole) {
            let package = package_in(&specifier)?;
            let folder = self.installed(&package, importer.as_deref()?)?;
            let name = found(&EXPORT, &whole);
            let name = name.or_else(|| found(&NAMED_EXPORT, &whole))?;
            let part = format!("`{name}` in `{specifier}`");
            return Some(self.lacking(folder, package, importer, part, false));
        }
        let module = found(&MISSING, &whole)?;
        if let Some(package) = package_in(&module) {
            // It may be there, without this file.
            let rest = module.strip_prefix(&package)?.trim_start_matches('/');
            let folder = self.installed(&package, importer.as_deref()?)?;
            let is_whole = NpmPackage::at(&folder, sight).is_some();
            let part = if rest.is_empty() {
                "main file".to_owned()
            } else {
                format!("`{rest}`")
            };
            return is_whole
                .then(|| self.lacking(folder, package, importer, part, rest.is_empty()));
        }
        let module = module.trim_start_matches("file://").to_owned();
        let (folder, package, rest) = installed_at(Path::new(&module))?;
        NpmPackage::at(&folder, sight).filter(|_| !rest.as_os_str().is_empty())?;
        // What the package imports of itself is no other's mistake.
        let is_torn = importer
            .as_ref()
            .is_some_and(|file| file.starts_with(&folder));
        let part = format!("`{}`", rest.display());
        // What others installed is not the user's to edit.
        let is_own = |file: &PathBuf| !file.iter().any(|part| part == "node_modules");
        let meant = importer.as_ref().filter(|file| is_own(file)).and_then(|_| {
            let name = rest.file_name()?.to_str()?;
            let with = |ending: &&str| folder.join(rest.with_file_name(format!("{name}{ending}")));
            let mut endings = [".js", ".mjs", ".cjs"].into_iter();
            let ending = endings.find(|ending| sight.is_there(&with(ending)))?;
            Some(format!("{name}{ending}"))
        });
        Some(Lack {
            meant,
            ..self.lacking(folder, package, importer, part, is_torn)
        })
    }

    fn lacking(
        &self,
        folder: PathBuf,
        package: String,
        importer: Option<PathBuf>,
        part: String,
        is_torn: bool,
    ) -> Lack {
        let installed = NpmPackage::at(&folder, self.context.sight).and_then(|p| p.version());
        Lack {
            package,
            folder,
            installed,
            importer,
            part,
            is_torn,
            meant: None,
            withheld: None,
        }
    }

    /// The file that wants what is not there.
    pub(super) fn importer(&self, whole: &str) -> Option<PathBuf> {
        static IMPORTER: [LazyPattern; 4] = [
            LazyPattern::new(r"imported from (?:file://)?(?P<it>/[^\s'\x22]+)"),
            LazyPattern::new(r"Require stack:\s+- (?P<it>/\S+)"),
            LazyPattern::new(r"(?m)^(?:file://)?(?P<it>/[^\s:]+):\d+$"),
            LazyPattern::new(
                r"(?m)^\s+at (?:[^\n(]* \()?(?:file://)?(?P<it>/[^\s:()]+):\d+:\d+\)?$",
            ),
        ];
        let named = found(&IMPORTER, whole)?;
        // What is preloaded is wanted by the folder.
        Some(match named.ends_with('/') {
            true => Path::new(&named).join("package.json"),
            false => PathBuf::from(named),
        })
    }

    /// The line of the server's own code that wants it.
    fn importing_line(&self) -> Option<String> {
        static FRAME: [LazyPattern; 1] = [LazyPattern::new(
            r"(?m)^\s+at (?:[^\n(]* \()?(?:file://)?(?P<it>/[^\s:()]+:\d+):\d+\)?$",
        )];
        let place = found(&FRAME, self.stderr)?;
        (!place.contains("/node_modules/")).then_some(place)
    }

    /// Where Node finds a package from this file.
    fn installed(&self, package: &str, importer: &Path) -> Option<PathBuf> {
        let folders = importer.ancestors().skip(1).take(LEVELS);
        folders
            .map(|folder| folder.join("node_modules").join(package))
            .find(|folder| self.context.sight.is_folder(folder))
    }

    /// What mends it: another version where it is installed.
    pub(super) fn another_version(&self, lack: &Lack) -> Remedy {
        let folder = lack.folder.to_str();
        let Some((root, _)) = folder.and_then(|folder| folder.split_once("/node_modules/")) else {
            return Remedy::new();
        };
        if let (Some(meant), Some(importer)) = (&lack.meant, &lack.importer) {
            let importer = importer.display();
            return Remedy::new().say(format!(
                "Give the import its ending, as in `…/{meant}`, in {importer} or what it is built from."
            ));
        }
        // What is linked there is somebody's own, whatever npm has under its name.
        let linked = self.context.sight.real(&lack.folder);
        if let Some(own) = linked.filter(|folder| !is_installed(folder)) {
            let remedy = Remedy::new().say(format!(
                "It is linked from {}: correct the import, or add there what it lacks.",
                own.display()
            ));
            let build = NpmPackage::project(&own.join("package.json"), self.context.sight);
            return match build.and_then(|own| own.build()) {
                Some(line) => remedy.say("Where a build makes it, build it:").run(line),
                None => remedy,
            };
        }
        let is_cached = root.contains("/_npx/");
        let (package, prefix) = (word(&lack.package), word(root));
        if is_cached && lack.is_torn {
            return Remedy::new()
                .say("Move its installation away; it is recreated at the next start:")
                .run(put_aside(root));
        }
        if lack.is_torn {
            let aside = put_aside(&lack.folder.display().to_string());
            return Remedy::new().say("Have it installed again:").run(format!(
                "{aside} && npm install --prefix {prefix} {package}"
            ));
        }
        let wanted = lack.wanted(self);
        let version = wanted.as_deref().unwrap_or("<version>");
        let spec = format!("{}@{version}", lack.package);
        let versions = format!("npm view {package} versions");
        if is_cached {
            let what = match &wanted {
                Some(_) => "Have npx install the version beside it that it was written for; write",
                None => "Have npx install a version beside it that has this; write",
            };
            return self.npx_with(&spec, what).run(versions);
        }
        let project = |file: &Path| NpmPackage::project(file, self.context.sight);
        let project = project(&lack.folder.join("package.json"))
            .or_else(|| project(&Path::new(root).join("package.json")));
        let line = match project {
            Some(project) => project.add(&spec),
            None => format!("npm install --prefix {prefix} {}", word(&spec)),
        };
        if let (None, Some(withheld)) = (&wanted, &lack.withheld) {
            let first = match withheld {
                Withheld::ForOthers(ways) if ways.iter().all(|way| way != "require") => {
                    "It is exported for other conditions (`import`, `types`, `browser`) than it is loaded by here."
                }
                Withheld::ForOthers(_) => "Load it as it is exported.",
                Withheld::Unnamed(_) => "Import what it exports in its place.",
            };
            let remedy = match self.importing_line() {
                Some(place) => Remedy::new().say(format!("{first} The place: {place}")),
                None => Remedy::new().say(first),
            };
            return remedy
                .say("Or take a version that exports it:")
                .run(versions)
                .say(format!(
                    "Install that one by `{line}`, which writes it into `package.json`, too."
                ));
        }
        if wanted.is_none() {
            return Remedy::new()
                .say("If the name is right, look which of its versions has it:")
                .run(versions)
                .say(format!(
                    "Install that one by `{line}`, which writes it into `package.json`, too."
                ));
        }
        Remedy::new()
            .say("Install the version that it was written for:")
            .run(line)
            .say("If that lacks it too, choose from all of its versions:")
            .run(versions)
    }

    /// The arguments of npx with another package beside the server's own.
    fn npx_with(&self, package: &str, what: &str) -> Remedy {
        let Some(fetched) = self.fetched_by_npx() else {
            return Remedy::new();
        };
        let program = self.cached().and_then(|package| package.program());
        let words = self.npx_words(&fetched, &[package], program);
        Remedy::new().write(what, self.started.args(&words))
    }

    /// Arguments of npx that name more packages beside the server's own, and
    /// its program, if that is known.
    pub(super) fn npx_words(
        &self,
        fetched: &Package<'_>,
        packages: &[&str],
        program: Option<String>,
    ) -> Vec<String> {
        let texts = self.started.texts();
        let is_named = fetched.index > 0 && texts[fetched.index - 1].starts_with("-p")
            || texts[fetched.index].starts_with('-');
        let mut all = vec!["-y".to_owned()];
        let packages = packages.iter().chain([&fetched.spec]);
        all.extend(packages.map(|package| format!("--package={package}")));
        all.push("--".to_owned());
        if !is_named {
            all.push(match program {
                Some(program) => program,
                None if fetched.spec.starts_with('@') => blank("name of its program"),
                None => {
                    let own = fetched.spec.rsplit('/').next().unwrap_or(fetched.spec);
                    own.split('@').next().unwrap_or(own).to_owned()
                }
            });
        }
        let rest = self.started.words().split_off(fetched.index + 1);
        all.extend(rest.into_iter().skip_while(|word| is_named && word == "--"));
        all
    }

    /// The package that npx starts, where it lies on this machine.
    pub(super) fn cached(&self) -> Option<NpmPackage> {
        let fetched = self.fetched_by_npx()?;
        let name = package_name(fetched.spec);
        let mut env = self.started.env.iter();
        let set = env.find(|(key, _)| key.eq_ignore_ascii_case("npm_config_cache"));
        let cache = match set {
            Some((_, spot)) => PathBuf::from(&spot.text),
            None => self.context.home?.join(".npm"),
        };
        let cache = cache.join("_npx");
        let sight = self.context.sight;
        let mut folders = sight.names(&cache).into_iter().take(CACHED);
        folders.find_map(|folder| {
            NpmPackage::at(&cache.join(folder).join("node_modules").join(name), sight)
        })
    }

    /// A script of the folder that Node was to start.
    pub(super) fn script_of_folder(&self) -> Option<Remedy> {
        let (started, sight) = (self.started, self.context.sight);
        let index = self.script()?;
        let folder = self.whole_script()?;
        let is_refused = self.stderr.contains("Cannot find module")
            && self.stderr.contains(&*folder.to_string_lossy());
        if !is_refused || !sight.is_folder(&folder) {
            return None;
        }
        let shown = started.shown(&started.args[index].text);
        let remedy = Remedy::new().what(format!(
            "`{shown}` is a folder, and Node finds nothing in it to start."
        ));
        let package = NpmPackage::at(&folder, sight);
        let mut programs = package.iter().flat_map(NpmPackage::programs);
        if let Some(program) = programs.find(|file| sight.is_there(file)) {
            let program = program.display().to_string();
            let what = "Its `package.json` names a program; write";
            return Some(remedy.write(what, started.with(index, &program)));
        }
        let build = package.filter(|_| !is_installed(&folder));
        let (remedy, what) = match build.and_then(|package| package.build()) {
            Some(line) => (
                remedy.say("If it was never built, build it:").run(line),
                "Or write the path of a script,",
            ),
            None => (remedy, "Write the path of a script,"),
        };
        Some(remedy.write(what, started.with(index, &blank("path of the script"))))
    }

    /// The script of a package that is not where the entry says, though the
    /// package is, or could be.
    pub(super) fn script_of_package(&self) -> Option<Remedy> {
        let (started, sight) = (self.started, self.context.sight);
        let index = self.script()?;
        let script = self.whole_script()?;
        if sight.is_there(&script) || !self.stderr.contains(&*script.to_string_lossy()) {
            return None;
        }
        let (folder, name, _) = installed_at(&script)?;
        let Some(package) = NpmPackage::at(&folder, sight) else {
            let root = folder.to_str()?.rsplit_once("/node_modules/")?.0.to_owned();
            let target = match root.ends_with("/lib") {
                true => "--global".to_owned(),
                false => format!("--prefix {}", word(&root)),
            };
            let mut npx = vec!["-y".to_owned(), name.clone()];
            npx.extend(started.words().split_off(index + 1));
            let or = "Or have npx fetch and start it; write";
            let remedy = Remedy::new()
                .what(format!("The package `{name}` is not installed in {root}."))
                .say("Install it there:")
                .run(format!("npm install {target} {}", word(&name)))
                .write(or, started.command_and_args("npx", &npx));
            return Some(remedy);
        };
        let version = package.version();
        let version = version.map(|v| format!(" {v}")).unwrap_or_default();
        let remedy = Remedy::new().what(format!(
            "The installed `{name}`{version} has no script {}.",
            script.display()
        ));
        let mut there = package.programs();
        there.retain(|file| sight.is_there(file));
        let same = there
            .iter()
            .find(|file| file.file_name() == script.file_name());
        if let Some(program) = same.or(there.first()) {
            let what = "Its `package.json` names another one; write";
            let program = program.display().to_string();
            return Some(remedy.write(what, started.with(index, &program)));
        }
        let remedy = match package.json["scripts"].get("build") {
            Some(_) => remedy
                .say("If it was never built, build it:")
                .run(package.line("install --include=dev && npm run build")),
            None => remedy,
        };
        let path = blank(&format!("path of a script of {name}"));
        Some(remedy.write(
            "Write the path of a script that it has,",
            started.with(index, &path),
        ))
    }

    /// The Node that runs the server.
    pub(super) fn node(&self) -> Option<PathBuf> {
        let own = &self.started.command.text;
        match self.started.program() {
            "node" | "nodejs" if own.contains('/') => Some(self.whole(own)),
            _ => self.on_entrys_path("node"),
        }
    }

    /// Where the PATH that the server gets leads to.
    pub(super) fn on_entrys_path(&self, command: &str) -> Option<PathBuf> {
        let sight = self.context.sight;
        match self.started.variable("PATH") {
            Some(path) => path
                .text
                .split(':')
                .filter(|folder| folder.starts_with('/'))
                .map(|folder| Path::new(folder).join(command))
                .find(|file| sight.is_there(file) && !sight.is_folder(file)),
            None => sight.on_path(command),
        }
    }

    /// What the server's package asks of Node, and the Node that runs it,
    /// where the two don't fit.
    pub(super) fn unfit_node(&self) -> Option<(String, String, Version)> {
        let sight = self.context.sight;
        // Another Node is named there.
        if self.started.runtime().is_some() {
            return None;
        }
        let own = &self.started.command.text;
        let own_file = || {
            let whole = self.whole(own);
            let is_there = whole.is_absolute() && sight.is_there(&whole);
            is_there.then_some(whole).or_else(|| sight.on_path(own))
        };
        let package = self.cached().or_else(|| {
            let script = self.whole_script().or_else(own_file)?;
            NpmPackage::of(&sight.real(&script)?, sight)
        })?;
        let version = Version::of(&sight.version(&self.node()?)?)?.release();
        let unfit = |package: &NpmPackage| {
            let range = package.json["engines"]["node"].as_str()?;
            let is_unfit = npm_allows(range, &version) == Some(false);
            is_unfit.then(|| (package.name().unwrap_or("it").to_owned(), range.to_owned()))
        };
        // Many say nothing of it, and what they are made of does.
        let (name, range) = unfit(&package).or_else(|| {
            let needed = package.json["dependencies"].as_object()?;
            let inside = package.folder.join("package.json");
            needed.keys().take(NEEDED).find_map(|name| {
                let folder = self.installed(name, &inside)?;
                unfit(&NpmPackage::at(&folder, sight)?)
            })
        })?;
        Some((name, range, version))
    }

    /// What mends a server of Node whose package lacks something.
    pub(super) fn node_dependency(&self) -> Remedy {
        if let Some(lack) = self.lack() {
            return self
                .another_version(&lack)
                .instead_of(&["install-locked-versions", "npm-list"]);
        }
        let Some(fetched) = self.fetched_by_npx() else {
            return Remedy::new();
        };
        let older = format!("{}@<version that worked>", fetched.spec);
        let what = "Take a version of it that fits its dependencies; write";
        Remedy::new()
            .write(
                what,
                self.started.with(fetched.index, &older).at(self.at_args()),
            )
            .run(format!("npm view {} versions", word(fetched.spec)))
            .instead_of(&["npm-list"])
    }
}
