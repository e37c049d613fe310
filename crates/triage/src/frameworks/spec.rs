//! What the files of this folder may hold. The build script reads the same
//! types from YAML that the program has as data: of both, `described!`, `StaticText`,
//! `Items` and `PatternRef` are their own.

use super::{Items, PatternRef, StaticText};

described! {
    /// One test framework, or what several share of a language.
    pub(crate) struct Framework {
        /// That of its file, which says it.
        pub(crate) name: StaticText,
        /// The one whose values stand before its own.
        pub(crate) language: StaticText,
        /// Parts of the names of what writes its reports.
        pub(crate) writers: Items<StaticText>,
        /// Whole names of the same.
        pub(crate) exactly: Items<StaticText>,
        /// How commands begin that work in its projects.
        pub(crate) commands: Items<StaticText>,
        /// How its failures tell the `file` of their test; the last place counts.
        /// Without one, that of the language.
        pub(crate) place: Option<PatternRef>,
        /// What else its failures tell of their test: the named parts of these
        /// become values of the test. Of each, the first place counts.
        pub(crate) tells: Items<PatternRef>,
        /// Of the classes and names of cases, with a line break between both: what
        /// failed around the tests, and is none of them.
        pub(crate) outside: Items<PatternRef>,
        /// Of the messages of failures: what only counts the others of its case.
        pub(crate) sums_up: Items<PatternRef>,
        /// Of the texts of failures whose type is the name of their test: a `head` that
        /// only says which test it is.
        pub(crate) heading: Option<PatternRef>,
        /// Beginnings and parts of lines behind which a tear-down is told that failed too.
        pub(crate) teardowns: Items<(StaticText, StaticText)>,
        pub(crate) rerun: Rerun,
    }

    /// How it selects a test, on the command line that runs it again.
    pub(crate) struct Rerun {
        /// Characters that would mean something, and how they are written, with
        /// `{}` for the character. Where there are none, those of the language.
        pub(crate) literal: Items<(StaticText, StaticText)>,
        /// In this order; a later one of the same name counts.
        pub(crate) values: Items<NamedValue>,
        /// The file of the test, from the folder in which its command is run.
        /// Without one, that of the language.
        pub(crate) file: Template,
        /// What the path of the report tells of the project whose tests are run
        /// by a command that names it itself.
        pub(crate) module: Template,
        /// How its commands begin in some projects. The first that is known counts.
        pub(crate) begins: Items<ProjectBeginning>,
        /// The files of which a project has one that tells where its tests are. Commands
        /// name the file of the test in others.
        pub(crate) configured_by: Items<StaticText>,
        /// A report is that of one program, which holds no tests of other reports.
        pub(crate) each_report: bool,
        /// The first whose conditions hold; a framework without one has none.
        pub(crate) ways: Items<RerunWay>,
    }

    /// How commands begin in a project that has a file, or has none.
    pub(crate) struct ProjectBeginning {
        pub(crate) from: Items<StaticText>,
        pub(crate) to: Items<StaticText>,
        /// The project has one of these, where any is named,
        pub(crate) with: Items<StaticText>,
        /// and none of these.
        pub(crate) without: Items<StaticText>,
    }

    /// A value that others are made of, where its conditions hold.
    pub(crate) struct NamedValue {
        pub(crate) set: StaticText,
        pub(crate) to: Template,
        pub(crate) when: Items<Condition>,
        /// Texts within the value, and what stands for them.
        pub(crate) replace: Items<(StaticText, StaticText)>,
    }

    /// A command, for tests of which its conditions hold; without any words,
    /// there is none for them.
    pub(crate) struct RerunWay {
        pub(crate) when: Items<Condition>,
        /// The framework whose ways are taken instead.
        pub(crate) like: Option<StaticText>,
        /// Shell text before the words, which is not quoted.
        pub(crate) shell: Option<StaticText>,
        /// Words of the command. What comes out empty is left out; `{tests}`
        /// stands for the names of all tests, or in a word for each.
        pub(crate) run: Items<Template>,
        /// What stands between the names of tests that share a word.
        pub(crate) join: Option<StaticText>,
        pub(crate) id: Template,
        /// The names by which the framework may know the test.
        pub(crate) tests: Items<Template>,
        pub(crate) also: Template,
        pub(crate) note: Option<StaticText>,
    }
}

