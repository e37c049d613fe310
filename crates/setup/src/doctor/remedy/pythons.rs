//! Environments of Python: what is installed in them, who installed it, and
//! what each package asks for by its own metadata.

use super::sight::Sight;
use super::uv_tools;
use crate::doctor::versions::{Version, python_least};
use jelly_base::text::{LazyPattern, close_names};
use std::path::{Path, PathBuf};
use strsim::osa_distance;

/// Letters of a name in which two slips may be.
const LONG: usize = 7;

/// Packages of an environment whose metadata is read.
const DISTS: usize = 400;

/// A folder of packages.
pub(super) struct Env<'a> {
    sight: &'a dyn Sight,
    /// Its `site-packages`.
    site: PathBuf,
}

/// Who keeps an environment, which says how it is changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Keeper {
    /// `uv tool install SOURCE`; none where the source is not known.
    UvTool(Option<String>),
    /// `pipx install NAME`.
    Pipx(String),
    /// A launcher that makes it anew: it is changed by the launcher's flags.
    Cache,
    /// Nobody; the Python of it, and whether pip is there.
    Plain { python: PathBuf, has_pip: bool },
}

/// An installed package.
#[derive(Debug)]
pub(super) struct Dist {
    pub(super) name: String,
    pub(super) version: Option<Version>,
    metadata: String,
}

impl Dist {
    /// What stands behind each `Requires-Dist:` of its metadata.
    fn requirements(&self) -> impl Iterator<Item = &str> {
        let lines = self.metadata.lines().take_while(|line| !line.is_empty());
        lines.filter_map(|line| line.strip_prefix("Requires-Dist:"))
    }

    /// The range in which it asks for another package; none where it does not
    /// ask for it at all.
    pub(super) fn asks_for(&self, package: &str) -> Option<String> {
        self.asks_with(package, &[])
    }

    /// The same with what it asks for by these extras of it.
    fn asks_with(&self, package: &str, extras: &[String]) -> Option<String> {
        // What only an extra needs may not be there at all.
        let is_wanted = |asked: &&str| {
            !asked.contains("extra ==") || extras.iter().any(|extra| is_of_extra(asked, extra))
        };
        let asked: Vec<String> = self
            .requirements()
            .filter(is_wanted)
            .filter_map(|asked| range_for(asked, package))
            .collect();
        (!asked.is_empty()).then(|| {
            let ranges: Vec<&str> = asked
                .iter()
                .map(String::as_str)
                .filter(|r| !r.is_empty())
                .collect();
            ranges.join(",")
        })
    }
}

/// Whether a requirement is one of this extra: `mcp>=1; extra == 'cli'`.
fn is_of_extra(requirement: &str, extra: &str) -> bool {
    let Some((_, marker)) = requirement.split_once("extra ==") else {
        return false;
    };
    let named = marker.split(['\'', '"']).nth(1);
    named.is_some_and(|named| normal(named) == normal(extra))
}

/// The extras that a requirement asks for of this package: `mcp[cli,ws]>=1`.
fn extras_in<'r>(requirement: &'r str, package: &str) -> impl Iterator<Item = &'r str> {
    let is_of_it = range_for(requirement, package).is_some();
    let inside = requirement.split(';').next().and_then(|named| {
        let (_, rest) = named.split_once('[')?;
        Some(rest.split_once(']')?.0)
    });
    let extras = inside.filter(|_| is_of_it).into_iter();
    extras.flat_map(|inside| inside.split(',').map(str::trim))
}

/// The range of a requirement (`mcp[cli] (>=1.6) ; marker`), if it is one for
/// this package.
pub(super) fn range_for(requirement: &str, package: &str) -> Option<String> {
    let requirement = requirement.split([';', '#']).next()?.trim();
    let end = requirement
        .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.'))
        .unwrap_or(requirement.len());
    if normal(&requirement[..end]) != normal(package) {
        return None;
    }
    let rest = requirement[end..].trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1,
        None => rest,
    };
    let range = rest.trim().trim_start_matches('(').trim_end_matches(')');
    // Of a URL no version is known.
    (!range.starts_with('@')).then(|| range.replace(' ', ""))
}

/// The package of `name[extra]>=1`, without extras and version.
pub(super) fn name_of_spec(spec: &str) -> &str {
    let end = spec.find(['@', '=', '<', '>', '~', '[', '!', ' ']);
    &spec[..end.unwrap_or(spec.len())]
}

