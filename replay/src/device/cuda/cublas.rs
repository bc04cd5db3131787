//! cuBLAS's library: the six functions of it that are used.
#![allow(unsafe_code)]

use cudarc::driver::sys::CUstream;
use libloading::Library;
use std::ffi::{c_int, c_longlong, c_void};
use std::sync::OnceLock;

/// Where it is looked for. cudarc knows no name of CUDA 13.
const NAMES: [&str; 4] = ["libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"];

pub type Handle = *mut c_void;
/// 0 where all is well.
pub type Status = c_int;

/// The functions that are used: the same in CUDA 11, 12 and 13.
pub struct Functions {
    pub create: unsafe extern "C" fn(*mut Handle) -> Status,
    pub destroy: unsafe extern "C" fn(Handle) -> Status,
    pub version: unsafe extern "C" fn(Handle, *mut c_int) -> Status,
    pub set_stream: unsafe extern "C" fn(Handle, CUstream) -> Status,
    pub set_workspace: unsafe extern "C" fn(Handle, *mut c_void, usize) -> Status,
    pub sgemm: Sgemm,
}

/// Operations, m, n, k, alpha; A, its leading dimension and stride, B, beta, C, and how many.
pub type Sgemm = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const f32,
    *const f32,
    c_int,
    c_longlong,
    *const f32,
    c_int,
    c_longlong,
    *const f32,
    *mut f32,
    c_int,
    c_longlong,
    c_int,
) -> Status;

/// The library, loaded once and never given back, or why not.
pub fn functions() -> Result<&'static Functions, String> {
    static FOUND: OnceLock<Result<Functions, String>> = OnceLock::new();
    FOUND.get_or_init(load).as_ref().map_err(String::clone)
}

fn load() -> Result<Functions, String> {
    // SAFETY: loading a library runs its initialisers; this is NVIDIA's.
    let found = NAMES.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
    let Some(library) = found else {
        return Err(format!("not found; looked for {}", NAMES.join(", ")));
    };
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: each has the type that NVIDIA's header says, as named above.
    unsafe fn get<T: Copy>(library: &'static Library, name: &str) -> Result<T, String> {
        let found = unsafe { library.get::<T>(name.as_bytes()) };
        found.map(|symbol| *symbol).map_err(|_| format!("the library has no {name}"))
    }
    // SAFETY: as above.
    unsafe {
        Ok(Functions {
            create: get(library, "cublasCreate_v2")?,
            destroy: get(library, "cublasDestroy_v2")?,
            version: get(library, "cublasGetVersion_v2")?,
            set_stream: get(library, "cublasSetStream_v2")?,
            set_workspace: get(library, "cublasSetWorkspace_v2")?,
            sgemm: get(library, "cublasSgemmStridedBatched")?,
        })
    }
}

/// Whether it is there.
pub fn is_present() -> bool {
    functions().is_ok()
}

/// What a status says.
pub fn ended(what: &str, status: Status) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{what} said {status} (cublasStatus_t)")) }
}
