//! A text to read for a cause, with how much it tells.

use super::roots::root_lines;
use crate::engine::field::Field;
use jelly_base::text::{strip_ansi, truncate_middle};
use std::borrow::Cow;

/// Bytes of one text that are read, head and tail together.
const READ: usize = 128 * 1024;

/// A text with where it comes from.
pub(in crate::engine) struct Text<'a> {
    pub(in crate::engine) field: Field,
    /// The field as evidence names it.
    pub(in crate::engine) name: &'static str,
    pub(in crate::engine) text: Cow<'a, str>,
    /// What `text` was, byte for byte, before names of the program's own were hidden in it.
    pub(in crate::engine) as_written: Option<Cow<'a, str>>,
    /// What a reader is shown instead, where the text alone says little.
    pub(in crate::engine) shown: Option<String>,
    /// 0 is the most telling.
    pub(in crate::engine) rank: u8,
    /// Of other things too: it counts when nothing else says anything.
    pub(in crate::engine) reserve: bool,
}

impl<'a> Text<'a> {
    /// The text with all names in it, as a reader is to see it.
    pub(in crate::engine) fn written(&self) -> &Cow<'a, str> {
        self.as_written.as_ref().unwrap_or(&self.text)
    }
}

#[derive(Default)]
pub(super) struct List<'a> {
    pub(super) texts: Vec<Text<'a>>,
}

impl<'a> List<'a> {
    pub(super) fn whole(&mut self, field: Field, name: &'static str, text: Cow<'a, str>, rank: u8) {
        if !text.trim().is_empty() {
            self.texts.push(Text {
                field,
                name,
                text,
                as_written: None,
                shown: None,
                rank,
                reserve: false,
            });
        }
    }

    /// What jelly makes of a failure, for rules to know it by, and the line of the report
    /// that is quoted for it.
    pub(super) fn mark(&mut self, name: &'static str, mark: &'static str, shown: String) {
        self.texts.push(Text {
            field: Field::Title,
            name,
            text: Cow::Borrowed(mark),
            as_written: None,
            shown: Some(shown),
            rank: 2,
            reserve: false,
        });
    }

    /// The class of an exception, and the line in which it stands.
    pub(super) fn class(&mut self, name: &'static str, class: String, line: String, rank: u8) {
        self.texts.push(Text {
            field: Field::Class,
            name,
            text: Cow::Owned(class),
            as_written: None,
            shown: Some(line),
            rank,
            reserve: false,
        });
    }

    /// The text, and before it those of its lines that name a cause.
    pub(super) fn with_roots(
        &mut self,
        field: Field,
        name: &'static str,
        text: impl Into<Cow<'a, str>>,
        rank: u8,
    ) {
        let text = match text.into() {
            Cow::Borrowed(text) => readable(text),
            Cow::Owned(text) => Cow::Owned(readable(&text).into_owned()),
        };
        for root in root_lines(&text) {
            self.whole(field, name, Cow::Owned(root), 0);
        }
        self.whole(field, name, text, rank);
    }
}

pub(super) fn readable(text: &str) -> Cow<'_, str> {
    match truncate_middle(text, READ) {
        Cow::Borrowed(text) => strip_ansi(text),
        Cow::Owned(text) => Cow::Owned(strip_ansi(&text).into_owned()),
    }
}