/// A package's name as PyPI compares it.
pub(super) fn normal(name: &str) -> String {
    let folded = name.trim().to_ascii_lowercase();
    folded.replace(['_', '.'], "-")
}

/// The name of the module that a file of packages belongs to, and the folder
/// of packages: `…/site-packages/mcp/server/x.py`.
pub(super) fn module_of(file: &Path) -> Option<(PathBuf, String)> {
    let mut folder = file;
    loop {
        let parent = folder.parent()?;
        let name = parent.file_name()?.to_str()?;
        if matches!(name, "site-packages" | "dist-packages") {
            let module = folder.file_name()?.to_str()?;
            let module = module.split('.').next().unwrap_or(module);
            return Some((parent.to_owned(), module.to_owned()));
        }
        folder = parent;
    }
}

impl<'a> Env<'a> {
    pub(super) fn at(site: PathBuf, sight: &'a dyn Sight) -> Self {
        Self { sight, site }
    }

    /// The environment that a program lies in: `ENV/bin/python`.
    pub(super) fn of_program(program: &Path, sight: &'a dyn Sight) -> Option<Self> {
        let root = program.parent()?.parent()?;
        let lib = root.join("lib");
        let names = sight.names(&lib);
        let python = names.iter().filter(|name| name.starts_with("python3"));
        python
            .map(|name| lib.join(name).join("site-packages"))
            .find(|site| sight.is_folder(site))
            .map(|site| Self { sight, site })
    }

    /// The folder above `lib/python3.x/site-packages`.
    pub(super) fn root(&self) -> Option<&Path> {
        self.site.ancestors().nth(3)
    }

    pub(super) fn keeper(&self) -> Option<Keeper> {
        let root = self.root()?;
        let name = root.file_name()?.to_str()?.to_owned();
        let holds = |file: &str| self.sight.is_there(&root.join(file));
        if holds("uv-receipt.toml") {
            return Some(Keeper::UvTool(uv_tools::source(self.sight, root)));
        }
        let is_cached = root.iter().any(|part| {
            matches!(
                part.to_str(),
                Some("archive-v0" | "environments-v2" | "builds-v0" | ".cache")
            )
        });
        if is_cached {
            return Some(Keeper::Cache);
        }
        if holds("pipx_metadata.json") {
            return Some(Keeper::Pipx(name));
        }
        Some(Keeper::Plain {
            python: root.join("bin").join("python"),
            has_pip: self.sight.is_there(&self.site.join("pip")),
        })
    }

    /// The package with this name, or the one that brought this module.
    pub(super) fn dist(&self, name: &str) -> Option<Dist> {
        let folders = self.folders();
        let wanted = normal(name);
        let named = folders.iter().find(|folder| {
            folder
                .split_once('-')
                .is_some_and(|(own, _)| normal(own) == wanted)
        });
        let folder = named.or_else(|| folders.iter().find(|folder| self.brought(folder, name)))?;
        self.read(folder)
    }

    /// Whether a module of this name is installed.
    pub(super) fn has(&self, module: &str) -> bool {
        let folder = self.site.join(module);
        self.sight.is_there(&folder) || self.sight.is_there(&self.site.join(format!("{module}.py")))
    }

    /// Where the package that brought a module was installed from, where that is no registry:
    /// a folder, a file or a repository, as its metadata says (`direct_url.json`).
    pub(super) fn source_of(&self, module: &str) -> Option<String> {
        let name = self.dist(module)?.name;
        let folders = self.folders().into_iter();
        let mut own = folders.filter(|folder| {
            let named = folder.split_once('-');
            named.is_some_and(|(own, _)| normal(own) == normal(&name))
        });
        let text = own.find_map(|own| {
            self.sight
                .text(&self.site.join(own).join("direct_url.json"))
        });
        let source: serde_json::Value = serde_json::from_str(&text?).ok()?;
        let url = source["url"].as_str()?;
        Some(url.strip_prefix("file://").unwrap_or(url).to_owned())
    }

    fn folders(&self) -> Vec<String> {
        let names = self.sight.names(&self.site).into_iter();
        names
            .filter(|name| name.ends_with(".dist-info"))
            .take(DISTS)
            .collect()
    }

