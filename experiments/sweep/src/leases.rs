//! Leases: who runs which cell, for workers that share a folder and nothing else.
//!
//! ```text
//!  work/NAME.lease   made by create-new; {"host":..,"boot":..,"pid":..,"since_unix_s":..}
//!                    locked and touched every minute as long as its owner lives, removed at the end
//! ```
//!
//! A lease saves work and can do no harm: a cell that runs twice writes the same bytes. So it needs no
//! leader, and it may be given up for lost: at once where the system says that a process of this machine
//! no longer holds its lock, and where its owner is elsewhere, when its last touch is [`VOID_AFTER`] away
//! from now: in the past, or in the future of a clock that was set back.

use orrery_report::whole_file::{own_file, unwritable_out};
use orrery_scenario::SpecError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// How long a lease holds that nobody touches.
pub const VOID_AFTER: Duration = Duration::from_secs(600);
/// How often leases are touched.
const TOUCHED_EVERY: Duration = Duration::from_secs(60);

/// Who holds a lease.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct Owner {
    /// The name of its machine or container.
    pub host: String,
    /// What tells one start of a machine's system from all others; containers on it have the same.
    /// Empty where the system does not tell.
    pub boot: String,
    /// Its process there.
    pub pid: u32,
    /// When it was made, by that machine's clock. For readers: nothing depends on it.
    pub since_unix_s: u64,
}

impl Owner {
    fn this() -> Owner {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Owner {
            host: host(),
            boot: boot.trim().to_string(),
            pid: std::process::id(),
            since_unix_s: since.map_or(0, |d| d.as_secs()),
        }
    }

    /// Whether a lock of the one is seen by the other.
    fn is_on_the_machine_of(&self, other: &Owner) -> bool {
        self.boot == other.boot && (!self.boot.is_empty() || self.host == other.host)
    }
}

#[cfg(unix)]
fn host() -> String {
    nix::unistd::gethostname().map_or(String::new(), |h| h.to_string_lossy().into_owned())
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// The leases of a worker.
pub struct Leases {
    folder: PathBuf,
    held: Arc<Mutex<BTreeMap<PathBuf, Held>>>,
    /// Dropped at the end: that stops the thread that touches.
    ending: Option<Sender<()>>,
    touching: Option<std::thread::JoinHandle<()>>,
}

struct Held {
    file: Locked,
    text: String,
}

/// Something is leased until this is dropped.
pub struct Lease<'a> {
    leases: &'a Leases,
    path: PathBuf,
}

impl Leases {
    /// Leases in a folder, which is there.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn begin(folder: &Path) -> Result<Leases, SpecError> {
        let held = Arc::new(Mutex::new(BTreeMap::<PathBuf, Held>::new()));
        let (ending, end) = channel();
        let theirs = Arc::clone(&held);
        let touch = move || {
            while end.recv_timeout(TOUCHED_EVERY) == Err(RecvTimeoutError::Timeout) {
                // A lease that cannot be touched becomes void, and its cell is run twice.
                lock(&theirs).values_mut().for_each(|held| drop(held.write()));
            }
        };
        let touching = std::thread::Builder::new().spawn(touch).map_err(|e| {
            SpecError::value("--share", e, "a thread that can be started", "use fewer `--jobs`")
        })?;
        let folder = folder.to_path_buf();
        Ok(Leases { folder, held, ending: Some(ending), touching: Some(touching) })
    }

    /// Leases something, unless somebody else holds it.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn take(&self, name: &str) -> Result<Option<Lease<'_>>, SpecError> {
        let path = path_of(&self.folder, name);
        let taken = self.try_to_take(&path).map_err(|e| unwritable_out(&path, &e))?;
        let Some(held) = taken else { return Ok(None) };
        lock(&self.held).insert(path.clone(), held);
        Ok(Some(Lease { leases: self, path }))
    }

    fn try_to_take(&self, path: &Path) -> io::Result<Option<Held>> {
        let text = serde_json::to_string(&Owner::this()).unwrap_or_default() + "\n";
        // It has its words and its lock before it has its name.
        let mut new = own_file(&self.folder, ".lease.", ".tmp")?;
        new.write_all(text.as_bytes())?;
        let (file, unnamed) = new.into_parts();
        let locked = Locked::of(file);
        match unnamed.persist_noclobber(path) {
            Ok(()) => return Ok(Some(Held { file: locked, text })),
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e.error),
        }
        let mut file = match File::options().read(true).write(true).open(path) {
            // Its owner has just finished.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let mut words = String::new();
        file.read_to_string(&mut words)?;
        let owner = serde_json::from_str::<Owner>(&words).ok();
        let is_near = owner.is_some_and(|owner| owner.is_on_the_machine_of(&Owner::this()));
        let touched = file.metadata()?.modified()?;
        let locked = Locked::of(file);
        // Of a lease that was removed meanwhile only the lock is left.
        if locked.is_ours() && !locked.is_at(path) {
            return Ok(None);
        }
        let is_void =
            (is_near && locked.is_ours()) || apart(self.now_there()?, touched) > VOID_AFTER;
        let mut held = Held { file: locked, text };
        if is_void {
            held.write()?;
        }
        Ok(is_void.then_some(held))
    }

    /// The time by the clock of the folder, which may be another machine's.
    fn now_there(&self) -> io::Result<SystemTime> {
        let mut probe = own_file(&self.folder, ".lease.", ".tmp")?;
        probe.write_all(b"now")?;
        probe.as_file().metadata()?.modified()
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        drop(self.ending.take());
        if let Some(thread) = self.touching.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        lock(&self.leases.held).remove(&self.path);
    }
}

