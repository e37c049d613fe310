//! What a tool of uv was installed from, as its receipt tells: on PyPI, another package may have
//! its name.
//!
//! Main function: [`source`]. Source: uv, crates/uv-tool/src/tool.rs, as of November 2026.

use super::sight::Sight;
use jelly_base::text::shell_word as word;
use std::path::Path;
use toml_edit::{Document, TableLike};

/// The words behind `uv tool install` that install the tool of this folder from where it came.
///
/// `None` where its receipt can't be read, or tells of more than these words would.
pub(super) fn source(sight: &dyn Sight, root: &Path) -> Option<String> {
    let receipt = sight.text(&root.join("uv-receipt.toml"))?;
    let receipt = Document::parse(&receipt).ok()?;
    let tool = receipt.get("tool")?.as_table_like()?;
    // An index of one's own, say.
    if tool.iter().any(|(key, _)| !KNOWN.contains(&key)) {
        return None;
    }
    let name = root.file_name()?.to_str()?;
    let wanted = tool.get("requirements")?.as_array()?;
    let wanted = wanted.iter().map(|one| one.as_inline_table());
    let wanted: Vec<&dyn TableLike> = wanted
        .map(|one| one.map(|table| table as &dyn TableLike))
        .collect::<Option<_>>()?;
    let (own, others): (Vec<_>, Vec<_>) = wanted
        .into_iter()
        .partition(|one| text(*one, "name") == Some(name));
    let [own] = own.as_slice() else {
        return None;
    };
    let mut words = own_source(*own)?;
    for other in others {
        words = format!("{words} --with {}", word(&published(other)?));
    }
    Some(words)
}

/// What to do where no command can be told.
pub(super) fn from_its_source(besides: &str) -> String {
    format!(
        "It was installed by uv; install it again by `uv tool install --with {besides}`, from the \
         source that its `uv-receipt.toml` names."
    )
}

/// Members of a receipt that are looked at, or that change nothing.
const KNOWN: [&str; 3] = ["requirements", "entrypoints", "python"];

fn own_source(own: &dyn TableLike) -> Option<String> {
    let has_only = |keys: &[&str]| own.iter().all(|(key, _)| keys.contains(&key));
    if let Some(folder) = text(own, "directory").filter(|_| has_only(&["name", "directory"])) {
        return Some(word(folder));
    }
    if let Some(folder) = text(own, "editable").filter(|_| has_only(&["name", "editable"])) {
        return Some(format!("--editable {}", word(folder)));
    }
    if let Some(git) = text(own, "git").filter(|_| has_only(&["name", "git"])) {
        let (address, asked) = git.split_once('?').unwrap_or((git, ""));
        let at = match asked.split_once('=') {
            Some(("rev" | "tag" | "branch", at)) if !at.contains('&') => format!("@{at}"),
            None if asked.is_empty() => String::new(),
            Some(_) | None => return None,
        };
        return Some(word(&format!("git+{address}{at}")));
    }
    published(own).map(|package| word(&package))
}

/// A package of an index, as pip writes it.
fn published(wanted: &dyn TableLike) -> Option<String> {
    let keys = ["name", "extras", "specifier"];
    if wanted.iter().any(|(key, _)| !keys.contains(&key)) {
        return None;
    }
    let extras = match wanted.get("extras") {
        Some(extras) => {
            let extras = extras.as_array()?.iter().map(toml_edit::Value::as_str);
            let extras: Vec<&str> = extras.collect::<Option<_>>()?;
            format!("[{}]", extras.join(","))
        }
        None => String::new(),
    };
    let range = text(wanted, "specifier").unwrap_or_default();
    Some(format!("{}{extras}{range}", text(wanted, "name")?))
}

fn text<'t>(table: &'t dyn TableLike, key: &str) -> Option<&'t str> {
    table.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::source;
    use crate::doctor::remedy::sight::Sight;
    use std::path::{Path, PathBuf};

    /// A machine with one receipt.
    struct Receipt(&'static str);

    impl Sight for Receipt {
        fn is_there(&self, _: &Path) -> bool {
            true
        }
        fn is_folder(&self, _: &Path) -> bool {
            false
        }
        fn names(&self, _: &Path) -> Vec<String> {
            Vec::new()
        }
        fn text(&self, _: &Path) -> Option<String> {
            Some(format!("[tool]\n{}", self.0))
        }
        fn real(&self, _: &Path) -> Option<PathBuf> {
            None
        }
        fn version(&self, _: &Path) -> Option<String> {
            None
        }
        fn on_path(&self, _: &str) -> Option<PathBuf> {
            None
        }
    }

    #[test]
    fn a_tool_is_installed_again_from_where_it_came() {
        for (receipt, words) in [
            ("requirements = [{ name = \"srv\" }]", Some("srv")),
            (
                "requirements = [{ name = \"srv\", specifier = \"==1.2.3\" }]",
                Some("srv==1.2.3"),
            ),
            (
                "requirements = [{ name = \"srv\", extras = [\"cli\"] }, { name = \"b\", specifier = \"<2\" }]\npython = \"3.9\"",
                Some("'srv[cli]' --with 'b<2'"),
            ),
            (
                "requirements = [{ name = \"srv\", directory = \"/home/me/my srv\" }]",
                Some("'/home/me/my srv'"),
            ),
            (
                "requirements = [{ name = \"srv\", editable = \"/src/srv\" }]",
                Some("--editable /src/srv"),
            ),
            (
                "requirements = [{ name = \"srv\", git = \"https://git.acme.test/srv?tag=v1\" }]",
                Some("git+https://git.acme.test/srv@v1"),
            ),
            (
                "requirements = [{ name = \"srv\", url = \"https://h/s.whl\" }]",
                None,
            ),
            ("requirements = [{ name = \"other\" }]", None),
            (
                "requirements = [{ name = \"srv\" }]\noptions = { index = [] }",
                None,
            ),
            ("no TOML", None),
        ] {
            let told = source(&Receipt(receipt), Path::new("/tools/srv"));
            assert_eq!(told.as_deref(), words, "{receipt}");
        }
    }
}
