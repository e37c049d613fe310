//! What `jelly doctor` found out, for people: a table, then what is wrong with
//! each server and how to mend it.

use super::quote::{cell, code_cell, table as md_table};
use super::terminal::paint::{BOLD, DIM, GREEN, RED, TerminalPaint, Tone, YELLOW};
use super::words::{self, shell_line};
use anstyle::Style;
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets,
};
use jelly_base::model::{
    Checkup, CheckupState, Diagnosis, DoctorReport, Finding, FindingLevel, Fix, FixKind, Lint,
    json_word,
};
use jelly_base::text::{capitalised, one_line, plural, sanitize};
use std::fmt::Write as _;

/// How much of one text a line shows.
const SHOWN: usize = 300;
/// Notes of one server.
const NOTES: usize = 5;

/// How it may look.
#[derive(Debug, Clone, Copy)]
pub struct DoctorOptions {
    pub color: bool,
    /// Columns.
    pub width: u16,
}

const HEADER: [&str; 9] = [
    "SERVER",
    "STATE",
    "CAUSE",
    "PROTOCOL",
    "TOOLS",
    "RESOURCES",
    "PROMPTS",
    "START",
    "CLIENT",
];

/// Those of [`HEADER`] that are numbers.
const NUMBERS: std::ops::Range<usize> = 4..8;

/// A name of up to so many characters is kept on one line.
const NAME: u16 = 24;

/// For a terminal.
#[must_use]
pub fn doctor_text(report: &DoctorReport, options: DoctorOptions) -> String {
    let paint = DoctorPaint::new(options);
    let mut text = String::new();
    for file in &report.files {
        let servers = match &file.error {
            Some(_) => paint.tone(RED, "can't be read"),
            None => plural(file.servers, "server"),
        };
        let _ = writeln!(
            text,
            "{} ({}): {servers}",
            line(&file.path),
            line(&file.client)
        );
    }
    if !report.servers.is_empty() {
        // Whose they are is said above, where all are of one client.
        let columns = if report
            .files
            .iter()
            .any(|f| f.client != report.files[0].client)
        {
            HEADER.len()
        } else {
            HEADER.len() - 1
        };
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(options.width)
            .set_header(&HEADER[..columns]);
        for server in &report.servers {
            let row = row(server);
            table.add_row(row[..columns].iter().enumerate().map(|(column, text)| {
                let cell = Cell::new(text);
                if NUMBERS.contains(&column) {
                    cell.set_alignment(CellAlignment::Right)
                } else {
                    cell
                }
            }));
        }
        // A name or a cause that is broken in two is not found by searching.
        let names = report
            .servers
            .iter()
            .map(|server| server.name.chars().count());
        let longest = u16::try_from(names.max().unwrap_or_default()).unwrap_or(NAME);
        let name = Width::Fixed(longest.min(NAME));
        if let Some(column) = table.column_mut(0) {
            column.set_constraint(ColumnConstraint::LowerBoundary(name));
        }
        if let Some(column) = table.column_mut(2) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        text.push('\n');
        for line in table.lines() {
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    for server in report.servers.iter().filter(|server| tells(server)) {
        text.push('\n');
        paint.server(server, &mut text);
    }
    paint.shared(report, &mut text);
    let _ = write!(text, "\n{}\n", paint.tone(BOLD, &summary(report)));
    text
}

/// What is said of one server, without the table.
#[must_use]
pub fn server_text(server: &Checkup, options: DoctorOptions) -> String {
    let mut text = String::new();
    DoctorPaint::new(options).server(server, &mut text);
    text
}

fn row(server: &Checkup) -> [String; 9] {
    let number = |n: Option<usize>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let ready = server.tools.is_some();
    let protocol = match (&server.protocol_version, &server.era) {
        (Some(version), Some(era)) => format!("{version} ({era})"),
        (Some(version), None) => version.clone(),
        (None, _) => String::new(),
    };
    [
        one_line(&server.name, 40),
        state(server.state),
        cause(server),
        protocol,
        number(server.tools).repeat(usize::from(ready)),
        number(server.resources).repeat(usize::from(ready)),
        number(server.prompts).repeat(usize::from(ready)),
        server.startup_ms.map(words::duration).unwrap_or_default(),
        server.client.clone(),
    ]
}

/// What is wrong with it, in a word.
fn cause(server: &Checkup) -> String {
    let error = server
        .findings
        .iter()
        .find(|finding| finding.level == FindingLevel::Error);
    match (&server.diagnosis, error) {
        (Some(diagnosis), _) => diagnosis.root_cause.clone(),
        (None, Some(finding)) => json_word(&finding.lint),
        (None, None) => String::new(),
    }
}

fn state(state: CheckupState) -> String {
    match state {
        CheckupState::Unchecked => "not started".to_owned(),
        other => json_word(&other),
    }
}

fn style(state: CheckupState) -> Style {
    match state {
        CheckupState::Healthy => GREEN,
        CheckupState::Unwell => YELLOW,
        CheckupState::Broken => RED,
        CheckupState::Unchecked | CheckupState::Disabled => DIM,
    }
}

/// Whether there is anything to say of it beside its row.
fn tells(server: &Checkup) -> bool {
    server.state != CheckupState::Disabled
        && (server.diagnosis.is_some()
            || server.message.is_some()
            || server.findings.iter().any(|finding| !is_shared(finding))
            || (server.state != CheckupState::Healthy && !server.notes.is_empty()))
}

fn summary(report: &DoctorReport) -> String {
    let counts = report.counts;
    let states = [
        (counts.healthy, "healthy"),
        (counts.unwell, "unwell"),
        (counts.broken, "broken"),
        (counts.unchecked, "not started"),
        (counts.disabled, "disabled"),
    ];
    let mut parts: Vec<String> = states
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, state)| format!("{count} {state}"))
        .collect();
    parts.extend((counts.errors > 0).then(|| plural(counts.errors, "error")));
    parts.extend((counts.warnings > 0).then(|| plural(counts.warnings, "warning")));
    let servers = plural(counts.servers, "server");
    if parts.is_empty() {
        servers
    } else {
        format!("{servers}: {}", parts.join(", "))
    }
}

