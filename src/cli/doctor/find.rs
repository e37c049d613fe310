//! The configurations that are meant: those that are named, or those in the
//! clients' usual places.

use super::super::refusal::Refusal;
use super::super::settings::World;
use etcetera::BaseStrategy as _;
use jelly_base::files::read_up_to;
use jelly_base::model::{ConfigProblem, ConfigSummary};
use jelly_base::text::sanitize;
use jelly_setup::doctor::{
    Base, CLIENTS, Config, ConfigError, MAX_BYTES, Platform, client_of, read, usual_places,
};
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// What was found.
pub struct FoundConfigs {
    /// Those that could be read.
    pub configs: Vec<Config>,
    /// The folder that each of them works in.
    pub folders: Vec<PathBuf>,
    /// Those that nobody named, and that the project brings along: whoever
    /// wrote them says what is to be started, not whoever asks.
    pub brought_along: BTreeSet<PathBuf>,
    /// All of them.
    pub summaries: Vec<ConfigSummary>,
    pub home: Option<PathBuf>,
}

/// Finds and reads them.
///
/// # Errors
/// None was named, and there is none.
pub fn find(named: &[PathBuf], world: &World) -> Result<FoundConfigs, Refusal> {
    let mut found = FoundConfigs {
        configs: Vec::new(),
        folders: Vec::new(),
        brought_along: BTreeSet::new(),
        summaries: Vec::new(),
        home: etcetera::home_dir().ok(),
    };
    for path in named {
        found.add(path, folder_of(path, world), world, true);
    }
    if !named.is_empty() {
        return Ok(found);
    }
    let places = usual(found.home.as_deref());
    let mut seen = HashSet::new();
    for (shown, base) in &places {
        let path = world.cwd.join(shown);
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if path.is_file() && seen.insert(real) {
            found.add(shown, world.cwd.clone(), world, false);
            if *base == Base::Project {
                found.brought_along.insert(shown.clone());
            }
        }
    }
    if found.summaries.is_empty() {
        let looked: Vec<String> = places
            .iter()
            .map(|(shown, _)| format!("  {}", shown.display()))
            .collect();
        return Err(Refusal::invalid(format!(
            "error: no configuration was named, and no client has one; looked for\n{}\nhelp: \
             jelly doctor CONFIG.json",
            looked.join("\n")
        )));
    }
    Ok(found)
}

/// All places on this system where a configuration may lie.
fn usual(home: Option<&Path>) -> Vec<(PathBuf, Base)> {
    let xdg = etcetera::choose_base_strategy()
        .ok()
        .map(|s| s.config_dir());
    let data = if cfg!(target_os = "macos") {
        etcetera::base_strategy::choose_native_strategy()
            .ok()
            .map(|strategy| strategy.data_dir())
    } else {
        xdg.clone()
    };
    usual_places(Platform::current())
        .filter_map(|usual| {
            let folder = match usual.base {
                Base::Project => PathBuf::new(),
                Base::Home => home?.to_owned(),
                Base::Xdg => xdg.clone()?,
                Base::AppData => data.clone()?,
            };
            Some((folder.join(usual.path), usual.base))
        })
        .collect()
}

/// Where a client would start the servers of a file: the project that it lies
/// in, as far as its place tells.
fn folder_of(path: &Path, world: &World) -> PathBuf {
    let path = world.cwd.join(path);
    let parent = path.parent().unwrap_or(&world.cwd);
    // `.cursor` of a project's `.cursor/mcp.json`.
    let of_project = CLIENTS
        .iter()
        .flat_map(|format| format.places)
        .filter(|place| place.base == Base::Project)
        .filter_map(|place| Path::new(place.path).parent()?.file_name());
    let is_clients = of_project
        .into_iter()
        .any(|own| parent.file_name() == Some(own));
    let folder = if is_clients { parent.parent() } else { None };
    folder.unwrap_or(parent).to_owned()
}

impl FoundConfigs {
    fn add(&mut self, path: &Path, folder: PathBuf, world: &World, named: bool) {
        let config = contents(&world.cwd.join(path))
            .map_err(|error| refused(path, format!("it can't be read: {error}")))
            .and_then(|bytes| {
                let is_utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
                String::from_utf8(bytes).map_err(|_| ConfigError {
                    help: Some("save it as UTF-8, which is what clients read".to_owned()),
                    ..refused(
                        path,
                        if is_utf16 {
                            "it is UTF-16 text".to_owned()
                        } else {
                            "it is not UTF-8 text".to_owned()
                        },
                    )
                })
            })
            .and_then(|text| read(path, &text, &folder));
        let shown = path.display().to_string();
        match config {
            Ok(config) if config.has_servers_key => {
                self.summaries.push(ConfigSummary {
                    path: shown,
                    client: config.client.name().to_owned(),
                    servers: config.entries.len(),
                    error: None,
                });
                self.configs.push(config);
                self.folders.push(folder);
            }
            // A client's own settings may have no servers.
            Ok(_) if !named => {}
            Ok(config) => {
                let why = config.client.format().no_servers();
                let what = format!("it has no servers: {why}");
                self.fail(config.client.name(), refused(path, what));
            }
            Err(error) => {
                let client = client_of(path).name();
                self.fail(client, error);
            }
        }
    }

    fn fail(&mut self, client: &str, error: ConfigError) {
        self.summaries.push(ConfigSummary {
            path: error.path.display().to_string(),
            client: client.to_owned(),
            servers: 0,
            error: Some(ConfigProblem {
                at: error.at(),
                what: sanitize(&error.what).into_owned(),
                help: error.help,
            }),
        });
    }
}

/// What a file holds, up to one byte more than a configuration may have.
fn contents(path: &Path) -> io::Result<Vec<u8>> {
    read_up_to(path, MAX_BYTES as u64)
}

fn refused(path: &Path, what: String) -> ConfigError {
    ConfigError {
        path: path.to_owned(),
        place: None,
        what,
        help: None,
    }
}
