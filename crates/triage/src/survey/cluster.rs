//! Failures → causes with their victims.
//!
//! One cause has many looks: equal failures share a fingerprint, clients of
//! one dead server complain each in its own words, and a test whose part or
//! set-up failed fails without a reason of its own.

use super::addresses::Addresses;
use super::ailing::got;
use super::apart::answers_apart;
use super::blocks::join_blocks;
use super::clients::client;
use super::contexts::victims_of_contexts;
use super::function_notes::{begins_with_function, noted_function, without_codes};
use super::group::{Group, SERVERS, merge, subjects};
use super::mentions::Mentions;
use super::outages::join_outages;
use super::panics::file_of_panic;
use super::parametrized::one_line_each;
use super::queries::without_query;
use super::same_line::same_lines;
use super::same_member::join_members;
use super::same_sign::{join_signs, join_told};
use super::stages::join_stages;
use super::stragglers::join_stragglers;
use super::subject::same;
use super::suites_off::join_suites;
use super::titles::suite_of;
use super::victims::{join_folders, join_lacking, join_missing, take_victims};
use super::words;
use crate::engine::skeleton;
use foldhash::quality::RandomState;
use jelly_base::model::{
    Cluster, Evidence, FailureStatus, FailureView, Failures, KnownAdvice, Side, compares,
    reported_by_cause,
};
use jelly_base::model::{Outage, outage};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A failure, by its place, that is a consequence of what is not the code's.
pub(super) struct Consequence {
    pub failure: usize,
    /// The cause may pass by itself, and the failure with it.
    pub is_retryable: bool,
}

/// A name with more parts than this is data.
const PARTS: usize = 16;

/// The causes by number of victims, most first; those that only flaky tests
/// have come last; and those that failed as a consequence of what is not the code's,
/// who are not held against it. `failed_at` tells by fingerprint the line where its
/// first victim failed, and `mentions` by report what else its failures tell of causes.
#[must_use]
pub(super) fn clusters(
    failures: &Failures,
    failed_at: &HashMap<String, String>,
    mentions: &HashMap<String, Mentions>,
) -> (Vec<Cluster>, Vec<Consequence>) {
    let views: Vec<FailureView<'_>> = failures.iter().collect();
    let addresses = Addresses::told_by(&views, mentions);
    let (labelled, others): (Vec<usize>, Vec<usize>) = (0..views.len()).partition(|at| {
        let told = mentions.get(views[*at].report);
        told.is_some_and(|told| told.is_labelled(&views[*at]))
    });
    let mut groups = group(&views, &others, &addresses, mentions);
    let mut followers = followers(&views);
    if !labelled.is_empty() {
        let is_other = |at: &usize| others.binary_search(at).is_ok();
        followers.retain(|follower, cause| is_other(follower) && is_other(cause));
    }
    adopt(&mut groups, &followers);
    join_alike(&views, &mut groups, &addresses, mentions);
    join_stages(&views, &mut groups, &addresses);
    join_by_line(&views, &mut groups, failed_at, &addresses, mentions);
    join_outages(&views, &mut groups, &addresses, mentions);
    join_lacking(&views, &mut groups);
    join_folders(&views, &mut groups);
    join_missing(&views, &mut groups, mentions);
    join_members(&views, &mut groups, mentions);
    join_signs(&views, &mut groups, mentions);
    take_victims(&views, &mut groups, mentions, &addresses, failed_at);
    join_told(&views, &mut groups, mentions);
    join_suites(&views, &mut groups, mentions);
    join_blocks(&views, &mut groups, mentions);
    join_stragglers(&views, &mut groups, mentions);
    groups.extend(
        reported_by_cause(&views, &labelled)
            .into_iter()
            .map(|victims| Group {
                fingerprints: fingerprints_of(&views, &victims),
                victims,
                ..Group::default()
            }),
    );
    // There may be as many causes as failures, and both take their room.
    drop(views);
    groups.retain(|group| !group.victims.is_empty());
    let mut clusters: Vec<Cluster> = Vec::with_capacity(groups.len());
    let mut advice = KnownAdvice::default();
    let mut consequences = Vec::new();
    for group in groups {
        let followers = group.followers.clone();
        let Some(cluster) = cluster(failures, group, &addresses, &mut advice) else {
            continue;
        };
        if cluster.side == Side::Test && !cluster.ambiguous {
            let is_retryable = cluster.retryable == Some(true);
            consequences.extend(followers.into_iter().map(|failure| Consequence {
                failure,
                is_retryable,
            }));
        }
        clusters.push(cluster);
    }
    // No two of them have a victim in common, so none are equal.
    clusters.sort_unstable_by(|a, b| {
        let flaky_only = |cluster: &Cluster| cluster.flaky == cluster.count;
        flaky_only(a)
            .cmp(&flaky_only(b))
            .then_with(|| b.count.cmp(&a.count))
            .then_with(|| a.victims.first().cmp(&b.victims.first()))
    });
    (clusters, consequences)
}

