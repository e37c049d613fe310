//! Advice with its placeholders filled, in the words of its audience:
//! `{the plan//the configuration}` is the former to who has written a plan, the
//! latter to who has a client's configuration.

use super::live;
use super::rule::{AdviceText, Audience, FixText};
use crate::frameworks::is_foreign;
use jelly_base::model::{Advice, AssertionTarget, Failure, Fix, FixKind, HttpFacts, PlanIssue};
use jelly_base::text::{
    LazyPattern, TMP, WordList, one_line, shell_path, shell_word, start_by_hand, with_a_port,
};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What any rule may name; the named groups of its own patterns come on top.
const KNOWN: WordList = WordList(
    "server the_server The_server step go_test rust_test test_pattern tool asked takes has_it method argv0 on_path \
     relative absolute program_file fetched_by command cwd url timeout exit evidence plan \
     message path place subject name candidates candidate expected actual reason status test \
     folder spot invalid origin source install install_command launcher python python_package \
     schema pointer location asks pause proxy proxy_variable other_port stderr logged as_it_is pin own_pin matrix_pin at answer lock \
     names missing it file_of_cwd runner_of_cwd cwd_to_make line_program \
     line_args",
);

/// Stands between the words for one audience and those for the other.
const BETWEEN_WORDS: &str = "//";

/// The values of placeholders.
pub(super) type Values = BTreeMap<String, String>;

/// One piece of a text with placeholders.
enum Piece<'a> {
    Plain(&'a str),
    Placeholder {
        name: &'a str,
        otherwise: Option<&'a str>,
    },
}

/// `${…}` is a variable of a plan and stays as it is.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut plain = 0;
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        let Some(close) = text[open..].find('}').map(|at| open + at) else {
            break;
        };
        from = close + 1;
        if text[..open].ends_with('$') {
            continue;
        }
        pieces.push(Piece::Plain(&text[plain..open]));
        let inside = &text[open + 1..close];
        let (name, otherwise) = match inside.split_once('|') {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside, None),
        };
        pieces.push(Piece::Placeholder { name, otherwise });
        plain = from;
    }
    pieces.push(Piece::Plain(&text[plain..]));
    pieces
}

/// Whether the advice is complete and names only what can be known.
pub(super) fn validate(advice: &AdviceText, patterns: &[String]) -> Result<(), String> {
    let AdviceText { what, why, fix } = advice;
    if what.trim().is_empty() || why.trim().is_empty() || fix.is_empty() {
        return Err("advice needs a what, a why and a fix".into());
    }
    let steps = fix.iter().map(|step| &step.text);
    for text in [what, why].into_iter().chain(steps) {
        for piece in pieces(&worded(text, Audience::Plan)) {
            let Piece::Placeholder { name, .. } = piece else {
                continue;
            };
            let captured = patterns
                .iter()
                .any(|p| p.contains(&format!("(?P<{name}>")) || p.contains(&format!("(?<{name}>")));
            if !captured && !KNOWN.has(name) {
                return Err(format!("advice names `{{{name}}}`, which nothing fills"));
            }
        }
    }
    for text in [what, why] {
        for piece in pieces(&worded(text, Audience::Plan)) {
            if let Piece::Placeholder {
                name,
                otherwise: None,
            } = piece
                && name != "evidence"
            {
                return Err(format!("`{{{name}}}` needs words for when it is not known"));
            }
        }
    }
    Ok(())
}

/// `text` in the words for its audience, with its placeholders.
fn worded(text: &str, audience: Audience) -> Cow<'_, str> {
    if !text.contains(BETWEEN_WORDS) {
        return Cow::Borrowed(text);
    }
    let own = |words| match (str::split_once(words, BETWEEN_WORDS), audience) {
        (Some((of_plan, _)), Audience::Plan) => of_plan,
        (Some((_, of_configuration)), Audience::Configuration) => of_configuration,
        (None, _) => words,
    };
    let mut said = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Plain(plain) => said.push_str(plain),
            Piece::Placeholder {
                name,
                otherwise: None,
            } if name.contains(BETWEEN_WORDS) => said.push_str(own(name)),
            Piece::Placeholder {
                name,
                otherwise: None,
            } => said.push_str(&format!("{{{name}}}")),
            Piece::Placeholder {
                name,
                otherwise: Some(otherwise),
            } => said.push_str(&format!("{{{name}|{}}}", own(otherwise))),
        }
    }
    Cow::Owned(said)
}