fn line(text: &str) -> String {
    one_line(text, SHOWN)
}

/// What diagnosis and message say of the cause, the telling line first, and
/// nothing twice.
fn story(server: &Checkup, diagnosis: &Diagnosis) -> (Option<String>, Vec<String>) {
    let evidence = diagnosis
        .evidence
        .as_ref()
        .map(|evidence| line(&evidence.text))
        .filter(|text| {
            let advice = [&diagnosis.advice.what, &diagnosis.advice.why];
            !text.is_empty() && !advice.iter().any(|said| line(said).contains(text.as_str()))
        });
    let evidence = evidence.filter(|_| !is_silence(diagnosis));
    let mut lines = Vec::new();
    lines.extend(
        server
            .message
            .as_deref()
            .filter(|message| !is_silence(diagnosis) && !says_the_same(message, diagnosis))
            .map(|message| sentence(line(message).trim_end_matches('.'))),
    );
    lines.push(line(&diagnosis.advice.what));
    lines.push(line(&diagnosis.advice.why));
    lines.retain(|line| !line.is_empty());
    (evidence, lines)
}

/// What a server did, as a sentence. Before anything is started, it is one
/// about something else: a variable, or a file.
fn sentence(message: &str) -> String {
    let begins = [
        "the ",
        "a ",
        "an ",
        "its ",
        "no ",
        "`",
        "protocol version mismatch",
    ];
    let is_of_another = message.starts_with(char::is_uppercase)
        || begins.iter().any(|begin| message.starts_with(begin));
    // `tools/list returned …`
    let areas = ["tools/", "resources/", "prompts/"];
    let is_of_request = areas.iter().any(|area| message.starts_with(area));
    match is_of_another {
        true => format!("{}.", jelly_base::text::capitalised(message)),
        false if is_of_request => format!("The request {message}."),
        false => format!("It {message}."),
    }
}

