//! From a diagnosis to what a person pastes into a client's configuration to
//! mend it.
//!
//! Main function: [`prescribe`]. The cause stays triage's to name, in words for
//! configurations; steps of its advice give way by their ids to better ones.
//! What stands in `<…>` is for the person to fill in.

mod arguments;
mod commands;
mod debuggers;
mod entries;
mod failing_line;
mod installed;
mod launch;
mod launch_mistakes;
mod modules;
mod node_packages;
mod npm;
mod odd_characters;
mod of_plan;
mod own_environment;
mod own_modules;
mod own_packages;
mod prescribe;
mod programs;
mod proxied;
mod python_versions;
mod pythons;
mod remote;
mod saved_as;
mod scripts;
mod seen;
mod shadowed;
mod sight;
mod split_words;
mod steps;
mod unexecutable;
mod unsplit;
mod uv_tools;
mod variables;
mod waiting;
mod withheld;

pub use entries::AS_IT_IS;
pub use npm::{install_by, package_manager};
pub use of_plan::{PlanServer, look};
pub use prescribe::{RemedyContext, prescribe};
pub use sight::Sight;
pub use steps::REPLACED_STEPS;
