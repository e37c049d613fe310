//! YAML or JSON → validated [`Plan`] with spans; variables; edits that keep
//! comments. Must not know how a plan is executed.

mod edit;
mod load;
mod source;
mod template;
mod types;

pub use edit::{EditError, PlanEdit};
pub use load::{PlanError, load};
pub use source::PlanSource;
pub use template::{Scope, Template, Unresolved, resolve_json};
pub use types::{
    BudgetOverrides, Capture, DocPath, ErrorExpect, Expect, Flag, Hooks, JsonExpect, ListKind,
    Location, Operator, Plan, Predicate, Request, Segment, Server, Step, Transport,
};