impl AdviceText {
    /// The advice in the words for its audience, with its placeholders.
    #[must_use]
    pub fn unfilled(&self, audience: Audience) -> Advice {
        let Self { what, why, fix } = self;
        let own = |text: &str| worded(text, audience).into_owned();
        Advice {
            what: own(what),
            why: own(why),
            fix: fix
                .iter()
                .filter_map(|step| step.worded(audience))
                .collect(),
        }
    }
}

impl FixText {
    /// The step in the words for its audience, with its placeholders; none that
    /// is not for it.
    fn worded(&self, audience: Audience) -> Option<Fix> {
        let is_for = self.only.is_none_or(|only| only == audience);
        is_for.then(|| Fix {
            id: self.id.clone(),
            ..Fix::from(&*worded(&self.text, audience))
        })
    }
}

/// `text` with placeholders filled, or none when one can't be. Words that stand
/// in for a name are none: the backticks round them go.
fn fill<'v>(text: &str, value_of: impl Fn(&str) -> Option<Cow<'v, str>>) -> Option<String> {
    let pieces = pieces(text);
    let plain = |at: usize| match pieces.get(at) {
        Some(Piece::Plain(plain)) => *plain,
        Some(Piece::Placeholder { .. }) | None => "",
    };
    // Between backticks, and not known.
    let stands_in = |at: usize| match pieces.get(at) {
        Some(Piece::Placeholder { name, otherwise }) => {
            let is_name = otherwise.is_none_or(|otherwise| !otherwise.contains(' '));
            let is_quoted =
                at > 0 && plain(at - 1).ends_with('`') && plain(at + 1).starts_with('`');
            !is_name && is_quoted && value_of(name).is_none()
        }
        Some(Piece::Plain(_)) | None => false,
    };
    let mut filled = String::with_capacity(text.len());
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Plain(plain) => {
                let from = usize::from(at > 0 && stands_in(at - 1));
                let to = plain.len() - usize::from(stands_in(at + 1));
                filled.push_str(&plain[from..to]);
            }
            Piece::Placeholder { name, otherwise } => match (value_of(name), otherwise) {
                (Some(value), _) => filled.push_str(&value),
                (None, Some(otherwise)) => filled.push_str(otherwise),
                (None, None) => return None,
            },
        }
    }
    Some(filled)
}

/// What jelly's own reports are called.
const OWN_DIALECT: &str = "jelly";

