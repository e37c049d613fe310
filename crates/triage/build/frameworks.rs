//! The files of `src/frameworks/`, checked, → the data that the program has of
//! all of them, as Rust.

use serde::{Deserialize, Deserializer, de::Error as _};
use std::collections::{BTreeMap, BTreeSet};
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

use example::{ReportExample, RerunExample};
use spec::{
    Change, Comparison, Condition, Framework, LabelledValue, Oddity, Placeholder, ReportSign,
    Rerun, SignFact, SignPart, Template,
};

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
        if self.0.is_empty() {
            return f.write_str("&EMPTY");
        }
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

/// What a sign means, and what stands behind it: a text or a pattern.
fn comparison<'w>(sign: &str, behind: &'w str) -> Result<(Comparison, &'w str, &'w str), String> {
    Ok(match sign {
        "==" | "=" => (Comparison::Equals, behind, ""),
        "^=" => (Comparison::Begins, behind, ""),
        "$=" => (Comparison::Ends, behind, ""),
        "*=" => (Comparison::Contains, behind, ""),
        "~" => (Comparison::Matches, "", behind),
        "" if behind.is_empty() => (Comparison::Exists, "", ""),
        _ => return Err(format!("{sign:?} is none of ==, ^=, $=, *= and ~")),
    })
}

/// `suite: name == pytest tests and hostname`
struct WrittenSign(SignPart, Items<SignFact>);

impl<'de> Deserialize<'de> for WrittenSign {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        sign(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

fn sign(written: &str) -> Result<WrittenSign, String> {
    let (part, facts) = written.split_once(": ").ok_or("a sign is `PART: FACT`")?;
    let part = match part {
        "file" => SignPart::File,
        "comment" => SignPart::Comment,
        "tool" => SignPart::Tool,
        "root" => SignPart::Root,
        "suite" => SignPart::Suite,
        "case" => SignPart::Case,
        "property" => SignPart::Property,
        "failure" => SignPart::Failure,
        _ => return Err(format!("a report has no part {part:?}")),
    };
    let facts = facts.split(" and ").map(|fact| {
        let mut words = fact.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let (name, sign, behind) = (word(), word(), word());
        let (comparison, text, written) = comparison(sign, behind)?;
        Ok(SignFact {
            name: name.to_owned(),
            comparison,
            text: text.to_owned(),
            pattern: pattern(written)?,
        })
    });
    Ok(WrittenSign(
        part,
        Items(facts.collect::<Result<_, String>>()?),
    ))
}

/// The signs of one writer, by what they weigh.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Signs {
    oddities: Vec<Oddity>,
    /// Nobody else writes this.
    sure: Vec<WrittenSign>,
    /// A name that it always uses.
    named: Vec<WrittenSign>,
    /// Others could, and hardly do.
    strong: Vec<WrittenSign>,
    /// As the order of attributes, which forks and converters copy.
    likely: Vec<WrittenSign>,
    /// Of the family, at least.
    weak: Vec<WrittenSign>,
}

impl Signs {
    fn of(self, writer: &str) -> impl Iterator<Item = ReportSign> {
        let kinds = [self.sure, self.named, self.strong, self.likely, self.weak];
        let strengths = kinds.into_iter().zip([9, 8, 7, 5, 3]);
        strengths.flat_map(move |(signs, strength)| {
            signs
                .into_iter()
                .map(move |WrittenSign(part, facts)| ReportSign {
                    part,
                    facts,
                    strength,
                    writer: writer.to_owned(),
                })
        })
    }
}

fn condition(written: &str) -> Result<Condition, String> {
    let mut parts = written.splitn(3, ' ');
    let mut part = || parts.next().unwrap_or_default();
    // What is done to values has no spaces.
    let (text, sign, other) = (part(), part(), part());
    let bare = sign.strip_prefix('!').unwrap_or(sign);
    let negated = bare.len() < sign.len();
    let (sign, other, pattern) = comparison(bare, other)?;
    Ok(Condition {
        text: template(text)?,
        negated,
        sign,
        other: template(other)?,
        pattern: self::pattern(pattern)?,
    })
}

/// Beginnings of labels, as `expected`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Labels {
    wanted: Vec<StaticText>,
    got: Vec<StaticText>,
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
    commands: Items<StaticText>,
    place: Option<PatternRef>,
    #[serde(default)]
    tells: Items<PatternRef>,
    #[serde(default)]
    outside: Items<PatternRef>,
    #[serde(default)]
    sums_up: Items<PatternRef>,
    heading: Option<PatternRef>,
    /// By the names of what writes them, how reports are known.
    #[serde(default)]
    reports: BTreeMap<String, Signs>,
    #[serde(default)]
    libraries: Vec<StaticText>,
    #[serde(default)]
    places_of_libraries: Vec<PatternRef>,
    #[serde(default)]
    labels: Labels,
    #[serde(default)]
    pairs: Vec<(StaticText, Items<StaticText>)>,
    #[serde(default)]
    diffs: Vec<StaticText>,
    #[serde(default)]
    block_ends: Vec<StaticText>,
    #[serde(default)]
    hooks: Vec<StaticText>,
    #[serde(default)]
    ends: Vec<(StaticText, StaticText)>,
    #[serde(default)]
    teardowns: Vec<(StaticText, StaticText)>,
    #[serde(default)]
    progress: Vec<StaticText>,
    #[serde(default)]
    talk: Vec<StaticText>,
    #[serde(default)]
    rerun: Rerun,
    #[serde(default)]
    examples: Items<RerunExample>,
    #[serde(default)]
    shown: Vec<ReportExample>,
}