/// What gives the writer of a report away: of one part of the report, all facts.
#[derive(Debug)]
pub(crate) struct ReportSign {
    pub(crate) part: SignPart,
    pub(crate) facts: Items<SignFact>,
    /// The strongest counts.
    pub(crate) strength: u8,
    pub(crate) writer: StaticText,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignPart {
    /// The file of the report: `path` and `name`.
    File,
    /// A comment outside of all cases: `text`.
    Comment,
    /// `name` of the tool, in lower case, where a format has a place for it.
    Tool,
    /// The attributes of an element, and `attributes`: their names as written.
    Root,
    Suite,
    /// Besides, `same`: name and class are the same.
    Case,
    /// `name` and `value`.
    Property,
    /// `message` or `type`, and `attributes` of its case; `text`, of TAP.
    Failure,
}

#[derive(Debug)]
pub(crate) struct SignFact {
    pub(crate) name: StaticText,
    pub(crate) comparison: Comparison,
    pub(crate) text: StaticText,
    pub(crate) pattern: PatternRef,
}

/// How a writer differs from what a reader would think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Oddity {
    /// A further attempt of a test is a further case of the same name beside it.
    /// From others such a case is another test: other parameters, another
    /// project.
    Attempts,
    /// Such attempts count as tests, too.
    AttemptsCounted,
    /// An attempt that failed is a case without a word of it, and not counted as a test.
    UnmarkedAttempts,
    /// Of a stack, only the lines of the test's own class are written.
    TrimmedStacks,
    /// All code that runs are the scripts of the tests.
    TestScripts,
    /// A package that does not compile is an error of the run, and a suite
    /// without a case.
    ErrorsOfPackages,
    /// The output of a suite is that of each of its tests.
    SharedOutput,
    /// All that a failure says may be how the program ended.
    ExitCodeOnly,
    /// Every failure has the same type.
    OneType,
    /// A test that could not be run is one that failed.
    NotRunFails,
    /// A test that was never started is written as skipped, where the set-up of its
    /// suite failed, and nothing else tells of that.
    UnstartedWhereSetUpFailed,
    /// Each engine of a run has a report of its own, in one folder, which is empty
    /// where it found no test.
    ReportPerEngine,
    /// Behind a set-up that failed, names have `begin N ` before them.
    NumberedBehindSetUp,
    /// The error of a suite may be written twice, one after the other, the
    /// second time as a failure.
    DoubledErrors,
    /// A suite is called like the first block of tests that ran of its file.
    SuitesNamedByFirst,
    /// Quotation marks in names are escaped twice.
    QuotesEscapedTwice,
    /// Behind a suite stands a case of its name, which sums it up.
    SuitesSummedUp,
    /// The error of a suite may be the status of its program, which is how many
    /// of its tests failed.
    StatusCountsFailures,
    /// What suites claim counts the elements right in them, suites too, and is
    /// no number of tests.
    CountsParts,
    /// What a test says stands in its output alone.
    SaysInOutput,
    /// The output of a suite is TAP, and that it was given up stands there alone.
    TapInOutput,
}

/// Which of both compared values a label announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelledValue {
    Wanted,
    Got,
}

/// A text with values for their names in braces. Behind a bar stands what is
/// done to the value, behind a question mark what follows it, unless it is empty.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) pieces: Items<Placeholder>,
    pub(crate) end: StaticText,
}

#[derive(Debug)]
pub(crate) struct Placeholder {
    pub(crate) before: StaticText,
    pub(crate) value: StaticText,
    pub(crate) changes: Items<Change>,
    pub(crate) suffix: StaticText,
}

#[derive(Debug)]
pub(crate) enum Change {
    Trim,
    Literal,
    /// A path that begins as an option does gets a folder.
    Path,
    /// Without the empty parts between these.
    Pack(StaticText),
}

/// `TEXT ~ PATTERN`, `TEXT == TEXT`, `^=` for a beginning, `$=` for an end; a
/// `!` before the sign turns it round.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) text: Template,
    pub(crate) negated: bool,
    pub(crate) sign: Comparison,
    pub(crate) other: Template,
    /// What the pattern names becomes a value.
    pub(crate) pattern: PatternRef,
}

#[derive(Debug)]
pub(crate) enum Comparison {
    /// There is such a thing at all.
    Exists,
    Equals,
    /// What follows the beginning becomes the value `rest`.
    Begins,
    /// Of a report in any case. What precedes the end becomes the value `lead`.
    Ends,
    Contains,
    Matches,
}
