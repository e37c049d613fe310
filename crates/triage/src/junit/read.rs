//! Bytes → cases.

use super::attributes::Tag;
use super::case::CaseSink;
use super::ctrf;
use super::encoding::SNIFFED;
use super::escape;
use super::limits::ReaderLimits;
use super::lines;
use super::machine::Machine;
use super::scan;
use super::source::BoundedSource;
use super::tap;
use jelly_base::model::ReportSummary;
use jelly_base::text::plural;
use quick_xml::Reader;
use quick_xml::events::Event;
use std::io::BufRead;

/// Reads one report to its end.
///
/// It never fails: what keeps a report from being whole stands in `problem`
/// of the summary, and the cases before it are handed on all the same.
/// `path` is only said, nothing is opened.
pub fn read(
    input: &mut dyn BufRead,
    path: &str,
    limits: &ReaderLimits,
    sink: &mut dyn CaseSink,
) -> ReportSummary {
    let mut machine = Machine::new(path, limits, sink);
    let mut source = BoundedSource::new(input, limits.token);
    let kind = source.fill_buf().map(kind_of);
    if !matches!(kind, Ok(FileKind::Xml)) {
        source.is_plain();
    }
    let read = match kind {
        Ok(FileKind::Xml) => return read_xml(source, machine, limits),
        Ok(FileKind::Tap) => {
            machine.take_for("tap");
            tap::tap(&mut source, &mut machine)
        }
        Ok(FileKind::GoTest) => {
            machine.take_for("go-test");
            lines::go_test(&mut source, &mut machine)
        }
        Ok(FileKind::Ctrf) => {
            machine.take_for("ctrf");
            ctrf::read(&mut source, &mut machine);
            Ok(())
        }
        Ok(FileKind::Other(reason)) => {
            machine.broken(|| reason.to_owned());
            Ok(())
        }
        Err(error) => Err(error),
    };
    if let Err(error) = read {
        machine.broken(|| format!("it can't be read: {error}"));
    }
    finish(&source, machine)
}

