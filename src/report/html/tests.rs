//! What holds of every page, whatever stands in it.

use super::{PageLinks, TestEnd, run_html};
use crate::report::json::Results;
use crate::report::samples;
use crate::report::triage::{samples as triaged, triage_html};
use jelly_base::model::{
    Assertion, Evidence, ExitCode, FailureReport, RequestFacts, RunReport, TriageReport,
};
use jelly_base::text::{Notation, disarmed};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const MIB: usize = 1 << 20;

fn links() -> PageLinks {
    PageLinks::new(Path::new("/w"), Path::new("out/report.html"))
}

fn of_runs(plans: &[RunReport]) -> String {
    let exit_code = plans.first().map_or(0, |plan| plan.exit_code);
    let results = Results::new("r1", ExitCode::of(exit_code).unwrap(), plans);
    String::from_utf8(run_html(&results, &links(), &|_, _, _| Vec::new())).unwrap()
}

fn of_run(report: &RunReport) -> String {
    of_runs(std::slice::from_ref(report))
}

fn of_triage(report: &TriageReport) -> String {
    let past = |_: &str, _: &str, name: &str| match name {
        "sometimes" => vec![TestEnd::Passed, TestEnd::Failed],
        _ => Vec::new(),
    };
    String::from_utf8(triage_html(report, &links(), &past)).unwrap()
}

fn all() -> Vec<String> {
    let mut pages: Vec<String> = samples::all().iter().map(of_run).collect();
    pages.push(of_runs(&samples::all()));
    pages.push(of_triage(&triaged::outage()));
    pages.push(of_triage(&triaged::unreadable()));
    pages
}

/// An element as it begins.
#[derive(Debug)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
}

impl Element {
    fn value(&self, name: &str) -> Option<&str> {
        let mut all = self.attributes.iter();
        all.find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// All elements in order; whatever is begun must be ended, in order too.
fn elements(page: &str) -> Vec<Element> {
    const VOID: [&str; 3] = ["meta", "input", "br"];
    let mut found = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "a bare > in {:?}", &rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.find('>').unwrap();
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let is_closed = tag.ends_with('/');
        let (name, mut written) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut attributes = Vec::new();
        written = written.trim_end_matches('/');
        while let Some(at) = written.find(['=', ' ']) {
            let key = written[..at].to_owned();
            if written.as_bytes()[at] == b' ' {
                attributes.push((key, String::new()));
                written = &written[at + 1..];
                continue;
            }
            let value = written[at + 1..].strip_prefix('"').unwrap();
            let (value, after) = value.split_once('"').unwrap();
            attributes.push((key, value.to_owned()));
            written = after.trim_start();
        }
        if !written.is_empty() {
            attributes.push((written.to_owned(), String::new()));
        }
        let name = name.to_owned();
        if name == "style" || name == "script" {
            let end = rest.find(&format!("</{name}>")).unwrap();
            rest = &rest[end..];
        }
        if !is_closed && !VOID.contains(&name.as_str()) {
            open.push(name.clone());
        }
        found.push(Element { name, attributes });
    }
    assert_eq!(open, [""; 0]);
    found
}

fn count(page: &str, name: &str) -> usize {
    elements(page).iter().filter(|e| e.name == name).count()
}

/// Those with the class `failure`.
fn failures(page: &str) -> usize {
    let all = elements(page);
    all.iter()
        .filter(|e| e.value("class") == Some("failure"))
        .count()
}

/// The contents of the only element of this name.
fn inside<'p>(page: &'p str, name: &str) -> &'p str {
    let (_, after) = page.split_once(&format!("<{name}>")).unwrap();
    after.split_once(&format!("</{name}>")).unwrap().0
}

#[test]
fn a_page_is_well_formed_and_asks_for_nothing() {
    for page in all() {
        let all = elements(&page);
        let mut ids: Vec<&str> = all.iter().filter_map(|e| e.value("id")).collect();
        for element in &all {
            assert!(
                !["img", "link", "iframe", "object", "form", "base"]
                    .contains(&element.name.as_str()),
                "{element:?}"
            );
            for (name, _) in &element.attributes {
                assert!(
                    !name.starts_with("on") && name != "style" && name != "src",
                    "{element:?}"
                );
            }
            if let Some(address) = element.value("href") {
                let place = address.strip_prefix('#');
                let is_there = place.is_some_and(|place| ids.contains(&place));
                let is_beside = address.starts_with("./");
                assert!(
                    is_there || is_beside || address.starts_with("https://"),
                    "{address}"
                );
            }
        }
        let many = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), many, "an id stands twice");
    }
}

