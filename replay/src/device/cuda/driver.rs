//! What is used of the CUDA driver, with its errors turned into ours. All `unsafe` but cuBLAS's is here.
//!
//! cudarc panics where the library or one of its functions is missing; [`super::probe`] has looked for
//! every one of [`probe::FUNCTIONS`] before anything here is called.

#![allow(unsafe_code)]

use super::error::device_error;
use super::probe;
use crate::device::DeviceError;
use crate::device::encoder::plan::{Arg, Kernel, Launch};
use cudarc::driver::sys::{
    self, CUdevice_attribute as Attribute, CUdeviceptr, CUevent_flags, CUresult, CUuuid,
};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaGraph, CudaModule, CudaStream, DriverError, result,
};
use cudarc::nvrtc::Ptx;
use orrery_sim::time::Span;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A context, and whether something in it hangs.
///
/// Whoever frees memory, unloads a module or releases a context waits until everything in it has ended: for ever behind
/// what hangs. Then nothing is given back, and the end of the process does it.
#[derive(Debug)]
pub struct Context {
    cuda: Arc<CudaContext>,
    hangs: AtomicBool,
}

impl Context {
    /// Whether what was taken can be given back: not behind a kernel that hangs. Makes the context the thread's.
    pub fn takes_back(&self) -> bool {
        // A device that was lost cannot free; there is nobody left to tell.
        !self.hangs.load(Ordering::Relaxed) && self.cuda.bind_to_thread().is_ok()
    }
}

/// An opened device with its kernels.
#[derive(Debug)]
pub struct Gpu {
    context: Arc<Context>,
    device: String,
    patience: Duration,
    functions: BTreeMap<Kernel, CudaFunction>,
    module: Arc<CudaModule>,
}

