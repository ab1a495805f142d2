/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of this component: both ends of an encrypted connection. */
#ifndef XY_TESTING_NET_H
#define XY_TESTING_NET_H

#include "net/seal.h"

/* False: the library is missing. */
static inline bool testing_seals(unsigned cipher, xy_seal_t *seals[2])
{
    static const uint8_t secret[XY_SECRET_BYTES] = {4, 5, 6};
    uint8_t own[2][NET_SEAL_KEY], shown[2][NET_SEAL_KEY];

    for (int i = 0; i < 2; i++)
        if (!net_seal_pair(own[i], shown[i]))
            return false;
    for (int i = 0; i < 2; i++)
        seals[i] = net_seal_make(cipher, secret, "said", 4, own[i], shown[1 - i], i == 0);
    return seals[0] != NULL && seals[1] != NULL;
}

#endif
