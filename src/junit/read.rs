//! Bytes → cases.

use super::case::CaseSink;
use super::escape;
use super::limits::Limits;
use super::machine::Machine;
use crate::model::ReportSummary;
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
    let mut reader = Reader::from_reader(input);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut buffer = Vec::new();
    let problem = loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(start)) => {
                if machine.depth() >= limits.depth {
                    break Some(format!(
                        "more than {} elements inside each other",
                        limits.depth
                    ));
                }
                machine.start(&start);
            }
            Ok(Event::Empty(start)) => {
                machine.start(&start);
                machine.end();
            }
            Ok(Event::End(_)) => machine.end(),
            Ok(Event::Text(text)) => machine.text(&text.into_inner()),
            Ok(Event::CData(text)) => machine.text(&text.into_inner()),
            Ok(Event::GeneralRef(name)) => match escape::resolve(&name) {
                Some(character) => machine.text(character.encode_utf8(&mut [0; 4])),
                None => machine.text(&format!("&{};", &*name)),
            },
            Ok(Event::Eof) => break None,
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
            Err(error) => break Some(format!("{error} at byte {}", reader.error_position())),
        }
    };
    let open = machine.depth() > 0;
    let nothing = machine.roots.is_empty();
    let mut summary = machine.finish();
    summary.problem = match problem {
        Some(problem) => Some(format!("the report is no well-formed XML: {problem}")),
        None if open => Some("the report ends before its root element does".to_owned()),
        None if nothing => Some("the report is empty".to_owned()),
        None => None,
    };
    summary
}