impl Gpu {
    /// Opens device number `ordinal` and loads its kernels.
    pub fn open(ordinal: usize, ptx: &str, patience: Duration) -> Result<Gpu, DeviceError> {
        let device = format!("cuda:{ordinal}");
        let fault = |doing: &'static str| {
            let device = device.clone();
            move |error| device_error(&device, doing, error)
        };
        let cuda = CudaContext::new(ordinal).map_err(fault("opening the device"))?;
        // SAFETY: no CudaSlice is ever made; memory, and what is done to it in which order, is in our
        // own hands: each lane has its own buffers and waits for its stream before it goes on.
        unsafe { cuda.disable_event_tracking() };
        let module = cuda.load_module(Ptx::from_src(ptx)).map_err(fault("loading the kernels"))?;
        let mut functions = BTreeMap::new();
        for kernel in Kernel::ALL {
            let function = module.load_function(kernel.name()).map_err(|error| {
                device_error(&device, &format!("finding the kernel {}", kernel.name()), error)
            })?;
            functions.insert(kernel, function);
        }
        let context = Arc::new(Context { cuda, hangs: AtomicBool::new(false) });
        Ok(Gpu { context, device, patience, functions, module })
    }

    /// The context, for whoever holds something of it.
    pub fn context(&self) -> Arc<Context> {
        Arc::clone(&self.context)
    }

    /// Something on the device does not end: from now on nothing of it is given back.
    pub fn give_up(&self) {
        if !self.context.hangs.swap(true, Ordering::Relaxed) {
            std::mem::forget((Arc::clone(&self.context.cuda), Arc::clone(&self.module)));
        }
    }

    /// As in `--device`.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// How long a job may take that nothing is known of.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Turns the driver's error into ours.
    pub fn check<T>(&self, doing: &str, result: Result<T, DriverError>) -> Result<T, DeviceError> {
        result.map_err(|error| device_error(&self.device, doing, error))
    }

    /// Makes the device the calling thread's.
    pub fn bind(&self) -> Result<(), DeviceError> {
        self.check("binding the device to a thread", self.context.cuda.bind_to_thread())
    }

    /// A fact about the device, or nothing if the driver does not know it.
    pub fn attribute(&self, attribute: Attribute) -> Option<i32> {
        self.context.cuda.attribute(attribute).ok()
    }

    /// What the device calls itself.
    pub fn name(&self) -> Result<String, DeviceError> {
        self.check("asking for the device's name", self.context.cuda.name())
    }

    /// The device's unique number, as `nvidia-smi -L` prints it.
    pub fn uuid(&self) -> Result<String, DeviceError> {
        let [old, new] = probe::OPTIONAL.map(probe::has);
        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: `uuid` is a place for one, and the function is there.
        // Of a part of a GPU (MIG) only the second names the part.
        let got = match (old, new) {
            (_, true) => unsafe {
                sys::cuDeviceGetUuid_v2(&mut uuid, self.context.cuda.cu_device())
            },
            (true, _) => unsafe { sys::cuDeviceGetUuid(&mut uuid, self.context.cuda.cu_device()) },
            _ => return Ok("unknown".to_string()),
        };
        self.check("asking for the device's uuid", got.result())?;
        Ok(uuid_text(uuid.bytes.map(|b| b as u8)))
    }

    /// Bytes of device memory: free, and in all.
    pub fn memory_bytes(&self) -> Result<(usize, usize), DeviceError> {
        self.check("asking for the device's memory", self.context.cuda.mem_get_info())
    }

    /// A stream; an urgent one goes before others where kernels wait for room.
    pub fn stream(&self, urgent: bool) -> Result<Arc<CudaStream>, DeviceError> {
        self.bind()?;
        let doing = "creating a stream";
        let (least, most) = self.check(doing, result::stream::get_priority_range())?;
        let priority = if urgent { most } else { least };
        self.check(doing, self.context.cuda.new_stream_with_priority(priority))
    }

    /// An event that knows when it happened.
    pub fn event(&self) -> Result<CudaEvent, DeviceError> {
        let event = self.context.cuda.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        self.check("creating an event", event)
    }

    /// Device memory; its content is whatever was there.
    pub fn memory(&self, what: &str, bytes: u64) -> Result<Memory, DeviceError> {
        self.bind()?;
        // SAFETY: the memory is only read after something was written to it, by kernels or copies;
        // `Memory` frees it.
        let pointer = unsafe { result::malloc_sync(bytes.max(4) as usize) };
        let doing = format!("taking {} MiB of device memory for {what}", bytes.div_ceil(1 << 20));
        let pointer = self.check(&doing, pointer)?;
        Ok(Memory { pointer, bytes, context: self.context() })
    }

    /// Host memory that does not move, filled with zeros: copies from it need no detour.
    pub fn pinned(&self, bytes: u64) -> Result<Pinned, DeviceError> {
        self.bind()?;
        let bytes = bytes.max(4) as usize;
        // SAFETY: `Pinned` frees it; it is zeroed below before anybody can read it.
        let pointer = unsafe { result::malloc_host(bytes, 0) };
        let doing = format!("taking {} MiB of pinned host memory", bytes.div_ceil(1 << 20));
        let pointer = self.check(&doing, pointer)?.cast::<u8>();
        // SAFETY: the driver gave `bytes` bytes, which nobody else has.
        unsafe { pointer.write_bytes(0, bytes) };
        Ok(Pinned { pointer, bytes, context: self.context() })
    }

    /// Starts a kernel.
    ///
    /// # Safety
    /// The arguments are those of the kernel in `orrery.cu`, its pointers point to memory of the sizes
    /// that the grid touches, and nothing else uses what it writes until the stream got there.
    pub unsafe fn launch(
        &self,
        stream: &CudaStream,
        launch: &Launch<CUdeviceptr>,
    ) -> Result<(), DeviceError> {
        let doing = || format!("launching {}", launch.kernel.name());
        let Some(function) = self.functions.get(&launch.kernel) else {
            return self.check(&doing(), Err(DriverError(NOT_FOUND)));
        };
        let pointer = |arg: &Arg<CUdeviceptr>| -> *mut c_void {
            match arg {
                Arg::At(value) => std::ptr::from_ref(value).cast_mut().cast(),
                Arg::U32(value) => std::ptr::from_ref(value).cast_mut().cast(),
                Arg::U64(value) => std::ptr::from_ref(value).cast_mut().cast(),
                Arg::F32(value) => std::ptr::from_ref(value).cast_mut().cast(),
            }
        };
        let mut params: Vec<*mut c_void> = launch.args.iter().map(pointer).collect();
        let block = (launch.block, 1, 1);
        // SAFETY: the caller's promise; `params` points into `launch`, which outlives the call, and the
        // driver copies the arguments before it returns.
        let launched = unsafe {
            result::launch_kernel(
                function.cu_function(),
                launch.grid,
                block,
                0,
                stream.cu_stream(),
                &mut params,
            )
        };
        launched.map_err(|error| device_error(&self.device, &doing(), error))
    }

    /// Starts a copy to the device of the first `bytes` bytes.
    ///
    /// # Safety
    /// The source does not change, and neither side is freed, until the stream got there.
    pub unsafe fn copy(
        &self,
        stream: &CudaStream,
        from: &Pinned,
        to: &Memory,
        at: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        let doing = "copying to the device";
        if at + bytes > to.bytes || bytes > from.bytes as u64 {
            return self.check(doing, Err(DriverError(INVALID)));
        }
        // SAFETY: the lengths were checked; the caller promises the rest.
        let copied = unsafe {
            let source = std::slice::from_raw_parts(from.pointer, bytes as usize);
            result::memcpy_htod_async(to.pointer + at, source, stream.cu_stream())
        };
        self.check(doing, copied)
    }

    /// Copies to the device and waits.
    pub fn write<T: Plain>(&self, to: &Memory, values: &[T]) -> Result<(), DeviceError> {
        self.bind()?;
        let doing = "copying to the device";
        if size_of_val(values) as u64 > to.bytes {
            return self.check(doing, Err(DriverError(INVALID)));
        }
        // SAFETY: it fits, and the call returns when the source was read.
        self.check(doing, unsafe { result::memcpy_htod_sync(to.pointer, values) })
    }

    /// Copies from the device and waits.
    pub fn read<T: Plain>(&self, from: &Memory, count: usize) -> Result<Vec<T>, DeviceError> {
        self.bind()?;
        let doing = "copying from the device";
        let mut values = vec![T::default(); count];
        if size_of_val(values.as_slice()) as u64 > from.bytes {
            return self.check(doing, Err(DriverError(INVALID)));
        }
        // SAFETY: it fits, and any bits are a value of the type.
        let copied = unsafe { result::memcpy_dtoh_sync(&mut values, from.pointer) };
        self.check(doing, copied)?;
        Ok(values)
    }

    /// The device's time from one event to another that has happened.
    pub fn between(&self, from: &CudaEvent, to: &CudaEvent) -> Result<Span, DeviceError> {
        // SAFETY: both are events of this context, which `record` was called with.
        let ms = unsafe { result::event::elapsed(from.cu_event(), to.cu_event()) };
        Ok(Span::from_ms_f64(f64::from(self.check("reading the device's time", ms)?)))
    }
}

