/* spans.h - splits n elements into whole vectors, then ever smaller ones: 27 by 16 lanes is [0,16) by 16, [16,24) by 8,
 * [24,26) by 2, [26,27) by 1. Each span is one loop; nothing is read or written twice or past the end. */
#ifndef AC_IR_LOWER_CONV_SPANS_H
#define AC_IR_LOWER_CONV_SPANS_H
#include <stdint.h>

typedef struct ac_lane_span {
    int64_t begin, end; /* end - begin is a multiple of lanes */
    int32_t lanes;
} ac_lane_span;
enum { AC_MAX_SPANS = 8 };

/* lanes: a power of two, at most 128. Returns the number of spans (0 for n == 0). */
static inline int32_t ac_spans(int64_t n, int32_t lanes, ac_lane_span out[AC_MAX_SPANS])
{
    int32_t count = 0;
    int64_t at = 0;
    for (; lanes > 0 && at < n; lanes /= 2) {
        const int64_t end = at + (n - at) / lanes * lanes;
        if (end == at)
            continue;
        out[count++] = (ac_lane_span){at, end, lanes};
        at = end;
    }
    return count;
}

#endif
