//! Names that CI services and clouds give to their machines: which kind of name it is
//! says where it ran, and no more of it says anything.

use super::shape::{PartShape, has_digit, is_hex, is_number, is_pod_suffix, shape};
use super::walk::Walk;
use super::words::{WordKinds, kinds};
use std::net::Ipv4Addr;

/// Whether a name is one of a machine, all of which is chance: `ip-10-0-66-213`,
/// `fv-az645-352`, `runner-x8k2m-project-412-concurrent-0`, a container's id.
pub(super) fn is_host(name: &str) -> bool {
    const CONTAINER: usize = 12;
    let first = name.split(['-', '.']).next().unwrap_or_default();
    let mixed = has_digit(name) && !is_number(name);
    if name.len() == CONTAINER && is_hex(name.as_bytes()) && mixed {
        return true;
    }
    // What a Mac calls itself on its network.
    let of_apple = |part: &str| ["mbp", "macbook", "imac"].contains(&&*part.to_ascii_lowercase());
    let numbered = first.eq_ignore_ascii_case("mac") && has_digit(name);
    if name.ends_with(".local") && (numbered || name.split(['-', '.']).any(of_apple)) {
        return true;
    }
    // What people call their own.
    let of_maker = |part: &str| kinds(part).is(WordKinds::LAPTOP);
    if name.contains('-') && name.split('-').any(of_maker) {
        return true;
    }
    if is_node(name) {
        return true;
    }
    // Behind a dot is who offers a service of that name: `ec2.eu-west-1.amazonaws.com`.
    let Some(rest) = name[first.len()..].strip_prefix('-') else {
        return false;
    };
    if !kinds(first).is(WordKinds::HOST) || !has_digit(name) {
        return false;
    }
    // `ip-6` is none.
    let numbers = rest
        .split(['-', '.'])
        .filter(|part| is_number(part))
        .count();
    if matches!(first, "ip" | "ec2") && numbers < 4 {
        return false;
    }
    let of_host = |part: &str| {
        is_number(part)
            || kinds(part).is(WordKinds::OF_HOST)
            || matches!(shape(part), PartShape::Random | PartShape::Numbered(_))
            || has_digit(part) && part.len() >= 5
    };
    rest.split(['-', '.']).all(of_host)
}

/// Whether a name is one that a cloud gives to a node of a cluster, whatever the cluster is
/// called: `gke-ci-pool-d708b4e6-6laz`, `aks-ci-31415926-vmss00000a`.
fn is_node(name: &str) -> bool {
    let mut parts = name.rsplit('-');
    let (Some(last), Some(pool)) = (parts.next(), parts.next()) else {
        return false;
    };
    let is_pool = pool.len() == 8;
    let of_google = || last.len() == 4 && is_hex(pool.as_bytes());
    let of_azure = || last.starts_with("vmss") && is_number(pool);
    is_pool && (name.starts_with("gke-") && of_google() || name.starts_with("aks-") && of_azure())
}

