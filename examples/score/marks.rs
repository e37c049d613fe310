//! Marks for diagnoses.

use crate::rows::{Kind, Label, Row};
use jelly_base::model::{Diagnosis, Side};
use jelly_triage::engine::Engine;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

const FIELDS: [&str; 4] = ["side", "error_category", "root_cause", "retryable"];

/// The least share of right answers, in the order of [`FIELDS`].
fn bars(kind: Kind) -> [f64; 4] {
    match kind {
        Kind::Mcp => [0.95, 0.92, 0.85, 0.93],
        Kind::Junit => [0.80, 0.90, 0.80, 0.92],
    }
}

/// The largest share of test-side failures that may be held against the code.
fn blame_bar(kind: Kind) -> f64 {
    match kind {
        Kind::Mcp => 0.01,
        Kind::Junit => 0.10,
    }
}

#[derive(Default)]
pub struct Marks {
    pub rows: usize,
    /// Right by the label alone, and by the label or what else is defensible.
    strict: [usize; 4],
    lenient: [usize; 4],
    test_side: usize,
    /// Of them, held against the code.
    blamed: usize,
    without_evidence: usize,
    /// Of them, given a category all the same.
    invented: usize,
    look_alikes: usize,
    /// Of them, given another category than the right one.
    fooled: usize,
    /// By root cause: rows, and of them those given it.
    pub causes: BTreeMap<String, (usize, usize)>,
    pub wrong: Vec<String>,
}

impl Marks {
    pub fn of<'a>(rows: impl Iterator<Item = &'a Row>) -> Self {
        let mut marks = Self::default();
        for row in rows {
            if let Some(label) = &row.label {
                marks.add(row, label, &Engine::builtin().diagnose(&row.failure));
            }
        }
        marks
    }

    fn add(&mut self, row: &Row, label: &Label, diagnosis: &Diagnosis) {
        self.rows += 1;
        let said = [
            json!(side(diagnosis)),
            json!(diagnosis.error_category),
            json!(diagnosis.root_cause),
            json!(diagnosis.retryable),
        ];
        let truth = [
            json!(label.side),
            json!(label.error_category),
            json!(label.root_cause),
            json!(label.retryable),
        ];
        let mut wrong = Vec::new();
        for (at, field) in FIELDS.iter().enumerate() {
            let right = said[at] == truth[at];
            let defensible = label
                .alt
                .get(*field)
                .is_some_and(|others| others.contains(&said[at]));
            self.strict[at] += usize::from(right);
            self.lenient[at] += usize::from(right || defensible);
            if !right {
                let word = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
                wrong.push(format!("{} for {}", word(&said[at]), word(&truth[at])));
            }
        }
        let (rows, found) = self.causes.entry(label.root_cause.clone()).or_default();
        *rows += 1;
        *found += usize::from(diagnosis.root_cause == label.root_cause);
        if label.side != "code" {
            self.test_side += 1;
            if diagnosis.side == Side::Code {
                self.blamed += 1;
                wrong.push("BLAMED".into());
            }
        }
        if label.error_category.is_none() {
            self.without_evidence += 1;
            self.invented += usize::from(diagnosis.error_category.is_some());
        }
        if label.look_alike {
            self.look_alikes += 1;
            if diagnosis.error_category != label.error_category {
                self.fooled += 1;
                wrong.push("FOOLED".into());
            }
        }
        if !wrong.is_empty() {
            self.wrong.push(format!(
                "{}: {} by {} in {}",
                row.id,
                wrong.join(", "),
                diagnosis.rule,
                quoted(diagnosis),
            ));
        }
    }

    /// What is below its bar.
    pub fn below(&self, kind: Kind, file: &Path) -> Vec<String> {
        let mut below = Vec::new();
        let mut say = |what: String| below.push(format!("{}: {what}", file.display()));
        for ((field, bar), right) in FIELDS.iter().zip(bars(kind)).zip(self.strict) {
            let score = share(right, self.rows);
            if score < bar {
                say(format!("{field} {score:.3}, less than {bar}"));
            }
        }
        let blamed = share(self.blamed, self.test_side);
        if self.blamed > 0 && blamed > blame_bar(kind) {
            say(format!("test-side called code {blamed:.3}"));
        }
        if self.invented > 0 {
            say(format!("{} without evidence got a category", self.invented));
        }
        if self.fooled > 0 {
            say(format!("{} look-alikes wrong", self.fooled));
        }
        below
    }
}

/// What is said of one failure, in a line.
pub fn told(row: &Row) -> String {
    let diagnosis = Engine::builtin().diagnose(&row.failure);
    format!(
        "{}: {} {} {} {}, by {} in {}",
        row.id,
        side(&diagnosis),
        json!(diagnosis.error_category),
        diagnosis.root_cause,
        json!(diagnosis.retryable),
        diagnosis.rule,
        quoted(&diagnosis),
    )
}

fn side(diagnosis: &Diagnosis) -> &'static str {
    match diagnosis.side {
        Side::Code => "code",
        Side::Test if diagnosis.ambiguous => "ambiguous",
        Side::Test => "test",
    }
}

fn quoted(diagnosis: &Diagnosis) -> String {
    match &diagnosis.evidence {
        Some(evidence) => format!("{}: {}", evidence.field, evidence.text),
        None => "nothing".into(),
    }
}

/// 1 when there is nothing to be right about.
pub fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 1.0;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "there are far fewer than 2^52 rows"
    )]
    let share = part as f64 / whole as f64;
    share
}

impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} failures", self.rows)?;
        writeln!(f, "  {:<22} {:>6} {:>8}", "", "strict", "lenient")?;
        for (at, field) in FIELDS.iter().enumerate() {
            writeln!(
                f,
                "  {field:<22} {:>6.3} {:>8.3}",
                share(self.strict[at], self.rows),
                share(self.lenient[at], self.rows)
            )?;
        }
        let rows = [
            ("test-side called code", self.blamed, self.test_side),
            ("look-alikes wrong", self.fooled, self.look_alikes),
            (
                "no evidence, a category",
                self.invented,
                self.without_evidence,
            ),
        ];
        for (at, (what, part, whole)) in rows.iter().enumerate() {
            write!(f, "  {what:<24} {part} of {whole}")?;
            if at + 1 < rows.len() {
                writeln!(f)?;
            }
        }
        Ok(())
    }
}