/// The advice of a rule for one failure, which `dialect` reports. Commands of
/// other frameworks are left out.
pub(super) fn render(
    advice: &AdviceText,
    values: &Values,
    dialect: &str,
    audience: Audience,
) -> Advice {
    let AdviceText { what, why, fix } = advice;
    let said = |name: &str| values.get(name).map(|value| Cow::Borrowed(value.as_str()));
    let typed = |name: &str| values.get(name).map(|value| pasteable(name, value));
    let always = |text: &String| {
        let text = worded(text, audience);
        fill(&text, said).unwrap_or_else(|| text.replace("{evidence}", ""))
    };
    // The report of another framework has no plan behind it.
    let has_plan = dialect.is_empty() || dialect == OWN_DIALECT;
    let step = |step: &FixText| {
        if step.only == Some(Audience::Plan) && !has_plan {
            return None;
        }
        let mut fix = step.worded(audience)?;
        fix.text = match fix.kind {
            FixKind::Command if is_foreign(&fix.text, dialect) => return None,
            // A folder that is gone can't be looked at.
            FixKind::Command => {
                let line = fill(&fix.text, typed).filter(|line| !line.contains(TMP))?;
                match folder_of_path(values).filter(|_| fix.text.contains("{path}")) {
                    Some(folder) => format!("cd {} && {line}", shell_word(folder)),
                    None => line,
                }
            }
            FixKind::Text | FixKind::Member => fill(&fix.text, said)?,
        };
        Some(fix)
    };
    let steps: Vec<Option<Fix>> = fix.iter().map(step).collect();
    let mut fix: Vec<Fix> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let Some(step) = step else { continue };
        let mut step = step.clone();
        // What it announces was left out.
        let follows = steps.get(at + 1).is_none_or(Option::is_some);
        if let (false, Some(alone)) = (follows, step.text.strip_suffix(':')) {
            step.text = format!("{alone}.");
        }
        fix.push(step);
    }
    // What it was another way than, was left out.
    if let Some(first) = fix.first_mut()
        && let Some(alone) = first.text.strip_prefix("Or ")
    {
        first.text = capitalised(alone);
    }
    Advice {
        what: always(what),
        why: always(why),
        fix,
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// A value as a word of a shell's command line. A server's own words may
/// stand in it, so nothing that a shell would act on is left bare. The whole
/// `command` is quoted word by word already, a `launcher` and an `install_command`
/// are words that need no quotes, and a file whose name begins like a
/// flag is none.
fn pasteable<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    let one = || with_a_port(&one_line(value, 200));
    match name {
        "command" | "launcher" | "install_command" => Cow::Borrowed(value),
        "plan" | "lock" | "path" | "file" => Cow::Owned(match one().strip_prefix("~/") {
            // Quoted, it is no home.
            Some(rest) => format!("~/{}", shell_word(rest)),
            None => shell_path(&one()),
        }),
        _ => Cow::Owned(shell_word(&one())),
    }
}

/// The folder that the path of a failure is named from, where that is known.
fn folder_of_path(values: &Values) -> Option<&str> {
    let path = values.get("path")?;
    let is_named_from_there = !path.starts_with(['/', '~', '$', '\\']) && !path.contains(':');
    let folder = values.get("cwd").filter(|_| is_named_from_there)?;
    folder.starts_with('/').then_some(folder.as_str())
}

