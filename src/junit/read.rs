//! Bytes → cases.

use super::case::CaseSink;
use super::escape;
use super::limits::Limits;
use super::machine::Machine;
use super::source::Source;
use crate::model::ReportSummary;
use crate::text::plural;
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
    limits: &Limits,
    sink: &mut dyn CaseSink,
) -> ReportSummary {
    let mut machine = Machine::new(path, limits, sink);
    let mut reader = Reader::from_reader(Source::new(input, limits.token));
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut buffer = Vec::new();
    let mut stop = None;
    loop {
        buffer.clear();
        reader.get_mut().token_begins();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(start)) => {
                if machine.depth() >= limits.depth {
                    stop = Some(format!(
                        "there are more than {} elements inside each other",
                        limits.depth
                    ));
                    break;
                }
                machine.start(&start, reader.get_mut().missing());
            }
            Ok(Event::Empty(start)) => {
                machine.start(&start, reader.get_mut().missing());
                machine.end();
            }
            Ok(Event::End(end)) => {
                if let Some(open) = machine.end_named(end.local_name().into_inner()) {
                    let line = reader.get_mut().line();
                    machine.broken(|| {
                        format!(
                            "`</{}>` in line {line} comes before the end of `<{open}>`",
                            short(end.name().into_inner())
                        )
                    });
                }
            }
            Ok(Event::Text(text)) => {
                machine.text(&text.into_inner());
                machine.missing(reader.get_mut().missing());
            }
            Ok(Event::CData(text)) => {
                machine.text(&text.into_inner());
                machine.missing(reader.get_mut().missing());
            }
            Ok(Event::GeneralRef(name)) => match escape::resolve(&name) {
                Some(character) => {
                    machine.forbidden |= escape::is_forbidden(character);
                    machine.text(character.encode_utf8(&mut [0; 4]));
                }
                None => {
                    machine.text("&");
                    machine.text(&name);
                    machine.text(";");
                }
            },
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
    let source = reader.into_inner();
    let (line, byte) = source.end();
    if let Some(stop) = stop {
        let line = source.line();
        machine.broken(|| format!("{stop} (line {line}; read up to byte {byte})"));
    } else if let Some(open) = machine.innermost() {
        let open = open.to_owned();
        machine.broken(|| {
            format!("it ends within `<{open}>`, in line {line} (byte {byte}): it was cut off")
        });
    }
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
    if let Some(line) = source.control {
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
