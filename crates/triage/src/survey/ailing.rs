//! Tests that compare the status of an answer and got the one by which others know that a
//! service is out of order: `expected 404, got 503`.

use super::addresses::Addresses;
use super::group::{CAUSES, Group};
use super::subject::{host_of, same};
use jelly_base::model::FailureView;
use jelly_base::text::LazyPattern;
use jelly_base::text::address;
use std::collections::HashMap;

/// The services that answer that they are out of order, by report and status. Of two that
/// answer alike nobody knows which is meant.
pub(super) struct AilingServices<'v> {
    groups: HashMap<(&'v str, String), Option<AilingService>>,
}

struct AilingService {
    group: usize,
    server: Option<String>,
}

impl<'v> AilingServices<'v> {
    pub(super) fn of(views: &[FailureView<'v>], groups: &[Group], addresses: &Addresses) -> Self {
        let mut found: HashMap<_, Option<AilingService>> = HashMap::new();
        for (at, group) in groups.iter().enumerate().take(CAUSES) {
            let Some(first) = group.victims.first() else {
                continue;
            };
            let view = &views[*first];
            if view.kind.root_cause == "upstream_error"
                && let Some(status) = status_of(view)
            {
                let server = addresses.of(*first, view);
                found
                    .entry((view.report, status))
                    .and_modify(|known| *known = None)
                    .or_insert(Some(AilingService { group: at, server }));
            }
        }
        Self { groups: found }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The group of the one service whose status a failed comparison got.
    pub(super) fn meant(&self, view: &FailureView<'v>) -> Option<usize> {
        if self.groups.is_empty() || view.kind.root_cause != "assertion_mismatch" {
            return None;
        }
        let texts = || {
            let evidence = view.evidence.map(|(_, text)| text);
            [view.message, evidence].into_iter().flatten()
        };
        let status = texts().find_map(got)?;
        let ailing = self.groups.get(&(view.report, status))?.as_ref()?;
        let own = texts().find_map(address);
        let is_apart = match (&own, &ailing.server) {
            // Without a port, a host of it may be any service.
            (Some(own), Some(server)) => !same(own, server) && host_of(own).1,
            (None, _) | (_, None) => false,
        };
        (!is_apart).then_some(ailing.group)
    }
}

/// The status by which a failure says that a service is out of order, or refuses.
pub(super) fn status_of(view: &FailureView<'_>) -> Option<String> {
    static STATUS: LazyPattern = LazyPattern::new(r"\b(40[13]|429|50[0234])\b");
    let evidence = view.evidence.map(|(_, text)| text);
    let mut texts = [view.message, evidence].into_iter().flatten();
    texts.find_map(|text| Some(STATUS.captures(text)?[1].to_owned()))
}

/// The status that came, of a service that is out of order.
pub(super) fn got(text: &str) -> Option<String> {
    static GOT: LazyPattern = LazyPattern::new(
        r"(?i)\b(?:got|was|received|returned|actual)\b:?(?: (?:a|an|the|status|code|http|status code))*[ :=<']{1,3}(50[234])\b",
    );
    Some(GOT.captures(text)?[1].to_owned())
}

#[cfg(test)]
mod tests {
    use super::got;

    #[test]
    fn the_status_that_came_is_read_and_not_the_one_that_was_wanted() {
        for (said, wanted) in [
            (
                "api_test.go:22: GET /rates: got status 503, want 200",
                "503",
            ),
            ("expected 404, got 503 Service Unavailable", "503"),
            (
                "expected response to have status code 200 but got 502",
                "502",
            ),
            ("Expected status code <200> but was <503>.", "503"),
            ("got 200, want 503", ""),
            ("expected 503 to equal 200", ""),
        ] {
            assert_eq!(got(said).unwrap_or_default(), wanted, "{said}");
        }
    }
}