/// What was captured, to be launched at once.
pub struct Graph {
    graph: ManuallyDrop<CudaGraph>,
    context: Arc<Context>,
}

// SAFETY: a graph may go to another thread as long as one at a time uses it; `&mut self` sees to that.
unsafe impl Send for Graph {}

impl Graph {
    /// Starts it on the stream that it was captured from.
    pub fn launch(&mut self) -> Result<(), DriverError> {
        self.graph.launch()
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.context.takes_back() {
            // SAFETY: it is dropped here alone, once.
            unsafe { ManuallyDrop::drop(&mut self.graph) };
        }
    }
}

impl Gpu {
    /// Captures what `start` puts on a stream, on which nothing runs meanwhile; or why that cannot be.
    pub fn capture(
        &self,
        stream: &Arc<CudaStream>,
        start: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<Graph, String> {
        let said = |error: DriverError| device_error(&self.device, "capturing", error).said;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        stream.begin_capture(mode).map_err(said)?;
        let started = start();
        // Ended in any case: a stream that captures runs nothing.
        let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0));
        started.map_err(|error| error.said)?;
        let graph = graph.map_err(said)?.ok_or("the driver gave no graph")?;
        graph.upload().map_err(said)?;
        Ok(Graph { graph: ManuallyDrop::new(graph), context: self.context() })
    }
}

const NOT_FOUND: CUresult = CUresult::CUDA_ERROR_NOT_FOUND;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn uuid_text(bytes: [u8; 16]) -> String {
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let part = |from: usize, to: usize| hex[from..to].to_string();
    format!("GPU-{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

/// Numbers any bits of which are a value.
pub trait Plain: Copy + Default {}
impl Plain for u32 {}
impl Plain for u64 {}
impl Plain for f32 {}

/// Device memory.
#[derive(Debug)]
pub struct Memory {
    pointer: CUdeviceptr,
    bytes: u64,
    context: Arc<Context>,
}

impl Memory {
    /// Where it begins.
    pub fn pointer(&self) -> CUdeviceptr {
        self.pointer
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.context.takes_back() {
            // SAFETY: the driver gave it, and nobody else frees it.
            let _ = unsafe { result::free_sync(self.pointer) };
        }
    }
}

/// Pinned host memory.
#[derive(Debug)]
pub struct Pinned {
    pointer: *mut u8,
    bytes: usize,
    context: Arc<Context>,
}

// SAFETY: plain memory, owned; the pointer is used through `&mut self` or for reading only.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Writes the first numbers.
    pub fn write(&mut self, values: &[u32]) {
        let count = values.len().min(self.bytes / 4);
        // SAFETY: pinned memory is aligned to a page and at least so long.
        unsafe { self.pointer.cast::<u32>().copy_from(values.as_ptr(), count) };
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.takes_back() {
            // SAFETY: the driver gave it, and nobody else frees it.
            let _ = unsafe { result::free_host(self.pointer.cast()) };
        }
    }
}
