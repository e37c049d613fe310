//! How much of what servers list has to be exercised.

use clap::Args;
use jelly_base::model::CoverageKind;
use std::str::FromStr;

/// What is counted, and what is enough.
#[derive(Debug, Clone, Args)]
pub struct CoverageArgs {
    /// Count which tools, prompts, resources, arguments, enum values and error paths are exercised
    #[arg(long)]
    pub coverage: bool,

    #[command(flatten)]
    pub least: LeastCoverage,
}

impl CoverageArgs {
    pub fn is_wanted(&self) -> bool {
        self.coverage || !self.least.min_coverage.is_empty()
    }
}

/// What is enough.
#[derive(Debug, Clone, Args)]
pub struct LeastCoverage {
    /// Exit with 3 if coverage of a kind is below this, for example tools=80%
    #[arg(long, value_name = "KIND=PERCENT", value_delimiter = ',')]
    pub min_coverage: Vec<MinCoverage>,
}

/// `tools=80%`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinCoverage {
    pub kind: CoverageKind,
    pub percent: u64,
}

impl FromStr for MinCoverage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || CoverageKind::ALL.map(CoverageKind::name).join(", ");
        let (name, percent) = text.split_once('=').ok_or_else(|| {
            format!(
                "write KIND=PERCENT, for example tools=80%; kinds are {}",
                names()
            )
        })?;
        let kind = CoverageKind::ALL.into_iter().find(|it| it.name() == name);
        let kind = kind.ok_or_else(|| format!("there is no kind `{name}`: {}", names()))?;
        let percent = percent.strip_suffix('%').unwrap_or(percent);
        let percent = percent.parse().ok().filter(|it| *it <= 100);
        let percent = percent.ok_or("a percentage must be a whole number from 0 to 100")?;
        Ok(Self { kind, percent })
    }
}

#[cfg(test)]
mod tests {
    use super::MinCoverage;
    use jelly_base::model::CoverageKind;

    #[test]
    fn a_kind_and_a_percentage_are_read() {
        let kind = CoverageKind::EnumValues;
        assert_eq!(
            "enum_values=7%".parse(),
            Ok(MinCoverage { kind, percent: 7 })
        );
        for (text, says) in [
            ("tools", "tools=80%"),
            ("tool=80%", "error_paths"),
            ("tools=101", "0 to 100"),
            ("tools=-1%", "0 to 100"),
        ] {
            let error = text.parse::<MinCoverage>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
