//! The advice of a rule, filled with what is known of one failure.

use super::advice::{self, Values};
use super::answered;
use super::evidence::in_words;
use super::facts::{Facts, FailureSource};
use super::launcher_usage::{refusing_inside, refusing_launcher};
use super::launchers::{browser_install, launchers, python_package};
use super::listening;
use super::rule::{AdviceText, Audience, Rule};
use super::whereabouts::whereabouts;
use jelly_base::model::{Advice, Evidence};

/// The advice of a rule, or what takes its place, with what is known of this failure.
pub(super) fn advice_of(
    (rule, text): (&Rule, &AdviceText),
    facts: &Facts<'_>,
    evidence: Option<&Evidence>,
    mut values: Values,
    audience: Audience,
) -> Advice {
    let failure = facts.failure;
    if let (Some(port), "port_in_use") = (listening::own_port(failure), &*rule.root_cause) {
        values.entry("port".to_owned()).or_insert(port);
    }
    if let Some(evidence) = evidence {
        values.insert("evidence".into(), in_words(&evidence.text));
        name_server(&evidence.text, &rule.root_cause, &mut values);
    }
    if facts.source == FailureSource::Live {
        whereabouts(failure, &rule.root_cause, &mut values);
        launchers(failure, &rule.root_cause, &mut values);
        python_package(failure, &rule.root_cause, &mut values);
        browser_install(failure, &rule.root_cause, &mut values);
        if let Some(launcher) = refusing_launcher(failure).or_else(|| refusing_inside(failure)) {
            values.insert("launcher".to_owned(), launcher);
        }
    }
    let dialect = failure.dialect.as_deref().unwrap_or_default();
    let mut advice = advice::render(text, &values, dialect, audience);
    let quoted = evidence.map(|evidence| evidence.text.as_str());
    advice.fix.splice(0..0, answered::steps(failure, quoted));
    advice
}

/// Which server did not answer, where the rule's pattern takes no part of the text.
fn name_server(evidence: &str, root_cause: &str, values: &mut Values) {
    let name = match root_cause {
        "connection_refused" => "peer",
        "network_dns" => "host",
        _ => return,
    };
    if values.contains_key(name) {
        return;
    }
    if let Some(address) = jelly_base::text::address(evidence) {
        let host = address.rsplit_once(':').map_or(&*address, |(host, _)| host);
        let named = if name == "host" { host } else { &*address };
        values.insert(name.to_owned(), named.to_owned());
    }
}
