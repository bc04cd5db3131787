// Runs launches of orrery.cu's kernels on the CPU, one block after the other.
//
// A block's threads are fibres: each runs until its next __syncthreads or its end, and then the next one
// does, so every run is the same. Buffers end at a page that cannot be touched, and begin after NaNs.
//
// argv[1]: a file of launches, one word after the other (see encoder.rs). argv[2]: where X goes.

#undef _FORTIFY_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <map>
#include <vector>

struct Dim {
    unsigned x = 0, y = 0, z = 0;
};
static Dim threadIdx, blockIdx, blockDim, gridDim;

#define ORRERY_CPU
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __shared__ static

// A fibre begins with swapcontext and goes on with longjmp, which costs no system call.
static ucontext_t begun, fibres[1024];
static jmp_buf scheduler, waiting[1024];
static std::vector<char> stacks;
static unsigned running;
static bool ended[1024];

static void __syncthreads() {
    if (_setjmp(waiting[running]) == 0) _longjmp(scheduler, 1);
}
static unsigned long long device_ns() { abort(); }
static unsigned long long device_cycles() { abort(); }

#include "orrery.cu"

static std::function<void()> body;

static void fibre() {
    body();
    ended[running] = true;
    _longjmp(scheduler, 1);
}

static void run_block(unsigned threads) {
    const size_t stack = 64 << 10;
    stacks.resize(1024 * stack);
    for (unsigned t = 0; t < threads; ++t) {
        ended[t] = false;
        getcontext(&fibres[t]);
        fibres[t].uc_stack.ss_sp = stacks.data() + t * stack;
        fibres[t].uc_stack.ss_size = stack;
        fibres[t].uc_link = &begun;
        makecontext(&fibres[t], fibre, 0);
    }
    static volatile unsigned left, now, t;
    static volatile bool fresh;
    fresh = true;
    for (left = threads; left > 0; fresh = false) {
        now = 0;
        for (t = 0; t < threads; t = t + 1) {
            if (ended[t]) continue;
            running = t;
            threadIdx = Dim{t, 0, 0};
            if (_setjmp(scheduler) == 0) {
                if (fresh) swapcontext(&begun, &fibres[t]);
                else _longjmp(waiting[t], 1);
            }
            now = now + !ended[t];
        }
        // All or none wait: a barrier that some threads never reach hangs a GPU.
        if (now != 0 && now != left) {
            fprintf(stderr, "a barrier in a branch: %u of %u threads reached it\n", now, left);
            exit(1);
        }
        left = now;
    }
}

// A buffer that ends where its memory does.
static float* buffer(size_t floats) {
    const size_t page = sysconf(_SC_PAGESIZE), bytes = (floats * 4 + page - 1) / page * page;
    char* start = (char*)mmap(nullptr, bytes + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) abort();
    memset(start, 0xff, bytes + page);
    mprotect(start + page + bytes, page, PROT_NONE);
    mprotect(start, page, PROT_NONE);
    return (float*)(start + page + bytes) - floats;
}

static FILE* in;
template <typename T> static T take() {
    T value;
    if (fread(&value, sizeof value, 1, in) != 1) {
        fprintf(stderr, "the file ended early\n");
        exit(1);
    }
    return value;
}
static std::string text() {
    std::string out(take<u32>(), ' ');
    if (!out.empty() && fread(&out[0], out.size(), 1, in) != 1) exit(1);
    return out;
}

union Arg {
    float* at;
    u32 word;
    u64 number;
    float real;
};

template <typename P> static P as(const Arg& arg) {
    P value;
    memcpy(&value, &arg, sizeof value);
    return value;
}

template <typename... P, size_t... I>
static void call(void (*kernel)(P...), const std::vector<Arg>& args, std::index_sequence<I...>) {
    kernel(as<P>(args.at(I))...);
}

template <typename... P> static std::function<void(const std::vector<Arg>&)> bind(void (*kernel)(P...)) {
    return [kernel](const std::vector<Arg>& args) {
        if (args.size() != sizeof...(P)) {
            fprintf(stderr, "%zu arguments, the kernel has %zu\n", args.size(), sizeof...(P));
            exit(1);
        }
        call(kernel, args, std::index_sequence_for<P...>());
    };
}

int main(int argc, char** argv) {
    if (argc != 3 || !(in = fopen(argv[1], "rb"))) return 2;
    const std::map<std::string, std::function<void(const std::vector<Arg>&)>> kernels = {
        {"orr_gemm_nn", bind(orr_gemm_nn)},       {"orr_gemm_nt", bind(orr_gemm_nt)},
        {"orr_split_heads", bind(orr_split_heads)}, {"orr_merge_heads", bind(orr_merge_heads)},
        {"orr_softmax", bind(orr_softmax)},       {"orr_add_norm", bind(orr_add_norm)},
        {"orr_bias_gelu", bind(orr_bias_gelu)},   {"orr_fma", bind(orr_fma)},
    };
    std::map<std::string, std::pair<float*, size_t>> buffers;
    for (u32 left = take<u32>(); left > 0; --left) {
        const std::string name = text();
        const u64 floats = take<u64>(), given = take<u64>();
        float* at = buffer(floats);
        if (given && fread(at, 4, given, in) != given) return 2;
        buffers[name] = {at, floats};
    }
    for (u32 left = take<u32>(); left > 0; --left) {
        const std::string name = text();
        gridDim.x = take<u32>();
        gridDim.y = take<u32>();
        gridDim.z = take<u32>();
        blockDim = Dim{take<u32>(), 1, 1};
        std::vector<Arg> args(take<u32>());
        for (Arg& arg : args) {
            const u32 kind = take<u32>();
            if (kind == 0) {
                const std::string buffer = text();
                arg.at = buffers.at(buffer).first + take<u64>();
            } else if (kind == 1) {
                arg.word = take<u32>();
            } else if (kind == 2) {
                arg.number = take<u64>();
            } else {
                arg.real = take<float>();
            }
        }
        const auto& kernel = kernels.at(name);
        body = [&] { kernel(args); };
        for (u32 z = 0; z < gridDim.z; ++z)
            for (u32 y = 0; y < gridDim.y; ++y)
                for (u32 x = 0; x < gridDim.x; ++x) {
                    blockIdx = Dim{x, y, z};
                    run_block(blockDim.x);
                }
    }
    FILE* out = fopen(argv[2], "wb");
    const auto x = buffers.at("X");
    return !out || fwrite(x.first, 4, x.second, out) != x.second || fclose(out) ? 2 : 0;
}
