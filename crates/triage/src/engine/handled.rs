//! An exception that the code had caught, and the mistake in what it did then, which is what
//! ended the test: only the second is why, and nobody knows whether it matters without the first.
//!
//! Of an exception that the code raised in place of another one, on purpose or with words of its
//! own, nothing is read here: the first is why.

use super::clues::Origin;
use super::facts::{Facts, FailureSource};
use jelly_base::model::Failure;

/// Between the two, in Python; where the second was raised of the first, it says so instead.
const AMID: &str = "During handling of the above exception, another exception occurred:";
const RAISED_OF_IT: &str = "The above exception was the direct cause";
/// Before the first, in Ruby, whose stack tells that the second was raised amid its handling.
const BEHIND: &str = "--- Caused by: ---";
const RESCUE: &str = "`rescue in ";
const RESCUE_NEW: &str = "'rescue in ";

/// Exceptions that nobody raises in place of another one: of mistakes in the code that has them.
const MISTAKES: [&str; 10] = [
    "AttributeError",
    "IndexError",
    "KeyError",
    "NameError",
    "NoMethodError",
    "RecursionError",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "ZeroDivisionError",
];

/// The failure as it ended, and as it would be had the exception that was caught ended it.
pub(super) struct Handled {
    pub ended: Failure,
    pub caught: Failure,
}

/// The two of a failure in a report whose text shows both.
pub(super) fn handled(failure: &Failure) -> Option<Handled> {
    // What jelly said of it itself stands.
    let text = failure
        .text
        .as_deref()
        .filter(|_| failure.label.is_none())?;
    let (caught, own, is_mistake) = match text.rsplit_once(AMID) {
        Some((caught, own)) => {
            if own.contains(RAISED_OF_IT) {
                return None;
            }
            let is_mistake = own.lines().map(bare).any(raises) || does_without(caught, own);
            (caught, own, is_mistake)
        }
        None => {
            let (own, caught) = text.split_once(BEHIND)?;
            let in_rescue = own.contains(RESCUE) || own.contains(RESCUE_NEW);
            (
                caught,
                own,
                in_rescue && own.lines().any(|line| raises(bare(line))),
            )
        }
    };
    if !is_mistake {
        return None;
    }
    // The same test, with nothing of what ended it.
    let caught = Failure {
        type_: None,
        message: None,
        text: Some(caught.to_owned()),
        system_out: None,
        system_err: None,
        ..failure.clone()
    };
    let ended = Failure {
        text: Some(own.to_owned()),
        ..failure.clone()
    };
    let facts = Facts::new(&ended);
    let is_own = facts.source == FailureSource::Report
        && matches!(facts.raised_in(), Origin::Product | Origin::Test);
    is_own.then_some(Handled { ended, caught })
}

/// A line without what pytest marks those of an exception with.
fn bare(line: &str) -> &str {
    line.strip_prefix("E ").unwrap_or(line).trim()
}

/// Whether a module that was not there is no matter of what was raised then, as where another
/// one takes its place.
fn does_without(caught: &str, own: &str) -> bool {
    let mut lines = caught.lines().map(bare);
    let missing = lines.rfind(|line| line.starts_with("ModuleNotFoundError: No module named "));
    let Some(module) = missing.and_then(|line| line.split('\'').nth(1)) else {
        return false;
    };
    let mut raised = own.lines().filter_map(|line| line.strip_prefix("E "));
    let module = module.split('.').next().unwrap_or(module).to_lowercase();
    raised.next_back().is_some_and(|said| {
        let said = said.to_lowercase();
        let of_module = [
            "import", "install", "module", "requir", "depend", "missing", "librar",
        ];
        !said.contains(&module) && !of_module.iter().any(|word| said.contains(word))
    })
}

