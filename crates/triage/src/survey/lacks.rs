//! What an error says is not there, not allowed or full: the variable, the module, the
//! program, the file.
//!
//! Only where a sentence names it as that; a name that merely stands in a line is none.

use super::extensions::{extension_named, extension_of_class, extension_of_function};
use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Bytes of a name. What is longer is data.
const NAME: usize = 200;

/// What a cause is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum SubjectKind {
    /// A server that is away: its address.
    Server,
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
    /// A value that came in place of the wanted one.
    WrongValue,
    /// The code by which a service says why it refuses.
    ErrorCode,
    /// An element that lies over the one that a test wants.
    Cover,
    /// A function that a failed assertion names. There may be many.
    NamedFunction,
    /// What an exception said in a log.
    Said,
    /// What a failed assertion of a suite was about.
    Tested,
    /// A name that is no word, of what a failure may be about.
    Name,
}

/// A thing that causes are about, by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Subject {
    pub(super) kind: SubjectKind,
    pub(super) name: Box<str>,
}

impl Subject {
    pub(super) fn new(kind: SubjectKind, name: &str) -> Self {
        Self {
            kind,
            name: name.into(),
        }
    }
}

/// The name of a variable, and of a file that has a folder.
const VARIABLE: &str = r"(?P<name>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)";
const PATH: &str = r"(?P<name>(?:[A-Za-z]:\\|\.{0,2}/)?[\w.@+~-]+(?:[/\\][\w.@+~-]+)+|/[\w.@+~-]+)";

