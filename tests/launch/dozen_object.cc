// SPDX-License-Identifier: BSD-3-Clause
// A library in C++: static objects, one of them made at its first use, and an inline variable.
#include <iostream>
#include <map>
#include <memory>
#include <string>

extern "C" {
#include "dozen.h"
}

namespace {
struct Registry {
    std::map<int, std::string> names{{-1, "none"}};
    ~Registry() { names.clear(); }
} registry;

std::unique_ptr<int> &counter()
{
    static std::unique_ptr<int> value(new int(rank_number));
    return value;
}

thread_local std::string text = "begin";
} // namespace

inline int shared_by_files = 40;

extern "C" void object_set(void)
{
    registry.names[rank_number] = std::to_string(rank_number);
    ++*counter();
    text += registry.names[rank_number];
    shared_by_files += rank_number;
}

extern "C" int object_check(int rank)
{
    bool is_thrown = false;
    try {
        if (registry.names.size() != 2)
            throw rank;
    } catch (int) {
        is_thrown = true;
    }
    return is_thrown + (registry.names[rank] != std::to_string(rank)) + (*counter() != rank + 1) +
           (text != "begin" + std::to_string(rank)) + (shared_by_files != 40 + rank);
}
