//! What an installed package of npm has, and does not export.

use super::npm::NpmPackage;
use super::sight::Sight;
use std::path::Path;

/// Exports of a package that are named.
const SHOWN: usize = 8;

/// Something that a package has, and that its `exports` keep from an import.
pub(super) enum Withheld {
    /// The file is there, and not named; what is.
    Unnamed(Vec<String>),
    /// It is named for these ways of loading alone.
    ForOthers(Vec<String>),
}

impl Withheld {
    pub(super) fn of(subpath: &str, folder: &Path, sight: &dyn Sight) -> Option<Self> {
        let package = NpmPackage::at(folder, sight)?;
        let exports = &package.json["exports"];
        let members = exports.as_object()?;
        let has_paths = members.keys().any(|key| key.starts_with('.'));
        // Conditions alone are those of the package itself.
        let named = match has_paths {
            true => members.get(subpath),
            false => Some(exports).filter(|_| subpath == "."),
        };
        if let Some(ways) = named.and_then(|named| named.as_object()) {
            return Some(Self::ForOthers(ways.keys().cloned().collect()));
        }
        let is_there = named.is_none() && subpath != "." && sight.is_there(&folder.join(subpath));
        is_there.then(|| {
            let paths = members.keys().filter(|key| key.starts_with('.'));
            Self::Unnamed(paths.take(SHOWN).cloned().collect())
        })
    }

    /// What happened, and why.
    pub(super) fn told(&self, package: &str, part: &str) -> (String, String) {
        let listed = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        let what = format!("The installed {package} does not export its {part} here.");
        let why = match self {
            Self::Unnamed(paths) if paths.is_empty() => {
                "The file is there, and `exports` in its `package.json` names no path.".to_owned()
            }
            Self::Unnamed(paths) => format!(
                "The file is there, and `exports` in its `package.json` does not name it; that \
                 names {}.",
                listed(paths)
            ),
            Self::ForOthers(ways) => format!(
                "`exports` in its `package.json` names it for {} alone.",
                listed(ways)
            ),
        };
        (what, why)
    }
}
