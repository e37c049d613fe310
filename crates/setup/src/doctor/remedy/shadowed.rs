//! A file of the server's own that hides a module which it imports.

use super::prescribe::{Doctor, found};
use super::seen::Seen;
use super::steps::Remedy;
use jelly_base::text::{LazyPattern, is_known_module};
use std::path::PathBuf;

impl Doctor<'_> {
    /// A file or folder beside the script has the name of a module that it imports.
    pub(super) fn shadowed_module(&self) -> Option<Seen> {
        static SHADOWED: [LazyPattern; 4] = [
            LazyPattern::new(r"ModuleNotFoundError: No module named '(?P<it>\w+)\.[\w.]+'"),
            LazyPattern::new(
                r"AttributeError: (?:partially initialized )?module '(?P<it>\w+)' has no attribute",
            ),
            LazyPattern::new(
                r"ModuleNotFoundError: No module named '[\w.]+'; '(?P<it>\w+)' is not a package",
            ),
            LazyPattern::new(
                r"ImportError: cannot import name '\w+' from (?:partially initialized module )?'(?P<it>\w+)'",
            ),
        ];
        // A module of the program's own may lack a name for any reason, as where two import
        // each other.
        let name = found(&SHADOWED, self.stderr).filter(|name| is_known_module(name))?;
        let folder = self.whole_script()?.parent()?.to_owned();
        let sight = self.context.sight;
        let is_package = |path: &PathBuf| sight.is_there(&path.join("__init__.py"));
        let file = Some(folder.join(format!("{name}.py"))).filter(|path| sight.is_there(path));
        let file = file.or_else(|| Some(folder.join(&name)).filter(is_package))?;
        let remedy = Remedy::new()
            .what(format!(
                "{} stands before the module `{name}`.",
                file.display()
            ))
            .why("Python looks into the folder of the script first, so that every import gets it.")
            .say(format!("Give {} another name.", file.display()));
        Some(Seen::new(
            "doctor/shadowed-module",
            "missing_module",
            remedy,
        ))
    }
}