/// What the failure itself knows.
pub(super) fn values(f: &Failure) -> Values {
    let mut values = Values::new();
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            values.insert(name.to_owned(), value);
        }
    };
    set("server", f.server.clone());
    // What is no MCP server is not called one.
    let service = f.server.as_ref().filter(|_| f.is_service);
    for (name, article) in [("the_server", "the"), ("The_server", "The")] {
        set(
            name,
            service.map(|service| format!("{article} service `{service}`")),
        );
    }
    set("step", f.step.clone());
    set("argv0", f.argv.first().cloned());
    let is_python = |program: &&String| {
        let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
        name.starts_with("python") || name.starts_with("pypy")
    };
    set("python", f.argv.first().filter(is_python).cloned());
    set("cwd", f.cwd.clone());
    set("url", f.url.clone());
    // Of a connection that jelly makes itself; through a proxy, nobody knows whose end failed.
    let direct = |http: &&HttpFacts| http.error.is_some() && http.proxy.is_none();
    set("peer", f.http.as_ref().filter(direct).and(f.url.clone()));
    set("message", f.message.clone());
    set("test", f.name.clone());
    // Known to be empty, it is nothing to read.
    let wrote = f.stderr.as_ref().is_none_or(|it| !it.trim().is_empty());
    set("stderr", wrote.then(|| "stderr".to_owned()));
    set("logged", f.logs.last().map(|line| one_line(line, 200)));
    // What `go test -run` can select: writers of other frameworks put titles there.
    let is_of_go = |name: &&String| {
        let kinds = ["Test", "Example", "Fuzz", "Benchmark"];
        kinds.iter().any(|kind| name.starts_with(kind)) && !name.contains(char::is_whitespace)
    };
    // It takes a pattern for each level, and a bare name for all that hold it.
    let anchored = |name: &String| {
        let levels = name
            .split('/')
            .map(|level| format!("^{}$", regex::escape(level)));
        levels.collect::<Vec<_>>().join("/")
    };
    set("go_test", f.name.as_ref().filter(is_of_go).map(anchored));
    // Where a pattern is asked for, a title may hold what means something in it.
    let pattern = |name: &String| format!("^{}$", regex::escape(name));
    set("test_pattern", f.name.as_ref().map(pattern));
    set("rust_test", rust_test(f));
    set("timeout", f.timeout_s.map(|s| format!("{s} s")));
    let by_hand = || start_by_hand(f.cwd.as_deref(), &f.variables(), &f.argv);
    set("command", (!f.argv.is_empty()).then(by_hand));
    set(
        "status",
        f.http
            .as_ref()
            .and_then(|h| h.status)
            .map(|s| s.to_string()),
    );
    let header = |name| live::http_header(f, name).map(str::to_owned);
    set("location", header("location"));
    set(
        "asks",
        header("www-authenticate").map(|asks| format!(", which asks for {asks}")),
    );
    set("pause", live::pause(f));
    set("other_port", live::other_port(f));
    set("proxy", f.http.as_ref().and_then(|http| http.proxy.clone()));
    let named_by = |http: &HttpFacts| http.proxy_variable.clone();
    set("proxy_variable", f.http.as_ref().and_then(named_by));
    set("exit", f.exit.as_ref().and_then(live::exit_in_words));
    if let Some(request) = &f.request {
        set("method", Some(request.method.clone()));
        for (name, words) in live::asked_of(&request.method) {
            set(name, Some(words.to_owned()));
        }
        set("tool", live::tool_of(request));
    }
    if let Some(assertion) = &f.assertion {
        set(
            "subject",
            subject(
                assertion.target,
                f.request.as_ref().and_then(live::tool_of).as_deref(),
            ),
        );
        set("expected", Some(short(&assertion.expected)));
        set("actual", Some(short(&assertion.actual)));
        set("path", assertion.path.clone());
        let place = assertion.place();
        set(
            "place",
            place.map(|place| format!(" at `{}`", one_line(&place, 160))),
        );
    }
    if let Some(issue) = &f.issue {
        for (name, value) in issue_values(issue) {
            set(name, Some(value));
        }
    }
    super::program::describe(f, &mut values);
    values
}

/// The whole path of a test in Rust, which its thread is called by.
fn rust_test(f: &Failure) -> Option<String> {
    static THREAD: LazyPattern =
        LazyPattern::new(r"\bthread '([\w:]+)'(?: \(\d+\))? panicked at\b");
    let name = f.name.as_deref()?;
    let last = name.rsplit("::").next()?;
    let texts = [&f.text, &f.message, &f.system_err, &f.system_out];
    let mut paths = texts
        .into_iter()
        .flatten()
        .flat_map(|text| THREAD.captures_iter(text));
    paths.find_map(|found| {
        let path = found.get(1)?.as_str();
        (path.rsplit("::").next() == Some(last)).then(|| path.to_owned())
    })
}

/// What an expectation is about.
fn subject(target: Option<AssertionTarget>, tool: Option<&str>) -> Option<String> {
    use AssertionTarget as Of;
    let what = match target {
        Some(Of::Notification) => "What the server notified",
        Some(Of::Asked) => "What the server asked",
        Some(Of::Stderr) => "What the server wrote to stderr",
        Some(Of::Cancellation) => "What the server did after the request was cancelled",
        Some(Of::ServerInfo) => "What the server says of itself",
        Some(Of::Capabilities) => "What the server says that it offers",
        Some(Of::Status) => return tool.map(|tool| format!("The HTTP status of `{tool}`")),
        Some(Of::Header) => return tool.map(|tool| format!("A header of the answer to `{tool}`")),
        Some(Of::Start) => "What the server did as it was started",
        Some(Of::Exit) => "The exit code of the server",
        Some(Of::Duration) => return tool.map(|tool| format!("The time that `{tool}` took")),
        Some(
            Of::Text
            | Of::Json
            | Of::Structured
            | Of::Error
            | Of::IsError
            | Of::OutputSchema
            | Of::Wire,
        )
        | None => return tool.map(|tool| format!("The answer of `{tool}`")),
    };
    Some(what.to_owned())
}

