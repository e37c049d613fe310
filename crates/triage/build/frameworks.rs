//! The files of `src/frameworks/`, checked, → the data that the program has of
//! all of them, as Rust.

use serde::{Deserialize, Deserializer, de::Error as _};
use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::Path;

pub(crate) const FOLDER: &str = "src/frameworks";

macro_rules! described {
    ($($item:item)*) => {
        $(#[derive(Debug, Default, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $item)*
    };
}

#[path = "../src/frameworks/spec.rs"]
#[expect(dead_code, reason = "what is read here is written out as a whole")]
mod spec;

#[path = "../src/frameworks/example.rs"]
mod example;

use example::RerunExample;
use spec::{Change, Condition, Framework, Placeholder, Rerun, Sign, Template};

type StaticText = String;

/// Written as the slice that it becomes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Items<T>(Vec<T>);

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: fmt::Debug> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "&{:?}", self.0)
    }
}

/// Written as a place for what it is compiled to.
struct PatternRef(String);

impl fmt::Debug for PatternRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{ static COMPILED: LazyPattern = LazyPattern::new({:?}); &COMPILED }}",
            self.0
        )
    }
}

impl Default for Template {
    fn default() -> Self {
        let (pieces, end) = Default::default();
        Self { pieces, end }
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        template(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        condition(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for PatternRef {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        pattern(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// Without the tables of Unicode, which are not built for the build.
fn pattern(written: &str) -> Result<PatternRef, String> {
    let parsed = regex_syntax::ast::parse::Parser::new().parse(written);
    parsed.map_err(|error| format!("{}: {written}", error.kind()))?;
    Ok(PatternRef(written.to_owned()))
}

fn template(written: &str) -> Result<Template, String> {
    let mut pieces = Vec::new();
    let mut rest = written;
    while let Some((before, (asked, behind))) = rest
        .split_once('{')
        .and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
    {
        rest = behind;
        let (asked, suffix) = asked.split_once('?').unwrap_or((asked, ""));
        let mut steps = asked.split('|');
        let value = steps.next().unwrap_or_default().to_owned();
        let changes = steps.map(change).collect::<Result<_, _>>()?;
        pieces.push(Placeholder {
            before: before.to_owned(),
            value,
            changes: Items(changes),
            suffix: suffix.to_owned(),
        });
    }
    Ok(Template {
        pieces: Items(pieces),
        end: rest.to_owned(),
    })
}

fn change(step: &str) -> Result<Change, String> {
    Ok(match step.split_once(':') {
        None if step == "trim" => Change::Trim,
        None if step == "literal" => Change::Literal,
        None if step == "path" => Change::Path,
        Some(("pack", between)) => Change::Pack(between.to_owned()),
        _ => {
            return Err(format!(
                "a value is changed by trim, literal, path or pack:TEXT, not by {step:?}"
            ));
        }
    })
}

fn condition(written: &str) -> Result<Condition, String> {
    let mut parts = written.splitn(3, ' ');
    let mut part = || parts.next().unwrap_or_default();
    // What is done to values has no spaces.
    let (text, sign, other) = (part(), part(), part());
    let bare = sign.strip_prefix('!').unwrap_or(sign);
    let negated = bare.len() < sign.len();
    let (sign, other, pattern) = match bare {
        "==" | "=" => (Sign::Equals, other, ""),
        "^=" => (Sign::Begins, other, ""),
        "$=" => (Sign::Ends, other, ""),
        "~" => (Sign::Matches, "", other),
        _ => return Err(format!("{written:?} compares by none of ==, ^=, $= and ~")),
    };
    Ok(Condition {
        text: template(text)?,
        negated,
        sign,
        other: template(other)?,
        pattern: self::pattern(pattern)?,
    })
}

/// One file, with what is for tests only.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    language: String,
    /// In their order frameworks are asked, from the particular to the general:
    /// `mocha-junit-reporter` writes for Cypress as well. A language has none.
    #[serde(default)]
    rank: u16,
    #[serde(default)]
    writers: Items<StaticText>,
    #[serde(default)]
    exactly: Items<StaticText>,
    #[serde(default)]
    place: Option<PatternRef>,
    #[serde(default)]
    rerun: Rerun,
    #[serde(default)]
    examples: Items<RerunExample>,
}

/// What is known of every test, and `rest` of conditions.
const OF_A_TEST: [&str; 12] = [
    "report", "suites", "suite", "class", "name", "title", "file", "group", "place", "heading",
    "rest", "tests",
];

pub(crate) fn write(out: &Path) -> Result<(), Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(FOLDER)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("yaml")) {
            let text = fs::read_to_string(&path)?;
            let file: File = crate::parse(&path, &text)?;
            files.push((file.rank, path, text, file));
        }
    }
    files.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let mut frameworks: Vec<Framework> = Vec::new();
    let mut examples = Vec::new();
    let mut last = 0;
    for (rank, path, text, file) in files {
        let name = path.file_stem().ok_or("a file has a name")?;
        let framework = Framework {
            name: name.display().to_string(),
            language: file.language,
            writers: file.writers,
            exactly: file.exactly,
            place: file.place,
            rerun: file.rerun,
        };
        let unique = match rank > 0 && rank == last {
            true => Err((
                "rank:".to_owned(),
                "another framework has this rank".to_owned(),
            )),
            false => Ok(()),
        };
        unique
            .and_then(|()| check(&framework, &frameworks))
            .map_err(|(what, why)| {
                let line = text
                    .lines()
                    .position(|line| line.contains(&what))
                    .unwrap_or(0)
                    + 1;
                format!("{}:{line}: {why}", path.display())
            })?;
        examples.push((framework.name.clone(), file.examples));
        frameworks.push(framework);
        last = rank;
    }
    fs::write(out.join("frameworks.rs"), format!("&{frameworks:?}"))?;
    fs::write(out.join("framework-examples.rs"), format!("&{examples:?}"))?;
    Ok(())
}

/// What is wrong with a framework, behind a text of its line. Those before it
/// have lower ranks.
fn check(framework: &Framework, before: &[Framework]) -> Result<(), (String, String)> {
    let named = |name: &str| before.iter().find(|other| other.name == name);
    let (mut known, mut asked) = (BTreeSet::from(OF_A_TEST.map(str::to_owned)), Vec::new());
    let shared = match framework.language.as_str() {
        "" => None,
        language => Some(named(language).ok_or_else(|| {
            (
                "language:".into(),
                format!("there is no {language}.yaml without a rank"),
            )
        })?),
    };
    for rerun in shared
        .map(|shared| &shared.rerun)
        .into_iter()
        .chain([&framework.rerun])
    {
        let mut conditions = Vec::new();
        for value in &rerun.values.0 {
            known.insert(value.set.clone());
            asked.push(&value.to);
            conditions.extend(&value.when.0);
        }
        for way in &rerun.ways.0 {
            if way.like.as_ref().is_some_and(|like| named(like).is_none()) {
                return Err((
                    "like:".into(),
                    "no framework of a lower rank is called so".into(),
                ));
            }
            conditions.extend(&way.when.0);
            asked.extend(
                way.run
                    .0
                    .iter()
                    .chain(&way.tests.0)
                    .chain([&way.id, &way.also]),
            );
        }
        for condition in conditions {
            asked.extend([&condition.text, &condition.other]);
            let names = condition.pattern.0.split("(?P<").skip(1);
            known.extend(names.filter_map(|rest| Some(rest.split_once('>')?.0.to_owned())));
        }
    }
    let pieces = asked.iter().flat_map(|template| &template.pieces.0);
    for Placeholder { value, .. } in pieces {
        if !known.contains(value) {
            return Err((
                format!("{{{value}"),
                format!("no value is called {value:?}"),
            ));
        }
    }
    Ok(())
}