/// Whether a line names one of those exceptions, with its words.
fn raises(line: &str) -> bool {
    let class = line.split_once(':').map_or(line, |(class, _)| class);
    MISTAKES.contains(&class)
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use jelly_base::model::{Diagnosis, Failure, Side};

    fn said(message: &str, text: &str) -> Diagnosis {
        Engine::builtin().diagnose(&Failure {
            element: Some("failure".into()),
            message: Some(message.into()),
            text: Some(text.into()),
            ..Failure::default()
        })
    }

    const REFUSED: &str = "    def send(n):\n        try:\n>           socket.create_connection((\"127.0.0.1\", 1))\n\nsrc/shop/fall.py:18: \n_ _ _ _\n/usr/lib/python3.11/socket.py:851: in create_connection\n    raise exceptions[0]\nE           ConnectionRefusedError: [Errno 111] Connection refused\n\n/usr/lib/python3.11/socket.py:836: ConnectionRefusedError\n\nDuring handling of the above exception, another exception occurred:\n\n>   def test_send(): fall.send(7)\n\ntests/test_fall.py:4: \n_ _ _ _\n\n    def send(n):\n        try:\n            socket.create_connection((\"127.0.0.1\", 1))\n        except OSError:\n";

    #[test]
    fn a_mistake_in_what_handles_an_exception_is_what_ended_the_test() {
        let own = format!(
            "{REFUSED}>           log(\"offline \" + n)\nE           TypeError: can only concatenate str (not \"int\") to str\n\nsrc/shop/fall.py:20: TypeError"
        );
        let of = said(
            "TypeError: can only concatenate str (not \"int\") to str",
            &own,
        );
        assert_eq!((of.side, of.ambiguous), (Side::Test, true), "{}", of.rule);
        assert_eq!(of.root_cause, "code_exception");
        assert_eq!(of.retryable, Some(false));
        let ruby = "Failure/Error: puts \"offline \" + n\n\nTypeError:\n  no implicit conversion of Integer into String\n./lib/fall.rb:6:in `+'\n./lib/fall.rb:6:in `rescue in send'\n./lib/fall.rb:3:in `send'\n./spec/fall_spec.rb:3:in `block (2 levels) in <top (required)>'\n------------------\n--- Caused by: ---\nErrno::ECONNREFUSED:\n  Connection refused - connect(2) for \"127.0.0.1\" port 1\n  ./lib/fall.rb:4:in `initialize'";
        let of = said("no implicit conversion of Integer into String", ruby);
        assert_eq!((of.side, of.ambiguous), (Side::Test, true), "{}", of.rule);
        assert_eq!(of.root_cause, "code_exception");
    }

    #[test]
    fn a_module_that_another_one_stands_in_for_is_not_why() {
        let text = |said: &str| {
            format!(
                "    def load(s):\n        try:\n>           import ujson as j\nE           ModuleNotFoundError: No module named 'ujson'\n\nsrc/shop/fall.py:5: ModuleNotFoundError\n\nDuring handling of the above exception, another exception occurred:\n\ntests/test_fall.py:2: \n_ _ _ _\n\n>               raise ValueError(\"x\")\nE               {said}\n\nsrc/shop/fall.py:9: ValueError"
            )
        };
        let of = said("", &text("ValueError: rate must not be 0"));
        assert_eq!((of.side, of.ambiguous), (Side::Test, true), "{}", of.rule);
        assert_eq!(of.root_cause, "code_exception");
        let of = said("", &text("ValueError: please install ujson"));
        assert_eq!(of.root_cause, "missing_module", "{}", of.rule);
    }

    #[test]
    fn a_rule_of_the_project_s_own_reads_both() {
        let text = format!(
            "{REFUSED}>           log(\"offline \" + n)\nE           TypeError: can only concatenate str\n\nsrc/shop/fall.py:20: TypeError"
        );
        let failure = Failure {
            element: Some("failure".into()),
            text: Some(text),
            ..Failure::default()
        };
        for (pattern, side) in [
            ("ConnectionRefusedError", Side::Test),
            ("can only concatenate", Side::Code),
        ] {
            let side_of = if side == Side::Code { "code" } else { "test" };
            let rules = crate::engine::parse_rules(
                "own",
                &format!(
                    "[{{id: own/x, root_cause: data_setup, error_category: OTHER, retryable: false, \
                     side: {side_of}, strength: signature, patterns: ['{pattern}'], \
                     advice: {{what: w, why: y, fix: [f]}}}}]"
                ),
            );
            let engine = Engine::with_rules(rules.unwrap(), Vec::new()).unwrap();
            let of = engine.diagnose(&failure);
            assert_eq!(
                (of.rule.as_str(), of.side, of.ambiguous),
                ("own/x", side, false)
            );
        }
    }

    #[test]
    fn a_harmless_exception_before_it_excuses_nothing() {
        let text = "    def find(k):\n        try:\n>           return KNOWN[k]\nE           KeyError: 'a'\n\nsrc/shop/fall.py:30: KeyError\n\nDuring handling of the above exception, another exception occurred:\n\ntests/test_fall.py:6: \n_ _ _ _\n\n>           return self.fallback.get(k)\nE           AttributeError: 'NoneType' object has no attribute 'get'\n\nsrc/shop/fall.py:32: AttributeError";
        let of = said(
            "AttributeError: 'NoneType' object has no attribute 'get'",
            text,
        );
        assert_eq!((of.side, of.ambiguous), (Side::Code, false), "{}", of.rule);
    }

    #[test]
    fn an_exception_that_was_raised_in_place_of_another_one_has_that_one_for_its_cause() {
        for text in [
            format!(
                "{REFUSED}>           raise RuntimeError(\"no prices today\")\nE           RuntimeError: no prices today\n\nsrc/shop/fall.py:20: RuntimeError"
            ),
            format!(
                "{}>           raise TypeError(\"no prices\") from error\nE           TypeError: no prices\n\nsrc/shop/fall.py:20: TypeError",
                REFUSED.replace(
                    "During handling of the above exception, another exception occurred:",
                    "The above exception was the direct cause of the following exception:"
                )
            ),
        ] {
            let of = said("", &text);
            assert_eq!(of.root_cause, "connection_refused", "{}", of.rule);
        }
    }
}