/// The sentences, with `<VARIABLE>` and `<PATH>` for those names.
const FORMS: [(SubjectKind, &[&str]); 15] = [
    (
        SubjectKind::Variable,
        &[
            // STRIPE_KEY is not set, KEY: environment variable not found
            r#"\b<VARIABLE>\b['"`]? (?:must|has to|needs to) (?:be set|be defined|be provided|be configured|be given|be exported|point to)\b"#,
            r#"\b<VARIABLE>\b['"`)}\]]*:? (?:(?:because|it|is|was|are|env|environment|variable|setting|must|be|has|have|been|needs|to) )*(?:not (?:set|defined|provided|configured|found|given|present)|missing|required|unset|undefined|empty)\b"#,
            r#"\b(?i:missing|required|undefined|unset|please (?:set|export|provide|define))(?: (?:the|required|environment|env|variable|setting|config|key|value))*:? ['"`$({]*<VARIABLE>\b"#,
            r#"\b(?:KeyError:|[Kk]ey not found:) ['"]<VARIABLE>['"]"#,
            r#"\b(?i:set|export|provide|define) ['"`$]?<VARIABLE>['"`]? (?i:in (?:the|your) environment)\b"#,
            r#"\b(?:[Ee]nvironment|[Ee]nv) (?:has|with|contains) no ['"`]?<VARIABLE>\b"#,
            // zod
            r#""path": ?\[\s*"<VARIABLE>"\s*\],\s*"message": ?"(?i:required)"#,
            r#"\bgetenv\(['"]<VARIABLE>['"]\)"#,
            r#"\b<VARIABLE>=(?:''|"")"#,
            r"[Rr]esolve placeholder '(?P<name>[\w.-]+)'",
            r#"[Pp]roperty ['"`]?(?P<name>[\w-]+(?:\.[\w-]+)+)['"`]? (?:is |was )?(?:not set|not found|not defined|missing|required)\b"#,
            // Pydantic: 1 validation error for PaymentSettings stripe_api_key Field required
            r"\bfor \w*(?:Settings|Config)\w*\s+(?P<name>\w+_\w+)\s+Field required\b",
        ],
    ),
    (
        SubjectKind::Module,
        &[
            r#"(?:Cannot find (?:module|package)|[Cc]annot find package|[Nn]o module named|cannot load such file --|[Uu]nable to load (?:shared library|DLL)|[Cc]ould not open library|error while loading shared libraries:|[Cc]ould not load file or assembly) ['"`]?(?P<name>@?\w[\w./@+-]*)"#,
            r#"[Mm]odule not found: (?:Error: )?Can't resolve ['"](?P<name>@?\w[\w./@+-]*)['"]"#,
            r"(?:NoClassDefFoundError|ClassNotFoundException): (?:Could not initialize class )?(?P<name>\w[\w./$]*)",
            r"[Cc]an't locate (?P<name>\w[\w/]*\.pm)\b",
            // Robot Framework, of a library that did not load
            r"\bNo keyword with name '(?P<name>\w+)\.[^'\n]+' found",
        ],
    ),
    (
        SubjectKind::Program,
        &[
            r"\b(?:ba|da|k|z)?sh: (?:line )?\d+: (?P<name>\w[\w.+/-]*): (?:command )?not found\b",
            r"(?:^|[\s'\x22`(])(?P<name>\w[\w.+-]*): command not found\b",
            r"\bcommand not found: (?P<name>\w[\w.+-]*)",
            r"No such file or directory - (?P<name>\w[\w+-]*)(?:$|[\s'\x22)>,])",
            r"No such file or directory: '(?P<name>\w[\w+-]*)'",
            r#"\bexec: "(?P<name>\w[\w.+-]*)": executable file not found"#,
            r"\bspawn (?P<name>\w[\w.+-]*) ENOENT\b",
            r#"Cannot run program "(?P<name>\w[\w.+-]*)""#,
            r"'(?P<name>\w[\w.+-]*)' is not recognized as an internal",
        ],
    ),
    (
        SubjectKind::File,
        &[
            r#"(?:[Nn]o such file or directory|ENOENT|NoSuchFileException|FileNotFoundException|[Cc](?:annot|an't|ould not) open(?: file)?|[Cc]ould not find (?:file|a part of the path)|(?:[Ff]ile|[Rr]esource) not found|doesn't exist at)\b[^\n'"]{0,24}?[\s'"`(]<PATH>"#,
            r#"(?:^|[\s'"`(])<PATH>['"`]?: [Nn]o such file or directory"#,
            r#"\b(?:[Ff]ile|[Dd]irectory|[Ff]older|[Pp]ath) ['"`]?<PATH>['"`]? (?:does not|doesn't) exist"#,
            r#"['"`]<PATH>['"`] (?:failed|could not be (?:read|opened|found|loaded))[^\n]{0,20}?(?:does not|doesn't) exist"#,
            r#"[\s:]<PATH>(?: failed)?[.:] File (?:does not|doesn't) exist"#,
            r#"\b[Nn]o (?:answer|reply) (?:on|from) ['"`]?<PATH>"#,
            r"\bCode=(?:4|260) [^\n]*\bNSFilePath=<PATH>",
        ],
    ),
    (
        SubjectKind::Denied,
        &[
            r#"(?:[Pp]ermission denied|EACCES)\b[^\n'"/]{0,24}?[\s'"`(]<PATH>"#,
            r#"(?:^|[\s'"`(])<PATH>['"`]?: (?:connect: )?[Pp]ermission denied"#,
            r"[Aa]ccess to the path '(?P<name>[^'\n]+)' is denied",
            r"(?i:denied while trying to connect to the docker daemon socket at) unix://<PATH>",
        ],
    ),
    (
        SubjectKind::Account,
        &[
            r#"[Aa]ccess denied for user ['"](?P<name>[^'"\n]+)['"]"#,
            r#"(?:authentication|[Ll]ogin) failed for user ['"](?P<name>[^'"\n]+)['"]"#,
            r#"\baccount (?:is |has been )?(?:locked|disabled|suspended)\b[^\n]{0,30}?"(?:user|account|login|username)": ?"(?P<name>[^"\n]+)""#,
        ],
    ),
    (
        SubjectKind::Token,
        &[
            r"(?i:\btoken (?:[\w.-]+ )?(?:is |has |was )?expired (?:at|on|since)) (?P<name>\d{4}-\d\d-\d\d[T ][\d:]+)",
        ],
    ),
    (
        SubjectKind::Column,
        &[
            r#"\bcolumn "?(?:\w+\.)?(?P<name>\w+)"?(?: of relation "[^"\n]+")? does not exist"#,
            r"[Uu]nknown column '(?:\w+\.)?(?P<name>\w+)'",
            r"\bno such column: (?:\w+\.)?(?P<name>\w+)",
            r"\b[Tt]he column name (?P<name>\w+) (?:was not found|is not valid)",
            r"\b[Ii]nvalid column name '(?P<name>\w+)'",
            // H2, SQLite
            r#"\bColumn "(?:\w+\.)*(?P<name>\w+)" not found; SQL"#,
            r"\btable \w+ has no column named (?P<name>\w+)",
            // Oracle
            r#"\bORA-00904: (?:"\w+"\.)*"(?P<name>\w+)": invalid identifier"#,
            // Rails, of a model whose table has no such column.
            r"\bunknown attribute '(?P<name>\w+)' for [A-Z]",
        ],
    ),
    (
        SubjectKind::Table,
        &[
            r#"(?:^|[^f] )relation "(?P<name>[\w.]+)" does not exist"#,
            r"\bno such table: (?P<name>[\w.]+)",
            r"\bTable '(?P<name>[\w.]+)' doesn't exist",
            r#"\bTable "(?P<name>[\w.]+)" not found"#,
            r"\b[Ii]nvalid object name '(?P<name>[\w.]+)'",
        ],
    ),
    (
        SubjectKind::Topic,
        &[
            r"\b[Tt]opic(?:\(s\))? \[?(?P<name>\w[\w.-]*)\]? (?:is/are |is )?(?:not present|does not exist|not found)",
        ],
    ),
    (
        SubjectKind::Component,
        &[
            r"[Uu]nable to resolve service for type '(?P<name>[^'\n]+)'",
            r"\bNo service for type '(?P<name>[^'\n]+)'",
            r"\bNo qualifying bean of type '(?P<name>[^'\n]+)'",
        ],
    ),
    (
        SubjectKind::Function,
        &[r"[Cc]all to undefined function (?P<name>\w[\w\\]*)\(\)"],
    ),
    (
        SubjectKind::Class,
        &[r#"\bClass ['"](?P<name>\w[\w\\]*)['"] not found"#],
    ),
    (
        SubjectKind::Extension,
        &[
            r#"\b(?P<name>[a-z]\w+)['"`]? (?:PHP )?[Ee]xtension (?:is |was |must be |has to be )?(?:not (?:available|enabled|found|installed|loaded)|missing|required)\b"#,
            r#"\b[Ee]xtension ['"`(]?(?P<name>[a-z]\w+)['"`)]? (?:is |was )?(?:not (?:available|enabled|found|installed|loaded)|missing|required)\b"#,
            r#"\b[Mm]issing (?:PHP )?extensions?: ['"`]?(?P<name>[a-z]\w+)"#,
            r"\bext-(?P<name>\w+)\b[^\n]{0,40}?\b(?:missing|not installed|not loaded)\b",
        ],
    ),
    (
        SubjectKind::Disk,
        &[
            r"(?i:no space left on device|\bENOSPC\b|\bdisk (?:is )?full\b|not enough space on the disk|\bout of (?:free )?disk space\b|\berrno=28\b)",
        ],
    ),
];

/// The forms, and a set of them that tells which a text has. They are asked of bytes,
/// which takes a fraction of the time to compile.
struct Compiled {
    set: RegexSet,
    forms: Vec<(SubjectKind, Regex)>,
}

static COMPILED: LazyLock<Option<Compiled>> = LazyLock::new(|| {
    let mut patterns = Vec::new();
    let mut forms = Vec::new();
    for (kind, all) in &FORMS {
        for form in *all {
            let form = form.replace("<VARIABLE>", VARIABLE).replace("<PATH>", PATH);
            let compiled = RegexBuilder::new(&form).unicode(false).build().ok()?;
            forms.push((*kind, compiled));
            patterns.push(form);
        }
    }
    let set = RegexSetBuilder::new(&patterns)
        .unicode(false)
        .build()
        .ok()?;
    Some(Compiled { set, forms })
});

/// What a text says is lacking.
pub(super) fn lacking(text: &str, found: &mut BTreeSet<Subject>) {
    let Some(compiled) = &*COMPILED else {
        return;
    };
    // What is quoted within a text keeps the slashes of its writer.
    let text = match text.contains('\\') {
        true => Cow::Owned(text.replace("\\\"", "\"").replace("\\'", "'")),
        false => Cow::Borrowed(text),
    };
    let bytes = text.as_bytes();
    for at in compiled.set.matches(bytes) {
        let Some((kind, form)) = compiled.forms.get(at) else {
            continue;
        };
        // Linux says so of what has nothing to do with the disk.
        if *kind == SubjectKind::Disk && text.contains("watchers") {
            continue;
        }
        for lacks in form.captures_iter(bytes) {
            let name = lacks.name("name");
            let after = name.map_or(0, |name| name.end());
            let name = name.map_or(&b""[..], |name| name.as_bytes());
            if let Ok(name) = std::str::from_utf8(name) {
                found.extend(subject(*kind, name, &bytes[after..]));
            }
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
        | SubjectKind::Tested
        | SubjectKind::ErrorCode
        | SubjectKind::Cover
        | SubjectKind::Disk
        | SubjectKind::Class
        | SubjectKind::Element
        | SubjectKind::Field
        | SubjectKind::Sentence
        | SubjectKind::Raised => Some(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{COMPILED, FORMS, Subject, SubjectKind, lacking};
    use std::collections::BTreeSet;

    fn lacks(text: &str) -> Vec<(SubjectKind, String)> {
        let mut found = BTreeSet::new();
        lacking(text, &mut found);
        let told = |one: Subject| (one.kind, one.name.into_string());
        found.into_iter().map(told).collect()
    }

    #[test]
    fn every_form_compiles() {
        let forms: usize = FORMS.iter().map(|(_, forms)| forms.len()).sum();
        let compiled = COMPILED.as_ref().map(|compiled| compiled.forms.len());
        assert_eq!(compiled, Some(forms));
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
