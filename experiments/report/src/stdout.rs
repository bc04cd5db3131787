//! Whether stdout can be written at all: `orrery list >&-` is an error, not a result that nobody gets.
//!
//! Rust opens `/dev/null` in place of a standard stream that is closed, before `main`, and takes a
//! stream that cannot be written for one that nobody listens to. So it is looked at earlier, on Linux;
//! elsewhere every stdout counts as open.

/// Why stdout cannot be written; `None` when it can.
pub fn why_stdout_is_closed() -> Option<&'static str> {
    early::why()
}

#[cfg(target_os = "linux")]
mod early {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    use std::os::fd::BorrowedFd;
    use std::sync::atomic::{AtomicU8, Ordering};

    const OPEN: u8 = 0;
    const CLOSED: u8 = 1;
    const READ_ONLY: u8 = 2;

    static STATE: AtomicU8 = AtomicU8::new(OPEN);

    /// Run before Rust's own start. It only asks the system and keeps the answer.
    #[allow(unsafe_code)]
    extern "C" fn look() {
        // Nobody can have closed it yet but whoever started us, and then the system says so.
        let stdout = unsafe { BorrowedFd::borrow_raw(1) };
        let flags = fcntl(stdout, FcntlArg::F_GETFL);
        let state = match flags.map(OFlag::from_bits_truncate) {
            Err(_) => CLOSED,
            Ok(flags) if flags & OFlag::O_ACCMODE == OFlag::O_RDONLY => READ_ONLY,
            Ok(_) => OPEN,
        };
        STATE.store(state, Ordering::Relaxed);
    }

    // Functions here are called with arguments that this one ignores, once, in one thread.
    #[allow(unsafe_code)]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    pub(super) fn why() -> Option<&'static str> {
        match STATE.load(Ordering::Relaxed) {
            CLOSED => Some("it is closed"),
            READ_ONLY => Some("it is open for reading only"),
            _ => None,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod early {
    pub(super) fn why() -> Option<&'static str> {
        None
    }
}
