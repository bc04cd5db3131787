//! Why a schedule log cannot be read.

use super::HEADER;
use std::io;

/// A longer line is not read: no batch has that many requests.
pub(super) const LINE_BYTES_MAX: usize = 16 << 20;

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum LogError {
    #[error("{file}, line {line}: cannot read: {error}; check the disk and the file's permissions")]
    Io { file: String, line: u64, error: io::Error },
    #[error(
        "{file}, line 1: found {found:?}, allowed is {HEADER:?}; is it a schedule log, and of this \
         version? Write it again with this version"
    )]
    Version { file: String, found: String },
    #[error(
        "{file}, line {line}: the {field} is {found:?}, allowed is {allowed}; the line was damaged: \
         write the log again, or cut the file before this line"
    )]
    Field { file: String, line: u64, field: &'static str, found: String, allowed: String },
    #[error(
        "{file}, line {line}: the line has no end after {bytes} bytes, allowed is one line of at \
         most {LINE_BYTES_MAX} bytes with its newline; the log was cut off: write it again, or cut \
         the file before this line"
    )]
    Cut { file: String, line: u64, bytes: usize },
}
