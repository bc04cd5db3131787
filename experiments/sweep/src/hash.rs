//! The hashes that identify specifications, cells and files.

use orrery_results::RESULT_VERSION;
use sha2::{Digest, Sha256};

/// The hash of a complete specification: everything that its results depend on.
pub fn spec_sha256(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("orrery result version {RESULT_VERSION}\n"));
    for part in parts {
        // The length keeps two lists of parts from reading alike.
        hash.update(format!("{}\n{part}\n", part.len()));
    }
    hex(&hash.finalize())
}

/// SHA-256 of bytes, as 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of a file, which may be longer than memory.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of_file(path: &std::path::Path) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    std::io::copy(&mut std::fs::File::open(path)?, &mut hash)?;
    Ok(hex(&hash.finalize()))
}

/// SHA-256 of bytes that come one after another.
#[derive(Debug, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// As 64 hexadecimal digits.
    pub fn sha256(self) -> String {
        hex(&self.0.finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    let number = |half: &[u8]| half.iter().fold(0, |n: u128, b| n << 8 | u128::from(*b));
    bytes.chunks(16).map(|half| format!("{:032x}", number(half))).collect()
}
