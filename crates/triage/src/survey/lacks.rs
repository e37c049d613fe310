//! What an error says is not there, not allowed or full: the variable, the module, the
//! program, the file.
//!
//! Only where a sentence names it as that; a name that merely stands in a line is none.

use super::extensions::{extension_named, extension_of_class, extension_of_function};
use super::subject_forms::{SUBJECT_FORMS, Sentences};
use memchr::memmem;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Bytes of a name. What is longer is data.
const NAME: usize = 200;

/// What a cause is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SubjectKind {
    /// A server that is away: its address.
    Server,
    /// The server of a request that was answered with an error, where only the client's
    /// settings show it.
    Asked,
    /// A kind of service that is away: what is spoken with it.
    Service,
    /// Somebody who is away and not named.
    Unreached,
    /// The file of the product through which somebody was asked who is away.
    Client,
    /// A test that had not ended when its package did.
    Unfinished,
    Variable,
    /// A module, a package, a library or a class.
    Module,
    Program,
    File,
    /// A file that may not be used.
    Denied,
    /// Who is refused.
    Account,
    /// A token by the time at which it ended.
    Token,
    Column,
    Table,
    Topic,
    /// What a container of objects can't make.
    Component,
    Function,
    /// The disk, of which there is one.
    Disk,
    /// An exception at a line of the product: both, and what it says but for values.
    Raised,
    /// A class of the JVM that could not be initialized, which says why once.
    Initializer,
    /// A field that a program finds null, with the file that does.
    NullField,
    /// A method, an attribute or a function that is not there, by its name.
    Member,
    /// A class, by whose name the extension is known that brings it.
    Class,
    /// An extension of the language.
    Extension,
    /// An element of a page or screen that a test did not find.
    Element,
    /// A field of a document that is not there by this name.
    Field,
    /// What a client says that names no server.
    Sentence,
    /// A value that came in place of the wanted one, or how it differs from it.
    WrongValue,
    /// A change of a text, which may be in as many as there are.
    Change,
    /// The code by which a service says why it refuses.
    ErrorCode,
    /// An element that lies over the one that a test wants.
    Cover,
    /// A function that a failed assertion names. There may be many.
    NamedFunction,
    /// What an exception said in a log.
    Said,
    /// What came in place of a value and tells of an error.
    Came,
    /// What a failed assertion of a suite was about.
    Tested,
    /// The function that a failed assertion asked, and how what it gave differs.
    Called,
    /// A name that is no word, of what a failure may be about.
    Name,
}

/// A thing that causes are about, by its name: two failures about one are of one cause, as far as
/// it tells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Subject {
    pub(super) kind: SubjectKind,
    pub(super) name: Box<str>,
    /// The suite of whose failures it tells, if not of all in the report.
    pub(super) suite: Option<Box<str>>,
    /// Two causes may have it in common by chance; three hardly do.
    pub(super) by_chance: bool,
}

impl Subject {
    pub(super) fn new(kind: SubjectKind, name: &str) -> Self {
        Self {
            kind,
            name: name.into(),
            suite: None,
            by_chance: false,
        }
    }

    /// The same, for failures of this suite alone.
    pub(super) fn within(self, suite: &str) -> Self {
        Self {
            suite: Some(suite.into()),
            ..self
        }
    }

    /// The same, which two causes may have in common by chance.
    pub(super) fn by_chance(self) -> Self {
        Self {
            by_chance: true,
            ..self
        }
    }
}

static SENTENCES: LazyLock<Sentences<SubjectKind>> = LazyLock::new(|| {
    let lacks = SUBJECT_FORMS.lacks.iter();
    Sentences::new(lacks.flat_map(|(kind, forms)| forms.iter().map(move |form| (*kind, form))))
});

/// What a text says is lacking.
pub(super) fn lacking(text: &str, found: &mut BTreeSet<Subject>) {
    // What is quoted within a text keeps the slashes of its writer.
    let text = match text.contains('\\') {
        true => Cow::Owned(text.replace("\\\"", "\"").replace("\\'", "'")),
        false => Cow::Borrowed(text),
    };
    let bytes = text.as_bytes();
    for (kind, lacks) in SENTENCES.in_text(bytes) {
        // Linux says so of what has nothing to do with the disk.
        if kind == SubjectKind::Disk && text.contains("watchers") {
            continue;
        }
        let name = lacks.name("name");
        let after = name.map_or(0, |name| name.end());
        let name = name.map_or(&b""[..], |name| name.as_bytes());
        if let Ok(name) = std::str::from_utf8(name) {
            let within = lacks.name("within").map(|within| within.as_bytes());
            let within = within.and_then(|within| std::str::from_utf8(within).ok());
            let name = match within {
                Some(within) => Cow::Owned(format!("{within}.{name}")),
                None => Cow::Borrowed(name),
            };
            found.extend(subject(kind, &name, &bytes[after..]));
        }
    }
}

