//! Who has a process: a lane, and between two runs nobody. What a process has prepared once stays prepared: it may take a
//! minute to import a library and capture graphs.

use super::config::WorkerConfig;
use super::message::{Hello, VERSION};
use super::process::Process;
use crate::device::{DeviceError, Stop};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A process that has said hello.
struct Hired {
    /// What it was started for: another command, folder, model or place has another process.
    key: String,
    process: Process,
    hello: Hello,
    is_ready: bool,
}

/// Processes that nobody has.
static IDLE: Mutex<Vec<Hired>> = Mutex::new(Vec::new());

/// Ends all processes that nobody has: nothing more is asked.
pub fn end_all() {
    let idle = std::mem::take(&mut *IDLE.lock().unwrap_or_else(PoisonError::into_inner));
    drop(idle);
}

/// Whether to wait no longer for a process that prepares its models.
static STOP: Stop = Stop(AtomicBool::new(false));

/// Ends all processes that prepare their models, soon: nothing was measured with them yet.
pub fn stop_preparing() {
    STOP.set();
}

/// A process with its owner.
pub struct Seat(Option<Hired>);

impl Seat {
    /// Takes a process that was started for the same, or starts one, which says hello.
    pub fn hire(
        number: usize,
        config: &WorkerConfig,
        role: &str,
        lane: u8,
    ) -> Result<Seat, DeviceError> {
        let WorkerConfig { folder, command, models, .. } = config;
        let key = format!("{:?}", (number, role, lane, folder, command, models));
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = idle.iter().position(|hired| hired.key == key) {
            return Ok(Seat(Some(idle.remove(at))));
        }
        drop(idle);
        let mut process = Process::start(format!("worker:{number}"), config)?;
        let question = json!({ "do": "hello", "orrery_worker": VERSION, "device": number, "role": role, "lane": lane });
        let limit = ("hello_s", Duration::from_secs_f64(config.hello_s));
        let read = |answer, _, _| Hello::of(answer);
        let hello = process.ask(question, "saying hello", limit, None, read)?;
        Ok(Seat(Some(Hired { key, process, hello, is_ready: false })))
    }

    fn hired(&mut self) -> &mut Hired {
        self.0.as_mut().expect("it is taken when the seat is dropped")
    }

    pub fn hello(&mut self) -> &Hello {
        &self.hired().hello
    }

    pub fn process(&mut self) -> &mut Process {
        &mut self.hired().process
    }

    /// Prepares its models, unless it has.
    pub fn prepare(&mut self, models: Value, limit_s: f64) -> Result<(), DeviceError> {
        let hired = self.hired();
        if !hired.is_ready {
            let question = json!({ "do": "prepare", "models": models });
            let limit = ("prepare_s", Duration::from_secs_f64(limit_s));
            hired.process.ask(
                question,
                "preparing its models",
                limit,
                Some(&STOP),
                |_, _, _| Ok(()),
            )?;
            hired.is_ready = true;
        }
        Ok(())
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let well = self.0.take().filter(|hired| !hired.process.is_lost());
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).extend(well);
    }
}
