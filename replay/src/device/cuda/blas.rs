//! cuBLAS's matrix product, when the library is there.
#![allow(unsafe_code)]

use super::plan::{Gemm, Place};
use cudarc::cublas::{result, sys};
use cudarc::driver::CudaStream;
use cudarc::driver::sys::CUdeviceptr;
use std::panic::{AssertUnwindSafe, catch_unwind};

const FUNCTIONS: [&str; 5] = [
    "cublasCreate_v2",
    "cublasDestroy_v2",
    "cublasGetVersion_v2",
    "cublasSetStream_v2",
    "cublasSgemmStridedBatched",
];

/// A handle of cuBLAS, for one stream.
#[derive(Debug)]
pub struct Blas {
    handle: sys::cublasHandle_t,
}

// SAFETY: a handle may go to another thread as long as one at a time uses it; `&mut self` sees to that.
unsafe impl Send for Blas {}

impl Blas {
    /// cuBLAS on this stream, or why not. The stream's context must be the thread's.
    pub fn new(stream: &CudaStream) -> Result<Blas, String> {
        catch_unwind(AssertUnwindSafe(|| Blas::open(stream)))
            .unwrap_or_else(|_| Err("its library could not be used".to_string()))
    }

    fn open(stream: &CudaStream) -> Result<Blas, String> {
        // SAFETY: loading a library runs its initialisers; this is NVIDIA's.
        if !unsafe { sys::is_culib_present() } {
            return Err(format!(
                "not found; looked for {}",
                super::probe::names("cublas").join(", ")
            ));
        }
        // SAFETY: as above; it was found, so this does not panic.
        let library = unsafe { sys::culib() };
        for name in FUNCTIONS {
            // SAFETY: the symbol's address is not used, whatever it is.
            if unsafe { library.get::<*const ()>(name.as_bytes()) }.is_err() {
                return Err(format!("the library has no {name}"));
            }
        }
        let handle = result::create_handle().map_err(|e| format!("cublasCreate said {:?}", e.0))?;
        let blas = Blas { handle };
        // SAFETY: both are alive; the stream outlives the handle, which its lane drops first.
        unsafe { result::set_stream(handle, stream.cu_stream().cast()) }
            .map_err(|e| format!("cublasSetStream said {:?}", e.0))?;
        Ok(blas)
    }

    /// Its version, such as 12.4.5.
    pub fn version(&self) -> String {
        let mut version = 0;
        // SAFETY: the handle is alive, and `version` is a place for one number.
        match unsafe { sys::cublasGetVersion_v2(self.handle, &mut version) }.result() {
            // 11.x and 12.x: major * 10000 + minor * 100 + patch.
            Ok(()) => format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100),
            Err(_) => "of unknown version".to_string(),
        }
    }

    /// Starts a matrix product.
    ///
    /// cuBLAS counts by columns: our row-major C = A B is its Cᵀ = Bᵀ Aᵀ on the same bytes.
    ///
    /// # Safety
    /// `at` gives pointers to device memory of the sizes that the product touches, and nothing else
    /// uses C until the stream got there.
    pub unsafe fn gemm(
        &mut self,
        gemm: &Gemm,
        at: impl Fn(Place) -> CUdeviceptr,
    ) -> Result<(), String> {
        let [m, n, k, batch] = [gemm.m, gemm.n, gemm.k, gemm.batch].map(|x| x as i32);
        let [stride_a, stride_b, stride_c] = gemm.strides().map(|x| x as i64);
        let (op, ldb) = match gemm.b_transposed {
            false => (sys::cublasOperation_t::CUBLAS_OP_N, n),
            true => (sys::cublasOperation_t::CUBLAS_OP_T, k),
        };
        // SAFETY: the caller's promise; alpha and beta are read before the call returns, as the
        // handle's pointer mode is the host's.
        let started = unsafe {
            result::sgemm_strided_batched(
                self.handle,
                op,
                sys::cublasOperation_t::CUBLAS_OP_N,
                n,
                m,
                k,
                &gemm.alpha,
                at(gemm.b) as *const f32,
                ldb,
                stride_b,
                at(gemm.a) as *const f32,
                k,
                stride_a,
                &0.0,
                at(gemm.c) as *mut f32,
                n,
                stride_c,
                batch,
            )
        };
        started.map_err(|error| format!("cuBLAS said {:?}", error.0))
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        // A device that was lost cannot let go of it; there is nobody left to tell.
        // SAFETY: the handle is alive until here.
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}