/// Whether all that is known is that nothing came.
fn is_silence(diagnosis: &Diagnosis) -> bool {
    diagnosis.root_cause == "startup_timeout"
}

/// That a command is not found is all that there is to say of it.
fn says_the_same(message: &str, diagnosis: &Diagnosis) -> bool {
    diagnosis.root_cause == "command_not_found" && message.starts_with("could not be started")
}

struct DoctorPaint(TerminalPaint);

impl DoctorPaint {
    fn new(options: DoctorOptions) -> Self {
        let width = usize::from(options.width).max(40);
        Self(TerminalPaint::of_width(options.color, width))
    }

    fn tone(&self, style: Style, text: &str) -> String {
        self.0.styled(style, text)
    }

    fn wrapped(&self, first: &str, indent: &str, text: &str, out: &mut String) {
        out.push_str(&self.0.hanging(first, Tone::Plain, text, indent.len()));
    }

    fn server(&self, server: &Checkup, out: &mut String) {
        let name = self.tone(BOLD, &one_line(&server.name, 80));
        let how = self.tone(style(server.state), &state(server.state));
        let at = self.tone(DIM, &line(&server.at));
        let _ = writeln!(out, "{name}: {how}  {at}");
        if let Some(diagnosis) = &server.diagnosis {
            let (evidence, lines) = story(server, diagnosis);
            if let Some(evidence) = evidence {
                self.wrapped("  > ", "    ", &evidence, out);
            }
            for text in lines {
                self.wrapped("  ", "  ", &text, out);
            }
            for fix in &diagnosis.advice.fix {
                self.fix(fix, out);
            }
        } else if let Some(message) = &server.message {
            self.wrapped("  ", "  ", &format!("{}.", capitalised(message)), out);
        }
        if let Some(by_hand) = &server.by_hand {
            self.wrapped(
                "  - ",
                "    ",
                "See for yourself what it says; press Ctrl-C to end it:",
                out,
            );
            // Copied as a whole, so neither wrapped nor cut.
            let _ = writeln!(out, "    $ {}", sanitize(by_hand));
        }
        for finding in server.findings.iter().filter(|finding| !is_shared(finding)) {
            let style = match finding.level {
                FindingLevel::Error => RED,
                FindingLevel::Warning => YELLOW,
            };
            let level = json_word(&finding.level);
            let id = self.tone(style, &format!("{level}[{}]", json_word(&finding.lint)));
            let _ = writeln!(out, "  {id} {}", self.tone(DIM, &line(&finding.at)));
            self.wrapped("    ", "    ", &line(&finding.what), out);
            self.wrapped("    ", "    ", &line(&finding.fix), out);
        }
        for note in server.notes.iter().take(NOTES) {
            self.wrapped("  note: ", "    ", &line(note), out);
        }
    }

    /// What holds of most servers is said once.
    fn shared(&self, report: &DoctorReport, out: &mut String) {
        let shared: Vec<(&Checkup, &Finding)> = report
            .servers
            .iter()
            .filter(|server| server.state != CheckupState::Disabled)
            .flat_map(|server| server.findings.iter().map(move |finding| (server, finding)))
            .filter(|(_, finding)| is_shared(finding))
            .collect();
        let Some((_, example)) = shared.first() else {
            return;
        };
        let id = self.tone(YELLOW, &format!("warning[{}]", json_word(&example.lint)));
        let _ = writeln!(out, "\n{id} {}", plural(shared.len(), "server"));
        // Each is told its own, and what all are told alike once.
        let mut told: Vec<(String, Vec<String>)> = Vec::new();
        for (server, finding) in &shared {
            let (advice, own) = match finding.fix.rsplit_once(": ") {
                Some((advice, own)) => (format!(" {advice}:"), own),
                None => (String::new(), finding.fix.as_str()),
            };
            let what = format!("{}{advice}", finding.what);
            let own = format!("{}: {}", one_line(&server.name, 40), line(own));
            match told.iter_mut().find(|(other, _)| *other == what) {
                Some((_, all)) => all.push(own),
                None => told.push((what, vec![own])),
            }
        }
        for (what, all) in told {
            self.wrapped("    ", "    ", &line(&what), out);
            for own in all {
                self.wrapped("    - ", "      ", &own, out);
            }
        }
    }