#[test]
fn headings_and_landmarks_are_in_order() {
    for page in all() {
        let mut level = 0;
        for element in elements(&page) {
            if let [b'h', digit @ b'1'..=b'6'] = element.name.as_bytes() {
                let own = digit - b'0';
                assert!(own <= level + 1, "h{own} follows h{level}");
                level = own;
            }
        }
        assert_eq!((count(&page, "h1"), count(&page, "main")), (1, 1));
        let tables = elements(&page);
        let tables = tables.iter().filter(|e| e.name == "table").count();
        assert_eq!(count(&page, "caption"), tables);
        assert!(count(&page, "th") >= tables);
    }
}

#[test]
fn script_and_style_are_those_that_the_policy_names() {
    use base64::Engine as _;
    use sha2::{Digest, Sha256};
    for page in all() {
        // What keeps consoles from obeying is done to the page as it is written.
        let page = disarmed(&page, Notation::Xml);
        let all = elements(&page);
        let policy = all
            .iter()
            .find(|e| e.value("http-equiv").is_some())
            .unwrap();
        let policy = policy.value("content").unwrap();
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        for name in ["style", "script"] {
            let hash = Sha256::digest(inside(&page, name).as_bytes());
            let hash = base64::engine::general_purpose::STANDARD.encode(hash);
            assert!(
                policy.contains(&format!("{name}-src 'sha256-{hash}'")),
                "{policy}"
            );
        }
    }
}

#[test]
fn hostile_words_are_words_wherever_they_stand() {
    let long = "x".repeat(8 << 10);
    let hostile = format!(
        "</script></pre></details><script>alert(1)</script><img src=x onerror=\"alert(1)\"> ]]> \
         --> ' \u{202e}\u{2066} \u{1b}[31m \u{1b}]8;;http://x\u{7} \u{0} &lt; {long}"
    );
    let check = |page: &str| {
        assert!(page.len() < 5 * MIB, "{}", page.len());
        assert_eq!((count(page, "script"), count(page, "img")), (1, 0));
        for unseen in [
            "\u{202e}", "\u{2066}", "\u{1b}", "\u{0}", "]]>", "-->", "<img",
        ] {
            assert!(!page.contains(unseen), "{unseen:?}");
        }
        assert!(page.contains("]]&gt;") && page.contains("&lt;U+202E&gt;"));
    };
    for report in samples::all() {
        let mut value = serde_json::to_value(&report).unwrap();
        spoil::<RunReport>(&mut value, &hostile);
        let report: RunReport = serde_json::from_value(value).unwrap();
        check(&of_run(&report));
    }
    let mut value = serde_json::to_value(triaged::outage()).unwrap();
    spoil::<TriageReport>(&mut value, &hostile);
    check(&of_triage(&serde_json::from_value(value).unwrap()));
}

#[test]
fn a_line_of_a_mebibyte_is_cut_wherever_it_stands() {
    let long = "x".repeat(MIB);
    let mut report = samples::code_failure();
    for failure in report.iterations.iter_mut().flat_map(|i| &mut i.failures) {
        failure.message.clone_from(&long);
        failure.stderr_tail = format!("{long}\n");
        failure.diagnosis.evidence = Some(Evidence {
            field: long.clone(),
            text: long.clone(),
        });
        failure.diagnosis.advice.what.clone_from(&long);
        failure.request = Some(RequestFacts {
            method: long.clone(),
            params: Some(json!({ "a": long })),
            ..RequestFacts::default()
        });
        failure.assertion = Some(Assertion {
            kind: "equals".into(),
            expected: json!(long),
            actual: json!(format!("{long}y")),
            ..Assertion::default()
        });
    }
    report.plan.name.clone_from(&long);
    report.report_dir = Some(long);
    let page = of_run(&report);
    assert!(page.len() < 300 << 10, "{}", page.len());
}

