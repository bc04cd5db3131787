//! Who else works in a sweep's folder: what killed runs left behind is removed only by whoever is
//! alone there.
//!
//! A lock of the system on the folder of the cells: the system gives it back however a process ends,
//! and it holds between containers, whose processes may have the same ids.

use std::path::Path;

/// Held as long as somebody works in the folder.
#[derive(Debug)]
pub(super) struct Busy {
    #[cfg(unix)]
    _lock: Option<nix::fcntl::Flock<std::fs::File>>,
}

impl Busy {
    /// Begins to work in a folder. Whoever is alone there tidies it first.
    #[cfg(unix)]
    pub(super) fn begin(folder: &Path, tidy: impl FnOnce()) -> Busy {
        use nix::fcntl::{Flock, FlockArg};
        let Ok(file) = std::fs::File::open(folder) else { return Busy { _lock: None } };
        let lock = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(alone) => {
                tidy();
                alone.relock(FlockArg::LockShared).is_ok().then_some(alone)
            }
            // Others are there, or the file system has no locks: nothing is removed.
            Err((file, _)) => Flock::lock(file, FlockArg::LockShared).ok(),
        };
        Busy { _lock: lock }
    }

    /// Without locks of that kind nothing is removed.
    #[cfg(not(unix))]
    pub(super) fn begin(_: &Path, _: impl FnOnce()) -> Busy {
        Busy {}
    }
}
