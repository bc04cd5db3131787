//! Where the threads of a replay run: pinned to cores and at real-time priority, where the system
//! allows it (Clockwork, §5.2).

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use orrery_sim::time::Span;
use std::sync::OnceLock;
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

/// The cores that the process was given. Read once, before any thread is pinned: a pinned thread, and
/// whatever it starts, sees its own core only.
pub fn cores() -> &'static [usize] {
    static CORES: OnceLock<Vec<usize>> = OnceLock::new();
    CORES.get_or_init(|| {
        let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
        let given = (0..CpuSet::count()).filter(|c| set.is_set(*c).unwrap_or(false)).collect();
        if Vec::is_empty(&given) { vec![0] } else { given }
    })
}

/// Where threads run. Those that are pinned have a core each: the controller the first, workers the next.
#[derive(clap::Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Pin threads to cores.
    #[arg(long)]
    pub pin: bool,
    /// Request real-time priority.
    #[arg(long)]
    pub real_time: bool,
}

/// Pins the calling thread to the N-th of [`cores`].
///
/// # Errors
/// When there is no such core, or the system refuses.
pub fn pin_to(core: usize) -> Result<(), nix::Error> {
    let number = cores().get(core).copied().ok_or(nix::Error::EINVAL)?;
    let mut set = CpuSet::new();
    set.set(number)?;
    sched_setaffinity(Pid::from_raw(0), &set)
}

/// Gives the calling thread the cores back that it had, when it goes out of scope.
pub struct Unpinned(Option<CpuSet>);

impl Unpinned {
    /// Remembers the cores of the calling thread.
    pub fn later() -> Unpinned {
        Unpinned(sched_getaffinity(Pid::from_raw(0)).ok())
    }
}

impl Drop for Unpinned {
    fn drop(&mut self) {
        if let Some(set) = &self.0 {
            // It was allowed before.
            let _ = sched_setaffinity(Pid::from_raw(0), set);
        }
    }
}

/// The cores of what the program starts: all but the controller's, where there are enough.
fn beside(cores: &[usize]) -> &[usize] {
    if cores.len() > 2 { &cores[1..] } else { cores }
}

/// Does something on a thread that has the cores of the process, without the controller's where there are enough: a
/// pinned thread gives what it starts its own core only.
pub fn on_other_cores<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    let on_others = || {
        let mut set = CpuSet::new();
        // They were given, and so are allowed.
        let _ = beside(cores()).iter().try_for_each(|core| set.set(*core));
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
        act()
    };
    let done = std::thread::scope(|scope| scope.spawn(on_others).join());
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Time that the calling thread has run on a processor. A span since the thread began.
pub fn cpu_time() -> Span {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(Span::ZERO, |t| {
        Span::from_ns(t.tv_sec() as u64 * 1_000_000_000 + t.tv_nsec() as u64)
    })
}

/// Settles the calling thread; `number` is its place, the controller's being 0. Returns what the
/// system did not grant.
pub fn settle(placement: Placement, number: u32) -> Vec<String> {
    let mut notes = Vec::new();
    // Less slack makes sleeping more precise; a system that refuses is only a little later.
    let _ = nix::sys::prctl::set_timerslack(1);
    if placement.pin
        && let Err(e) = pin_to(number as usize % cores().len())
    {
        notes.push(format!("{} could not be pinned: {e}", who(number)));
    }
    if placement.real_time {
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let granted = ThreadPriorityValue::try_from(10u8).ok().is_some_and(|p| {
            let priority = ThreadPriority::Crossplatform(p);
            set_thread_priority_and_policy(thread_native_id(), priority, policy).is_ok()
        });
        if !granted {
            let remedy = "it takes CAP_SYS_NICE or an rtprio limit";
            let who = who(number);
            notes.push(format!("{who} did not get real-time priority; {remedy}"));
        }
    }
    notes
}

fn who(number: u32) -> String {
    if number == 0 { "the controller".to_string() } else { format!("worker {number}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_started_leaves_the_controller_its_core() {
        assert_eq!(beside(&[3, 4, 7]), [4, 7]);
        assert_eq!(beside(&[0, 1]), [0, 1]);
    }

    /// A campaign pins its thread in its first run; the next run's threads still get cores of their own.
    #[test]
    fn what_a_pinned_thread_starts_is_pinned_elsewhere() {
        let pinned = |number| {
            settle(Placement { pin: true, real_time: false }, number);
            let set = sched_getaffinity(Pid::from_raw(0)).expect("its own");
            (0..CpuSet::count()).filter(|c| set.is_set(*c).unwrap_or(false)).collect::<Vec<_>>()
        };
        let on_a_thread = std::thread::spawn(move || {
            let first = pinned(0);
            (first, std::thread::spawn(move || pinned(1)).join().expect("a thread"))
        });
        let (controller, worker) = on_a_thread.join().expect("a thread");
        let all = cores();
        assert_eq!((controller, worker), (vec![all[0]], vec![all[1 % all.len()]]));
    }
}