impl Walk<'_> {
    /// Whether this is the number of a process by name, as in `pid 851` and `'--pid', '213'`: no
    /// test wants one.
    pub(super) fn is_named_process(&self) -> bool {
        let before = self.text[..self.at].trim_end_matches([' ', '\'', '"', ',', ':', '=', '(']);
        // Behind the machine that it runs on.
        let is_behind_machine = self.out.ends_with("<id>[") && !self.compares;
        if is_behind_machine {
            return true;
        }
        let word = before.strip_suffix("pid").or(before.strip_suffix("PID"));
        let is_short = self.at - before.len() <= 4;
        word.is_some_and(|word| is_short && !word.ends_with(|c: char| c.is_alphanumeric()))
    }

    /// Whether the name that ends there stands where a process says on which machine it
    /// ran: `25508@NAME`, `job[812]@NAME`, `pid 812 on NAME`, `[NAME:812]`, and behind the
    /// moment of a line of a log, `NAME job[812]`. Of whatever kind it is, it is chance.
    pub(super) fn is_machine_of_process(&self, name: &str, end: usize) -> bool {
        let is_of_machine = has_digit(name) && name.len() >= 6;
        if !is_of_machine {
            return false;
        }
        // Lines may be as long as a text.
        const NEAR: usize = 256;
        let before = &self.text[..self.at];
        let before = &before[before.ceil_char_boundary(before.len().saturating_sub(NEAR))..];
        let line = before.rsplit('\n').next().unwrap_or_default();
        let behind = &self.text[end..];
        let ends_with_pid = |text: &str| {
            let text = text.trim_end_matches([')', ']']);
            let word = text.trim_end_matches(|c: char| c.is_ascii_digit());
            let is_number = word.len() < text.len();
            let word = word.trim_end_matches([' ', '=', ':', '(']);
            is_number && (word.ends_with("pid") || word.ends_with('['))
        };
        let is_pid = |text: &str| {
            let number = text.trim_end_matches(']');
            number.len() > 1 && is_number(number)
        };
        if let Some(process) = line.strip_suffix('@') {
            let number = process.trim_end_matches(']');
            let word = number.trim_end_matches(|c: char| c.is_ascii_digit());
            return number.len() - word.len() > 1;
        }
        if let Some(process) = line.strip_suffix(" on ") {
            let mut words = line.split([' ', ',', ';']);
            let mut tells_process = || words.any(|word| ends_with_pid(word.trim_end_matches(':')));
            // A queue or a table is named so, too, and by no chance.
            let mut parts = name.split(['-', '.']);
            let mut of_chance = || parts.any(|p| is_pod_suffix(p) || shape(p) == PartShape::Random);
            return ends_with_pid(process) || tells_process() && of_chance();
        }
        if line.ends_with('[') {
            let number = behind
                .strip_prefix(':')
                .and_then(|rest| rest.split_once(']'));
            return number.is_some_and(|(number, _)| is_pid(number));
        }
        let program = behind
            .strip_prefix(' ')
            .and_then(|rest| rest.split(' ').next());
        let program = program.and_then(|word| word.trim_end_matches(':').split_once('['));
        self.out.ends_with("<time> ")
            && program.is_some_and(|(name, number)| !name.is_empty() && is_pid(number))
    }

    /// Whether the name that ends there is the machine in a record of a logger, which
    /// tells the process beside it. In an error, a host is what was asked for.
    pub(super) fn is_machine_of_logger(&self, end: usize) -> bool {
        const NEAR: usize = 512;
        let before = &self.text[..self.at];
        let Some(key) = ["\\\"", "\"", "'"]
            .iter()
            .find_map(|quote| before.strip_suffix(quote))
        else {
            return false;
        };
        let key = key.trim_end_matches([' ', ':', '"', '\'', '\\']);
        if !key.ends_with("hostname") {
            return false;
        }
        let ahead = &key[key.ceil_char_boundary(key.len().saturating_sub(NEAR))..];
        let ahead = ahead.rsplit(['{', '}']).next();
        let behind = &self.text[end..];
        let behind = &behind[..behind.floor_char_boundary(NEAR)];
        let behind = behind.split(['{', '}']).next();
        ahead.into_iter().chain(behind).any(|members| {
            ["\"pid", "'pid", " pid:"]
                .iter()
                .any(|key| members.contains(key))
        })
    }
}

/// Addresses that mean the same everywhere.
pub(super) fn is_known(ip: Ipv4Addr) -> bool {
    // The resolvers of Docker and of systemd.
    const RESOLVERS: [Ipv4Addr; 2] = [Ipv4Addr::new(127, 0, 0, 11), Ipv4Addr::new(127, 0, 0, 53)];
    RESOLVERS.contains(&ip)
        || ip == Ipv4Addr::LOCALHOST
        || ip.is_unspecified()
        || ip.is_broadcast()
        || ip.is_link_local()
}
