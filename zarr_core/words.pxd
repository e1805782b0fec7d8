# Unaligned loads, stores and byte swaps of machine words. memcpy of a constant size is one instruction.
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(_MSC_VER)
      #include <stdlib.h>
      #define ZC_SWAP2 _byteswap_ushort
      #define ZC_SWAP4 _byteswap_ulong
      #define ZC_SWAP8 _byteswap_uint64
    #else
      #define ZC_SWAP2 __builtin_bswap16
      #define ZC_SWAP4 __builtin_bswap32
      #define ZC_SWAP8 __builtin_bswap64
    #endif
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
      #define ZC_LITTLE8 ZC_SWAP8
    #else
      #define ZC_LITTLE8(word) (word)
    #endif
    static inline uint16_t zc_load2(const void* p) { uint16_t v; memcpy(&v, p, 2); return v; }
    static inline uint32_t zc_load4(const void* p) { uint32_t v; memcpy(&v, p, 4); return v; }
    static inline uint64_t zc_load8(const void* p) { uint64_t v; memcpy(&v, p, 8); return v; }
    static inline void zc_store2(void* p, uint16_t v) { memcpy(p, &v, 2); }
    static inline void zc_store4(void* p, uint32_t v) { memcpy(p, &v, 4); }
    static inline void zc_store8(void* p, uint64_t v) { memcpy(p, &v, 8); }
    static inline float zc_load_float(const void* p) { float v; memcpy(&v, p, 4); return v; }
    static inline double zc_load_double(const void* p) { double v; memcpy(&v, p, 8); return v; }
    static inline void zc_store_float(void* p, float v) { memcpy(p, &v, 4); }
    static inline void zc_store_double(void* p, double v) { memcpy(p, &v, 8); }
    """
    uint16_t swap2 "ZC_SWAP2"(uint16_t word) noexcept nogil
    uint32_t swap4 "ZC_SWAP4"(uint32_t word) noexcept nogil
    uint64_t swap8 "ZC_SWAP8"(uint64_t word) noexcept nogil
    uint64_t little8 "ZC_LITTLE8"(uint64_t word) noexcept nogil
    uint16_t load2 "zc_load2"(const void* p) noexcept nogil
    uint32_t load4 "zc_load4"(const void* p) noexcept nogil
    uint64_t load8 "zc_load8"(const void* p) noexcept nogil
    void store2 "zc_store2"(void* p, uint16_t word) noexcept nogil
    void store4 "zc_store4"(void* p, uint32_t word) noexcept nogil
    void store8 "zc_store8"(void* p, uint64_t word) noexcept nogil
    float load_float "zc_load_float"(const void* p) noexcept nogil
    double load_double "zc_load_double"(const void* p) noexcept nogil
    void store_float "zc_store_float"(void* p, float value) noexcept nogil
    void store_double "zc_store_double"(void* p, double value) noexcept nogil
