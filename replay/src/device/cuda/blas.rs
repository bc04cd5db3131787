//! cuBLAS's matrix product, when the library is there.
#![allow(unsafe_code)]

use super::driver::{Context, Gpu, Memory};
use crate::device::encoder::plan::{Gemm, Spot};
use cudarc::cublas::{result, sys};
use cudarc::driver::CudaStream;
use cudarc::driver::sys::CUdeviceptr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

const FUNCTIONS: [&str; 6] = [
    "cublasCreate_v2",
    "cublasDestroy_v2",
    "cublasGetVersion_v2",
    "cublasSetStream_v2",
    "cublasSetWorkspace_v2",
    "cublasSgemmStridedBatched",
];

/// A handle of cuBLAS, for one stream.
#[derive(Debug)]
pub struct Blas {
    handle: sys::cublasHandle_t,
    context: Arc<Context>,
    /// Behind the handle: where it works, so that each graph does not get a place of its own.
    workspace: Memory,
}

/// What cuBLAS asks for on an H100.
const WORKSPACE_BYTES: u64 = 32 << 20;

// SAFETY: a handle may go to another thread as long as one at a time uses it; `&mut self` sees to that.
unsafe impl Send for Blas {}

impl Blas {
    /// cuBLAS on this stream, or why not. The stream's context must be the thread's.
    pub fn new(gpu: &Gpu, stream: &CudaStream) -> Result<Blas, String> {
        catch_unwind(AssertUnwindSafe(|| Blas::open(gpu, stream)))
            .unwrap_or_else(|_| Err("its library could not be used".to_string()))
    }