fn issue_values(issue: &PlanIssue) -> Vec<(&'static str, String)> {
    let named = |name: &String, candidates: &[String]| {
        let mut values = vec![
            ("name", name.clone()),
            ("candidates", candidates.join(", ")),
        ];
        if let [only] = candidates {
            values.push(("candidate", only.clone()));
        }
        values
    };
    let as_it_is = |tool: &String| {
        let args = format!("{{ name: {tool}, arguments: {{ … }} }}");
        ("as_it_is", args)
    };
    match issue {
        PlanIssue::CommandNotFound { command } => vec![("argv0", command.clone())],
        PlanIssue::NotExecutable { path } | PlanIssue::MissingDirectory { path } => {
            vec![("path", path.clone())]
        }
        PlanIssue::MissingVariable { name, .. } | PlanIssue::MissingPackageArgument { name } => {
            vec![("name", name.clone())]
        }
        PlanIssue::InvalidPackage { reason } => vec![("reason", reason.clone())],
        PlanIssue::UnknownServer { name, candidates } => named(name, candidates),
        PlanIssue::UnknownTool { name, candidates } => {
            let mut values = named(name, candidates);
            values.push(as_it_is(name));
            values
        }
        PlanIssue::UnknownArgument {
            tool,
            name,
            candidates,
        } => {
            let mut values = named(name, candidates);
            values.extend([("tool", tool.clone()), as_it_is(tool)]);
            values
        }
        PlanIssue::MissingArgument { tool, name } => {
            vec![
                ("tool", tool.clone()),
                ("name", name.clone()),
                as_it_is(tool),
            ]
        }
        PlanIssue::ArgumentType {
            tool,
            pointer,
            expected,
            actual,
        } => vec![
            ("tool", tool.clone()),
            ("path", pointer.clone()),
            ("expected", expected.join(" or ")),
            ("actual", actual.clone()),
            as_it_is(tool),
        ],
        PlanIssue::InvalidArgument {
            tool,
            pointer,
            reason,
        } => vec![
            ("tool", tool.clone()),
            ("path", pointer.clone()),
            ("reason", reason.clone()),
            as_it_is(tool),
        ],
        PlanIssue::SnapshotMissing { name, path, plan } => vec![
            ("name", name.clone()),
            ("path", path.clone()),
            ("plan", plan.clone()),
        ],
        PlanIssue::DefinitionChanged {
            item,
            pointer,
            reason,
            lock,
        }
        | PlanIssue::PromiseBroken {
            item,
            pointer,
            reason,
            lock,
        } => vec![
            ("name", item.clone()),
            ("path", pointer.clone()),
            ("reason", reason.clone()),
            ("lock", lock.clone()),
        ],
        PlanIssue::ServiceDied { name } => vec![("name", name.clone())],
        PlanIssue::PinNotSpoken { pin, at, of_matrix } => {
            let whose = if *of_matrix { "matrix_pin" } else { "own_pin" };
            vec![
                ("pin", pin.clone()),
                (whose, pin.clone()),
                ("at", at.clone()),
            ]
        }
        PlanIssue::Unanswered { method } => {
            let gives = match method.as_str() {
                "elicitation/create" => "result: { action: accept, content: { … } }",
                "sampling/createMessage" => {
                    "result: { role: assistant, model: any, content: { type: text, text: … } }"
                }
                "roots/list" => "result: { roots: [{ uri: \"file://${workspace}\" }] }",
                _ => "result: { … }",
            };
            let answer = format!("answers: [{{ method: {method}, {gives} }}]");
            vec![("method", method.clone()), ("answer", answer)]
        }
        PlanIssue::OtherError {
            expected,
            actual,
            at,
        } => vec![
            ("expected", expected.clone()),
            ("actual", actual.clone()),
            ("at", at.clone()),
        ],
        PlanIssue::SchemaTooComplex {
            schema,
            pointer,
            reason,
        } => vec![
            ("schema", schema.clone()),
            ("pointer", pointer.clone()),
            ("reason", reason.clone()),
        ],
    }
}

