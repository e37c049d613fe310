//! Which services a run of some of the steps needs.

use super::template::{Part, each_reference};
use super::{Plan, Service, Step};
use std::collections::BTreeSet;

impl Plan {
    /// The services that are to be started where only the steps run for which
    /// `runs` holds.
    ///
    /// A plan says which of its parts need a service by the service's port. One that is
    /// named only by servers and steps that do not run is left out; one that nothing
    /// names may be needed by anything.
    #[must_use]
    pub fn due_services(&self, runs: impl Fn(&Step) -> bool) -> BTreeSet<&str> {
        let running: Vec<&Step> = self.all_steps().filter(|step| runs(step)).collect();
        if running.is_empty() {
            return BTreeSet::new();
        }
        let (mut named, mut due) = (Named::default(), Named::default());
        for step in self.all_steps() {
            named.of_step(self, step);
        }
        for step in running {
            due.of_step(self, step);
        }
        for (name, service) in &self.services {
            if !named.services.contains(name.as_str()) {
                due.services.insert(name.clone());
                due.of_service(self, service);
            }
        }
        let names = self.services.keys().map(String::as_str);
        names.filter(|name| due.services.contains(*name)).collect()
    }
}

/// What is named, directly or by way of variables and of other services.
#[derive(Default)]
struct Named {
    services: BTreeSet<String>,
    servers: BTreeSet<String>,
    vars: BTreeSet<String>,
}

impl Named {
    fn of_step(&mut self, plan: &Plan, step: &Step) {
        step.each_reference(&mut |part| self.of_part(plan, part));
        self.of_server(plan, &step.server);
    }

    fn of_server(&mut self, plan: &Plan, name: &str) {
        let Some(server) = plan.servers.get(name) else {
            return;
        };
        if !self.servers.insert(name.to_owned()) {
            return;
        }
        for part in server.templates().flat_map(|template| &template.parts) {
            self.of_part(plan, part);
        }
        for answer in &server.answers {
            answer.each_reference(&mut |part| self.of_part(plan, part));
        }
    }

    fn of_service(&mut self, plan: &Plan, service: &Service) {
        for part in service.templates().flat_map(|template| &template.parts) {
            self.of_part(plan, part);
        }
    }

    fn of_part(&mut self, plan: &Plan, part: &Part) {
        if let Some(name) = part.port(None)
            && let Some(service) = plan.services.get(name)
            && self.services.insert(name.to_owned())
        {
            self.of_service(plan, service);
        }
        if let Some(name) = part.name()
            && let Some(value) = plan.vars.get(name)
            && self.vars.insert(name.to_owned())
        {
            each_reference(value, &mut |part| self.of_part(plan, part));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{PlanSource, load};

    #[test]
    fn a_service_that_only_other_steps_need_is_left_out() {
        let text = "version: 1
vars: { base: 'http://127.0.0.1:${port:api}' }
services:
  api: { command: x, args: ['${port}', '${port:db}'], ready: { port: '${port}' } }
  db: { command: x, ready: { port: '${port}' } }
  queue: { command: x, ready: { port: '${port}' } }
  logs: { command: x, args: ['${port:store}'], ready: { port: 5140 } }
  store: { command: x, ready: { port: '${port}' } }
servers:
  a: { command: x, env: { API: '${base}' } }
  b: { command: x, args: ['${port:queue}'] }
  c: { command: x }
steps:
  - { id: one, server: a, tool: t }
  - { id: two, server: b, tool: t }
  - { id: three, server: c, tool: t }
";
        let source = PlanSource {
            path: "p.yaml".into(),
            text: text.into(),
            variant: None,
        };
        let plan = load(source).unwrap();
        for (step, due) in [
            ("one", &["api", "db", "logs", "store"][..]),
            ("two", &["queue", "logs", "store"]),
            ("three", &["logs", "store"]),
            ("none", &[]),
        ] {
            let mut due = due.to_vec();
            due.sort_unstable();
            let found = plan.due_services(|it| it.id == step);
            assert_eq!(found.into_iter().collect::<Vec<_>>(), due, "{step}");
        }
    }
}