    fn open(gpu: &Gpu, stream: &CudaStream) -> Result<Blas, String> {
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
        let memory = gpu.memory("cuBLAS", WORKSPACE_BYTES).map_err(|e| e.to_string());
        let blas = match memory {
            Ok(workspace) => Blas { handle, context: gpu.context(), workspace },
            Err(why) => {
                // SAFETY: it was just made, and nothing uses it.
                let _ = unsafe { result::destroy_handle(handle) };
                return Err(why);
            }
        };
        // SAFETY: both are alive; the stream outlives the handle, which its lane drops first.
        unsafe { result::set_stream(handle, stream.cu_stream().cast()) }
            .map_err(|e| format!("cublasSetStream said {:?}", e.0))?;
        // SAFETY: the memory lives as long as the handle. Setting the stream would take it away again.
        let place = blas.workspace.pointer() as *mut std::ffi::c_void;
        unsafe { sys::cublasSetWorkspace_v2(handle, place, WORKSPACE_BYTES as usize) }
            .result()
            .map_err(|e| format!("cublasSetWorkspace said {:?}", e.0))?;
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
    /// # Safety
    /// `at` gives pointers to device memory of the sizes that the product touches, and nothing else
    /// uses C until the stream got there.
    pub unsafe fn gemm(
        &mut self,
        gemm: &Gemm,
        at: impl Fn(Spot) -> CUdeviceptr,
    ) -> Result<(), String> {
        let [m, n, k, batch] = [gemm.m, gemm.n, gemm.k, gemm.batch].map(|x| x as i32);
        let [first, second, out] = by_columns(gemm);
        let op = |operand: &Operand| match operand.transposed {
            false => sys::cublasOperation_t::CUBLAS_OP_N,
            true => sys::cublasOperation_t::CUBLAS_OP_T,
        };
        // SAFETY: the caller's promise; alpha and beta are read before the call returns, as the
        // handle's pointer mode is the host's.
        let started = unsafe {
            result::sgemm_strided_batched(
                self.handle,
                op(&first),
                op(&second),
                n,
                m,
                k,
                &gemm.alpha,
                at(first.place) as *const f32,
                first.leading as i32,
                first.stride as i64,
                at(second.place) as *const f32,
                second.leading as i32,
                second.stride as i64,
                &0.0,
                at(out.place) as *mut f32,
                out.leading as i32,
                out.stride as i64,
                batch,
            )
        };
        started.map_err(|error| format!("cuBLAS said {:?}", error.0))
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        if self.context.takes_back() {
            // SAFETY: the handle is alive until here.
            let _ = unsafe { result::destroy_handle(self.handle) };
        }
    }
}

/// A matrix as cuBLAS takes it.
struct Operand {
    place: Spot,
    transposed: bool,
    leading: u32,
    stride: u64,
}

/// cuBLAS counts by columns: our row-major C = A B is its Cᵀ = Bᵀ Aᵀ on the same bytes, of n rows and m
/// columns. Its first operand, its second, and the result.
fn by_columns(gemm: &Gemm) -> [Operand; 3] {
    let [stride_a, stride_b, stride_c] = gemm.strides();
    let transposed = gemm.b_transposed;
    let leading = if transposed { gemm.k } else { gemm.n };
    [
        Operand { place: gemm.b, transposed, leading, stride: stride_b },
        Operand { place: gemm.a, transposed: false, leading: gemm.k, stride: stride_a },
        Operand { place: gemm.c, transposed: false, leading: gemm.n, stride: stride_c },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::encoder::plan::Buffer;
    use orrery_sim::rng::Stream;

    /// BLAS's definition, by columns: element (row, column) is at `row + column * leading`.
    fn by_definition(
        operands: &[Operand; 3],
        rows: u32,
        columns: u32,
        depth: u32,
        of: &Numbers,
    ) -> Vec<i64> {
        let at = |o: &Operand, batch: u32, row: u32, column: u32| {
            let (row, column) = if o.transposed { (column, row) } else { (row, column) };
            assert!(row < o.leading);
            o.place.1
                + u64::from(batch) * o.stride
                + u64::from(row)
                + u64::from(column) * u64::from(o.leading)
        };
        let [a, b, c] = operands;
        let mut out = vec![0; of.c];
        for batch in 0..of.batch {
            for row in 0..rows {
                for column in 0..columns {
                    let value = |d| {
                        of.a[at(a, batch, row, d) as usize] * of.b[at(b, batch, d, column) as usize]
                    };
                    out[at(c, batch, row, column) as usize] = (0..depth).map(value).sum();
                }
            }
        }
        out
    }

    struct Numbers {
        a: Vec<i64>,
        b: Vec<i64>,
        c: usize,
        batch: u32,
    }

    #[test]
    fn counted_by_columns_it_is_the_same_product() {
        let mut stream = Stream::named(1, "blas", 0);
        for case in 0..50 {
            let [m, n, k, batch] = [0; 4].map(|_| 1 + stream.below(6) as u32);
            let at = |buffer| (buffer, 0);
            let gemm = Gemm {
                c: at(Buffer::Y),
                a: at(Buffer::X),
                b: at(Buffer::Weights),
                b_transposed: case % 2 == 0,
                m,
                n,
                k,
                alpha: 1.0,
                batch,
            };
            let mut numbers =
                |count: u32| (0..count).map(|_| stream.below(100) as i64).collect::<Vec<_>>();
            let (a, b) = (numbers(m * k * batch), numbers(k * n * batch));
            // BLAS's first operand is our B.
            let of = Numbers { a: b.clone(), b: a.clone(), c: (m * n * batch) as usize, batch };
            let got = by_definition(&by_columns(&gemm), n, m, k, &of);
            let mut wanted = Vec::new();
            for which in 0..batch {
                for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column)))
                {
                    let in_b = |d| if gemm.b_transposed { column * k + d } else { d * n + column };
                    let term = |d| {
                        a[(which * m * k + row * k + d) as usize]
                            * b[(which * k * n + in_b(d)) as usize]
                    };
                    wanted.push((0..k).map(term).sum::<i64>());
                }
            }
            assert_eq!(got, wanted, "{gemm:?}");
        }
    }
}
