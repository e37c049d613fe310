//! The line of a script that failed, where it takes a variable that is not set.

use super::prescribe::{Doctor, blank, found};
use super::seen::Seen;
use super::steps::Remedy;
use jelly_base::text::LazyPattern;
use std::path::Path;

/// A line that throws because a variable is not set, in two lines at most.
static GUARD: [LazyPattern; 1] = [LazyPattern::new(
    r"\bif ?\( ?!process\.env(?:\.|\[['\x22])(?P<it>[A-Z]\w*)(?:['\x22]\])? ?\) ?\{?\s*throw\b",
)];
/// A line that reads a variable as an address.
static ADDRESS: [LazyPattern; 1] = [LazyPattern::new(
    r"\bnew URL\(\s*process\.env(?:\.|\[['\x22])(?P<it>[A-Z]\w*)",
)];

impl Doctor<'_> {
    /// The line that failed takes the value of a variable that is not set.
    pub(super) fn variable_in_line(&self) -> Option<Seen> {
        static VARIABLE: [LazyPattern; 1] = [LazyPattern::new(
            r"\b(?:os\.getenv\(|os\.environ\.get\(|process\.env\.|process\.env\[|ENV\[|System\.getenv\()['\x22]?(?P<it>[A-Z][A-Z0-9_]{2,})\b[^\n]*\n(?:[^\n]*\n){0,6}?(?:Uncaught )?(?:TypeError: |AttributeError: 'NoneType'|ValueError: |[^\n]*NoMethodError|[^\n]*NullPointer)",
        )];
        self.taken_in_vain(&found(&VARIABLE, self.stderr)?)
    }

    /// The same of a script of Node whose line is not in what Node wrote, but in the file that
    /// the stack names.
    pub(super) fn variable_at_frame(&self) -> Option<Seen> {
        static FRAME: LazyPattern = LazyPattern::new(
            r"(?m)^\s+at (?:[^\n(]* \()?(?:file://)?(?P<file>/[^\s:()]+):(?P<line>\d+):\d+\)?$",
        );
        let frame = FRAME.captures(self.stderr)?;
        let file = frame.name("file")?.as_str();
        let line: usize = frame.name("line")?.as_str().parse().ok()?;
        if file.contains("/node_modules/") {
            return None;
        }
        let text = self.context.sight.text(Path::new(file))?;
        let before = line.saturating_sub(2);
        let lines: Vec<&str> = text.lines().skip(before).take(line - before).collect();
        let is_of_nothing = self.stderr.contains("input: 'undefined'");
        let address = || found(&ADDRESS, lines.last()?).filter(|_| is_of_nothing);
        let name = guarded(&lines).or_else(address)?;
        // The rule has named it.
        if self.told.contains(&name) {
            return None;
        }
        self.taken_in_vain(&name)
    }

    fn taken_in_vain(&self, name: &str) -> Option<Seen> {
        let is_set = self.started.variable(name).is_some() || self.context.sight.is_inherited(name);
        if is_set {
            return None;
        }
        let remedy = Remedy::new()
            .what(format!("The variable {name} is not set."))
            .why("The line that failed takes its value, and there is none.")
            .write(
                "Write in the entry",
                self.started
                    .env_with(name, &blank(&format!("value of {name}"))),
            );
        let rule = "doctor/variable-in-the-failing-line";
        Some(Seen::new(rule, "missing_env_var", remedy))
    }
}

/// The variable of a guard that reaches into the last of these lines.
fn guarded(lines: &[&str]) -> Option<String> {
    let last = lines.last()?;
    let text = lines.join("\n");
    let begin = text.len() - last.len();
    let [guard] = &GUARD;
    let reaches = guard
        .captures_iter(&text)
        .find(|guard| guard.get(0).is_some_and(|whole| whole.end() > begin))?;
    Some(reaches.name("it")?.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_guard_counts_where_it_reaches_into_the_line_that_failed() {
        let guard = "if (!process.env.A) throw new Error('A')";
        let other = "if (!process.env.B) throw new Error('B')";
        for (lines, name) in [
            (vec![guard], Some("A")),
            (
                vec!["if (!process.env.A) {", "  throw new Error('A')"],
                Some("A"),
            ),
            (vec![guard, other], Some("B")),
            (vec![guard, "throw new Error('x')"], None),
        ] {
            assert_eq!(guarded(&lines).as_deref(), name, "{lines:?}");
        }
    }
}
