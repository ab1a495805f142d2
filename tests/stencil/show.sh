#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# xylem stencil: what it prints, its files, and what it says of wrong input.
# shellcheck disable=SC2154 # out is set by expect
. "$XYLEM_SOURCE_DIR/tests/cli/lib.sh"

expect 0 "$XYLEM" stencil --blocks 166 --json
printf '%s\n' "$out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
for key in "policy makespan compute_bound ratio loads stores scheduling_seconds".split():
    assert key in r, key
assert 1 <= r["ratio"] <= 1.05, r
assert r["loads"] + r["stores"] <= 1.3 * r["window_volume"], r
'
# The policy that was asked for, and the one that ran.
expect 0 "$XYLEM" stencil --blocks 60 --iterations 20 --memory 60MiB --gpus 2
grep -Eq '^policy +foresight: [a-z-]+.*; the best of [0-9]+ trials$' <<<"$out" || die "text: $out"
expect 0 "$XYLEM" stencil --blocks 60 --iterations 20 --memory 60MiB --gpus 2 --policy dmdar
grep -Eq '^policy +dmdar$' <<<"$out" || die "text: $out"
expect 0 "$XYLEM" stencil --blocks 60 --iterations 20 --memory 60MiB --gpus 2 --json
grep -q '"policy": "foresight"' <<<"$out" || die "JSON: $out"
# Where the links forbid more, it is said and true: 20 blocks, 19 written, once over 6.527 GB/s.
expect 0 "$XYLEM" stencil --blocks 70 --iterations 2 --gpus 4
grep -Eq '^bound +66.5 ms with the transfers that no schedule avoids; makespan 1\.[0-2]' <<<"$out" || die "bound: $out"
# More tasks than memory could hold: said at once.
expect 1 timeout 20 "$XYLEM" stencil --blocks 1000000 --iterations 1000
one_line "$err"
says "$err" "the stencil has 1e+09 tasks, and runs have at most 3e+07"
expect 0 "$XYLEM" stencil --blocks 12x12 --iterations 4 --gpus 2 --memory 90MiB -o film.html --trace run.xyt
grep -q 'Domain against iteration' film.html || die "no picture"
for words in 'GPU 0' 'GPU 1' 'a line every '; do
    grep -q ">$words" film.html || die "the pictures do not say '$words'"
done
# How much of the transfers was hidden: one task hides nothing, a long run almost all.
expect 0 "$XYLEM" stencil --blocks 3 --iterations 1
grep -q '^hidden  *0.0 % ' <<<"$out" || die "hidden: $out"
expect 0 "$XYLEM" stencil --blocks 366 --policy closure
grep -Eq '^hidden +(9[0-9]|100)\.[0-9] % ' <<<"$out" || die "hidden: $out"
grep -Eq 'class="finding">[a-z-]+ takes [0-9.]+ m?s, [0-9.]+ times the compute bound' film.html || die "no finding"
expect 0 "$XYLEM" view run.xyt
# The view says the same of the trace, on one GPU and on two that hand data to each other.
for gpus in 1 2; do
    expect 0 "$XYLEM" stencil --blocks 60 --iterations 10 --memory 48MiB --gpus $gpus --trace run.xyt --json
    printf '%s\n' "$out" >stencil.json
    expect 0 "$XYLEM" view run.xyt --json
    printf '%s\n' "$out" >view.json
    python3 -c '
import json
run, view = json.load(open("stencil.json")), json.load(open("view.json"))
assert abs(view["total"]["overlap"] - run["hidden"]) < 1e-6, (view["total"], run["hidden"])
assert view["messages"] == run["loads"] + run["stores"] + run["peers"], (view["messages"], run)
'
done
# --proportional cuts the domain anew where the load has moved: without, both halves take turns to wait.
for option in --json --proportional; do
    expect 0 "$XYLEM" stencil --blocks 166 --gpus 2 --memory none --graph natural --policy cache-oblivious \
        --load dynamic --json "$option"
    printf '%s\n' "$out" >"cut$option.json"
done
python3 -c '
import json
fixed, moved = (json.load(open(f"cut--{name}.json"))["makespan"] for name in ("json", "proportional"))
assert moved < 0.93 * fixed, (fixed, moved)
'
# The pictures of the documents are still what the policies do.
for policy in eager dmdar cache-oblivious closure; do
    order=red-black
    [ $policy != cache-oblivious ] || order=natural
    expect 0 "$XYLEM" stencil --graph $order --blocks 48 --iterations 10 --memory 48MiB --policy $policy --svg now
    cmp now-time.svg "$XYLEM_SOURCE_DIR/docs/pictures/policy-$policy.svg" || die "$policy: make docs/pictures again"
