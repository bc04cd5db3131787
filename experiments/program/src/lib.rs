//! What the programs `orrery` and `orrery-replay` share: whether stdout can be written at all, man pages and
//! shell completions.

pub mod manual;
mod stdout;

pub use stdout::why_stdout_is_closed;