    fn fix(&self, fix: &Fix, out: &mut String) {
        match fix.kind {
            // To be pasted, so neither wrapped nor cut.
            FixKind::Command | FixKind::Member => {
                for line in fix.line().lines() {
                    let _ = writeln!(out, "    {}", sanitize(line));
                }
            }
            FixKind::Text => self.wrapped("  - ", "    ", &line(&fix.text), out),
        }
    }
}

/// Whether it is told once for all servers: nearly every configuration has it.
fn is_shared(finding: &Finding) -> bool {
    finding.lint == Lint::UnpinnedVersion
}

/// The same as Markdown.
#[must_use]
pub fn doctor_md(report: &DoctorReport) -> String {
    let mut page = format!("# jelly doctor\n\n{}\n", summary(report));
    page.push('\n');
    for file in &report.files {
        let servers = match &file.error {
            Some(error) => format!("{}: {}", sanitize(&error.at), sanitize(&error.what)),
            None => plural(file.servers, "server"),
        };
        let _ = writeln!(
            page,
            "- {}, {}: {servers}",
            file.client,
            code_cell(&file.path)
        );
    }
    if !report.servers.is_empty() {
        let rows: Vec<Vec<String>> = report
            .servers
            .iter()
            .map(|server| row(server).iter().map(|text| cell(text)).collect())
            .collect();
        let header = HEADER.map(|name| name.to_lowercase());
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        page.push('\n');
        page.push_str(&md_table(&header, &rows, &NUMBERS.collect::<Vec<_>>()));
    }
    for server in report.servers.iter().filter(|server| tells(server)) {
        let _ = write!(
            page,
            "\n## {}: {}\n\n{}\n",
            sanitize(&line(&server.name)),
            state(server.state),
            code_cell(&server.at)
        );
        if !server.argv.is_empty() {
            let _ = write!(page, "\n{}\n", code_cell(&shell_line(&server.argv)));
        }
        if let Some(diagnosis) = &server.diagnosis {
            let (evidence, lines) = story(server, diagnosis);
            if let Some(evidence) = evidence {
                let _ = write!(page, "\n> {}\n", code_cell(&evidence));
            }
            let _ = write!(page, "\n{}\n\n", sanitize(&lines.join(" ")));
            for fix in &diagnosis.advice.fix {
                let text = &*fix.text;
                let fix = match fix.kind {
                    FixKind::Command => code_cell(text),
                    FixKind::Member => text.lines().map(code_cell).collect::<Vec<_>>().join("<br>"),
                    FixKind::Text => sanitize(text).into_owned(),
                };
                let _ = writeln!(page, "- {fix}");
            }
        } else if let Some(message) = &server.message {
            let _ = write!(page, "\n{}.\n", sanitize(&capitalised(message)));
        }
        if let Some(by_hand) = &server.by_hand {
            let _ = writeln!(page, "- see what it says: {}", code_cell(by_hand));
        }
        if !server.findings.is_empty() {
            page.push('\n');
        }
        for finding in &server.findings {
            let level = json_word(&finding.level);
            let _ = writeln!(
                page,
                "- {level} `{}` at {}: {} {}",
                json_word(&finding.lint),
                code_cell(&finding.at),
                sanitize(&finding.what),
                sanitize(&finding.fix)
            );
        }
    }
    page
}