fn short(value: &serde_json::Value) -> String {
    one_line(&value.to_string(), 120)
}

#[cfg(test)]
mod tests {
    use super::{AdviceText, Audience, Values, fill, render, worded};

    #[test]
    fn placeholders_are_filled_or_replaced_by_other_words() {
        let values = |name: &str| (name == "name").then_some("TOKEN".into());
        assert_eq!(fill("set {name}", values).as_deref(), Some("set TOKEN"));
        assert_eq!(
            fill("in {path|the folder}", values).as_deref(),
            Some("in the folder")
        );
        assert_eq!(fill("$ ls {path}", values), None);
        // Words are no name, whatever stands round the place of one.
        for (text, filled) in [
            (
                "no answer to `{tool|the request}` in time",
                "no answer to the request in time",
            ),
            ("`{tool|The tool}` takes none", "The tool takes none"),
            ("`{name|the name}` is set", "`TOKEN` is set"),
            ("run `{tool|npx}`", "run `npx`"),
            ("run `x {tool|of that name} y`", "run `x of that name y`"),
        ] {
            assert_eq!(fill(text, values).as_deref(), Some(filled));
        }
        for plain in ["an open { brace", "write ${name} in the plan"] {
            assert_eq!(fill(plain, values).as_deref(), Some(plain));
        }
    }

    #[test]
    fn an_alternative_to_what_was_left_out_is_none() {
        let advice = AdviceText {
            what: "w".into(),
            why: "y".into(),
            fix: vec![
                "$ ls {path}".into(),
                "Or see who listens.".into(),
                "Or wait.".into(),
            ],
        };
        let steps = |values: &Values| -> Vec<String> {
            let fix = render(&advice, values, "", Audience::Plan).fix;
            fix.iter().map(ToString::to_string).collect()
        };
        assert_eq!(steps(&Values::new()), ["See who listens.", "Or wait."]);
        let values = Values::from([("path".to_owned(), "/x".to_owned())]);
        assert_eq!(
            steps(&values),
            ["$ ls /x", "Or see who listens.", "Or wait."]
        );
    }

    #[test]
    fn what_a_server_says_can_do_no_harm_in_a_command() {
        let advice = AdviceText {
            what: "w".into(),
            why: "y".into(),
            fix: vec!["$ mkdir -p {path}".into(), "Look at {path}.".into()],
        };
        let values = Values::from([("path".to_owned(), "/x; rm -rf ~\n$(id)".to_owned())]);
        let steps = render(&advice, &values, "", Audience::Plan).fix;
        let lines: Vec<String> = steps.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "$ mkdir -p '/x; rm -rf ~ $(id)'",
                "Look at /x; rm -rf ~\n$(id)."
            ]
        );
    }

    #[test]
    fn each_audience_reads_its_own_words() {
        for (text, of_plan, of_configuration) in [
            ("Mend {path}.", "Mend {path}.", "Mend {path}."),
            ("{A plan//A file} is.", "A plan is.", "A file is."),
            ("Read it{ there//}.", "Read it there.", "Read it."),
            ("No {name|a//b}.", "No {name|a}.", "No {name|b}."),
            ("See http://x.", "See http://x.", "See http://x."),
        ] {
            assert_eq!(worded(text, Audience::Plan), of_plan);
            assert_eq!(worded(text, Audience::Configuration), of_configuration);
        }
    }
}
