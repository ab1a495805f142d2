/* SPDX-License-Identifier: BSD-3-Clause */
/* Work in a private library and in a private plug-in. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

void touch_library(void);

int main(int argc, char **argv)
{
    void (*touch_plugin)(void);
    void *plugin;

    MPI_Init(&argc, &argv);
    plugin = dlopen("./plugin.so", RTLD_NOW);
    touch_plugin = plugin != NULL ? (void (*)(void))dlsym(plugin, "touch_plugin") : NULL;
    if (touch_plugin == NULL) {
        fprintf(stderr, "no plug-in: %s\n", dlerror());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    touch_library();
    touch_plugin();
    MPI_Finalize();
    return 0;
}