impl Held {
    /// Writes its words once more, which touches it by the clock of the folder.
    fn write(&mut self) -> io::Result<()> {
        let file = self.file.file();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(self.text.as_bytes())?;
        file.set_len(self.text.len() as u64)
    }
}

/// Who holds the leases of a folder, by name; of a void lease, who held it.
pub fn owners(folder: &Path) -> BTreeMap<String, Owner> {
    let lease = |path: PathBuf| {
        let is_lease = path.extension().is_some_and(|e| e == "lease");
        let name = path.file_stem()?.to_string_lossy().into_owned();
        let owner = serde_json::from_str(&std::fs::read_to_string(&path).ok()?).ok()?;
        is_lease.then_some((name, owner))
    };
    let all = std::fs::read_dir(folder).into_iter().flatten().flatten();
    all.filter_map(|entry| lease(entry.path())).collect()
}

/// The time between two times. A lease from the future is as old as one from the past: the clock was set back, and
/// its owner would have touched it since.
fn apart(a: SystemTime, b: SystemTime) -> Duration {
    a.duration_since(b).unwrap_or_else(|e| e.duration())
}

fn path_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.lease"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file, and its lock where that was to be had: the system gives it back however a process ends.
struct Locked {
    #[cfg(unix)]
    file: Result<nix::fcntl::Flock<File>, File>,
    #[cfg(not(unix))]
    file: File,
}

#[cfg(unix)]
impl Locked {
    fn of(file: File) -> Locked {
        use nix::fcntl::{Flock, FlockArg};
        Locked {
            file: Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(file, _)| file),
        }
    }

    fn is_ours(&self) -> bool {
        self.file.is_ok()
    }

    fn is_at(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let file: &File = match &self.file {
            Ok(locked) => locked,
            Err(file) => file,
        };
        let place = |m: std::fs::Metadata| (m.dev(), m.ino());
        file.metadata().ok().map(place) == std::fs::metadata(path).ok().map(place)
    }

    fn file(&mut self) -> &mut File {
        match &mut self.file {
            Ok(locked) => locked,
            Err(file) => file,
        }
    }
}

#[cfg(not(unix))]
impl Locked {
    fn of(file: File) -> Locked {
        Locked { file }
    }

    fn is_ours(&self) -> bool {
        false
    }

    fn is_at(&self, _: &Path) -> bool {
        true
    }