    /// The module here that is meant by a name that none has.
    pub(super) fn module_near(&self, name: &str) -> Option<String> {
        let names = self.sight.names(&self.site);
        let modules = names
            .iter()
            .map(|name| name.strip_suffix(".py").unwrap_or(name));
        let modules: Vec<&str> = modules
            .filter(|name| !name.contains(['.', '-']) && !name.starts_with('_'))
            .collect();
        // What all servers have in their names makes none like another.
        let own = |name: &str| {
            let own = name.strip_prefix("mcp_").unwrap_or(name);
            own.strip_prefix("server_").unwrap_or(own).to_owned()
        };
        let asked = own(name);
        let slips = 1 + usize::from(asked.len() > LONG);
        let near = close_names(name, modules).into_iter();
        let mut near = near.filter(|near| osa_distance(&asked, &own(near)) <= slips);
        near.next()
    }

    /// Whether a package's list of files names this module.
    fn brought(&self, folder: &str, module: &str) -> bool {
        let record = self.sight.text(&self.site.join(folder).join("RECORD"));
        let (package, file) = (format!("{module}/__init__.py,"), format!("{module}.py,"));
        record.is_some_and(|record| {
            record
                .lines()
                .any(|line| line.starts_with(&package) || line.starts_with(&file))
        })
    }

    fn read(&self, folder: &str) -> Option<Dist> {
        let metadata = self.sight.text(&self.site.join(folder).join("METADATA"))?;
        let field = |name: &str| {
            let lines = metadata.lines().take_while(|line| !line.is_empty());
            let value = lines.filter_map(|line| line.strip_prefix(name)).next();
            value.map(|value| value.trim().to_owned())
        };
        let (name, version) = (field("Name:")?, field("Version:"));
        Some(Dist {
            name,
            version: version.and_then(|version| Version::of(&version)),
            metadata,
        })
    }

