//! Which functions and classes an extension of PHP brings: who lacks one of them lacks the
//! extension, as who says its name.

use crate::engine::tables::{built, table};
use serde::Deserialize;
use std::sync::LazyLock;

/// An extension of `tables/php_extensions.yaml`.
#[derive(Deserialize)]
struct PhpExtension {
    name: String,
    /// How its functions begin.
    #[serde(default)]
    functions: Vec<String>,
    #[serde(default)]
    classes: Vec<String>,
}

static PHP: LazyLock<Vec<PhpExtension>> = LazyLock::new(|| table(built!("php_extensions")));

/// The extension that brings a function. PHP names the namespace from which it was called,
/// though it looks for it in none, too.
pub(super) fn extension_of_function(function: &str) -> Option<&'static str> {
    let function = function.rsplit('\\').next()?.to_ascii_lowercase();
    let brings = |one: &&PhpExtension| {
        let mut beginnings = one.functions.iter();
        beginnings.any(|begins| function.starts_with(begins.as_str()))
    };
    Some(&PHP.iter().find(brings)?.name)
}

/// The extension that brings a class. One within a namespace is somebody else's.
pub(super) fn extension_of_class(class: &str) -> Option<&'static str> {
    let brings = |one: &&PhpExtension| {
        let mut classes = one.classes.iter();
        classes.any(|known| known.eq_ignore_ascii_case(class))
    };
    Some(&PHP.iter().find(brings)?.name)
}

/// An extension by the name that a sentence gives it, if it is one.
pub(super) fn extension_named(name: &str) -> Option<&'static str> {
    let is_it = |one: &&PhpExtension| one.name.eq_ignore_ascii_case(name);
    Some(&PHP.iter().find(is_it)?.name)
}

#[cfg(test)]
mod tests {
    use super::{extension_named, extension_of_class, extension_of_function};

    #[test]
    fn an_extension_is_known_by_what_it_brings() {
        for (function, extension) in [
            ("Acme\\Text\\grapheme_strlen", Some("intl")),
            ("mb_strtolower", Some("mbstring")),
            ("imagecreatetruecolor", Some("gd")),
            ("bcadd", Some("bcmath")),
            ("Acme\\image_of", None),
            ("locale", None),
        ] {
            assert_eq!(extension_of_function(function), extension, "{function}");
        }
        for (class, extension) in [
            ("NumberFormatter", Some("intl")),
            ("ZipArchive", Some("zip")),
            ("Acme\\Collator", None),
            ("Acme", None),
        ] {
            assert_eq!(extension_of_class(class), extension, "{class}");
        }
        assert_eq!(extension_named("Intl"), Some("intl"));
        assert_eq!(extension_named("acme"), None);
    }
}