/// What a file is, by how it begins.
#[derive(Clone, Copy)]
enum FileKind {
    Xml,
    Tap,
    GoTest,
    Ctrf,
    /// Recognised, and no test report.
    Other(&'static str),
}

/// What JSON is, by words that all stand at its beginning; the first that fits.
const JSON: [(&[&str], FileKind); 7] = [
    (&["\"Action\""], FileKind::GoTest),
    (&["\"CTRF\""], FileKind::Ctrf),
    (&["\"results\"", "\"tool\""], FileKind::Ctrf),
    (
        &["\"runs\"", "sarif"],
        FileKind::Other(
            "it is a report of static analysis (SARIF), and no test report: leave it out",
        ),
    ),
    (&["\"historyId\""], ALLURE),
    (&["\"testCaseId\""], ALLURE),
    (
        &["\"numTotalTests\""],
        FileKind::Other(
            "it is the JSON of Jest or Vitest: write JUnit XML with the reporter \
             `jest-junit` or `--reporter=junit`",
        ),
    ),
];

const ALLURE: FileKind = FileKind::Other(
    "it is a result of Allure, and no test report by itself: \
     have the test runner write JUnit XML beside it",
);

fn kind_of(head: &[u8]) -> FileKind {
    let head = String::from_utf8_lossy(&head[..head.len().min(SNIFFED)]);
    let text = head.trim_start();
    if is_tap(text) {
        return FileKind::Tap;
    }
    if is_toml(text) {
        return FileKind::Other("it is TOML or INI, and no test report");
    }
    if text.starts_with('{') || text.starts_with('[') {
        let holds = |words: &&str| text.contains(words);
        let found = JSON.iter().find(|(words, _)| words.iter().all(holds));
        let other = FileKind::Other("it is JSON of an unknown kind, and no test report");
        return found.map_or(other, |(_, kind)| *kind);
    }
    // The build speaks before the tests, and not in JSON.
    let event = |line: &str| line.starts_with("{\"") && line.contains("\"Action\"");
    if !text.starts_with('<') && text.lines().any(event) {
        return FileKind::GoTest;
    }
    let first = text.lines().next().unwrap_or_default();
    if first.starts_with("TN:") || first.starts_with("SF:") {
        return FileKind::Other("it is a coverage report (LCOV), and no test report: leave it out");
    }
    FileKind::Xml
}

/// Whether a text begins with the head of a table, as TOML and INI have it: `[a.b]`. An array of
/// JSON has letters in quotes alone, but for three words.
fn is_toml(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().trim_end();
    let name = line
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let name = name.unwrap_or_default().trim_matches(['[', ']', ' ']);
    let is_word = |c: char| c.is_alphanumeric() || "._-\" ".contains(c);
    let mut others = text.lines().skip(1).map(str::trim);
    let next = others.find(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    let is_pair = |line: &str| line.contains('=') || line.starts_with('[');
    next.is_none_or(|next| is_pair(next) && !next.starts_with("{"))
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(is_word)
        && !matches!(name, "true" | "false" | "null")
}

/// Whether a file that begins like this is the configuration of a framework, under a name that
/// reports have, too. What else a file holds in place of a report tells that there is none, and
/// must not be passed over.
#[must_use]
pub fn is_configuration(head: &[u8]) -> bool {
    const ROOTS: [&str; 1] = ["phpunit"];
    let text = String::from_utf8_lossy(head);
    let root = root_of(&text);
    root.is_some_and(|root| ROOTS.contains(&root.as_str())) && !text.contains("<testcase")
}

/// The name of the root element, where it stands there.
fn root_of(head: &str) -> Option<String> {
    let mut reader = Reader::from_str(head);
    loop {
        match reader.read_event().ok()? {
            Event::Start(root) | Event::Empty(root) => {
                return Some(root.local_name().into_inner().to_owned());
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

/// Whether a text is TAP, be it behind lines of a log: these may say `ok`, so
/// behind them a version is asked for, or a plan and a first test.
fn is_tap(text: &str) -> bool {
    let version = |line: &str| line.starts_with("TAP version 1");
    let plan = |line: &str| {
        line.strip_prefix("1..")
            .is_some_and(|count| count.starts_with(|c: char| c.is_ascii_digit()))
    };
    let first_test = |line: &str| {
        let number = line
            .strip_prefix("not ok 1")
            .or_else(|| line.strip_prefix("ok 1"));
        number.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let first = text.lines().next().unwrap_or_default();
    !text.starts_with(['<', '{'])
        && (version(first)
            || plan(first)
            || first_test(first)
            || text.lines().any(version)
            || text.lines().any(plan) && text.lines().any(first_test))
}

fn read_xml(
    source: BoundedSource<'_>,
    mut machine: Machine<'_>,
    limits: &ReaderLimits,
) -> ReportSummary {
    let mut reader = Reader::from_reader(source);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut buffer = Vec::new();
    let mut stop = None;
    // The parser knows what comes next after a text, and looks for a mark of
    // the encoding first of all.
    let mut is_between = false;
    let mut manner = scan::Manner::default();
    // Elements whose names the parser keeps, until it sees them end.
    let mut kept = 0_usize;
    loop {
        reader.get_mut().token_begins();
        if is_between
            && let Some(length) = read_plain(
                reader.get_ref(),
                &mut machine,
                &mut manner,
                limits,
                kept == 0,
            )
        {
            reader.get_mut().consume(length);
            continue;
        }
        buffer.clear();
        let event = reader.read_event_into(&mut buffer);
        is_between = !matches!(event, Ok(Event::Text(_)));
        match event {
            Ok(Event::Start(start)) => {
                kept += 1;
                if machine.depth() >= limits.depth {
                    stop = Some(format!(
                        "there are more than {} elements inside each other",
                        limits.depth
                    ));
                    break;
                }
                machine.start(&Tag::parsed(&start), reader.get_mut().missing());
            }
            Ok(Event::Empty(start)) => {
                machine.start(&Tag::parsed(&start), reader.get_mut().missing());
                machine.end();
            }
            Ok(Event::End(end)) => {
                kept = kept.saturating_sub(1);
                let (name, local) = (end.name().into_inner(), end.local_name().into_inner());
                end_element(name, local, reader.get_ref(), &mut machine);
            }
            Ok(Event::Text(text)) => {
                machine.text(&text.into_inner());
                machine.missing(reader.get_mut().missing());
            }
            Ok(Event::CData(text)) => {
                machine.text(&text.into_inner());
                machine.missing(reader.get_mut().missing());
            }
            Ok(Event::GeneralRef(name)) => refer(&name, &mut machine),
            Ok(Event::Eof) => break,
            Ok(Event::DocType(doctype)) => {
                if doctype.contains('[') {
                    machine.warn("its document type definition was not read");
                }
            }
            Ok(Event::Comment(text)) => machine.comment(&text),
            Ok(Event::Decl(_) | Event::PI(_)) => {}
            Err(error) => {
                stop = Some(error.to_string());
                break;
            }
        }
    }
    let mut source = reader.into_inner();
    let (line, byte) = source.end();
    if let Some(stop) = stop {
        let line = source.line();
        source.run_out();
        machine.broken(|| match source.counts_its_bytes() {
            true => format!("{stop} (line {line}; read up to byte {byte})"),
            false => format!("{stop} (line {line})"),
        });
    } else if let Some(open) = machine.innermost() {
        let open = open.to_owned();
        machine.broken(|| {
            let byte = match source.counts_its_bytes() {
                true => format!(" (byte {byte})"),
                false => String::new(),
            };
            format!("it ends within `<{open}>`, in line {line}{byte}: it was cut off")
        });
    }
    finish(&source, machine)
}

/// Reads the next piece if it is a plain one, and says how long it was. The
/// end of an element is none while the parser waits for it.
fn read_plain(
    source: &BoundedSource<'_>,
    machine: &mut Machine<'_>,
    manner: &mut scan::Manner,
    limits: &ReaderLimits,
    may_end: bool,
) -> Option<usize> {
    let ahead = source.ahead();
    match ahead.as_bytes() {
        [b'<', b'/', ..] => {
            let name = scan::end(ahead).filter(|_| may_end)?;
            end_element(name, name, source, machine);
            Some(name.len() + "</>".len())
        }
        [b'<', b'!', ..] => {
            let (text, length) = scan::cdata(ahead)?;
            machine.text(text);
            Some(length)
        }
        [b'&', ..] => {
            let name = scan::reference(ahead)?;
            refer(name, machine);
            Some(name.len() + "&;".len())
        }
        [b'<', ..] => {
            let mut room = scan::AttributeRoom::new();
            let start = scan::start(ahead, &mut room, manner)?;
            if !start.is_empty && machine.depth() >= limits.depth {
                return None;
            }
            machine.start(&start.tag, 0);
            if start.is_empty {
                machine.end();
            }
            Some(start.length)
        }
        _ => {
            let text = scan::text(ahead)?;
            machine.text(text);
            Some(text.len())
        }
    }
}

/// A reference in a text.
fn refer(name: &str, machine: &mut Machine<'_>) {
    match escape::resolve(name) {
        Some(character) => {
            machine.forbidden |= escape::is_forbidden(character);
            machine.text(character.encode_utf8(&mut [0; 4]));
        }
        None => {
            machine.text("&");
            machine.text(name);
            machine.text(";");
        }
    }
}

fn end_element(name: &str, local: &str, source: &BoundedSource<'_>, machine: &mut Machine<'_>) {
    if let Some(open) = machine.end_named(local) {
        machine.broken(|| {
            format!(
                "`</{}>` in line {} comes before the end of `<{open}>`",
                short(name),
                source.line()
            )
        });
    }
}

/// Says what was wrong with the bytes.
fn finish(source: &BoundedSource<'_>, mut machine: Machine<'_>) -> ReportSummary {
    if source.invalid_bytes() > 0 {
        machine.warn(&format!(
            "{} that {} not valid in its encoding, read as Windows-1252",
            plural(source.invalid_bytes(), "byte"),
            if source.invalid_bytes() == 1 {
                "is"
            } else {
                "are"
            },
        ));
    }
    if let Some(label) = source.unknown_encoding() {
        machine.warn(&format!(
            "its encoding `{}` is not known, read as UTF-8",
            short(label)
        ));
    }
    if machine.is_xml()
        && let Some(line) = source.control
    {
        machine.warn(&format!(
            "control characters that XML does not allow, the first one in line {line}"
        ));
    }
    machine.finish()
}

/// What is shown of a name that somebody else chose.
fn short(name: &str) -> &str {
    &name[..name.floor_char_boundary(80)]
}