/// Puts a text in the place of every other that may be any.
fn spoil<T: serde::de::DeserializeOwned>(whole: &mut Value, hostile: &str) {
    let mut pointers = Vec::new();
    pointers_of(whole, String::new(), &mut pointers);
    let mut spoilt = Vec::new();
    for pointer in pointers {
        let place = whole.pointer_mut(&pointer).unwrap();
        // Short at first: for one of a closed list, no text will do.
        let before = std::mem::replace(place, Value::from("<>"));
        if T::deserialize(&*whole).is_ok() {
            spoilt.push(pointer);
        } else {
            *whole.pointer_mut(&pointer).unwrap() = before;
        }
    }
    assert!(spoilt.len() > 10);
    for pointer in spoilt {
        *whole.pointer_mut(&pointer).unwrap() = Value::from(hostile);
    }
}

/// To all texts.
fn pointers_of(value: &Value, here: String, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(here),
        Value::Array(all) => {
            for (at, one) in all.iter().enumerate() {
                pointers_of(one, format!("{here}/{at}"), found);
            }
        }
        Value::Object(all) => {
            for (key, one) in all {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers_of(one, format!("{here}/{key}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn a_page_shows_what_the_results_hold() {
    for report in samples::all() {
        let page = of_run(&report);
        let all = report.iterations.iter().map(|i| i.failures.len());
        assert_eq!(failures(&page), all.sum::<usize>());
        if let Some(last) = report.iterations.last() {
            let totals = format!("{} step", last.totals.total);
            assert!(page.contains(&totals), "{totals}");
        }
        for failure in report.iterations.iter().flat_map(|i| &i.failures) {
            for fact in [
                &failure.diagnosis.root_cause,
                &failure.diagnosis.fingerprint,
            ] {
                assert!(page.contains(fact.as_str()), "{fact}");
            }
        }
        assert!(
            page.contains(&format!("exit code <b>{}</b>", report.exit_code)),
            "{page}"
        );
    }
    let report = triaged::outage();
    let page = of_triage(&report);
    assert_eq!(failures(&page), report.failures.len());
    for cluster in &report.clusters {
        assert!(
            page.contains(&cluster.fingerprint),
            "{}",
            cluster.fingerprint
        );
    }
    assert!(
        page.contains("12 tests: 4 passed, 6 failed, 1 flaky, 1 skipped"),
        "{page}"
    );
}

#[test]
fn what_to_do_comes_first() {
    let page = of_run(&samples::dead_server());
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(at("needs your help") < at("mkdir -p /srv/data"));
    assert!(at("mkdir -p /srv/data") < at("id=\"causes\""));
    assert!(at("id=\"causes\"") < at("id=\"failures\""));
    assert!(
        page.contains("href=\"./../reports/20261122-015825-a1b2/results.json\""),
        "{page}"
    );
    let page = of_run(&samples::repaired());
    assert!(
        page.contains("<code>jelly apply reports/20261122-015825-a1b2</code>"),
        "{page}"
    );
    let mut from_stdin = samples::repaired();
    from_stdin.plan.path = "-".to_owned();
    let page = of_run(&from_stdin);
    assert!(!page.contains("jelly apply"), "{page}");
    assert!(page.contains("The plan came from stdin"), "{page}");
}

/// A failure for each of so many steps, each with its own words.
fn many(failures: usize, padding: usize) -> RunReport {
    let mut report = samples::code_failure();
    report.iterations.remove(0);
    let last = report.iterations.last_mut().unwrap();
    let one = last.failures[0].clone();
    last.failures = (0..failures)
        .map(|n| FailureReport {
            step: Some(format!("step-{n}")),
            message: format!("expected value {n}, got none {}", "m".repeat(padding)),
            stderr_tail: format!("request {n}\n{}", "log\n".repeat(padding)),
            assertion: Some(Assertion {
                kind: "equals".into(),
                expected: json!(format!("value {n}")),
                actual: json!("none"),
                ..Assertion::default()
            }),
            diagnosis: jelly_base::model::Diagnosis {
                evidence: Some(Evidence {
                    field: "assertion.actual".into(),
                    text: format!("evidence-{n}."),
                }),
                fingerprint: format!("j2:{n:016x}"),
                test_fingerprint: format!("j2:t{n:015x}"),
                ..one.diagnosis.clone()
            },
            ..one.clone()
        })
        .collect();
    report
}

#[test]
fn a_page_of_thousands_has_each_evidence_and_a_bound() {
    let report = many(3000, 500);
    let page = of_run(&report);
    assert!(page.len() < 5 * MIB, "{}", page.len());
    // What a browser takes its time for.
    let all = elements(&page).len();
    assert!(all < 50_000, "{all} elements");
    assert_eq!(failures(&page), 3000);
    let told: BTreeSet<&str> = page
        .split("evidence-")
        .skip(1)
        .map(|rest| rest.split('.').next().unwrap())
        .collect();
    assert_eq!(told.len(), 3000);
    let mut larger = many(8_000, 500);
    larger.help_summary = Some(jelly_base::model::HelpSummary {
        title: "much failed".into(),
        problems: vec![jelly_base::model::HelpProblem {
            next: vec!["$ jelly run plan.yaml --only a-step".into(); 40_000],
            ..Default::default()
        }],
    });
    let page = of_run(&larger);
    assert!(page.contains("And 39980 more, in results.json."));
    let help = larger.help_summary.as_mut().unwrap();
    help.problems[0].next.truncate(2);
    help.problems = vec![help.problems[0].clone(); 3000];
    let page = of_run(&larger);
    assert!(page.contains("And 2980 more problems"));
    assert!(page.len() < 5 * MIB, "{}", page.len());
    let (_, more) = page.split_once("<p class=\"left-out\">And ").unwrap();
    let more: usize = more.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(failures(&page) + more, 8_000);
    let page = of_triage(&triaged::many());
    assert!(page.len() < 5 * MIB, "{}", page.len());
    assert!(failures(&page) >= 3000);
    // Several plans share what there is.
    let page = of_runs(&[report.clone(), report]);
    assert!(page.len() < 5 * MIB, "{}", page.len());
}

#[test]
fn a_page_that_is_usual_is_below_a_mebibyte() {
    for page in all() {
        assert!(page.len() < MIB, "{}", page.len());
    }
    assert!(of_run(&many(200, 100)).len() < MIB);
}

#[test]
fn what_two_failures_share_is_told_once() {
    let mut report = many(2, 0);
    let last = report.iterations.last_mut().unwrap();
    for failure in &mut last.failures {
        failure.stderr_tail = "the same long line of a log that both of them show ".repeat(4);
    }
    let page = of_run(&report);
    assert_eq!(page.matches("the same long line").count(), 4);
    assert!(page.contains("that of another failure"), "{page}");
}

/// Relative luminance and contrast, as WCAG 2.2 defines them.
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |color: &str| {
        let channel = |at: usize| {
            let value = u8::from_str_radix(&color[at..at + 2], 16).unwrap();
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn every_text_can_be_read_in_light_in_dark_and_on_paper() {
    let style = include_str!("style.css");
    let palettes: Vec<BTreeMap<&str, &str>> = style
        .split(":root {")
        .skip(1)
        .map(|block| {
            let block = block.split('}').next().unwrap();
            let pairs = block.split(';').filter_map(|pair| pair.split_once(": "));
            pairs
                .map(|(name, value)| (name.trim(), value.trim()))
                .filter(|(name, _)| name.starts_with("--"))
                .collect()
        })
        .collect();
    assert_eq!(palettes.len(), 3);
    for palette in &palettes {
        let least = |fg: &str, bg: &str, wanted: f64| {
            let found = contrast(palette[fg], palette[bg]);
            assert!(found >= wanted, "{fg} on {bg}: {found:.2}");
        };
        for fg in ["--fg", "--soft", "--link"] {
            for bg in ["--bg", "--card"] {
                least(fg, bg, 4.5);
            }
        }
        for kind in ["good", "bad", "warn", "test"] {
            least(&format!("--{kind}-fg"), &format!("--{kind}-bg"), 4.5);
        }
        least("--bad-fg", "--mark-old", 4.5);
        least("--good-fg", "--mark-new", 4.5);
        for bar in ["--good", "--bad", "--warn", "--none"] {
            least(bar, "--card", 3.0);
        }
    }
}

#[test]
fn what_people_read_of_a_run_and_of_a_triage() {
    let body = |page: &str| {
        let body = page.split_once("<body>").unwrap().1;
        let body = body.split_once("<script>").unwrap().0;
        // A tag a line, so that a change is a line.
        body.replace("><", ">\n<")
    };
    insta::assert_snapshot!("html_repaired", body(&of_run(&samples::repaired())));
    insta::assert_snapshot!("html_triage", body(&of_triage(&triaged::outage())));
}
