//! What the stand-in knows: its failures to come, and everything that was made and not destroyed.

use crate::clock::now_ns;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The results that the stand-in gives, by CUDA's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    InvalidValue = 1,
    OutOfMemory = 2,
    NotInitialized = 3,
    NoDevice = 100,
    InvalidDevice = 101,
    InvalidContext = 201,
    UnsupportedPtxVersion = 222,
    InvalidHandle = 400,
    NotFound = 500,
    NotReady = 600,
    LaunchOutOfResources = 701,
    LaunchFailed = 719,
    CaptureUnsupported = 900,
    CaptureInvalidated = 901,
}

impl Code {
    /// The name and the description of a code.
    pub fn texts(code: u32) -> Result<(&'static CStr, &'static CStr), Code> {
        Ok(match code {
            1 => (c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
            2 => (c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
            3 => (c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error"),
            100 => (c"CUDA_ERROR_NO_DEVICE", c"no CUDA-capable device is detected"),
            101 => (c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal"),
            201 => (c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context"),
            222 => (c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", c"unsupported PTX version"),
            400 => (c"CUDA_ERROR_INVALID_HANDLE", c"invalid resource handle"),
            500 => (c"CUDA_ERROR_NOT_FOUND", c"named symbol not found"),
            600 => (c"CUDA_ERROR_NOT_READY", c"device not ready"),
            701 => (c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", c"too many resources requested"),
            719 => (c"CUDA_ERROR_LAUNCH_FAILED", c"unspecified launch failure"),
            900 => (c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", c"not permitted while capturing"),
            901 => (c"CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", c"the capture failed"),
            _ => return Err(Code::InvalidValue),
        })
    }
}

/// From the environment, once.
#[derive(Debug)]
pub struct Config {
    pub version: i32,
    pub devices: i32,
    pub memory_bytes: usize,
    pub launch_fails: u64,
    pub lost: u64,
    pub hangs: u64,
    /// Nanoseconds of an iteration of arithmetic.
    pub fma_ns: u64,
    /// The number of the capture, from 1, that fails.
    pub capture_fails: u64,
}

impl Config {
    fn read() -> Config {
        let number = |name: &str, unset: u64| match std::env::var(format!("ORRERY_STAND_IN_{name}"))
        {
            Ok(text) => text.parse().unwrap_or_else(|_| panic!("ORRERY_STAND_IN_{name}={text}")),
            Err(_) => unset,
        };
        Config {
            version: number("VERSION", 11_040) as i32,
            devices: number("DEVICES", 1) as i32,
            memory_bytes: (number("MEMORY_MIB", 8_192) as usize) << 20,
            launch_fails: number("LAUNCH_FAILS", u64::MAX),
            lost: number("LOST", u64::MAX),
            hangs: number("HANGS", u64::MAX),
            fma_ns: number("FMA_NS", 10),
            capture_fails: number("CAPTURE_FAILS", u64::MAX),
        }
    }
}

/// A stream is busy until an instant of the device's clock.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    pub free_at: u64,
    /// What was captured so far, while it captures; an error once that has failed.
    pub capturing: Option<Result<Vec<String>, Code>>,
}

/// See the module's text.
#[derive(Debug)]
pub struct State {
    pub config: Config,
    pub ready: bool,
    pub launches: u64,
    /// Until when anything runs, of destroyed streams too.
    pub busy_until: u64,
    pub streams: BTreeMap<usize, Stream>,
    /// When each event happened, if it was recorded.
    pub events: BTreeMap<usize, Option<u64>>,
    pub memory: BTreeMap<u64, Vec<u8>>,
    pub pinned: BTreeMap<u64, Vec<u64>>,
    pub kernels: Vec<String>,
    /// Graphs and what can be launched of them: the names of their nodes, in order.
    pub graphs: BTreeMap<usize, Vec<String>>,
    pub captures: u64,
    /// Launches of graphs.
    pub graph_launches: u64,
    last_handle: usize,
    modules: BTreeSet<usize>,
}

static STATE: OnceLock<Mutex<State>> = OnceLock::new();

/// The state.
pub fn state() -> MutexGuard<'static, State> {
    let fresh = || {
        Mutex::new(State {
            config: Config::read(),
            ready: false,
            launches: 0,
            busy_until: 0,
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            memory: BTreeMap::new(),
            pinned: BTreeMap::new(),
            kernels: Vec::new(),
            graphs: BTreeMap::new(),
            captures: 0,
            graph_launches: 0,
            last_handle: 0x1000,
            modules: BTreeSet::new(),
        })
    };
    STATE.get_or_init(fresh).lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state, for a call that needs a context on its thread and a device that is not lost.
pub fn with_context() -> Result<MutexGuard<'static, State>, Code> {
    let state = state();
    if current::get() == 0 {
        return Err(Code::InvalidContext);
    }
    if state.launches >= state.config.lost {
        return Err(Code::LaunchFailed);
    }
    Ok(state)
}

/// The calling thread's context.
pub mod current {
    use std::cell::Cell;

    thread_local!(static CONTEXT: Cell<usize> = const { Cell::new(0) });

    pub fn get() -> usize {
        CONTEXT.get()
    }

    pub fn set(context: usize) {
        CONTEXT.set(context);
    }
}

impl State {
    pub fn started(&self) -> Result<&State, Code> {
        if self.ready { Ok(self) } else { Err(Code::NotInitialized) }
    }

    fn handle(&mut self) -> usize {
        self.last_handle += 0x10;
        self.last_handle
    }

    pub fn new_stream(&mut self) -> usize {
        let handle = self.handle();
        self.streams.insert(handle, Stream::default());
        handle
    }

    pub fn new_event(&mut self) -> usize {
        let handle = self.handle();
        self.events.insert(handle, None);
        handle
    }

    pub fn stream(&self, handle: usize) -> Result<Stream, Code> {
        self.streams.get(&handle).cloned().ok_or(Code::InvalidHandle)
    }

    pub fn event(&self, handle: usize) -> Result<Option<u64>, Code> {
        self.events.get(&handle).copied().ok_or(Code::InvalidHandle)
    }

    /// Whatever waits or allocates is not permitted while some stream captures, whose capture has failed then.
    pub fn not_capturing(&mut self) -> Result<(), Code> {
        let capturing = self.streams.values_mut().filter_map(|s| s.capturing.as_mut());
        let failed = capturing.map(|c| *c = Err(Code::CaptureInvalidated)).count();
        if failed == 0 { Ok(()) } else { Err(Code::CaptureUnsupported) }
    }

    pub fn begin_capture(&mut self, stream: usize) -> Result<(), Code> {
        self.captures += 1;
        let fails = self.captures == self.config.capture_fails;
        let stream = self.streams.get_mut(&stream).ok_or(Code::InvalidHandle)?;
        let nodes = if fails { Err(Code::CaptureInvalidated) } else { Ok(Vec::new()) };
        stream.capturing = Some(nodes);
        Ok(())
    }

    pub fn end_capture(&mut self, stream: usize) -> Result<usize, Code> {
        let stream = self.streams.get_mut(&stream).ok_or(Code::InvalidHandle)?;
        let nodes = stream.capturing.take().ok_or(Code::InvalidValue)??;
        Ok(self.new_graph(nodes))
    }

    pub fn new_graph(&mut self, nodes: Vec<String>) -> usize {
        let handle = self.handle();
        self.graphs.insert(handle, nodes);
        handle
    }

    /// Takes a node where the stream captures: nothing runs then.
    pub fn captured(&mut self, stream: usize, node: &str) -> Result<bool, Code> {
        let stream = self.streams.get_mut(&stream).ok_or(Code::InvalidHandle)?;
        match &mut stream.capturing {
            None => Ok(false),
            Some(Ok(nodes)) => {
                nodes.push(node.to_string());
                Ok(true)
            }
            Some(Err(code)) => Err(*code),
        }
    }

    /// Gives a stream something that takes so long.
    pub fn occupy(&mut self, stream: usize, ns: u64) -> Result<(), Code> {
        let stream = self.streams.get_mut(&stream).ok_or(Code::InvalidHandle)?;
        stream.free_at = stream.free_at.max(now_ns()).saturating_add(ns);
        self.busy_until = self.busy_until.max(stream.free_at);
        Ok(())
    }

    pub fn used(&self) -> usize {
        self.memory.values().map(Vec::len).sum()
    }

    pub fn allocate(&mut self, bytes: usize) -> Result<u64, Code> {
        if bytes == 0 {
            return Err(Code::InvalidValue);
        }
        self.not_capturing()?;
        if self.used() + bytes > self.config.memory_bytes {
            return Err(Code::OutOfMemory);
        }
        let memory = vec![0u8; bytes];
        let at = memory.as_ptr() as u64;
        self.memory.insert(at, memory);
        Ok(at)
    }

    /// Pinned memory, which is aligned.
    pub fn pin(&mut self, bytes: usize) -> u64 {
        let memory = vec![0u64; bytes.div_ceil(8).max(1)];
        let at = memory.as_ptr() as u64;
        self.pinned.insert(at, memory);
        at
    }

    /// A place in device memory with so many bytes after it.
    pub fn inside(&mut self, at: u64, bytes: usize) -> Result<*mut u8, Code> {
        let (start, memory) = self.memory.range_mut(..=at).next_back().ok_or(Code::InvalidValue)?;
        let offset = (at - start) as usize;
        match memory.get_mut(offset..).and_then(|rest| rest.get_mut(..bytes)) {
            Some(place) => Ok(place.as_mut_ptr()),
            None => Err(Code::InvalidValue),
        }
    }

    /// Takes the names of the kernels from PTX.
    pub fn load(&mut self, ptx: &str) -> Result<usize, Code> {
        let isa = ptx.lines().find_map(|line| line.strip_prefix(".version "));
        if isa.and_then(|isa| isa.trim().parse::<f64>().ok()).is_none_or(|isa| isa > 7.4) {
            return Err(Code::UnsupportedPtxVersion);
        }
        let name = |line: &str| {
            line.strip_prefix(".visible .entry ")?.split('(').next().map(str::to_string)
        };
        self.kernels = ptx.lines().filter_map(name).collect();
        let handle = self.handle();
        self.modules.insert(handle);
        Ok(handle)
    }
}