    /// The other packages here that can't do with a version of this one below
    /// the given one, and those that ask for one of them.
    pub(super) fn needing(&self, package: &str, below: &Version) -> Vec<String> {
        let all: Vec<Dist> = self
            .folders()
            .iter()
            .filter_map(|folder| self.read(folder))
            .collect();
        // Those that some package here has with another one.
        let extras = |of: &Dist| -> Vec<String> {
            let asked = all.iter().flat_map(Dist::requirements);
            let extras = asked.flat_map(|asked| extras_in(asked, &of.name));
            extras.map(str::to_owned).collect()
        };
        let least = |dist: &Dist, of: &str| python_least(&dist.asks_with(of, &extras(dist))?);
        let held: Vec<&Dist> = all
            .iter()
            .filter(|dist| least(dist, package).is_some_and(|least| least >= *below))
            .collect();
        // Who asks for exactly this version of one brings the fitting one
        // along.
        let bringer = |held: &&Dist| {
            all.iter().find(|dist| {
                let range = dist.asks_for(&held.name).unwrap_or_default();
                range.starts_with("==")
            })
        };
        let mut names: Vec<String> = held
            .iter()
            .map(|held| bringer(held).unwrap_or(held).name.clone())
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

/// What a project or a script says that it needs of a package, in
/// `requirements.txt`, `pyproject.toml` or the script's own first lines.
pub(super) fn asked_by_project(script: &Path, package: &str, sight: &dyn Sight) -> Option<String> {
    let own = sight.text(script).and_then(|text| {
        let mut block = text
            .lines()
            .skip_while(|line| line.trim() != "# /// script")
            .take_while(|line| line.trim() != "# ///");
        block.find_map(|line| quoted_range(line, package))
    });
    own.or_else(|| {
        script.ancestors().skip(1).take(3).find_map(|folder| {
            let list = sight.text(&folder.join("requirements.txt"));
            let list = list.and_then(|text| text.lines().find_map(|line| range_for(line, package)));
            list.or_else(|| {
                let project = sight.text(&folder.join("pyproject.toml"))?;
                project.lines().find_map(|line| quoted_range(line, package))
            })
        })
    })
}

/// The range of the requirement that a line quotes: `"mcp[cli]>=1.6",`.
fn quoted_range(line: &str, package: &str) -> Option<String> {
    line.split(['"', '\''])
        .skip(1)
        .step_by(2)
        .find_map(|quoted| range_for(quoted, package))
}

/// A frame of a traceback.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) file: PathBuf,
    /// The line of the file.
    pub(super) number: usize,
    /// What stands there.
    pub(super) line: String,
}

/// The frames of the last traceback, the innermost last; those of Python
/// itself are left out.
pub(super) fn frames(stderr: &str) -> Vec<Frame> {
    static FRAME: LazyPattern = LazyPattern::new(r#"^File "([^"\n]+)", line (\d+)"#);
    let bare = |line: &str| {
        let line = line.trim_start_matches([' ', '|', '+', '-', '\t']);
        line.trim_end().to_owned()
    };
    let mut frames = Vec::new();
    let mut lines = stderr.lines().map(bare).peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("Traceback (most recent call last)") {
            frames.clear();
        }
        let Some(found) = FRAME.captures(&line) else {
            continue;
        };
        let file = PathBuf::from(&found[1]);
        let is_own = file.is_absolute() && (module_of(&file).is_some() || !is_pythons(&file));
        let source = lines.next_if(|next| !next.starts_with("File "));
        if is_own {
            frames.push(Frame {
                file,
                number: found[2].parse().unwrap_or_default(),
                line: source.unwrap_or_default(),
            });
        }
    }
    frames
}

fn is_pythons(file: &Path) -> bool {
    let mut parts = file.iter().filter_map(|part| part.to_str()).peekable();
    while let Some(part) = parts.next() {
        if part == "lib" && parts.peek().is_some_and(|next| next.starts_with("python3")) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{Frame, extras_in, frames, is_of_extra, module_of, range_for};
    use std::path::{Path, PathBuf};

    #[test]
    fn requirements_are_read() {
        for (text, range) in [
            ("mcp[cli]>=1.6.0", Some(">=1.6.0")),
            (" mcp (<2,>=1.2) ; extra == 'x'", Some("<2,>=1.2")),
            ("mcp", Some("")),
            ("MCP == 1.2 # pinned", Some("==1.2")),
            ("mcp-server>=1", None),
            ("mcp @ https://x/y.whl", None),
        ] {
            assert_eq!(range_for(text, "mcp").as_deref(), range, "{text}");
        }
        assert_eq!(
            range_for("ruamel.yaml>1", "ruamel-yaml").as_deref(),
            Some(">1")
        );
    }

    #[test]
    fn extras_are_read_where_they_are_asked_for_and_where_they_are_meant() {
        let extras = |text, package| extras_in(text, package).collect::<Vec<_>>();
        assert_eq!(
            extras(
                "fastmcp-slim[client, server]==4.2 ; python_version > '3'",
                "fastmcp_slim"
            ),
            ["client", "server"]
        );
        assert!(extras("fastmcp-slim==4.2", "fastmcp-slim").is_empty());
        assert!(extras("other[server]", "fastmcp-slim").is_empty());
        for (text, is_meant) in [
            ("mcp>=2.3; extra == 'server'", true),
            (
                "mcp>=2.3; python_version > '3' and extra == \"Server\"",
                true,
            ),
            ("mcp>=2.3; extra == 'client'", false),
            ("mcp>=2.3", false),
        ] {
            assert_eq!(is_of_extra(text, "server"), is_meant, "{text}");
        }
    }

    #[test]
    fn the_last_tracebacks_own_frames_are_kept() {
        let stderr = "Traceback (most recent call last):\n  File \"/old.py\", line 1, in <module>\n    a()\n\
            KeyError: 'a'\n\nTraceback (most recent call last):\n  File \"/usr/lib/python3.11/asyncio/x.py\", line 3, in run\n    \
            run()\n  File \"/e/lib/python3.11/site-packages/srv/main.py\", line 2, in main\n    @server.list()\n     ^^^^^^\n\
            AttributeError: no";
        let file = PathBuf::from("/e/lib/python3.11/site-packages/srv/main.py");
        assert_eq!(
            module_of(&file),
            Some((
                PathBuf::from("/e/lib/python3.11/site-packages"),
                "srv".to_owned()
            ))
        );
        let line = "@server.list()".to_owned();
        assert_eq!(
            frames(stderr),
            [Frame {
                file,
                number: 2,
                line
            }]
        );
        assert_eq!(module_of(Path::new("/srv/main.py")), None);
    }
}
