// The kernels of orrery-replay's CUDA device. No headers are needed; orrery_sm70.ptx is made from this
// file by regen.py, and a test holds the two together.
//
// Everything is row-major fp32. With ORRERY_CPU defined, a host compiler takes this file too, so that a
// test can run the encoder's kernels without a GPU.

typedef unsigned int u32;
typedef unsigned long long u64;

#ifndef ORRERY_CPU
static __device__ __forceinline__ u64 device_ns() {
    u64 ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}
static __device__ __forceinline__ u64 device_cycles() {
    u64 cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
    return cycles;
}
#endif

// ---- Clocks and overhead ----------------------------------------------------------------------------

// What a launch costs when there is nothing to do.
extern "C" __global__ void orr_empty() {}

// The first `count` values that the nanosecond timer takes: their distances are its resolution.
extern "C" __global__ void orr_timer_values(u64* values, u32 count) {
    u64 last = device_ns();
    for (u32 i = 0; i < count; ++i) {
        u64 now = device_ns();
        while (now == last) now = device_ns();
        values[i] = now;
        last = now;
    }
}

// Both clocks around a spin of so many cycles: {ns, cycles} before, {ns, cycles} after.
extern "C" __global__ void orr_clock_rate(u64* readings, u64 cycles) {
    readings[0] = device_ns();
    u64 from = device_cycles();
    u64 now = from;
    while (now - from < cycles) now = device_cycles();
    readings[1] = from;
    readings[2] = device_ns();
    readings[3] = now;
}

// ---- timed ------------------------------------------------------------------------------------------

// Runs until `until` ns after the job's start, which its first chunk writes down: the gaps between
// chunks are then part of the job's time, not added to it.
extern "C" __global__ void orr_timed_ns(u64* start, u32 first, u64 until) {
    u64 now = device_ns();
    u64 from = now;
    if (first) *start = from;
    else from = *start;
    while (now - from < until) now = device_ns();
}

// Runs for so many cycles: for times that are short beside the nanosecond timer's resolution.
extern "C" __global__ void orr_timed_cycles(u64 cycles) {
    u64 from = device_cycles();
    while (device_cycles() - from < cycles) {
    }
}

// ---- compute ----------------------------------------------------------------------------------------

