/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of messages and loads of links by SimGrid, for simgrid.py: PLATFORM PATTERN. A line of
 * PATTERN is "FROM TO BYTES"; all messages start at time 0. */
#include <cstdio>
#include <fstream>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

static void send(sg4::Host *from, sg4::Host *to, int a, int b, double bytes)
{
    sg4::Comm::sendto(from, to, static_cast<uint64_t>(bytes));
    printf("message %d %d %.17g\n", a, b, sg4::Engine::get_clock());
}

int main(int argc, char **argv)
{
    sg4::Engine engine(&argc, argv);
    std::map<std::string, double> load;
    std::ifstream pattern(argv[2]);
    int a, b;
    double bytes;

    engine.load_platform(argv[1]);
    while (pattern >> a >> b >> bytes) {
        sg4::Host *from = engine.host_by_name("h" + std::to_string(a));
        sg4::Host *to = engine.host_by_name("h" + std::to_string(b));
        std::vector<sg4::Link *> links;
        double latency = 0;

        from->route_to(to, links, &latency);
        for (const auto *link : links)
            load[link->get_name()] += bytes;
        sg4::Actor::create("send", from, send, from, to, a, b, bytes);
    }
    for (const auto &[name, sum] : load)
        printf("load %s %.17g\n", name.c_str(), sum);
    engine.run();
    return 0;
}
