//! Which texts of a failure are read for a cause, and in which order: the
//! line that names the root cause first, talk last.

mod answered_badly;
mod compared;
mod expected;
mod failing_line;
mod frames;
mod heads;
mod identifiers;
mod labels;
mod live;
mod masked;
mod misleading;
mod noise;
mod nothing;
mod origin;
mod own_message;
mod quoted;
mod reported;
mod roots;
mod slice;
mod talk;
mod texts;
mod usage;
mod wrapped;

pub(super) use expected::expected_error;
pub use failing_line::{failing_line, failing_line_of_server};
pub(super) use heads::class;
pub(crate) use heads::is_mistake;
pub(super) use masked::{MASK, masked};
pub(super) use noise::without_coped_with;
pub(crate) use origin::is_library;
pub use origin::product_frame;
pub(crate) use origin::product_function;
pub(super) use origin::{Origin, is_test, origin, raised_by_library};
pub(super) use own_message::{compares, tells_of_system};
pub(super) use roots::{telling_line, trace_line};
pub(super) use slice::Text;
pub(super) use talk::repeated;
pub(super) use texts::texts;
pub(super) use wrapped::ended_by_mistake;