// 64 fused multiply-adds an iteration, in 8 independent chains.
extern "C" __global__ void __launch_bounds__(256) orr_fma(float* sink, u32 iterations) {
    const float scale = 0.999f, add = 0.001f;
    float x[8];
#pragma unroll
    for (int c = 0; c < 8; ++c) x[c] = (float)(threadIdx.x + c);
    for (u32 i = 0; i < iterations; ++i) {
#pragma unroll
        for (int r = 0; r < 8; ++r) {
#pragma unroll
            for (int c = 0; c < 8; ++c) x[c] = x[c] * scale + add;
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < 8; ++c) sum += x[c];
    // Never so: the chains tend to 1. The compiler cannot know, and keeps them.
    if (sum < 0.0f) sink[blockIdx.x] = sum;
}

// ---- encoder: matrix products -----------------------------------------------------------------------

#define TILE 64
#define DEPTH 16

// C = alpha A B, or alpha A Bᵀ, for blockIdx.z of a strided batch. A: m x k, C: m x n; B: k x n, or
// n x k when transposed. A block of 256 threads makes 64 x 64 of C, a thread 4 x 4.
template <bool TRANSPOSED>
static __device__ __forceinline__ void gemm(float* c, const float* a, const float* b, u32 m, u32 n, u32 k,
                                            float alpha, u64 stride_a, u64 stride_b, u64 stride_c) {
    __shared__ float tile_a[DEPTH][TILE + 4];
    __shared__ float tile_b[DEPTH][TILE + 4];
    a += blockIdx.z * stride_a;
    b += blockIdx.z * stride_b;
    c += blockIdx.z * stride_c;
    const u32 row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    const u32 me = threadIdx.x, ty = me / 16, tx = me % 16;
    float sum[4][4] = {};
    for (u32 k0 = 0; k0 < k; k0 += DEPTH) {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
            const u32 at = me + i * 256, row = at / DEPTH, deep = at % DEPTH;
            const bool in_a = row0 + row < m && k0 + deep < k;
            tile_a[deep][row] = in_a ? a[(u64)(row0 + row) * k + k0 + deep] : 0.0f;
            if (TRANSPOSED) {
                const bool in_b = col0 + row < n && k0 + deep < k;
                tile_b[deep][row] = in_b ? b[(u64)(col0 + row) * k + k0 + deep] : 0.0f;
            } else {
                const u32 down = at / TILE, col = at % TILE;
                const bool in_b = k0 + down < k && col0 + col < n;
                tile_b[down][col] = in_b ? b[(u64)(k0 + down) * n + col0 + col] : 0.0f;
            }
        }
        __syncthreads();
#pragma unroll
        for (u32 deep = 0; deep < DEPTH; ++deep) {
#pragma unroll
            for (u32 i = 0; i < 4; ++i) {
#pragma unroll
                for (u32 j = 0; j < 4; ++j) sum[i][j] += tile_a[deep][ty * 4 + i] * tile_b[deep][tx * 4 + j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
            const u32 row = row0 + ty * 4 + i, col = col0 + tx * 4 + j;
            if (row < m && col < n) c[(u64)row * n + col] = alpha * sum[i][j];
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) orr_gemm_nn(float* c, const float* a, const float* b, u32 m, u32 n,
                                                              u32 k, float alpha, u64 stride_a, u64 stride_b,
                                                              u64 stride_c) {
    gemm<false>(c, a, b, m, n, k, alpha, stride_a, stride_b, stride_c);
}

extern "C" __global__ void __launch_bounds__(256) orr_gemm_nt(float* c, const float* a, const float* b, u32 m, u32 n,
                                                              u32 k, float alpha, u64 stride_a, u64 stride_b,
                                                              u64 stride_c) {
    gemm<true>(c, a, b, m, n, k, alpha, stride_a, stride_b, stride_c);
}

// ---- encoder: everything else -----------------------------------------------------------------------

#define ROW_THREADS 128

// The sum, or the largest, of what the block's 128 threads hold. Every thread gets it.
template <bool LARGEST>
static __device__ __forceinline__ float over_block(float mine) {
    __shared__ float all[ROW_THREADS];
    __syncthreads();
    all[threadIdx.x] = mine;
    __syncthreads();
    for (u32 half = ROW_THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const float other = all[threadIdx.x + half];
            all[threadIdx.x] = LARGEST ? fmaxf(all[threadIdx.x], other) : all[threadIdx.x] + other;
        }
        __syncthreads();
    }
    return all[0];
}

// qkv: [items x length, 3 x heads x width] plus its bias, to q, k and v: [items x heads, length, width].
extern "C" __global__ void __launch_bounds__(256) orr_split_heads(float* q, float* k, float* v, const float* qkv,
                                                                  const float* bias, u32 items, u32 length,
                                                                  u32 heads, u32 width) {
    const u64 hidden = (u64)heads * width;
    const u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (u64)items * length * 3 * hidden) return;
    const u64 column = at % (3 * hidden), token = at / (3 * hidden);
    const u64 item = token / length, place = token % length;
    const u64 inner = column % hidden, head = inner / width;
    float* to = column < hidden ? q : column < 2 * hidden ? k : v;
    to[((item * heads + head) * length + place) * width + inner % width] = qkv[at] + bias[column];
}

// [items x heads, length, width] back to [items x length, heads x width].
extern "C" __global__ void __launch_bounds__(256) orr_merge_heads(float* merged, const float* split, u32 items,
                                                                  u32 length, u32 heads, u32 width) {
    const u64 hidden = (u64)heads * width;
    const u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (u64)items * length * hidden) return;
    const u64 column = at % hidden, token = at / hidden;
    const u64 item = token / length, place = token % length, head = column / width;
    merged[at] = split[((item * heads + head) * length + place) * width + column % width];
}

// Softmax of each row of [items x heads x length, length], over the keys that are no padding. A block a row.
extern "C" __global__ void __launch_bounds__(ROW_THREADS) orr_softmax(float* scores, const u32* lengths, u32 heads,
                                                                      u32 length) {
    const u64 row = blockIdx.x;
    float* mine = scores + row * length;
    const u32 real = lengths[row / ((u64)heads * length)];
    float largest = -3.0e38f;
    for (u32 i = threadIdx.x; i < real; i += ROW_THREADS) largest = fmaxf(largest, mine[i]);
    largest = over_block<true>(largest);
    float sum = 0.0f;
    for (u32 i = threadIdx.x; i < real; i += ROW_THREADS) {
        const float e = expf(mine[i] - largest);
        mine[i] = e;
        sum += e;
    }
    sum = over_block<false>(sum);
    const float scale = 1.0f / sum;
    for (u32 i = threadIdx.x; i < length; i += ROW_THREADS) mine[i] = i < real ? mine[i] * scale : 0.0f;
}

// Layer norm of x + bias + residual for each row, with gain and shift. A block a row; out may be residual.
extern "C" __global__ void __launch_bounds__(ROW_THREADS) orr_add_norm(float* out, float* x, const float* bias,
                                                                       const float* residual, const float* gain,
                                                                       const float* shift, u32 hidden) {
    const u64 row = (u64)blockIdx.x * hidden;
    float sum = 0.0f;
    for (u32 i = threadIdx.x; i < hidden; i += ROW_THREADS) {
        const float value = x[row + i] + bias[i] + residual[row + i];
        x[row + i] = value;
        sum += value;
    }
    const float mean = over_block<false>(sum) / (float)hidden;
    sum = 0.0f;
    for (u32 i = threadIdx.x; i < hidden; i += ROW_THREADS) {
        const float off = x[row + i] - mean;
        sum += off * off;
    }
    const float scale = 1.0f / sqrtf(over_block<false>(sum) / (float)hidden + 1.0e-5f);
    for (u32 i = threadIdx.x; i < hidden; i += ROW_THREADS) {
        out[row + i] = (x[row + i] - mean) * scale * gain[i] + shift[i];
    }
}

// x = GELU(x + bias), with the error function.
extern "C" __global__ void __launch_bounds__(256) orr_bias_gelu(float* x, const float* bias, u64 count, u32 width) {
    const u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    const float value = x[at] + bias[at % width];
    x[at] = 0.5f * value * (1.0f + erff(value * 0.70710678f));
}