done
printf 'policy eager dmdar\nblocks 16 20\niterations 5\n' >study.txt
expect 0 "$XYLEM" stencil --study study.txt --csv study.csv --page study.html
grep -Eq 'class="finding">[a-z]+ is the best of [0-9]+ policies, [0-9.]+ times the compute bound; [a-z]+ [0-9.]+ ' study.html || die "no finding"
grep -q '<rect class="f1"' study.html || die "two sizes are no bars"
[ "$(wc -l <study.csv)" = 5 ] || die "study.csv has $(wc -l <study.csv) lines"
head -1 study.csv | grep -q '^policy,ran,clock,machine,gpus,cpus,' || die "other columns: $(head -1 study.csv)"
[ "$(grep -c ',virtual,attila,1,0,' study.csv)" = 4 ] || die "study.csv does not say virtual"
# Pictures over any parameter: each value has its place, and its name is under it.
printf 'policy eager dmdar\nblocks 16\niterations 5\ngpus 1 2 3\ngraph red-black jacobi\nmemory 48MiB none\n' >over.txt
expect 0 "$XYLEM" stencil --study over.txt --page gpus.html
grep -q '>GPUs<' gpus.html || die "not over the first parameter that varies"
[ "$(grep -c '<circle' gpus.html)" = 48 ] || die "not three places for two policies in each of eight pictures"
for words in graph:red-black:jacobi memory:'48 MiB':'no limit'; do
    IFS=: read -r name one other <<<"$words"
    expect 0 "$XYLEM" stencil --study over.txt --page "$name.html" --over "$name"
    for word in "$one" "$other"; do
        grep -q ">$word<" "$name.html" || die "over $name: no bar named $word"
    done
done
expect 2 "$XYLEM" stencil --study over.txt --page a.html --over colour
one_line "$err"
says "$err" "a study is not drawn over 'colour'; known are blocks, gpus,"
expect 2 "$XYLEM" stencil --study over.txt --over gpus
one_line "$err"
for option in --trace=a.xyt -oa.html --svg=a; do
    expect 2 "$XYLEM" stencil --study study.txt "$option"
    one_line "$err"
done
for option in --csv=a.csv --page=a.html --threads=2; do
    expect 2 "$XYLEM" stencil "$option"
    one_line "$err"
done
printf 'colour blue\n' >bad.txt
expect 1 "$XYLEM" stencil --study bad.txt
# Names are checked before anything runs: the first of these runs would take minutes.
for table in 'policy eager closure nothing' 'eviction lru nothing' 'machine attila nothing'; do
    printf 'blocks 900\niterations 900\n%s\n' "$table" >bad.txt
    expect 1 timeout 20 "$XYLEM" stencil --study bad.txt --threads 1
    one_line "$err"
    says "$err" "nothing"
done
printf 'policy eager\npolicy nothing\n' >bad.txt
expect 1 "$XYLEM" stencil --study bad.txt
says "$err" "bad.txt:2: 'nothing' is not a value of policy; 'xylem stencil --list' names them"
expect 1 "$XYLEM" stencil --blocks 20 --memory 5MiB
expect 1 "$XYLEM" stencil --blocks 20 --policy nothing
expect 2 "$XYLEM" stencil --blocks 20y
# The time of a task is that of the machine's kernel, where it has one: 1 us + 2 * 1 MiB / 2 GiB/s.
for kernel in 'kernel-latency="1us" kernel-bandwidth="2147483648B/s"' ''; do
    cat >kernel.xml <<XML
<machine><node><gpus><gpu memory="1GiB" in-bandwidth="1GB/s" out-bandwidth="1GB/s" $kernel/></gpus><core/></node></machine>
XML
    expect 0 "$XYLEM" stencil --machine kernel.xml --blocks 5 --iterations 2 --block 1MiB --policy eager --json
    printf '%s\n' "$out" | grep -v scheduling >own.json
    expect 0 "$XYLEM" stencil --machine kernel.xml --blocks 5 --iterations 2 --block 1MiB --policy eager --json \
        --task-time "$([ -n "$kernel" ] && echo 977.5625us || echo 267us)"
    printf '%s\n' "$out" | grep -v scheduling | cmp - own.json
done
expect 2 "$XYLEM" stencil --blocks 20 --task-time soon
one_line "$err"
expect 2 "$XYLEM" stencil --blocks 20 --task-time -1s
one_line "$err"
# Numbers and files that make no sense: one line each, and no endless run.
expect 0 timeout 60 "$XYLEM" stencil --blocks 20 --iterations 3 --task-time 1e21
expect 1 "$XYLEM" stencil --blocks 20 --iterations 3 --task-time 1e308
one_line "$err"
for table in 'policy' '# nothing' 'memory 0' 'iterations 0' 'cells 4x4'; do
    echo "$table" >bad.txt
    expect 1 "$XYLEM" stencil --study bad.txt
    one_line "$err"
done
for load in '1 1e300' '1 0' '1 nan' ''; do
    echo "$load" >load.txt
    expect 1 "$XYLEM" stencil --blocks 20 --load load.txt
    one_line "$err"
done
# The result is printed even if there is no room for the picture.
expect 1 "$XYLEM" stencil --blocks 20 --iterations 3 -o no/such/directory.html
one_line "$err"
says "$out" makespan