/// What is known of every test, and `rest` and `lead` of conditions.
const OF_A_TEST: [&str; 13] = [
    "report", "suites", "suite", "class", "name", "title", "file", "group", "place", "heading",
    "rest", "lead", "tests",
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
    // Those without a rank come last.
    files.sort_by(|a, b| (a.0 == 0, a.0, &a.1).cmp(&(b.0 == 0, b.0, &b.1)));
    let mut frameworks: Vec<Framework> = Vec::new();
    let mut sources = Vec::new();
    let (mut signs, mut examples, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    let (mut oddities, mut labels, mut hooks, mut progress) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut pairs, mut diffs, mut block_ends) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ends, mut talk) = (Vec::new(), Vec::new());
    let (mut libraries, mut places) = (Vec::new(), Vec::new());
    for (rank, path, text, file) in files {
        let name = path.file_stem().ok_or("a file has a name")?;
        let name = name.display().to_string();
        if !file.examples.0.is_empty() {
            examples.push((name.clone(), file.examples));
        }
        shown.extend(file.shown);
        for (writer, of_writer) in file.reports {
            let odd = of_writer.oddities.iter();
            oddities.extend(odd.map(|oddity| (writer.clone(), *oddity)));
            signs.extend(of_writer.of(&writer));
        }
        libraries.extend(file.libraries);
        places.extend(file.places_of_libraries.into_iter().map(|place| place.0));
        let of = |words: Vec<_>, value| words.into_iter().map(move |word| (word, value));
        labels.extend(of(file.labels.wanted, LabelledValue::Wanted));
        labels.extend(of(file.labels.got, LabelledValue::Got));
        pairs.extend(file.pairs);
        diffs.extend(file.diffs);
        block_ends.extend(file.block_ends);
        hooks.extend(file.hooks);
        ends.extend(file.ends);
        progress.extend(file.progress);
        talk.extend(file.talk);
        sources.push((rank, path, text));
        frameworks.push(Framework {
            name,
            language: file.language,
            writers: file.writers,
            exactly: file.exactly,
            commands: file.commands,
            place: file.place,
            tells: file.tells,
            outside: file.outside,
            sums_up: file.sums_up,
            heading: file.heading,
            teardowns: Items(file.teardowns),
            rerun: file.rerun,
        });
    }
    let mut last = 0;
    for (framework, (rank, path, text)) in frameworks.iter().zip(sources) {
        let checked = match rank > 0 && rank == last {
            true => Err((
                "rank:".to_owned(),
                "another framework has this rank".to_owned(),
            )),
            false => check(framework, &frameworks),
        };
        checked.map_err(|(what, why)| {
            let line = text.lines().position(|line| line.contains(&what));
            format!("{}:{}: {why}", path.display(), line.unwrap_or(0) + 1)
        })?;
        last = rank;
    }
    labels.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    signs.sort_by_key(|sign| std::cmp::Reverse(sign.strength));
    let text = "Items<StaticText>";
    let tables = [
        ("FRAMEWORKS", "Items<Framework>", format!("{frameworks:?}")),
        ("SIGNS", "Items<ReportSign>", format!("{signs:?}")),
        ("LIBRARIES", text, format!("{libraries:?}")),
        ("LIBRARY_PLACES", text, format!("{places:?}")),
        (
            "ODDITIES",
            "Items<(StaticText, Oddity)>",
            format!("{oddities:?}"),
        ),
        (
            "LABELS",
            "Items<(StaticText, LabelledValue)>",
            format!("{labels:?}"),
        ),
        (
            "PAIRS",
            "Items<(StaticText, Items<StaticText>)>",
            format!("{pairs:?}"),
        ),
        ("DIFFS", text, format!("{diffs:?}")),
        ("BLOCK_ENDS", text, format!("{block_ends:?}")),
        ("HOOKS", text, format!("{hooks:?}")),
        (
            "ENDS",
            "Items<(StaticText, StaticText)>",
            format!("{ends:?}"),
        ),
        ("PROGRESS", text, format!("{progress:?}")),
        ("TALK", text, format!("{talk:?}")),
    ];
    let tables =
        tables.map(|(name, of, data)| format!("pub(crate) static {name}: {of} = &{data};\n"));
    fs::write(out.join("frameworks.rs"), tables.concat())?;
    let examples = format!("(&{examples:?}, &{shown:?})");
    fs::write(out.join("framework-examples.rs"), examples)?;
    Ok(())
}

/// What is wrong with a framework, behind a text of its line.
fn check(framework: &Framework, all: &[Framework]) -> Result<(), (String, String)> {
    let named = |name: &str| all.iter().find(|other| other.name == name);
    let (mut known, mut asked) = (BTreeSet::from(OF_A_TEST.map(str::to_owned)), Vec::new());
    for pattern in &framework.tells.0 {
        known.extend(names_in(pattern));
    }
    let shared = match framework.language.as_str() {
        "" => None,
        language => Some(
            named(language)
                .ok_or_else(|| ("language:".into(), format!("there is no {language}.yaml")))?,
        ),
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
        asked.extend([&rerun.file, &rerun.module]);
        for way in &rerun.ways.0 {
            if way.like.as_ref().is_some_and(|like| {
                let other = named(like);
                other.is_none_or(|other| other.rerun.ways.0.iter().any(|way| way.like.is_some()))
            }) {
                return Err((
                    "like:".into(),
                    "no framework with ways of its own is called so".into(),
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
            known.extend(names_in(&condition.pattern));
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

/// The names of the parts of a pattern.
fn names_in(pattern: &PatternRef) -> impl Iterator<Item = String> {
    let names = pattern.0.split("(?P<").skip(1);
    names.filter_map(|rest| Some(rest.split_once('>')?.0.to_owned()))
}