    fn file(&mut self) -> &mut File {
        &mut self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    fn begin(folder: &tempfile::TempDir) -> Leases {
        Leases::begin(folder.path()).unwrap_or_else(|e| panic!("{e}"))
    }

    fn take<'a>(leases: &'a Leases, name: &str) -> Option<Lease<'a>> {
        leases.take(name).unwrap_or_else(|e| panic!("{e}"))
    }

    /// A lease as another process has left it.
    fn left(folder: &tempfile::TempDir, owner: &Owner) -> PathBuf {
        let path = path_of(folder.path(), "a");
        std::fs::write(&path, serde_json::to_string(owner).expect("JSON")).expect("a file");
        path
    }

    #[test]
    fn of_two_workers_one_has_a_lease_until_it_is_given_back() {
        let folder = folder();
        let (one, two) = (begin(&folder), begin(&folder));
        let mine = take(&one, "a").expect("nobody has it");
        assert!(take(&two, "a").is_none() && take(&one, "a").is_none());
        assert_eq!(owners(folder.path())["a"].pid, std::process::id());
        assert!(take(&two, "b").is_some());
        drop(mine);
        assert!(take(&two, "a").is_some());
        let left = std::fs::read_dir(folder.path()).expect("the folder").count();
        assert_eq!(left, 0);
    }

    #[test]
    fn of_many_workers_at_once_one_has_the_lease() {
        let folder = folder();
        let all: Vec<Leases> = (0..4).map(|_| begin(&folder)).collect();
        for trial in 0..200 {
            let barrier = std::sync::Barrier::new(all.len());
            let won = std::thread::scope(|s| {
                let run = |leases| {
                    let barrier = &barrier;
                    s.spawn(move || {
                        let lease = take(leases, &trial.to_string());
                        barrier.wait();
                        lease.is_some()
                    })
                };
                let threads: Vec<_> = all.iter().map(run).collect();
                threads.into_iter().map(|t| t.join().expect("a thread")).filter(|w| *w).count()
            });
            assert_eq!(won, 1, "trial {trial}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_lease_of_a_process_of_this_machine_that_is_gone_is_void_at_once() {
        let folder = folder();
        left(&folder, &Owner { pid: 1, ..Owner::this() });
        assert!(take(&begin(&folder), "a").is_some());
    }

    #[test]
    fn a_lease_from_elsewhere_is_void_ten_minutes_after_its_last_touch() {
        let folder = folder();
        let elsewhere = Owner { host: "b".into(), boot: "other".into(), ..Owner::this() };
        let path = left(&folder, &elsewhere);
        let leases = begin(&folder);
        let aged = |minutes: u64| {
            let file = File::options().write(true).open(&path).expect("the lease");
            let then = SystemTime::now() - Duration::from_secs(60 * minutes);
            file.set_modified(then).expect("its time");
        };
        for minutes in [0, 9] {
            aged(minutes);
            assert!(take(&leases, "a").is_none(), "{minutes}");
            assert_eq!(owners(folder.path())["a"], elsewhere);
        }
        aged(11);
        let mine = take(&leases, "a");
        assert!(mine.is_some() && owners(folder.path())["a"].pid == std::process::id());
    }

    /// A clock that was set back leaves such times: nobody may wait until they have come.
    #[test]
    fn a_lease_from_the_future_is_void_as_one_from_the_past() {
        let folder = folder();
        let elsewhere = Owner { host: "b".into(), boot: "other".into(), ..Owner::this() };
        let path = left(&folder, &elsewhere);
        let leases = begin(&folder);
        let ahead = |minutes: u64| {
            let file = File::options().write(true).open(&path).expect("the lease");
            let then = SystemTime::now() + Duration::from_secs(60 * minutes);
            file.set_modified(then).expect("its time");
        };
        ahead(9);
        assert!(take(&leases, "a").is_none(), "clocks differ by minutes");
        ahead(365 * 24 * 60);
        let mine = take(&leases, "a");
        assert!(mine.is_some() && owners(folder.path())["a"].pid == std::process::id());
        assert!(take(&leases, "a").is_none(), "it was touched when it was taken");
    }

    /// As of a file system without the promise that a file is written before it has its name.
    #[test]
    fn a_lease_that_says_nothing_is_void_after_ten_minutes() {
        let folder = folder();
        let path = path_of(folder.path(), "a");
        std::fs::write(&path, "").expect("a file");
        let leases = begin(&folder);
        assert!(take(&leases, "a").is_none());
        let file = File::options().write(true).open(&path).expect("the lease");
        file.set_modified(SystemTime::now() - 2 * VOID_AFTER).expect("its time");
        assert!(take(&leases, "a").is_some());
    }
}
