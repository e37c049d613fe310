//! What was found, in lines of one width.

use crate::measure::Spread;

/// How a figure is written.
#[derive(Clone, Copy)]
pub enum Unit {
    Milliseconds,
    /// Milliseconds of which the thousandths count.
    Microseconds,
    Mebibytes,
    Ratio,
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Self::Milliseconds if value >= 1000.0 => format!("{:.2} s", value / 1000.0),
            Self::Milliseconds => format!("{value:.1} ms"),
            Self::Microseconds => format!("{value:.3} ms"),
            Self::Mebibytes => format!("{value:.1} MiB"),
            Self::Ratio => format!("{value:.2}"),
        }
    }
}

/// Prints the head of a table.
pub fn head() {
    row("figure", ["median", "min", "max", "target", ""]);
    println!("{}", "-".repeat(100));
}

/// Prints a figure, and whether it keeps its target.
pub fn figure(what: &str, unit: Unit, spread: Spread, target: Option<f64>) {
    let kept = match target {
        Some(target) if spread.median <= target => "kept",
        Some(_) => "MISSED",
        None => "",
    };
    let target = target.map_or_else(String::new, |target| format!("≤ {}", unit.show(target)));
    row(
        what,
        [
            &unit.show(spread.median),
            &unit.show(spread.min),
            &unit.show(spread.max),
            &target,
            kept,
        ],
    );
}

fn row(what: &str, [median, min, max, target, kept]: [&str; 5]) {
    println!("{what:<48} {median:>10} {min:>10} {max:>10} {target:>11} {kept}");
}
