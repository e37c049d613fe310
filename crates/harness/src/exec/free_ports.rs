//! Ports for servers and services that ask for one with `${port}`.

use jelly_base::model::FIRST_CHOSEN_PORT;
use jelly_plan::Plan;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::ops::Range;

/// The first port that systems hand out by themselves where they don't say it
/// (RFC 6335, section 6: dynamic ports).
const DYNAMIC: u16 = 49_152;

/// How many ports are tried for one server: of these first, and then of any.
const TRIES: usize = 16;

/// A free port for every server that asks for one, and another than the one that
/// was `taken` for it before.
///
/// A port is free when it is chosen, and is not held until the server takes it.
/// So it is none of those that the system hands out to whoever asks for any: a
/// stranger that got it in between would be taken for the server.
#[must_use]
pub fn choose_ports(plan: &Plan, taken: &BTreeMap<String, u16>) -> BTreeMap<String, u16> {
    let range = quiet_ports();
    // Held until all are chosen, so that no two are the same.
    let mut held = Vec::new();
    let mut ports = BTreeMap::new();
    for server in plan.ports() {
        for attempt in 0..2 * TRIES {
            let quiet = range.clone().filter(|_| attempt < TRIES);
            // Any that the system gives is better than none.
            let wanted = quiet.map_or(0, fastrand::u16);
            let Some((listener, port)) = listener(wanted) else {
                continue;
            };
            held.push(listener);
            if taken.get(&server) != Some(&port) {
                ports.insert(server, port);
                break;
            }
        }
    }
    ports
}

fn listener(wanted: u16) -> Option<(TcpListener, u16)> {
    let listener = TcpListener::bind(("127.0.0.1", wanted)).ok()?;
    let port = listener.local_addr().ok()?.port();
    Some((listener, port))
}

/// The ports that nobody gets who does not ask for them by number; none where the
/// system hands out nearly all.
fn quiet_ports() -> Option<Range<u16>> {
    let told = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    quiet_below(first_handed_out(told.ok().as_deref()))
}

fn first_handed_out(told: Option<&str>) -> u16 {
    let first = told.and_then(|told| told.split_ascii_whitespace().next()?.parse().ok());
    first.unwrap_or(DYNAMIC)
}

fn quiet_below(end: u16) -> Option<Range<u16>> {
    let range = FIRST_CHOSEN_PORT..end;
    (range.len() >= 1_000).then_some(range)
}

#[cfg(test)]
mod tests {
    use super::{choose_ports, first_handed_out, quiet_below, quiet_ports};
    use jelly_plan::{PlanSource, load};
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn the_range_ends_where_the_system_begins() {
        assert_eq!(first_handed_out(Some("32768\t60999\n")), 32_768);
        assert_eq!(first_handed_out(Some("nonsense")), 49_152);
        assert_eq!(first_handed_out(None), 49_152);
        assert_eq!(quiet_below(32_768), Some(20_000..32_768));
        for end in [1_024, 20_000, 20_500] {
            assert_eq!(quiet_below(end), None);
        }
    }

    #[test]
    fn no_port_is_one_that_the_system_gives_to_others() {
        let servers: String = (0..20)
            .map(|at| format!("  s{at}: {{ command: x, args: [\"${{port}}\"] }}\n"))
            .collect();
        let text =
            format!("version: 1\nservers:\n{servers}steps: [{{ id: a, server: s0, tool: t }}]\n");
        let source = PlanSource {
            path: "plan.yaml".into(),
            text: text.into(),
            variant: None,
        };
        let plan = load(source).unwrap_or_else(|error| panic!("{error}"));
        let first = choose_ports(&plan, &BTreeMap::new());
        let again = choose_ports(&plan, &first);
        assert_eq!(first.values().collect::<BTreeSet<_>>().len(), 20);
        let quiet = quiet_ports().unwrap_or(1..u16::MAX);
        for (server, port) in &again {
            assert_ne!(first[server], *port);
            assert!(quiet.contains(port), "{port} is none of {quiet:?}");
        }
    }
}