/// The fingerprints of these failures, each once.
fn fingerprints_of(views: &[FailureView<'_>], victims: &[usize]) -> Vec<String> {
    let all: BTreeSet<&str> = victims.iter().map(|at| views[*at].fingerprint).collect();
    all.into_iter().map(str::to_owned).collect()
}

fn group(
    views: &[FailureView<'_>],
    those: &[usize],
    addresses: &Addresses,
    mentions: &HashMap<String, Mentions>,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let hosts = hosts_apart(views, addresses);
    let answers = answers_apart(views, mentions);
    let named = suites_of_outages(views, addresses);
    type Apart<'v> = (&'v str, Option<usize>, Option<usize>, Option<Cow<'v, str>>);
    let mut places: HashMap<Apart<'_>, usize, RandomState> = HashMap::default();
    for (index, view) in those.iter().map(|at| (*at, &views[*at])) {
        let (host, answer) = (hosts.get(&index), answers.get(&index));
        let panic = file_of_panic(view).map(Cow::Borrowed);
        let file = panic.or_else(|| {
            let asked = asked_from(index, view, addresses, mentions, &named)?;
            Some(Cow::Owned(asked.to_owned()))
        });
        let key = (view.fingerprint, host.copied(), answer.copied(), file);
        let at = *places.entry(key).or_insert_with(|| {
            groups.push(Group {
                fingerprints: vec![view.fingerprint.to_owned()],
                ..Group::default()
            });
            groups.len() - 1
        });
        groups[at].victims.push(index);
    }
    groups
}

fn is_away(view: &FailureView<'_>) -> bool {
    outage(&view.kind.root_cause) == Some(Outage::Away)
}

/// Suites of which a test names a server that is away: those beside it that name none mean it.
fn suites_of_outages<'v>(
    views: &[FailureView<'v>],
    addresses: &Addresses,
) -> HashSet<(&'v str, &'v str)> {
    let all = views.iter().enumerate();
    let away = all.filter(|(at, view)| is_away(view) && addresses.of(*at, view).is_some());
    away.map(|(_, view)| (view.report, suite_of(view)))
        .collect()
}

/// From where one was asked who is away without a name: the file of the product, or the suite,
/// where another test of it names whom it asks.
fn asked_from<'v>(
    at: usize,
    view: &FailureView<'v>,
    addresses: &Addresses,
    mentions: &'v HashMap<String, Mentions>,
    named: &HashSet<(&'v str, &'v str)>,
) -> Option<&'v str> {
    if addresses.of(at, view).is_some() {
        return None;
    }
    let suite = suite_of(view);
    let is_named = || is_away(view) && named.contains(&(view.report, suite));
    client(view, mentions).or_else(|| is_named().then_some(suite))
}