/// What is lacking by this name, if it is one: what brings it, where that is known.
fn subject(kind: SubjectKind, name: &str, after: &[u8]) -> Option<Subject> {
    let name = named(kind, name, after)?;
    let extension = match kind {
        SubjectKind::Function => extension_of_function(&name),
        SubjectKind::Class => extension_of_class(&name),
        _ => None,
    };
    Some(match (extension, kind) {
        (Some(extension), _) => Subject::new(SubjectKind::Extension, extension),
        (None, SubjectKind::Class) => Subject::new(SubjectKind::Module, &name),
        (None, kind) => Subject::new(kind, &name),
    })
}

/// The name of what is lacking, however it is written; nothing for what is no such name.
fn named(kind: SubjectKind, name: &str, after: &[u8]) -> Option<String> {
    let name = name.trim_end_matches(['.', ':', ',']);
    if name.len() > NAME || name.is_empty() && kind != SubjectKind::Disk {
        return None;
    }
    match kind {
        // A number: an error's name, and no variable.
        SubjectKind::Variable => {
            let number = ["ERR_", "ERROR_", "HTTP_", "HRESULT_"];
            let is_one = !number.iter().any(|begin| name.starts_with(begin));
            let shown = name.contains(['.', '-']);
            is_one.then(|| match shown {
                true => name.to_owned(),
                false => name.to_ascii_uppercase(),
            })
        }
        // What Ruby loads of its own may be a library of C.
        SubjectKind::Module => {
            let name = name.strip_suffix(".so").unwrap_or(name);
            Some(name.replace('/', "."))
        }
        SubjectKind::Extension => extension_named(name).map(str::to_owned),
        // Some databases tell the names of columns and tables in capitals.
        SubjectKind::Column | SubjectKind::Table => Some(name.to_ascii_lowercase()),
        SubjectKind::Program => {
            let program = name.rsplit('/').next().unwrap_or(name);
            Some(program.to_owned())
        }
        // Who may not use a database has the right password.
        SubjectKind::Account => {
            let after = &after[..after.len().min(NAME)];
            let is_grant = memmem::find(after, b" to database ").is_some();
            (!is_grant).then(|| name.to_owned())
        }
        // A place in a source is where it was seen.
        SubjectKind::File | SubjectKind::Denied => {
            let is_place = matches!(after, [b':', b'0'..=b'9', ..]);
            (!is_place).then(|| name.to_owned())
        }
        SubjectKind::Server
        | SubjectKind::Asked
        | SubjectKind::Service
        | SubjectKind::Unreached
        | SubjectKind::Client
        | SubjectKind::Unfinished
        | SubjectKind::Token
        | SubjectKind::Topic
        | SubjectKind::Component
        | SubjectKind::Function
        | SubjectKind::WrongValue
        | SubjectKind::NamedFunction
        | SubjectKind::Name
        | SubjectKind::Said
        | SubjectKind::Came
        | SubjectKind::Tested
        | SubjectKind::Called
        | SubjectKind::Change
        | SubjectKind::ErrorCode
        | SubjectKind::Cover
        | SubjectKind::Disk
        | SubjectKind::Class
        | SubjectKind::Element
        | SubjectKind::Field
        | SubjectKind::Sentence
        | SubjectKind::NullField
        | SubjectKind::Member
        | SubjectKind::Initializer
        | SubjectKind::Raised => Some(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Subject, SubjectKind, lacking};
    use std::collections::BTreeSet;

    fn lacks(text: &str) -> Vec<(SubjectKind, String)> {
        let mut found = BTreeSet::new();
        lacking(text, &mut found);
        let told = |one: Subject| (one.kind, one.name.into_string());
        found.into_iter().map(told).collect()
    }

    #[test]
    fn what_is_lacking_is_named_in_many_words() {
        use SubjectKind as Kind;
        for (text, kind, name) in [
            (
                "ConfigError: required setting MAIL_TOKEN is not set",
                Kind::Variable,
                "MAIL_TOKEN",
            ),
            ("KeyError: 'MAIL_TOKEN'", Kind::Variable, "MAIL_TOKEN"),
            (
                r#"{"error":"mail: MAIL_TOKEN: environment variable not found"}"#,
                Kind::Variable,
                "MAIL_TOKEN",
            ),
            (
                "Missing required environment variable: MAIL_TOKEN",
                Kind::Variable,
                "MAIL_TOKEN",
            ),
            (
                "Could not resolve placeholder 'mail.from' in value",
                Kind::Variable,
                "mail.from",
            ),
            (
                "1 validation error for MailSettings mail_token Field required [type=missing]",
                Kind::Variable,
                "MAIL_TOKEN",
            ),
            (
                "Cannot find module '@acme/charts' from 'src/a.js'",
                Kind::Module,
                "@acme.charts",
            ),
            (
                "java.lang.NoClassDefFoundError: Could not initialize class com.acme.pay.Rates",
                Kind::Module,
                "com.acme.pay.Rates",
            ),
            (
                "ModuleNotFoundError: No module named 'yaml'",
                Kind::Module,
                "yaml",
            ),
            (
                "PdfError: exit 127: sh: 1: weasyprint: not found",
                Kind::Program,
                "weasyprint",
            ),
            (
                "No such file or directory - weasyprint",
                Kind::Program,
                "weasyprint",
            ),
            (
                r#"exec: "weasyprint": executable file not found in $PATH"#,
                Kind::Program,
                "weasyprint",
            ),
            (
                "ENOENT: no such file or directory, open 'data/a.json'",
                Kind::File,
                "data/a.json",
            ),
            (
                "bootloader: no answer on /dev/ttyACM3",
                Kind::File,
                "/dev/ttyACM3",
            ),
            (
                "/dev/ttyACM3: No such file or directory",
                Kind::File,
                "/dev/ttyACM3",
            ),
            (
                "java.nio.file.NoSuchFileException: /srv/logo.svg",
                Kind::File,
                "/srv/logo.svg",
            ),
            (
                "Access to the path '/run/x.sock' is denied.",
                Kind::Denied,
                "/run/x.sock",
            ),
            (
                "dial unix /run/x.sock: connect: permission denied",
                Kind::Denied,
                "/run/x.sock",
            ),
            (
                "Access denied for user 'report'@'10.0.0.5'",
                Kind::Account,
                "report",
            ),
            (
                r#"column \"branch\" of relation \"stock\" does not exist"#,
                Kind::Column,
                "branch",
            ),
            (
                "error: column s.branch does not exist",
                Kind::Column,
                "branch",
            ),
            (
                "Topic orders.v3 not present in metadata after 60000 ms.",
                Kind::Topic,
                "orders.v3",
            ),
            (
                "Topic(s) [orders.v3] is/are not present",
                Kind::Topic,
                "orders.v3",
            ),
            (
                "Error: Call to undefined function Acme\\Text\\grapheme_strlen()",
                Kind::Extension,
                "intl",
            ),
            (
                "Error: Class \"IntlDateFormatter\" not found",
                Kind::Extension,
                "intl",
            ),
            (
                "The intl extension is not available",
                Kind::Extension,
                "intl",
            ),
            (
                "requires PHP extension ext-intl * but it is missing from your system",
                Kind::Extension,
                "intl",
            ),
            (
                "Error: Class \"Acme\\Collator\" not found",
                Kind::Module,
                "Acme\\Collator",
            ),
            (
                "LoadError: cannot load such file -- openssl.so",
                Kind::Module,
                "openssl",
            ),
            ("expected { reason: 'ENOSPC' }", Kind::Disk, ""),
            ("errno=28 No space left on device", Kind::Disk, ""),
            (
                "Only -1 of 77 bytes written, possibly out of free disk space",
                Kind::Disk,
                "",
            ),
            (
                "unknown attribute 'branch' for Stock.",
                Kind::Column,
                "branch",
            ),
        ] {
            assert_eq!(lacks(text), [(kind, name.to_owned())], "{text}");
        }
    }

    #[test]
    fn what_only_stands_there_is_not_lacking() {
        for text in [
            "Error [ERR_MODULE_NOT_FOUND] in a.js",
            "GET /users/7: not found",
            "AssertionError: 404: not found",
            "expected MAX_SIZE to be 7",
            "Cannot find module './vendor/stars' from 'src/Rating.js'",
            "FileNotFoundException at com/acme/Cart.java:31",
            "column reference \"id\" is ambiguous",
            "the required field is missing",
            "the browser extension is not installed",
            "ENOSPC: System limit for number of file watchers reached",
            "1044 Access denied for user 'app'@'%' to database 'billing'",
            "1 validation error for MailSettings host Field required [type=missing]",
        ] {
            assert!(lacks(text).is_empty(), "{text}: {:?}", lacks(text));
        }
    }
}
