//! Where a reporter's bytes go.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// Where a reporter writes: at once for one plan, later for several.
#[derive(Clone)]
pub enum Out {
    Now,
    Later(Rc<RefCell<Vec<u8>>>),
    Nowhere,
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Now => io::stdout().write(bytes),
            Self::Later(buffer) => {
                buffer.borrow_mut().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            Self::Nowhere => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Now => io::stdout().flush(),
            Self::Later(_) | Self::Nowhere => Ok(()),
        }
    }
}