/// Addresses of containers are chance from run to run, so fingerprints leave them
/// out; of one run, two of them are two servers. By place, the host of a failure
/// that shares its fingerprint with another of another host, as a number.
fn hosts_apart(views: &[FailureView<'_>], addresses: &Addresses) -> HashMap<usize, usize> {
    let mut named: HashMap<&str, Vec<(usize, String)>> = HashMap::new();
    for (index, view) in views.iter().enumerate() {
        if let Some(host) = addresses.apart(index, view) {
            named
                .entry(view.fingerprint)
                .or_default()
                .push((index, host));
        }
    }
    let mut found = HashMap::new();
    for places in named.into_values() {
        let hosts: BTreeSet<&String> = places.iter().map(|(_, host)| host).collect();
        // More of them are one service that was asked again and again.
        if (2..=SERVERS).contains(&hosts.len()) {
            let number = |host| {
                hosts
                    .iter()
                    .position(|one| *one == host)
                    .unwrap_or_default()
            };
            found.extend(places.iter().map(|(at, host)| (*at, number(host))));
        }
    }
    found
}

/// Those that fail since another does: place → place of that other.
fn followers(views: &[FailureView<'_>]) -> HashMap<usize, usize> {
    let mut followers = parents_of_failed_parts(views);
    for (follower, cause) in victims_of_set_ups(views) {
        followers.entry(follower).or_insert(cause);
    }
    for (follower, cause) in victims_of_contexts(views) {
        followers.entry(follower).or_insert(cause);
    }
    // A chain ends at its cause; no chain is longer than a name has parts.
    let ends: Vec<(usize, usize)> = followers
        .iter()
        .map(|(follower, cause)| {
            let mut end = *cause;
            for _ in 0..PARTS {
                match followers.get(&end) {
                    Some(next) if next != follower => end = *next,
                    Some(_) | None => break,
                }
            }
            (*follower, end)
        })
        .collect();
    ends.into_iter()
        .filter(|(follower, end)| follower != end)
        .collect()
}

/// `TestCart` fails when `TestCart/total` does. It has a cause of its own only
/// where it says one.
fn parents_of_failed_parts(views: &[FailureView<'_>]) -> HashMap<usize, usize> {
    let mut tests: HashMap<(&str, &str, &str, &str), usize> = HashMap::new();
    if !views.iter().any(|view| view.name.contains('/')) {
        return HashMap::new();
    }
    for (index, view) in views.iter().enumerate() {
        tests.entry(named(view, view.name)).or_insert(index);
    }
    let mut parents = HashMap::new();
    for (index, view) in views.iter().enumerate() {
        for (slash, _) in view.name.match_indices('/').take(PARTS) {
            let Some(parent) = tests.get(&named(view, &view.name[..slash])) else {
                continue;
            };
            let says_its_own =
                !says_nothing(&views[*parent]) && views[*parent].fingerprint != view.fingerprint;
            if *parent != index && !says_its_own {
                parents.entry(*parent).or_insert(index);
            }
        }
    }
    parents
}

fn named<'a>(view: &FailureView<'a>, name: &'a str) -> (&'a str, &'a str, &'a str, &'a str) {
    (view.report, view.suite, view.classname, name)
}

fn says_nothing(view: &FailureView<'_>) -> bool {
    view.kind.error_category.is_none() || view.kind.root_cause == "unknown"
}

/// Where the set-up of a suite failed, those of its tests that name no cause
/// of their own failed of it.
fn victims_of_set_ups(views: &[FailureView<'_>]) -> Vec<(usize, usize)> {
    let mut set_ups = HashMap::new();
    for (index, view) in views.iter().enumerate() {
        if is_set_up(view.name) && !says_nothing(view) {
            set_ups.entry(named(view, "")).or_insert(index);
        }
    }
    if set_ups.is_empty() {
        return Vec::new();
    }
    views
        .iter()
        .enumerate()
        // Writers that know no suites put all tests into one without a name.
        .filter(|(_, view)| !view.suite.is_empty() || !view.classname.is_empty())
        .filter(|(_, view)| says_nothing(view) || view.kind.root_cause == "fixture_error")
        .filter(|(_, view)| view.message.is_none_or(is_about_set_up))
        .filter_map(|(index, view)| Some((index, *set_ups.get(&named(view, ""))?)))
        .filter(|(index, set_up)| index != set_up)
        .collect()
}

/// Whether a failure names nothing but the set-up as its reason: what says
/// something else is no victim of it.
fn is_about_set_up(message: &str) -> bool {
    const WORDS: [&str; 9] = [
        "setup", "set-up", "set up", "hook", "before", "fixture", "initiali", "skipped", "aborted",
    ];
    let message = message.to_ascii_lowercase();
    let constant = !message.contains(' ');
    constant || WORDS.iter().any(|word| message.contains(word))
}

/// A case that stands for the set-up of others, as the frameworks name it: the
/// whole name is such a word, but for the class or the test that it is for. A
/// name is no evidence of a cause; here it only tells what the case is.
fn is_set_up(name: &str) -> bool {
    const WORDS: [&str; 14] = [
        "setup",
        "setupall",
        "beforeall",
        "beforeclass",
        "setupclass",
        "setupmodule",
        "setupbeforeclass",
        "onetimesetup",
        "classsetup",
        "suitesetup",
        "initializationerror",
        "beforesuite",
        "synchronizedbeforesuite",
        "testmain",
    ];
    let name = name.trim().to_ascii_lowercase();
    // As mocha calls it: with the function's name, and the test that it was for. A suite may
    // be about such hooks.
    if let Some((before, after)) = name.split_once("\"before all\" hook") {
        let is_called = after.is_empty()
            || [":", " for \"", " in \""]
                .iter()
                .any(|next| after.starts_with(next));
        return is_called && (before.is_empty() || before.ends_with(' '));
    }
    let bare = name.trim_start_matches(['(', '[', '"', '{', '@']);
    let end = bare.find(['(', ')', '[', ']', '"', '}']);
    let word = bare[..end.unwrap_or(bare.len())]
        .trim()
        .replace(['_', ' '], "");
    let word = word.strip_suffix("hook").unwrap_or(&word);
    name.is_empty() || WORDS.contains(&word)
}

/// Moves followers from their own groups to those of their causes.
fn adopt(groups: &mut [Group], followers: &HashMap<usize, usize>) {
    if followers.is_empty() {
        return;
    }
    let mut home: HashMap<usize, usize> = HashMap::new();
    for (at, group) in groups.iter().enumerate() {
        home.extend(group.victims.iter().map(|victim| (*victim, at)));
    }
    let mut moved: Vec<(usize, usize)> = followers
        .iter()
        .filter_map(|(follower, cause)| Some((*follower, *home.get(cause)?)))
        .collect();
    moved.sort_unstable();
    for group in groups.iter_mut() {
        group
            .victims
            .retain(|victim| !followers.contains_key(victim));
    }
    for (follower, at) in moved {
        groups[at].followers.push(follower);
    }
}

/// Groups that are compared with each other. More causes than these are not
/// made fewer by it.
const COMPARED: usize = 5000;
/// So many groups that differ only in what a test made up are one cause; fewer
/// may be as many.
const ALIKE: usize = 3;

/// Joins groups whose reports differ only in the same places, and there only in
/// numbers or in what was asked of one host.
fn join_alike(
    views: &[FailureView<'_>],
    groups: &mut [Group],
    addresses: &Addresses,
    mentions: &HashMap<String, Mentions>,
) {
    type Words<'v> = (&'v str, Option<String>, bool, String, String);
    let named = suites_of_outages(views, addresses);
    let mut alike: HashMap<Words<'_>, Vec<(usize, String)>> = HashMap::new();
    for (at, group) in groups.iter().enumerate().take(COMPARED) {
        let Some(first) = group.victims.first().copied() else {
            continue;
        };
        let view = &views[first];
        let root_cause = view.kind.root_cause.as_str();
        let Some(said) = view.message.or(view.evidence.map(|(_, text)| text)) else {
            continue;
        };
        let told = view.evidence.map_or("", |(_, text)| text.trim());
        let (whole, mut evidence) = (said, told);
        let mut said = said;
        if root_cause == "data_setup" {
            (said, evidence) = (without_query(said), without_query(evidence));
        }
        // What asks one host, and what names its function, is one from two on.
        let is_sure = said.len() < whole.len();
        // Values that are compared mean something.
        let values = compares(root_cause);
        let note = noted_function(said).filter(|_| values);
        said = note.unwrap_or(said);
        let is_sure = is_sure || note.is_some() || begins_with_function(said);
        // A host that is out of order is that for all that it is asked.
        let is_sure = is_sure || root_cause == "assertion_mismatch" && got(said).is_some();
        if !said.is_empty() && (!values || said.contains("://") || note.is_some()) {
            // A message that all failures of a writer have says nothing: what it
            // was told by does.
            let evidence = match note.is_some() || said.contains(evidence) {
                true => String::new(),
                false => skeleton(evidence),
            };
            let asked = || asked_from(first, view, addresses, mentions, &named).map(str::to_owned);
            let server = addresses.apart(first, view).or_else(asked);
            let mut skeleton = skeleton(said);
            if begins_with_function(said) {
                skeleton = without_codes(&skeleton);
            }
            let words = (root_cause, server, is_sure, skeleton, evidence);
            let whole = format!("{whole} {told}");
            alike.entry(words).or_default().push((at, whole));
        }
    }
    let mut alike: Vec<_> = alike.into_iter().collect();
    alike.sort_unstable();
    for ((root_cause, _, is_sure, ..), places) in alike {
        // A host that refuses one request for its own reasons refuses them all.
        let sure = is_sure || outage(root_cause).is_some() || root_cause == "auth_failed";
        // The same words of two functions are two causes.
        let words: BTreeSet<&String> = places.iter().map(|(_, said)| said).collect();
        let differ = root_cause != "code_exception" || words.len() == places.len();
        if let [(first, _), others @ ..] = places.as_slice()
            && (sure || places.len() >= ALIKE)
            && differ
        {
            for (other, _) in others {
                merge(groups, *first, *other);
            }
        }
    }
    for group in groups {
        group.victims.sort_unstable();
    }
}

/// Joins cases of one test that fail at one line, and failures of tests that
/// stumble over one line of the product.
fn join_by_line(
    views: &[FailureView<'_>],
    groups: &mut [Group],
    failed_at: &HashMap<String, String>,
    addresses: &Addresses,
    mentions: &HashMap<String, Mentions>,
) {
    // Of a fingerprint the line is known at which its first victim failed.
    let mut known: HashSet<&str, RandomState> = HashSet::default();
    let firsts: Vec<(usize, usize)> = groups
        .iter()
        .enumerate()
        .take(COMPARED)
        .filter_map(|(at, group)| Some((at, *group.victims.first()?)))
        .filter(|(_, first)| known.insert(views[*first].fingerprint))
        .collect();
    let of_tests = one_line_each(
        views,
        firsts.iter().copied(),
        failed_at,
        addresses,
        mentions,
    );
    let of_product = same_lines(views, firsts.into_iter(), failed_at);
    for places in of_tests.into_iter().chain(of_product) {
        for other in &places[1..] {
            merge(groups, places[0], *other);
        }
        groups[places[0]].victims.sort_unstable();
    }
}

fn cluster(
    failures: &Failures,
    mut group: Group,
    addresses: &Addresses,
    known: &mut KnownAdvice,
) -> Option<Cluster> {
    let view = |at: usize| failures.get(at);
    let status = |at: usize| view(at).map(|view| view.status);
    // The first that still fails; a group is never empty.
    let stands = |at: &&usize| status(**at) != Some(FailureStatus::Flaky);
    let first = group.victims.first()?;
    let mut told = group.lead.iter().chain(&group.victims);
    let lead = *told.find(stands).unwrap_or(first);
    let leader = view(lead)?;
    let all = subjects(&group, addresses, view);
    // `db` says nothing beside `db:5432`.
    let told: Vec<String> = all
        .iter()
        .filter(|one| {
            !all.iter()
                .any(|other| other.len() > one.len() && same(one, other))
        })
        .cloned()
        .collect();
    let about = if told.len() <= SERVERS {
        told
    } else {
        Vec::new()
    };
    let consequences = group.followers.len();
    group.victims.append(&mut group.followers);
    let flaky = group
        .victims
        .iter()
        .filter(|at| status(**at) == Some(FailureStatus::Flaky))
        .count();
    let kind = leader.kind;
    let fingerprint = leader.fingerprint.to_owned();
    group.fingerprints.retain(|other| *other != fingerprint);
    group.fingerprints.sort_unstable();
    let evidence = leader.evidence.map(|(field, text)| Evidence {
        field: field.to_owned(),
        text: text.to_owned(),
    });
    Some(Cluster {
        also: group.fingerprints,
        count: group.victims.len() as u64,
        flaky: flaky as u64,
        consequences: consequences as u64,
        root_cause: kind.root_cause.clone(),
        error_category: kind.error_category,
        side: kind.side,
        ambiguous: kind.ambiguous,
        retryable: kind.retryable,
        title: match group.suite {
            Some(suite) => words::cause_of_suite(&suite, &leader),
            None => words::cause(&leader, &about),
        },
        subject: (!about.is_empty()).then(|| words::list(&about)),
        example: leader.title(),
        evidence,
        rule: kind.rule.clone(),
        at: None,
        advice: failures.advice(lead, known).unwrap_or_default(),
        fingerprint,
        victims: group.victims,
    })
}
