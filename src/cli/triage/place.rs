//! Where stacks say that tests failed → files of the project, as its own
//! annotations name them.

use crate::cli::find::files_below;
use jelly_base::model::Cluster;
use std::path::{Path, PathBuf};

/// Names the places of the causes as files below `folder`, where they are
/// there. A report may come from another machine, with another folder, and the
/// JVM names none at all.
pub(super) fn name_places(clusters: &mut [Cluster], folder: &Path) {
    let mut files = None;
    for cluster in clusters {
        if let Some(place) = &cluster.at
            && let Some(found) = named_place(place, folder, &mut files)
        {
            cluster.at = Some(found);
        }
    }
}

/// The file of a place below `folder`, with its line. All files of the project
/// are listed at most once.
pub fn named_place(place: &str, folder: &Path, files: &mut Option<Vec<PathBuf>>) -> Option<String> {
    let (file, line) = place.rsplit_once(':')?;
    let file = file.replace('\\', "/");
    let project = folder.file_name().and_then(|name| name.to_str());
    let parts: Vec<&str> = file
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    if parts.contains(&"..") {
        return None;
    }
    let is_whole = !file.starts_with('/');
    let below = |path: &Path| {
        let path = path.strip_prefix(folder).unwrap_or(path);
        let path = path.strip_prefix(".").unwrap_or(path);
        Some(format!("{}:{line}", path.to_str()?.replace('\\', "/")))
    };
    for at in 0..parts.len() {
        let path: PathBuf = parts[at..].iter().collect();
        // A bare name says little, unless it was all, or stood in a folder of
        // the project's name.
        let tells = at + 1 < parts.len()
            || at == 0 && is_whole
            || at > 0 && parts.get(at - 1).copied() == project;
        if tells && folder.join(&path).is_file() {
            return below(&path);
        }
    }
    if !is_whole {
        return None;
    }
    let path: PathBuf = parts.iter().collect();
    let files = files.get_or_insert_with(|| files_below(folder));
    let mut ending = files.iter().filter(|one| one.ends_with(&path));
    let found = ending.next()?;
    // One of several would be a guess.
    ending.next().is_none().then(|| below(found))?
}

#[cfg(test)]
mod tests {
    use super::named_place;
    use std::fs;

    #[test]
    fn a_place_is_named_from_the_project_where_it_is_there() {
        let project = tempfile::tempdir().unwrap();
        let folder = project.path().join("shop");
        for file in [
            "src/cart.js",
            "index.js",
            "core/src/main/java/com/acme/Cart.java",
            "one/util_test.go",
            "two/util_test.go",
            "pkg/cart_test.go",
        ] {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let whole = format!("{}:3", folder.join("src/cart.js").display());
        for (told, wanted) in [
            (&*whole, Some("src/cart.js:3")),
            ("./src/cart.js:3", Some("src/cart.js:3")),
            (
                "/home/runner/work/shop/shop/src/cart.js:3",
                Some("src/cart.js:3"),
            ),
            ("D:\\a\\shop\\shop\\src\\cart.js:3", Some("src/cart.js:3")),
            ("/home/runner/work/shop/shop/index.js:3", Some("index.js:3")),
            // Another project's.
            ("/opt/tool/index.js:3", None),
            (
                "com/acme/Cart.java:31",
                Some("core/src/main/java/com/acme/Cart.java:31"),
            ),
            ("cart_test.go:9", Some("pkg/cart_test.go:9")),
            ("util_test.go:9", None),
            ("../src/cart.js:3", None),
            ("com/acme/None.java:31", None),
        ] {
            let found = named_place(told, &folder, &mut None);
            assert_eq!(found.as_deref(), wanted, "{told}");
        }
    }
}
