//! Where a file lies that a test report names from another folder than the call's.

use std::path::{Component, Path, PathBuf};

/// Folders above a report that are looked at.
const ABOVE: usize = 6;

/// The path, from the folder of the call, of a file that a report names from the folder that its
/// framework ran in, or by its package alone; nothing where it lies as it is named, or nowhere.
#[must_use]
pub fn named_file(cwd: &Path, report: &str, file: &str) -> Option<String> {
    /// Where build tools keep sources, whose packages are what the JVM tells.
    const ROOTS: [&str; 5] = [
        "",
        "src/test/java",
        "src/test/kotlin",
        "src/main/java",
        "src/main/kotlin",
    ];
    let named = Path::new(file);
    let is_plain = named
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_plain || cwd.join(named).exists() {
        return None;
    }
    let parts = named.components();
    let named: PathBuf = parts.filter(|part| *part != Component::CurDir).collect();
    let whole = cwd.join(report);
    let folders = whole.ancestors().skip(1).take(ABOVE);
    let mut folders = folders.take_while(|folder| folder.starts_with(cwd));
    folders.find_map(|folder| {
        let mut places = ROOTS.iter().map(|root| folder.join(root).join(&named));
        let found = places.find(|place| place.is_file())?;
        let found = found.strip_prefix(cwd).ok()?.to_str()?;
        Some(found.replace('\\', "/"))
    })
}

#[cfg(test)]
mod tests {
    use super::named_file;
    use std::fs::{create_dir_all, write};

    #[test]
    fn a_file_is_found_from_where_its_report_lies() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for path in [
            "api/spec/a_spec.rb",
            "shop/src/test/java/acme/CartTest.java",
            "spec/b_spec.rb",
        ] {
            create_dir_all(at(path).parent().unwrap()).unwrap();
            write(at(path), "").unwrap();
        }
        let named = |report: &str, file: &str| named_file(root.path(), report, file);
        assert_eq!(
            named("api/junit.xml", "./spec/a_spec.rb").as_deref(),
            Some("api/spec/a_spec.rb")
        );
        assert_eq!(
            named("shop/target/surefire-reports/x.xml", "acme/CartTest.java").as_deref(),
            Some("shop/src/test/java/acme/CartTest.java")
        );
        assert_eq!(named("api/junit.xml", "spec/b_spec.rb"), None);
        assert_eq!(named("api/junit.xml", "spec/c_spec.rb"), None);
        assert_eq!(named("api/junit.xml", "../a_spec.rb"), None);
    }
}
