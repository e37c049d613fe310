//! Identifiers and versions, as launchers want them.

use super::types::{Package, Registry};

/// Whether a text can be a part of what is handed to a launcher.
///
/// # Errors
/// Why not, to be read behind the text.
pub(super) fn usable(text: &str) -> Result<(), &'static str> {
    if text.starts_with('-') {
        Err("begins with a dash, so its launcher would take it for a flag")
    } else if text.contains(char::is_whitespace) || text.contains(char::is_control) {
        Err("holds a blank, which no identifier or version does")
    } else if text.contains("${") {
        Err("holds a `${…}` that nobody filled in")
    } else {
        Ok(())
    }
}

/// The version that the identifier holds already, and the identifier without
/// it.
pub(super) fn split(registry: &Registry, identifier: &str) -> (String, Option<String>) {
    let found = match registry {
        // The scope begins with the same character.
        Registry::Npm => identifier
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == '@')
            .map(|(at, _)| (at, 1)),
        Registry::Pypi => identifier
            .find("==")
            .map(|at| (at, 2))
            .or_else(|| identifier.find('@').map(|at| (at, 1))),
        Registry::Nuget => identifier.find('@').map(|at| (at, 1)),
        Registry::Oci => identifier.find('@').map(|at| (at, 1)).or_else(|| {
            // A colon before the last slash is that of a port.
            let name = identifier.rfind('/').map_or(0, |slash| slash + 1);
            identifier[name..].find(':').map(|at| (name + at, 1))
        }),
        Registry::Other(_) => None,
    };
    match found {
        // What begins with its version has no name that it could be of.
        Some((at, width)) if at > 0 && at + width < identifier.len() => (
            identifier[..at].to_owned(),
            Some(identifier[at + width..].to_owned()),
        ),
        Some(_) | None => (identifier.to_owned(), None),
    }
}

impl Package {
    /// Whether a word of a command line is this package, in whatever version.
    #[must_use]
    pub fn is_named_by(&self, word: &str) -> bool {
        let (name, _) = split(&self.registry, &self.identifier);
        word.strip_prefix(&name).is_some_and(|rest| {
            // What is behind a slash is a folder: `redis:/data`.
            rest.is_empty() || rest.starts_with(['@', ':', '=']) && !rest.contains('/')
        })
    }
}

/// What is wrong with a version that is to be the same tomorrow.
pub(super) fn unpinned(package: &Package) -> Option<String> {
    let (name, own) = split(&package.registry, &package.identifier);
    let Some(version) = own.or_else(|| package.version.clone()) else {
        return Some(format!(
            "`{name}` has no version: what is started may differ from day to day"
        ));
    };
    let moves = version.eq_ignore_ascii_case("latest")
        || version.starts_with(['^', '~', '>', '<', '*', '='])
        || [".x", ".*"].iter().any(|end| version.ends_with(end));
    moves.then(|| {
        format!("`{version}` is no fixed version: what is started may differ from day to day")
    })
}

/// An image with its tag or digest, and with its registry.
pub(super) fn image(package: &Package) -> String {
    let (mut name, own) = split(&package.registry, &package.identifier);
    let host = package
        .registry_base_url
        .as_deref()
        .map(|url| url.split_once("://").map_or(url, |(_, host)| host))
        .map(|host| host.trim_end_matches('/'))
        // Docker's own is meant where none is named.
        .filter(|host| !host.is_empty() && !host.ends_with("docker.io"));
    let has_host = name
        .split_once('/')
        .is_some_and(|(first, _)| first.contains(['.', ':']) || first == "localhost");
    if let Some(host) = host
        && !has_host
    {
        name = format!("{host}/{name}");
    }
    match own {
        Some(own) if own.contains(':') => format!("{name}@{own}"),
        Some(own) => format!("{name}:{own}"),
        None => match &package.version {
            Some(digest) if digest.contains(':') => format!("{name}@{digest}"),
            Some(tag) => format!("{name}:{tag}"),
            None => name,
        },
    }
}

/// `NAME@VERSION`, or what the identifier has of it already.
pub(super) fn at_version(package: &Package) -> String {
    match split(&package.registry, &package.identifier) {
        (_, Some(_)) => package.identifier.clone(),
        (name, None) => match &package.version {
            Some(version) => format!("{name}@{version}"),
            None => name,
        },
    }
}

/// `NAME==VERSION`, as of PEP 508.
pub(super) fn requirement(package: &Package) -> String {
    let (name, own) = split(&package.registry, &package.identifier);
    match own.as_ref().or(package.version.as_ref()) {
        Some(version) => format!("{name}=={version}"),
        None => name,
    }
}

/// The identifier and the field disagree.
pub(super) fn disagreement(package: &Package) -> Option<String> {
    let (_, own) = split(&package.registry, &package.identifier);
    let (own, version) = (own?, package.version.as_ref()?);
    (own != *version && !own.starts_with("sha256:")).then(|| {
        format!(
            "`{}` names another version than `{version}`; the identifier's is taken",
            package.identifier
        )
    })
}
