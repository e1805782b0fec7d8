/* Where the members of one object lie in a JSON text: nothing is parsed, values are stepped over.

   At each level down to that object the grammar of objects is checked; inside of a value only strings and brackets. */
#ifndef ZARR_CORE_JSON_MEMBERS_H
#define ZARR_CORE_JSON_MEMBERS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define ZC_JSON_BLOCKS 1
#ifdef _MSC_VER
#include <intrin.h>
static unsigned zc_first_bit(unsigned bits) { unsigned long at; _BitScanForward(&at, bits); return at; }
#else
static unsigned zc_first_bit(unsigned bits) { return (unsigned)__builtin_ctz(bits); }
#endif
#endif

typedef struct {
    const char* names[4];   /* the way down: the names of the objects, as they are written */
    int64_t lengths[4];
    int levels;
    const char* base;
    const char* end;
    int64_t* places;        /* of each member: its name begins and ends, its value ends; quotes are not in the name */
    int64_t count, room;
    int64_t opening, closing;   /* after the brace, at the brace; -1 where the object was not found */
    int plain, ordered;     /* no name has an escape or other characters than ASCII; names are in tree order, once each */
    int memory;             /* 0 where there was not enough */
} ZcMembers;

static const char* zc_json_space(const char* p, const char* end) {
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) p++;
    return p;
}

/* From behind the opening quote to behind the closing one; NULL where there is none. */
static const char* zc_json_string(const char* p, const char* end) {
    while (p < end) {
#ifdef ZC_JSON_BLOCKS
        while (end - p >= 16) {
            __m128i block = _mm_loadu_si128((const __m128i*)p);
            unsigned found = (unsigned)_mm_movemask_epi8(_mm_or_si128(
                _mm_cmpeq_epi8(block, _mm_set1_epi8('"')), _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'))));
            if (found) { p += zc_first_bit(found); break; }
            p += 16;
        }
        if (p >= end) return NULL;
#endif
        if (*p == '"') return p + 1;
        p += *p == '\\' ? 2 : 1;
    }
    return NULL;
}

/* From an opening bracket to behind the one that closes it. */
static const char* zc_json_brackets(const char* p, const char* end) {
    int64_t depth = 0;
    while (p < end) {
        char c;
#ifdef ZC_JSON_BLOCKS
        while (end - p >= 16) {
            __m128i block = _mm_loadu_si128((const __m128i*)p);
            __m128i folded = _mm_or_si128(block, _mm_set1_epi8(0x20));   /* [ as {, ] as } */
            unsigned found = (unsigned)_mm_movemask_epi8(_mm_or_si128(
                _mm_or_si128(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')), _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'))),
                _mm_cmpeq_epi8(block, _mm_set1_epi8('"'))));
            if (found) { p += zc_first_bit(found); break; }
            p += 16;
        }
        if (p >= end) return NULL;
#endif
        c = *p++;
        if (c == '"') {
            p = zc_json_string(p, end);
            if (p == NULL) return NULL;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (--depth == 0) return p;
        }
    }
    return NULL;
}

static const char* zc_json_value(const char* p, const char* end) {
    const char* start = p;
    if (p >= end) return NULL;
    if (*p == '"') return zc_json_string(p + 1, end);
    if (*p == '{' || *p == '[') return zc_json_brackets(p, end);
    while (p < end && strchr(" \n\t\r,]}:{[\"", *p) == NULL) p++;
    return p > start ? p : NULL;
}

static int64_t zc_slashes(const char* p, int64_t length) {
    int64_t count = 0;
    for (int64_t at = 0; at < length; at++) count += p[at] == '/';
    return count;
}

/* Whether the last name of two comes after the other: parents before members, by name within a level. */
static int zc_comes_after(const ZcMembers* all, const int64_t* before, const int64_t* after) {
    const char* first = all->base + before[0];
    const char* second = all->base + after[0];
    int64_t lengths[2] = {before[1] - before[0], after[1] - after[0]};
    int64_t slashes[2] = {zc_slashes(first, lengths[0]), zc_slashes(second, lengths[1])};
    int order;
    if (slashes[0] != slashes[1]) return slashes[1] > slashes[0];
    order = memcmp(second, first, (size_t)(lengths[0] < lengths[1] ? lengths[0] : lengths[1]));
    return order != 0 ? order > 0 : lengths[1] > lengths[0];
}

static void zc_note_member(ZcMembers* all, const char* name, const char* name_end, const char* end) {
    int64_t* place;
    if (all->count == all->room) {
        int64_t room = all->room < 64 ? 64 : 2 * all->room;
        int64_t* more = (int64_t*)realloc(all->places, (size_t)room * 3 * sizeof(int64_t));
        if (more == NULL) { all->memory = 0; return; }
        all->places = more;
        all->room = room;
    }
    place = all->places + 3 * all->count;
    place[0] = name - all->base;
    place[1] = name_end - all->base;
    place[2] = end - all->base;
    for (const char* p = name; p < name_end; p++) if (*p == '\\' || (unsigned char)*p > 127) all->plain = 0;
    if (all->count && !zc_comes_after(all, place - 3, place)) all->ordered = 0;
    all->count++;
}

/* Walk over an object from its brace; of the one at the end of the way, note the members. NULL where it is none. */
static const char* zc_json_object(ZcMembers* all, const char* p, int level) {
    const char* end = all->end;
    int is_table = level == all->levels;
    if (p >= end || *p != '{') return NULL;
    p++;
    if (is_table) {
        all->count = 0;
        all->plain = all->ordered = 1;
        all->opening = p - all->base;
    } else {
        all->opening = -1;   /* of names that stand twice, the last one counts */
    }
    p = zc_json_space(p, end);
    if (p < end && *p == '}') { if (is_table) all->closing = p - all->base; return p + 1; }
    while (p < end && *p == '"') {
        const char* name = p + 1;
        const char* name_end = zc_json_string(name, end);
        if (name_end == NULL) return NULL;
        p = zc_json_space(name_end, end);
        name_end--;
        if (p >= end || *p != ':') return NULL;
        p = zc_json_space(p + 1, end);
        if (!is_table && name_end - name == all->lengths[level]
            && memcmp(name, all->names[level], (size_t)(name_end - name)) == 0) {
            all->opening = -1;
            p = p < end && *p == '{' ? zc_json_object(all, p, level + 1) : zc_json_value(p, end);
        } else {
            p = zc_json_value(p, end);
        }
        if (p == NULL) return NULL;
        if (is_table) {
            zc_note_member(all, name, name_end, p);
            if (!all->memory) return NULL;
        }
        p = zc_json_space(p, end);
        if (p < end && *p == '}') { if (is_table) all->closing = p - all->base; return p + 1; }
        if (p >= end || *p != ',') return NULL;
        p = zc_json_space(p + 1, end);
    }
    return NULL;
}

/* 1 where the text is one object and the wanted one was found in it. */
static int zc_find_members(ZcMembers* all) {
    const char* p;
    all->memory = 1;
    all->opening = all->closing = -1;
    p = zc_json_object(all, zc_json_space(all->base, all->end), 0);
    return p != NULL && zc_json_space(p, all->end) == all->end && all->opening >= 0;
}

#endif
