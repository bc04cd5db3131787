//! A worker's process: questions to it, answers from it, and its end.

use super::config::WorkerConfig;
use super::message;
use crate::device::{DeviceError, Stop};
use crate::threads::on_other_cores;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest line that is an answer.
const LINE_MAX: usize = 1 << 20;
/// How much of its log is shown with an error.
const LAST_WORDS: u64 = 2_000;
/// A stop is seen, and an end, within so long.
const GLANCE: Duration = Duration::from_millis(20);
/// A process ends within so long after its stdin; a job after a stop of the run. Then it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// Groups of processes that run.
static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Ends all workers at once: the program is about to exit.
pub fn kill_all() {
    for group in GROUPS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        // One that has ended is no error.
        let _ = killpg(Pid::from_raw(*group), Signal::SIGKILL);
    }
}

/// The clock of all processes of a host.
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC);
    time.map_or(0, |t| t.tv_sec() as u64 * 1_000_000_000 + t.tv_nsec() as u64)
}

/// What is wrong, and what to do about it.
pub type Fault = (String, &'static str);

/// See the module's text.
pub struct Process {
    device: String,
    child: Child,
    /// What came and was not read.
    rest: Vec<u8>,
    log: File,
    /// Questions asked.
    asked: u64,
    /// It is not waited for when it ends.
    lost: bool,
}

impl Process {
    pub fn start(device: String, config: &WorkerConfig) -> Result<Process, DeviceError> {
        let doing = format!("starting `{}`", config.command.join(" "));
        let failed = |said: String, remedy: &str| DeviceError::new(&device, &doing, said, remedy);
        let log = match &config.log {
            None => tempfile::tempfile(),
            Some(path) => {
                let path = config.folder.join(path);
                OpenOptions::new().create(true).append(true).read(true).open(path)
            }
        };
        let log = log.map_err(|e| failed(format!("its log: {e}"), "correct `log`"))?;
        let stderr = log.try_clone().map_err(|e| failed(e.to_string(), "correct `log`"))?;
        let (program, args) = config.command.split_first().expect("it was checked");
        let by_path = program.contains('/');
        let mut command = Command::new(match by_path {
            true => std::path::absolute(config.folder.join(program)).unwrap_or_default(),
            false => program.into(),
        });
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        command.process_group(0);
        if !config.folder.as_os_str().is_empty() {
            command.current_dir(&config.folder);
        }
        let child = on_other_cores(|| command.spawn());
        let remedy = "correct `command` of `[worker]`: it runs in the folder of its file";
        let child = child.map_err(|e| failed(e.to_string(), remedy))?;
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner).insert(child.id() as i32);
        Ok(Process { device, child, rest: Vec::new(), log, asked: 0, lost: false })
    }

    /// It did something wrong, and is asked nothing more.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Asks, and waits for the answer: no longer than a limit, which has the name of a key. `read` gets the answer, and
    /// when it was asked and came.
    pub fn ask<T>(
        &mut self,
        mut question: Value,
        doing: &str,
        limit: (&str, Duration),
        stop: Option<&Stop>,
        read: impl FnOnce(Value, u64, u64) -> Result<T, Fault>,
    ) -> Result<T, DeviceError> {
        let id = self.asked;
        self.asked += 1;
        question["id"] = json!(id);
        let line = format!("{question}\n");
        let asked_ns = monotonic_ns();
        let stdin = self.child.stdin.as_mut().expect("it is open until it ends");
        let answer = match stdin.write_all(line.as_bytes()) {
            Ok(()) => self.line(limit, stop),
            Err(_) => Err(self.gone()),
        };
        let came_ns = monotonic_ns();
        let answer = answer.and_then(|line| message::answer(&line, id));
        answer.and_then(|answer| read(answer, asked_ns, came_ns)).map_err(|(said, remedy)| {
            self.lost = true;
            let log = self.last_words();
            DeviceError::new(&self.device, doing, said + &log, remedy)
        })
    }

    /// The next line that it prints.
    fn line(
        &mut self,
        (key, limit): (&str, Duration),
        stop: Option<&Stop>,
    ) -> Result<String, Fault> {
        let mut until = Instant::now() + limit;
        let mut stopped = false;
        loop {
            if let Some(end) = self.rest.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_string());
            }
            if self.rest.len() > LINE_MAX {
                let said = format!("a line of more than {LINE_MAX} bytes");
                return Err((said, "answer in one short line of JSON"));
            }
            if !stopped && stop.is_some_and(Stop::is_set) {
                (stopped, until) = (true, until.min(Instant::now() + GRACE));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let said = match stopped {
                    true => format!("no answer {} s after the run was stopped", GRACE.as_secs()),
                    false => format!("no answer after {} s (`{key}`)", limit.as_secs_f64()),
                };
                let remedy = "it was killed; raise the key if it does not hang";
                return Err((said, remedy));
            }
            let stdout = self.child.stdout.as_mut().expect("it is a pipe");
            let mut ready = [PollFd::new(stdout.as_fd(), PollFlags::POLLIN)];
            let glance = left.min(GLANCE).as_millis().max(1) as u16;
            match poll(&mut ready, glance) {
                Ok(0) | Err(nix::Error::EINTR) => continue,
                _ => {}
            }
            let mut chunk = [0; 4096];
            match stdout.read(&mut chunk) {
                Ok(n) if n > 0 => self.rest.extend_from_slice(&chunk[..n]),
                _ => return Err(self.gone()),
            }
        }
    }

    /// Why it does not answer any more.
    fn gone(&mut self) -> Fault {
        let until = Instant::now() + Duration::from_secs(1);
        let mut ended = self.ended();
        while ended.is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
            ended = self.ended();
        }
        let said = match ended {
            Some(WaitStatus::Exited(_, code)) => format!("it ended with code {code}"),
            Some(WaitStatus::Signaled(_, signal, _)) => format!("it was killed by {signal}"),
            _ => "it closed its stdin or stdout".to_string(),
        };
        (said, "see what it wrote to stderr")
    }

    /// How it ended, if it did; its number is not given away yet.
    fn ended(&self) -> Option<WaitStatus> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        let status = waitid(Id::Pid(Pid::from_raw(self.child.id() as i32)), flags);
        status.ok().filter(|s| *s != WaitStatus::StillAlive)
    }

    /// The end of its log.
    fn last_words(&mut self) -> String {
        let mut bytes = Vec::new();
        let length = self.log.metadata().map_or(0, |m| m.len());
        let from = SeekFrom::Start(length.saturating_sub(LAST_WORDS));
        let read = self.log.seek(from).and_then(|_| self.log.read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        match read.is_ok() && !lines.is_empty() {
            true => {
                format!("; its last words: {}", lines[lines.len().saturating_sub(5)..].join(" | "))
            }
            false => String::new(),
        }
    }
}

/// It is told to end by the end of its stdin; what it leaves of its own is killed.
impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let until = Instant::now() + GRACE;
        while !self.lost && self.ended().is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        let group = self.child.id() as i32;
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner).remove(&group);
        let _ = self.child.wait();
    }
}
