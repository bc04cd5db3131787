//! [`Input`]: a named stream of bytes from a path or from memory, gunzipped when it is gzip.
//!
//! It does not know any format: the readers split the bytes into lines and fields.

use crate::error::TraceError;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::OnceLock;

/// The first two bytes of every gzip file (RFC 1952, §2.3.1).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Why no file is read, where none is.
static NO_FILES: OnceLock<&str> = OnceLock::new();

/// From now on this process reads no file; errors say why. For a program that has no files, such as the page with the
/// simulator in it: the system's own error would only say that each is missing.
pub fn read_no_files(why: &'static str) {
    // The first reason stays.
    let _ = NO_FILES.set(why);
}

/// Whether files are read at all: asked before one is opened.
///
/// # Errors
/// After [`read_no_files`].
pub fn reads_files() -> io::Result<()> {
    let refused = |why: &&str| io::Error::new(io::ErrorKind::Unsupported, *why);
    NO_FILES.get().map_or(Ok(()), |why| Err(refused(why)))
}

/// A named stream of plain bytes.
pub struct Input {
    pub(crate) name: String,
    pub(crate) reader: Box<dyn BufRead + Send>,
    pub(crate) gzip: bool,
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").field("name", &self.name).field("gzip", &self.gzip).finish()
    }
}

impl Input {
    /// Opens a file. Gzip is known by its first bytes, not by its name; several gzip members in a
    /// row are read as one stream.
    ///
    /// # Errors
    /// When the file cannot be opened, or is named `.gz` and is not gzip.
    pub fn open(path: impl AsRef<Path>) -> Result<Input, TraceError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let fail = |e: io::Error| TraceError::Io { file: name.clone(), reason: e.to_string() };
        let file = reads_files().and_then(|()| File::open(path)).map_err(fail)?;
        if file.metadata().map_err(fail)?.is_dir() {
            return Err(TraceError::Io { file: name, reason: "it is a folder".into() });
        }
        Input::from_reader(&name, file)
    }

    /// Bytes in memory, plain or gzip, that go by `name` in messages.
    ///
    /// # Errors
    /// When `name` ends in `.gz` and the bytes are not gzip.
    pub fn from_bytes(
        name: &str,
        bytes: impl AsRef<[u8]> + Send + 'static,
    ) -> Result<Input, TraceError> {
        Input::from_reader(name, Cursor::new(bytes))
    }

    /// Its bytes, gunzipped.
    pub fn into_reader(self) -> Box<dyn BufRead + Send> {
        self.reader
    }

    /// Any stream of bytes, plain or gzip, that goes by `name` in messages.
    ///
    /// # Errors
    /// When the first bytes cannot be read, or `name` ends in `.gz` and they are not gzip.
    pub fn from_reader(
        name: &str,
        mut reader: impl Read + Send + 'static,
    ) -> Result<Input, TraceError> {
        let mut head = Vec::with_capacity(2);
        (&mut reader)
            .take(2)
            .read_to_end(&mut head)
            .map_err(|e| TraceError::Io { file: name.into(), reason: e.to_string() })?;
        let gzip = head == GZIP_MAGIC;
        if !gzip && name.ends_with(".gz") {
            let reason = format!("it begins with {head:02x?}, not with [1f, 8b]");
            return Err(TraceError::Gzip { file: name.into(), line: 1, reason });
        }
        let bytes = BufReader::new(Cursor::new(head).chain(reader));
        let mut reader: Box<dyn BufRead + Send> = if gzip {
            Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(bytes)))
        } else {
            Box::new(bytes)
        };
        if is_utf_16(reader.fill_buf().map_err(|e| read_error(name, gzip, 1, &e))?) {
            return Err(TraceError::Row {
                file: name.into(),
                line: 1,
                found: "UTF-16".into(),
                allowed: "UTF-8 text".into(),
                remedy: "save the file as UTF-8",
            });
        }
        Ok(Input { name: name.into(), reader, gzip })
    }

    /// The name that messages use.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Whether text begins as UTF-16 does: with its mark, or with a character in two bytes of which one is zero.
fn is_utf_16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [a, b, ..] => (*a == 0) != (*b == 0),
        _ => false,
    }
}

/// What a failed read means, at the line that was about to be read.
pub(crate) fn read_error(file: &str, gzip: bool, line: u64, error: &io::Error) -> TraceError {
    let file = file.to_string();
    if !gzip {
        return TraceError::Io { file, reason: format!("line {line}: {error}") };
    }
    let reason = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the stream is cut short".to_string(),
        _ => error.to_string(),
    };
    TraceError::Gzip { file, line, reason }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    /// Compresses.
    pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(name: &str, bytes: Vec<u8>) -> Result<String, String> {
        let mut input = Input::from_bytes(name, bytes).map_err(|e| e.to_string())?;
        let mut text = String::new();
        match input.reader.read_to_string(&mut text) {
            Ok(_) => Ok(text),
            Err(e) => Err(read_error(name, input.gzip, 1, &e).to_string()),
        }
    }

    #[test]
    fn gzip_is_known_by_its_bytes_and_members_follow_each_other() {
        let two = [gz(b"ab\n"), gz(b"cd\n")].concat();
        assert_eq!(read("x.csv", two).unwrap(), "ab\ncd\n");
        assert_eq!(read("x.csv", b"plain".to_vec()).unwrap(), "plain");
        assert_eq!(read("x.csv", vec![]).unwrap(), "");
    }

    #[test]
    fn damaged_gzip_is_an_error_that_names_the_file() {
        let whole = gz(&b"0123456789abcdef".repeat(50));
        let cut = read("x.gz", whole[..whole.len() - 9].to_vec()).unwrap_err();
        assert!(cut.contains("x.gz") && cut.contains("cut short"), "{cut}");
        let mut wrong_sum = whole.clone();
        let at = wrong_sum.len() - 6;
        wrong_sum[at] ^= 1;
        assert!(read("x.gz", wrong_sum).unwrap_err().contains("x.gz"));
        assert!(read("x.gz", b"plain".to_vec()).unwrap_err().contains("not with [1f, 8b]"));
    }

    #[test]
    fn a_missing_file_and_a_folder_are_errors_that_name_the_path() {
        let error = Input::open("no/such/file.csv").unwrap_err().to_string();
        assert!(error.starts_with("no/such/file.csv: cannot be read"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        assert!(Input::open(folder.path()).is_err());
    }
}
