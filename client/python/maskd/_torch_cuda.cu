// Masks over logits in CUDA C: compiled by NVRTC when an applier named "cuda" is made (_torch_cuda.py).
//
// A thread has the 16 bytes of a row of logits that lie at an address divisible by 16, so that a row may begin
// anywhere. It makes the bits of their tokens: the row's base words, and those bits turned over that the batch
// names. Where no bit is 0 it touches nothing; where all are it writes 16 bytes; else it reads, blends and
// writes them. Only the first and last few logits of a row are written one by one.
//
// Nothing is synchronized and nothing allocated: an application is one launch, two where masks are new.
// Cost: 16 bytes of writing a thread at most; where bits are turned over, a binary search among them.
//
// Needs no header. The tests compile it by g++, too (tests/python/fake_cuda.cc).

// As Masks in _torch_cuda.py.
struct Masks {
  void* logits;
  const int* rows;   // of each mask its row of logits; null: mask i is of row i
  const int* base;   // of each mask the line of its words; null: mask i has line i
  const int* lines;  // words; bit t % 32 of word t / 32 is token t
  const int* at;     // words whose bits are turned over, mask * words + word, ascending
  const int* bits;   // of each of them
  long long row_stride;   // logits between rows
  long long line_stride;  // words between lines
  int row_count;          // of the logits; a mask of another row is passed over
  int width;
  int vocab_size;  // tokens from there on are forbidden, and have no words
  int words;       // of a mask, in `at`
  int pairs;       // of `at` and `bits`
  unsigned minus_infinity;
};

// One word of a mask; the tokens of it begin within the vocabulary.
static __device__ unsigned WordOf(const Masks& masks, int mask, int word) {
  const long long line = masks.base == nullptr ? mask : masks.base[mask];
  const unsigned base = static_cast<unsigned>(masks.lines[line * masks.line_stride + word]);
  const int wanted = mask * masks.words + word;
  int low = 0;
  int high = masks.pairs;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (masks.at[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool is_turned = low < masks.pairs && masks.at[low] == wanted;
  return is_turned ? base ^ static_cast<unsigned>(masks.bits[low]) : base;
}

// Bit i: token `first` + i is allowed, of at most 32 tokens.
static __device__ unsigned AllowedFrom(const Masks& masks, int mask, int first, int count) {
  if (first >= masks.vocab_size) {
    return 0;
  }
  const int word = first / 32;
  const int skipped = first % 32;
  unsigned allowed = WordOf(masks, mask, word) >> skipped;
  if (skipped + count > 32 && 32 * (word + 1) < masks.vocab_size) {
    allowed |= WordOf(masks, mask, word + 1) << (32 - skipped);
  }
  const int known = masks.vocab_size - first;
  return known < 32 ? allowed & ((1u << known) - 1) : allowed;
}

// Logits are patterns of bits: float32 as unsigned, float16 and bfloat16 as unsigned short.
template <typename Bits>
static __device__ void MaskRow(const Masks& masks, int mask, int chunk) {
  constexpr int kCount = 16 / sizeof(Bits);
  constexpr unsigned kAll = (1u << kCount) - 1;
  const int row = masks.rows == nullptr ? mask : masks.rows[mask];
  if (row < 0 || row >= masks.row_count) {
    return;
  }
  Bits* logits = static_cast<Bits*>(masks.logits) + row * masks.row_stride;
  const int before = static_cast<int>(reinterpret_cast<unsigned long long>(logits) % 16 / sizeof(Bits));
  const long long begin = static_cast<long long>(chunk) * kCount - before;
  if (begin >= masks.width) {
    return;
  }
  const int first = begin < 0 ? 0 : static_cast<int>(begin);
  const long long end = begin + kCount < masks.width ? begin + kCount : masks.width;
  const int count = static_cast<int>(end - first);
  const unsigned forbidden = ~AllowedFrom(masks, mask, first, count) & kAll >> (kCount - count);
  if (forbidden == 0) {
    return;
  }
  const Bits minus_infinity = static_cast<Bits>(masks.minus_infinity);
  if (count < kCount) {
    for (int i = 0; i < count; ++i) {
      if ((forbidden >> i & 1) != 0) {
        logits[first + i] = minus_infinity;
      }
    }
    return;
  }
  union {
    uint4 all;
    Bits each[kCount];
  } value;
  uint4* place = reinterpret_cast<uint4*>(logits + first);
  if (forbidden != kAll) {
    value.all = *place;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if ((forbidden >> i & 1) != 0) {
      value.each[i] = minus_infinity;
    }
  }
  *place = value.all;
}

// Grid: masks, then runs of 16 bytes; one more than the width has, for a row that begins anywhere.
extern "C" __global__ void maskd_mask16(Masks masks) {
  MaskRow<unsigned short>(masks, blockIdx.x, blockIdx.y * blockDim.x + threadIdx.x);
}

extern "C" __global__ void maskd_mask32(Masks masks) {
  MaskRow<unsigned>(masks, blockIdx.x, blockIdx.y * blockDim.x + threadIdx.x);
}

// Masks that are new, into their places among the lines. Grid: masks, then words.
extern "C" __global__ void maskd_place(int* lines, const int* places, const int* words, int count) {
  const int word = blockIdx.y * blockDim.x + threadIdx.x;
  if (word < count) {
    const long long place = places[blockIdx.x];
    lines[place * count + word] = words[static_cast<long long>(blockIdx.x) * count + word];
  }
}
