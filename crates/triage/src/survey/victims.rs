//! One cause by what it is about: failures that say that the same thing is lacking, and
//! those that failed of something else and mention it.

use super::addresses::Addresses;
use super::ailing::AilingServices;
use super::elements::{container, innermost};
use super::files::Files;
use super::group::{CAUSES, Group, OF_EACH, SERVERS, merge, subjects};
use super::lacks::{Subject, SubjectKind};
use super::mentions::{Mentions, established};
use super::names::is_name;
use super::panics::EndedPackages;
use super::pools::DryPools;
use super::quoted::sentences;
use super::raised::raised_by;
use super::repeated::Sayings;
use super::replaced::messages;
use super::speakers::Speakers;
use super::subject::{host_of, same};
use super::titles::class_or_suite;
use jelly_base::model::FailureView;
use jelly_base::model::{Outage, outage};
use jelly_base::text::{THIS_MACHINE, address};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A group that names more than these is about none of them.
const ABOUT: usize = 3;

/// Joins groups that say that the same variable, module, file or the like is lacking, each
/// in its own words.
pub(super) fn join_lacking(views: &[FailureView<'_>], groups: &mut [Group]) {
    let mut causes: Vec<(usize, BTreeSet<Subject>)> = groups
        .iter()
        .enumerate()
        .take(CAUSES)
        .map(|(at, group)| (at, lacking_of(views, group)))
        .filter(|(_, about)| (1..=ABOUT).contains(&about.len()))
        .collect();
    // The one with most victims takes the others in.
    causes.sort_by_key(|(at, _)| (Reverse(groups[*at].victims.len()), *at));
    // Two servers have accounts of the same name.
    let mut servers: HashMap<usize, String> = causes
        .iter()
        .filter(|(_, about)| about.iter().any(|one| one.kind == SubjectKind::Account))
        .filter_map(|(at, _)| Some((*at, server_of(views, &groups[*at])?)))
        .collect();
    let mut homes: HashMap<Subject, usize> = HashMap::new();
    let mut files = Files::default();
    for (at, about) in causes {
        let home = about.iter().find_map(|subject| {
            let home = homes.get(subject).copied().or_else(|| files.one(subject))?;
            let is_apart = match (servers.get(&home), servers.get(&at)) {
                (Some(one), Some(other)) => !same(one, other),
                (None, _) | (_, None) => false,
            };
            (subject.kind != SubjectKind::Account || !is_apart).then_some(home)
        });
        let home = home.unwrap_or(at);
        merge(groups, home, at);
        if let Some(server) = servers.get(&at).cloned() {
            servers.entry(home).or_insert(server);
        }
        for subject in about {
            files.note(&subject, home);
            homes.entry(subject).or_insert(home);
        }
    }
    for group in groups {
        group.victims.sort_unstable();
    }
}

/// Joins groups that lack several files of one folder, which is what is not there then, or
/// that may use none of them.
pub(super) fn join_folders(views: &[FailureView<'_>], groups: &mut [Group]) {
    /// Two files may lack for reasons of their own.
    const FILES: usize = 3;
    /// Folders in which each file has an owner of its own.
    const SYSTEM: [&str; 14] = [
        "/bin",
        "/dev",
        "/etc",
        "/lib",
        "/proc",
        "/run",
        "/sbin",
        "/sys",
        "/usr/bin",
        "/usr/lib",
        "/usr/local/bin",
        "/usr/sbin",
        "/usr/share",
        "/var/run",
    ];
    /// The same of these folders alone.
    const SHARED: [&str; 6] = [
        "/opt",
        "/private/tmp",
        "/root",
        "/tmp",
        "/usr/local",
        "/var/lib",
    ];
    let mut folders: BTreeMap<(SubjectKind, &str, String), BTreeMap<String, usize>> =
        BTreeMap::new();
    // Those that are said to be missing themselves.
    let mut named: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut moved: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate().take(CAUSES) {
        let about = lacking_of(views, group);
        let is_file = |kind| matches!(kind, SubjectKind::File | SubjectKind::Denied);
        let mut files = about.iter().filter(|one| is_file(one.kind));
        if let (Some(file), None) = (files.next(), files.next())
            && let Some((folder, name)) = file.name.rsplit_once('/')
            && !folder.is_empty()
        {
            let report = group
                .victims
                .first()
                .map_or("", |first| views[*first].report);
            if file.kind == SubjectKind::File {
                let path = file.name.clone().into_string();
                named.entry((report, path)).or_insert(at);
            }
            let key = (file.kind, report, folder.to_owned());
            let files = folders.entry(key).or_default();
            files.entry(name.to_owned()).or_insert(at);
        }
    }
    for ((kind, report, folder), files) in folders {
        let is_file = kind == SubjectKind::File;
        let home = named.get(&(report, folder.clone())).filter(|_| is_file);
        if let Some(mut home) = home.copied() {
            // It may lie in one that is missing itself.
            while let Some(next) = moved.get(&home) {
                home = *next;
            }
            for at in files.into_values().filter(|at| *at != home) {
                merge(groups, home, at);
                moved.insert(at, home);
            }
            groups[home].victims.sort_unstable();
            continue;
        }
        // Who may use a folder is settled once, but for those of the system.
        let is_of_home = ["/home/", "/Users/"].iter().any(|homes| {
            let user = folder.strip_prefix(homes);
            user.is_some_and(|user| !user.contains('/'))
        });
        let is_of_system = SHARED.contains(&&*folder)
            || is_of_home
            || SYSTEM.iter().any(|known| {
                let within = folder.strip_prefix(known);
                within.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
        let least = match kind {
            SubjectKind::Denied if is_of_system => continue,
            SubjectKind::Denied => 2,
            _ => FILES,
        };
        if files.len() < least {
            continue;
        }
        let mut all = files.into_values();
        if let Some(first) = all.next() {
            for other in all {
                merge(groups, first, other);
            }
            groups[first].victims.sort_unstable();
        }
    }
}

/// The server that the first failure of a group names.
fn server_of(views: &[FailureView<'_>], group: &Group) -> Option<String> {
    let view = &views[*group.victims.first()?];
    let evidence = view.evidence.and_then(|(_, text)| address(text));
    evidence.or_else(|| view.message.and_then(address))
}

/// Joins groups whose failures did not find the same element of a page, or no field of the
/// same name, whatever each test wanted of it.
pub(super) fn join_missing(
    views: &[FailureView<'_>],
    groups: &mut [Group],
    mentions: &HashMap<String, Mentions>,
) {
    if mentions.values().all(Mentions::is_empty) {
        return;
    }
    let causes: Vec<(usize, &Subject)> = groups
        .iter()
        .enumerate()
        .take(CAUSES)
        .filter_map(|(at, group)| Some((at, missing_of(views, group, mentions)?)))
        .collect();
    let mut homes: HashMap<&Subject, usize> = HashMap::new();
    for (at, missing) in &causes {
        let home = *homes.entry(*missing).or_insert(*at);
        merge(groups, home, *at);
    }
    for (at, missing) in causes {
        let within = container(&missing.name).filter(|_| missing.kind == SubjectKind::Element);
        let within = within.map(|name| Subject::new(SubjectKind::Element, name));
        let end = innermost(&missing.name).filter(|_| missing.kind == SubjectKind::Element);
        let end = end.map(|name| Subject::new(SubjectKind::Element, name));
        let known = [within, end].into_iter().flatten();
        let home = known.filter_map(|one| homes.get(&one).copied()).next();
        if let Some(home) = home.or_else(|| labelled(&missing.name, &homes)) {
            merge(groups, home, at);
        }
    }
    for group in groups {
        group.victims.sort_unstable();
    }
}

/// The one group whose label a pattern means: `label /^zip/i`.
fn labelled(name: &str, homes: &HashMap<&Subject, usize>) -> Option<usize> {
    let (pattern, flags) = name.strip_prefix("label /")?.rsplit_once('/')?;
    let pattern = regex::RegexBuilder::new(pattern)
        .case_insensitive(flags.contains('i'))
        .size_limit(1 << 16)
        .build()
        .ok()?;
    let known = homes
        .iter()
        .filter(|(one, _)| one.kind == SubjectKind::Element);
    let meant: BTreeSet<usize> = known
        .filter_map(|(one, home)| Some((one.name.strip_prefix("label ")?, *home)))
        .filter(|(label, _)| !label.starts_with('/') && pattern.is_match(label))
        .map(|(_, home)| home)
        .collect();
    (meant.len() == 1).then(|| meant.first().copied()).flatten()
}

/// The element or the field that all failures of a group miss.
fn missing_of<'m>(
    views: &[FailureView<'_>],
    group: &Group,
    mentions: &'m HashMap<String, Mentions>,
) -> Option<&'m Subject> {
    let mut missing = None;
    for at in group.victims.iter().take(OF_EACH) {
        let view = &views[*at];
        let told = mentions.get(view.report)?.missing(view)?;
        if *missing.get_or_insert(told) != told {
            return None;
        }
    }
    missing
}

/// What a group's failures tell, those with the same texts once.
fn told_by(
    views: &[FailureView<'_>],
    group: &Group,
    tell: impl Fn(&FailureView<'_>) -> BTreeSet<Subject>,
) -> BTreeSet<Subject> {
    let mut found = BTreeSet::new();
    let mut last = None;
    for view in group.victims.iter().take(OF_EACH).map(|at| &views[*at]) {
        let texts = (view.evidence.map(|(_, text)| text), view.message);
        if last != Some(texts) {
            found.extend(tell(view));
            last = Some(texts);
        }
    }
    found
}

/// What a group's failures say is lacking.
fn lacking_of(views: &[FailureView<'_>], group: &Group) -> BTreeSet<Subject> {
    told_by(views, group, |view| {
        let evidence = view.evidence.map(|(_, text)| text);
        established(&view.kind.root_cause, evidence, view.message)
    })
}

/// What the clients of an outage say without the name of a server.
fn said_of(views: &[FailureView<'_>], group: &Group) -> BTreeSet<Subject> {
    told_by(views, group, |view| {
        let evidence = view.evidence.map(|(_, text)| text);
        let texts = [evidence, view.message].into_iter().flatten();
        let said = texts.flat_map(sentences);
        said.map(|said| Subject::new(SubjectKind::Sentence, said))
            .collect()
    })
}

/// Moves failures to the one cause whose server, variable or the like they mention, as
/// those that fail of it. Who mentions two causes stays where it is.
pub(super) fn take_victims(
    views: &[FailureView<'_>],
    groups: &mut [Group],
    mentions: &HashMap<String, Mentions>,
    addresses: &Addresses,
    failed_at: &HashMap<String, String>,
) {
    let sayings = Sayings::of(views, groups);
    let ailing = AilingServices::of(views, groups, addresses);
    if sayings.is_none() && ailing.is_empty() && mentions.values().all(Mentions::is_empty) {
        return;
    }
    let causes = Causes::of(views, groups, addresses, failed_at);
    let speakers = Speakers::of(views, groups, addresses);
    let pools = DryPools::of(views, groups, mentions, addresses);
    let ended = EndedPackages::of(views, groups);
    // By place of the failure, from where it goes to where.
    let mut meant: HashMap<usize, (usize, usize)> = HashMap::new();
    for (from, group) in groups.iter().enumerate() {
        for at in &group.victims {
            let view = &views[*at];
            let to = mentions.get(view.report).and_then(|told| {
                causes
                    .meant(view, told, addresses)
                    .or_else(|| speakers.meant(view, told))
                    .or_else(|| pools.meant(view, told, addresses))
                    .or_else(|| ended.meant(view, told))
                    .or_else(|| causes.named_by(view, told))
            });
            let told = mentions.get(view.report);
            // Who names a server of its own does not fail since another one is away.
            let is_of_other = |to: usize| {
                let about = subjects(&groups[to], addresses, |at| views.get(at).copied());
                let is_own = |own: &String| about.iter().any(|server| same(own, server));
                let own = || addresses.of(*at, view);
                !about.is_empty() && own().is_some_and(|own| !is_own(&own))
            };
            let repeats = || {
                let to = sayings.as_ref()?.meant(view, told, from);
                to.filter(|to| !is_of_other(*to))
            };
            let to = to.or_else(repeats).or_else(|| ailing.meant(view));
            if let Some(to) = to.filter(|to| *to != from) {
                meant.insert(*at, (from, to));
            }
        }
    }
    // A cause stays where it is.
    let causes: BTreeSet<usize> = meant.values().map(|(_, to)| *to).collect();
    let moved: HashMap<usize, usize> = meant
        .into_iter()
        .filter(|(_, (from, _))| !causes.contains(from))
        .map(|(at, (_, to))| (at, to))
        .collect();
    if moved.is_empty() {
        return;
    }
    let mut taken: Vec<(usize, usize)> = Vec::with_capacity(moved.len());
    for group in groups.iter_mut() {
        let first = group.victims.first().and_then(|first| moved.get(first));
        let first = first.copied();
        group.victims.retain(|at| !moved.contains_key(at));
        // Who fails since these do fails of the same.
        if let Some(to) = first
            && group.victims.is_empty()
        {
            let followers = group.followers.drain(..);
            taken.extend(followers.map(|follower| (follower, to)));
        }
    }
    taken.extend(moved);
    taken.sort_unstable();
    for (at, to) in taken {
        groups[to].followers.push(at);
    }
    for group in groups {
        group.followers.sort_unstable();
    }
}

/// The groups that establish a cause, by what it is about.
#[derive(Default)]
struct Causes {
    /// What is lacking. Of a thing that two groups name, nobody knows which is meant.
    lacking: HashMap<Subject, Option<usize>>,
    files: Files,
    /// Servers that are away, by their hosts.
    away: HashMap<String, Vec<(String, usize)>>,
    /// Servers that answer with errors of their own, or refuse, by their hosts.
    ailing: HashMap<String, Vec<(String, usize)>>,
    /// The outage that names nobody, where it is the only one.
    nameless: Option<usize>,
    /// What is lacking, by a name that is no word, with whatever is lacking of it.
    named: HashMap<Box<str>, Option<usize>>,
    /// Servers that are away, by what clients in tests of a suite said of them.
    worded: HashMap<ClientWords, Option<usize>>,
}

/// What a client said whose server is away, and in which suite.
#[derive(PartialEq, Eq, Hash)]
struct ClientWords {
    report: String,
    suite: String,
    message: String,
}

impl ClientWords {
    fn of(view: &FailureView<'_>, message: &str) -> Self {
        Self {
            report: view.report.to_owned(),
            suite: class_or_suite(view.classname, view.suite).to_owned(),
            message: message.trim().to_owned(),
        }
    }
}

impl Causes {
    fn of(
        views: &[FailureView<'_>],
        groups: &[Group],
        addresses: &Addresses,
        failed_at: &HashMap<String, String>,
    ) -> Self {
        let mut causes = Self::default();
        let (mut outages, mut nameless) = (0, None);
        for (at, group) in groups.iter().enumerate().take(CAUSES) {
            let Some(first) = group.victims.first() else {
                continue;
            };
            let mut told = lacking_of(views, group);
            told.extend(raised_by(&views[*first], failed_at));
            let root_cause = views[*first].kind.root_cause.as_str();
            let is_away = outage(root_cause) == Some(Outage::Away);
            if is_away || ["auth_failed", "tls_error", "upstream_error"].contains(&root_cause) {
                let servers = subjects(group, addresses, |at| views.get(at).copied());
                if is_away {
                    outages += 1;
                    nameless = servers.is_empty().then_some(at);
                }
                // More of them are ports that change from run to run.
                if servers.len() <= SERVERS {
                    for server in servers {
                        let (host, _) = host_of(&server);
                        let of_kind = match is_away {
                            true => &mut causes.away,
                            false => &mut causes.ailing,
                        };
                        let known = of_kind.entry(host.to_owned()).or_default();
                        known.push((server, at));
                    }
                }
                if is_away {
                    told.extend(said_of(views, group));
                    let victims = group.victims.iter().take(OF_EACH).map(|at| &views[*at]);
                    for view in victims {
                        let Some(message) = view.message else {
                            continue;
                        };
                        let words = ClientWords::of(view, message);
                        let known = causes.worded.entry(words).or_insert(Some(at));
                        *known = known.filter(|known| *known == at);
                    }
                }
            }
            for subject in told {
                if is_name(&subject.name) && subject.kind != SubjectKind::Raised {
                    let known = causes.named.entry(subject.name.clone());
                    let known = known.or_insert(Some(at));
                    if *known != Some(at) {
                        *known = None;
                    }
                }
                causes.files.note(&subject, at);
                let file = subject.name.rsplit('/').next().unwrap_or_default();
                if subject.kind == SubjectKind::File
                    && is_name(file)
                    && file.len() < subject.name.len()
                {
                    let known = causes.named.entry(file.into()).or_insert(Some(at));
                    if *known != Some(at) {
                        *known = None;
                    }
                }
                let known = causes.lacking.entry(subject).or_insert(Some(at));
                if *known != Some(at) {
                    *known = None;
                }
            }
        }
        causes.nameless = nameless.filter(|_| outages == 1);
        causes
    }

    /// The one cause about a thing that a failure says the name of.
    fn named_by(&self, view: &FailureView<'_>, mentions: &Mentions) -> Option<usize> {
        let names = mentions
            .of(view)
            .filter(|one| one.kind == SubjectKind::Name);
        let meant: BTreeSet<usize> = names
            .filter_map(|one| self.named.get(&one.name).copied().flatten())
            .collect();
        match meant.len() {
            1 => meant.first().copied(),
            _ => None,
        }
    }

    /// The one cause that a failure's mentions mean.
    fn meant(
        &self,
        view: &FailureView<'_>,
        mentions: &Mentions,
        addresses: &Addresses,
    ) -> Option<usize> {
        let (mut meant, mut said) = (BTreeSet::new(), BTreeSet::new());
        let mut ails = BTreeSet::new();
        for subject in mentions.of(view) {
            if subject.kind == SubjectKind::Server {
                let server = addresses.named(view.report, &subject.name);
                let (host, _) = host_of(&server);
                let is_meant = |(known, _): &&(String, usize)| same(known, &server);
                let known = self.away.get(host).into_iter().flatten();
                meant.extend(known.filter(is_meant).map(|(_, at)| *at));
                let known = self.ailing.get(host).into_iter().flatten();
                ails.extend(known.filter(is_meant).map(|(_, at)| *at));
            } else if subject.kind == SubjectKind::Sentence {
                said.extend(self.lacking.get(subject).copied().flatten());
            } else if let Some(known) = self.lacking.get(subject) {
                meant.insert((*known)?);
            } else {
                meant.extend(self.files.one(subject));
            }
        }
        // Whoever is away is the only one who is.
        let nameless = self.nameless.filter(|_| {
            mentions.of(view).any(|one| match one.kind {
                SubjectKind::Unreached => true,
                // Who answered is not away.
                SubjectKind::Server => {
                    outage(&view.kind.root_cause).is_none() && host_of(&one.name).0 == THIS_MACHINE
                }
                _ => false,
            })
        });
        let is_unreached = |one: &Subject| one.kind == SubjectKind::Unreached;
        let worded = || {
            let (_, came) = messages(view.message?)?;
            *self.worded.get(&ClientWords::of(view, &came))?
        };
        let worded = match mentions.of(view).any(is_unreached) {
            true => worded(),
            false => None,
        };
        // A sentence tells less than a name.
        let worded = worded.or(nameless);
        for less in [said, ails, worded.into_iter().collect()] {
            if meant.is_empty() {
                meant = less;
            }
        }
        match meant.len() {
            1 => meant.first().copied(),
            _ => None,
        }
    }
}
