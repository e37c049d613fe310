//! The sentences of an account: causes, and what kind of server an address
//! most likely is.

use super::service::noun_of;
use jelly_base::model::FailureView;
use jelly_base::text::one_line;

/// Bytes of a title that a report gave.
const TITLE: usize = 160;

/// Whether a client says that it did not reach a server, and not that it was refused.
fn is_only_out_of_reach(failure: &FailureView<'_>) -> bool {
    const REACH: [&str; 8] = [
        "unable to connect",
        "failed to connect",
        "could not connect",
        "cannot connect",
        "no route to host",
        // `EHOSTUNREACH` too
        "unreach",
        "ehostdown",
        "no such file or directory",
    ];
    // And the numbers that systems have for it.
    const REFUSED: [&str; 4] = ["refus", "rrno 111", "(111)", "10061"];
    let evidence = failure.evidence.map(|(_, text)| text);
    let texts = [evidence, failure.message].into_iter().flatten();
    let told = texts.map(str::to_lowercase).collect::<Vec<_>>().join("\n");
    let says = |words: &[&str]| words.iter().any(|word| told.contains(word));
    says(&REACH) && !says(&REFUSED)
}

/// The same of a suite that is off as a whole, with what its first failure says.
pub(super) fn cause_of_suite(suite: &str, first: &FailureView<'_>) -> String {
    const SUITE: usize = 80;
    let suite = one_line(suite, SUITE);
    let told = cause(first, &[]);
    one_line(
        &format!("most tests of {suite} got another value than they want: {told}"),
        TITLE,
    )
}

/// The cause in a sentence without its full stop.
pub(super) fn cause(failure: &FailureView<'_>, subjects: &[String]) -> String {
    let told = || {
        let told = one_line(failure.what.trim().trim_end_matches('.'), TITLE);
        match told.is_empty() {
            true => failure.kind.root_cause.replace('_', " "),
            false => told,
        }
    };
    match failure.kind.root_cause.as_str() {
        // The rule knows how much the program says of a server without a name.
        "connection_refused" | "connection_reset" | "network_timeout" | "network_dns"
            if subjects.is_empty() =>
        {
            told()
        }
        "connection_refused" if is_only_out_of_reach(failure) => {
            format!("{} can't be reached", server(subjects))
        }
        "connection_refused" => format!("{} refused connections", server(subjects)),
        "connection_reset" => format!("{} closed connections", server(subjects)),
        "network_timeout" => format!("{} did not answer in time", server(subjects)),
        "network_dns" => match subjects {
            [one] => format!("the name {} can't be resolved", host(one)),
            several => {
                let mut names: Vec<String> = several.iter().map(|s| host(s).to_owned()).collect();
                names.dedup();
                format!("the names {} can't be resolved", list(&names))
            }
        },
        "upstream_error" if !subjects.is_empty() => {
            format!("{} answered with errors of its own", server(subjects))
        }
        // The rule says the same of all of them; the report says which.
        "assertion_mismatch" | "snapshot_mismatch" | "mock_expectation" | "expected_error"
        | "code_exception" | "internal_error" => {
            let evidence = failure.evidence.map(|(_, text)| text);
            // Some writers put the whole output into the message.
            let telling = |text: &&str| {
                !is_constant(text) && !is_name(text, failure.name) && text.len() <= TITLE
            };
            // The evidence may be the message with the values that it compares,
            // and of a panic has the thread in front of it.
            let fuller = |text: &&str| {
                let is_panic = text.starts_with("thread '") && text.contains(" panicked at ");
                !is_panic
                    && failure.message.is_none_or(|message| {
                        text.contains(one_line(message.trim(), TITLE).as_str())
                    })
            };
            let message = failure.message.filter(telling);
            let message = evidence.filter(fuller).or(message).or(evidence);
            match message.or(failure.message) {
                Some(text) if !text.trim().is_empty() => one_line(text, TITLE),
                Some(_) | None => told(),
            }
        }
        "disk_full" => "the disk is full".to_owned(),
        "unknown" => match failure.message {
            Some(message) if !message.is_empty() => one_line(message, TITLE),
            Some(_) | None => "no known cause, and the report says nothing of it".to_owned(),
        },
        _ => told(),
    }
}

/// What a writer says of every failure says nothing of this one.
fn is_constant(message: &str) -> bool {
    let bare = message
        .trim()
        .trim_end_matches(['.', '!', ':'])
        .to_ascii_lowercase();
    matches!(
        bare.as_str(),
        "" | "failed" | "failure" | "fail" | "error" | "test failed" | "assertion failed" | "null"
    )
}

/// Whether a message tells which test failed and nothing else: `failed cart::tests::total`.
fn is_name(message: &str, name: &str) -> bool {
    let told = message.trim().strip_prefix("failed ");
    told.is_some_and(|told| !told.contains(' ') && told.ends_with(name))
}

fn host(subject: &str) -> &str {
    subject.rsplit_once(':').map_or(subject, |(host, _)| host)
}

/// The servers behind addresses. A port says what usually listens there.
fn server(subjects: &[String]) -> String {
    match subjects {
        [one] => format!("the {} at {one}", noun_of(one)),
        several => format!("the servers at {}", list(several)),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
