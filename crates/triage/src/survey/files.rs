//! One file by the paths that different folders have for it.

use super::lacks::{Subject, SubjectKind};
use jelly_base::text::WordList;
use std::collections::HashMap;

/// Files that causes are about, with the places of these causes: by the file's name, since
/// paths of one file end alike.
#[derive(Debug, Default)]
pub(super) struct Files(HashMap<(SubjectKind, Box<str>), Vec<KnownFile>>);

/// The path of a file, and the place of the cause that is about it.
type KnownFile = (Box<str>, usize);

impl Files {
    /// Keeps what a subject is about, if it is a file.
    pub(super) fn note(&mut self, subject: &Subject, at: usize) {
        if let Some(name) = name_of(subject) {
            let key = (subject.kind, name.into());
            self.0
                .entry(key)
                .or_default()
                .push((subject.name.clone(), at));
        }
    }

    /// The one cause about the file of a subject; nothing where several may be meant.
    pub(super) fn one(&self, subject: &Subject) -> Option<usize> {
        let known = self.0.get(&(subject.kind, name_of(subject)?.into()))?;
        let is_it = |(path, _): &&KnownFile| is_one_file(path, &subject.name);
        let mut found = known.iter().filter(is_it).map(|(_, at)| *at);
        let first = found.next()?;
        // A bare name that was taken for one of them makes no two whole paths one.
        let mut of_cause = known.iter().filter(|(_, at)| *at == first);
        let is_same = of_cause.all(|(path, _)| is_one_file(path, &subject.name));
        (is_same && found.all(|at| at == first)).then_some(first)
    }
}

fn name_of(subject: &Subject) -> Option<&str> {
    let is_file = matches!(subject.kind, SubjectKind::File | SubjectKind::Denied);
    let name = subject.name.rsplit(['/', '\\']).next();
    name.filter(|_| is_file)
}

/// What files in many folders are called.
const OF_ANY: WordList = WordList(
    "a b config conf data default fixture index input main out output package readme report result \
     schema settings test tmp user users x",
);

/// Whether two paths are one file's: one is the end of the other. Files of one name lie in many
/// folders, but for those that have a name of their own.
fn is_one_file(one: &str, other: &str) -> bool {
    let inner = |path: &str| {
        let path = path.replace('\\', "/");
        let mut path = path.as_str();
        while let Some(rest) = path.strip_prefix("../").or_else(|| path.strip_prefix("./")) {
            path = rest;
        }
        path.to_owned()
    };
    let (one, other) = (inner(one), inner(other));
    let (long, short) = match one.len() < other.len() {
        true => (other, one),
        false => (one, other),
    };
    let short = short.trim_start_matches('/');
    let before = long.strip_suffix(short);
    let is_telling = short.contains('/') || !OF_ANY.has(short.split('.').next().unwrap_or(short));
    is_telling && before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::{Files, is_one_file};
    use crate::survey::lacks::{Subject, SubjectKind};

    #[test]
    fn a_bare_name_makes_no_two_whole_paths_one() {
        let file = |path: &str| Subject::new(SubjectKind::File, path);
        let mut files = Files::default();
        files.note(&file("/srv/a/prices.csv"), 0);
        assert_eq!(files.one(&file("prices.csv")), Some(0));
        files.note(&file("prices.csv"), 0);
        assert_eq!(files.one(&file("a/prices.csv")), Some(0));
        assert_eq!(files.one(&file("/var/out/prices.csv")), None);
    }

    #[test]
    fn one_file_has_a_path_in_each_folder() {
        for (one, other) in [
            ("/home/ci/app/data/rates/eur.csv", "data/rates/eur.csv"),
            (
                "/fixtures/edi/notice.edi",
                "src/test/resources/fixtures/edi/notice.edi",
            ),
            ("../testdata/a.json", "/src/testdata/a.json"),
            (r"C:\app\data\a.json", "data/a.json"),
            ("/home/ci/app/style.txt", "style.txt"),
        ] {
            assert!(is_one_file(one, other), "{one} {other}");
            assert!(is_one_file(other, one), "{other} {one}");
        }
        for (one, other) in [
            ("/home/ci/app/a.json", "a.json"),
            ("/srv/one/data/a.json", "/srv/two/data/a.json"),
            ("/srv/mydata/a.json", "data/a.json"),
            ("data/a.json", "data/b.json"),
        ] {
            assert!(!is_one_file(one, other), "{one} {other}");
        }
    }
}
