# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# CUDA in ranks, with a driver for tests in the place of NVIDIA's: ranks of one core that wait for a
# device wait together, and each has its own default stream and current context.
. "$XYLEM_SOURCE_DIR/tests/gpu/cuda_lib.sh"

build waits_cuda -ldl -pthread
build device_pointers -ldl

for how in stream default event context copy view; do
    run 0 -n 8 --workers 1 ./waits_cuda $how
    says "$out" "$how: 8 ranks, sum right"
done

# A rank that waits inside the driver keeps its core: what the driver does is a thread's.
run 0 -n 6 --workers 2 ./waits_cuda inside
says "$out" "inside: 6 ranks, sum right"
quiet

# More calls than are made at once, each of which waits for the last one.
TEST_CUDA=crowd run 0 -n 1 ./waits_cuda crowd
says "$out" "crowd: 1 ranks, sum right"
quiet

# What the runtimes of ranks keep with a context: the driver has no lock for it.
run 0 -n 6 --workers 2 ./waits_cuda storage
says "$out" "storage: 6 ranks, sum right"
quiet

# The device that a rank begins with.
run 0 -n 4 --workers 1 --gpu-bind round ./waits_cuda bound
same "$out" "rank 0 has device 0
rank 1 has device 1
rank 2 has device 0
rank 3 has device 1"
run 0 -n 3 --workers 2 --gpu-bind 1,0 ./waits_cuda bound
same "$out" "rank 0 has device 1
rank 1 has device 0
rank 2 has device 1"
run 0 -n 2 --gpu-bind close --gpus-per-rank 2 ./waits_cuda bound
same "$out" "rank 0 has device 0
rank 1 has device 0"
run 2 -n 2 --gpu-bind 2 ./waits_cuda bound
says "$err" "--gpu-bind '2': give close, round, or numbers of GPUs from 0 to 1"
run 2 -n 2 --gpus-per-rank 3 ./waits_cuda bound
says "$err" "--gpus-per-rank 3: this machine has 2"

# Ranks share the queues of a process: they get more of them, unless the user says how many.
run 0 -n 2 --workers 1 ./waits_cuda queues
same "$out" "rank 0: 32
rank 1: 32"
CUDA_DEVICE_MAX_CONNECTIONS=4 run 0 -n 2 --workers 1 ./waits_cuda queues
same "$out" "rank 0: 4
rank 1: 4"

# Memory of the device in MPI calls: the host cannot touch it.
run 0 -n 4 --workers 2 ./device_pointers messages
says "$out" "messages: 24 results are right"
quiet
run 0 -n 4 --workers 2 ./device_pointers collectives
says "$out" "collectives: 48 results are right"
quiet
run 0 -n 3 --workers 2 ./device_pointers reductions
says "$out" "reductions: 56 results are right"
quiet

# One-sided: windows of device memory, between ranks of a process and of two.
run 0 -n 2 --workers 2 ./device_pointers windows
says "$out" "windows: 60 results are right"
quiet
run 0 -n 2 --processes 2 ./device_pointers windows
says "$out" "windows: 60 results are right"
quiet
run 0 -n 4 --workers 2 ./device_pointers counter
says "$out" "counter: 1 results are right"
quiet

# Parts of messages, errors, and some of all pairs of an operation and a type (all, with
# `device_pointers every`, take minutes here: each is compiled).
run 0 -n 3 --workers 2 ./device_pointers partitioned
says "$out" "partitioned: 6 results are right"
quiet
run 0 -n 2 --workers 2 ./device_pointers errors
says "$out" "errors: 10 results are right"
run 0 -n 3 --workers 2 ./device_pointers every 97 18
says "$out" "every: 10 results are right"
quiet
