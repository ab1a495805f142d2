#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Make every page and picture that the tools write, and look at them in Chromium.
#
#   scripts/pages.sh DIR [NAME...]      pages in DIR, pictures of them in DIR/light, dark, phone and print
#   scripts/pages.sh --docs             make the screenshots in docs/pictures again, and the pictures heatmap and choose-sort
#
# Needs build/dev, chromium and pdftoppm (package poppler-utils). A NAME selects pages, such as 'view'. Pages are those of the commands
# of the documentation; nothing of them is measured, except the trace of 64 ranks. MODES selects the modes.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
PATH=$source/build/dev/bin:$PATH
export XYLEM_HISTORY=none-yet

[ $# -gt 0 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2; }
for tool in xylem chromium; do
    command -v "$tool" >/dev/null || { echo "pages: '$tool' was not found" >&2; exit 1; }
done

browse() {
    timeout -k 5 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files \
        --virtual-time-budget=4000 "$@" >/dev/null 2>&1
}

# shoot FILE PICTURE WIDTH HEIGHT [OPTION...]: a page as it is in a window of this size.
shoot() {
    browse "${@:5}" --window-size="$3,$4" --screenshot="$2" "file://$1"
    [ -s "$2" ] || { echo "pages: no picture of '$1'" >&2; return 1; }
}

# Windows have a least width; a phone is a frame in one.
phone() {
    printf '<!doctype html><body style="margin:0"><iframe src="%s" style="border:0;width:390px;height:1500px"></iframe>' \
        "file://$1" >"$out/frame.html"
    shoot "$out/frame.html" "$2" 500 1500
}

# The first page of paper.
printed() {
    browse --print-to-pdf="$out/print.pdf" --no-pdf-header-footer "file://$1"
    pdftoppm -r 70 -f 1 -l 1 -png -singlefile "$out/print.pdf" "${2%.png}"
}

# in_mode MODE FILE PICTURE
in_mode() {
    case $1 in
    light) shoot "$2" "$3" 1280 1400 ;;
    dark) shoot "$2" "$3" 1280 1400 --blink-settings=preferredColorScheme=0 ;;
    phone) phone "$2" "$3" ;;
    print) printed "$2" "$3" ;;
    esac
}

# The program and the study that several pages show.
make_inputs() {
    sed -n '/^> #include/,/^> END/p' "$source/docs/course/5-placement.md" | sed '/^> END/d; s/^> \{0,1\}//' >pairs.c
    printf 'policy closure dmdar eager\nblocks 66 166 266 366\ngpus 1\n' >study.txt
    sed -n '/cat >sort.problem/,/^> END/p' "$source/docs/adapt.md" | sed '1d;$d; s/^> \{0,1\}//' >sort.problem
    mpicc -g -O2 pairs.c -o pairs
    mpicc -g -O2 "$source/examples/heat2d.c" -o heat2d -lm
    xylem machine "node:8(latency=1us bandwidth=12.5GB/s) core:8" --xml cluster.xml
}

# write_NAME: one page or picture each, in the current directory.
write_view() { xylem view "$source/examples/heat.xyt" -o view.html; }
write_view_ranks() {
    mpiexec -n 64 --trace run.xyt ./heat2d >/dev/null
    xylem view run.xyt -o view_ranks.html
}
write_view_svg() { xylem view "$source/examples/heat.xyt" --svg view_svg.svg --from 0.2ms --to 0.8ms; }
write_report() { xylem report "$source/examples/imbalance.xyp" -o report.html; }
write_report_trace() {
    mpiexec --virtual cluster.xml --compute none -n 64 --trace virtual.xyt ./pairs >/dev/null
    xylem report virtual.xyt -o report_trace.html
}
write_view_virtual() { xylem view virtual.xyt -o view_virtual.html; }
write_predict() { xylem predict pairs.c -n 64 -m cluster.xml -o predict.html >/dev/null; }
write_sweep() { xylem predict pairs.c -m cluster.xml --sweep 'P=8..64*2' --svg sweep.svg >/dev/null; }
write_scan() { xylem scan pairs.c --show html >scan.html; }
write_nbc() { xylem bench nbc --simulate knl64 -c reduce -c bcast --ranks 32..63:8 --size 64K --size 2M --html nbc.html >/dev/null; }
write_nbc_svg() { xylem bench nbc --simulate knl64 -c reduce --ranks 32..63:4 --svg nbc_svg.svg >/dev/null; }
write_study() { xylem stencil --study study.txt --iterations 10 --csv study.csv --page study.html >/dev/null 2>&1; }
write_stencil() { xylem stencil --blocks 40 --iterations 20 --memory 24MiB -o stencil.html >/dev/null; }
write_monitor() {
    rm -rf talk
    mpiexec --virtual cluster.xml --compute none -n 64 --monitor talk ./pairs >/dev/null
    cp talk/*.html monitor.html
}
write_place() { xylem place talk/all.csv --machine cluster.xml --svg place.svg >/dev/null; }
write_heatmap() { xylem place talk/all.csv --machine cluster.xml --heatmap heatmap.svg >/dev/null; }
write_machine() { xylem machine haswell32 --svg machine.svg; }
write_costs() { xylem calibrate --show "$source/tests/data/cost/cores.xml" --html costs.html; }
write_regions() { xylem choose sort.problem --no-history --map n=10..1e6*2 --map p=2..64+2 --svg regions.svg >/dev/null; }
write_split() { xylem explain split reduce -m knl64 -n 58 --svg split.svg >/dev/null; }
all="view view_ranks view_svg report report_trace view_virtual predict sweep scan nbc nbc_svg study stencil monitor place heatmap
machine costs regions split"

# 1024 ranks, and the longest wait.
write_view_heat() {
    mpiexec --virtual "node:32(latency=1us bandwidth=12.5GB/s) core:32" --compute none -n 1024 --trace heat.xyt \
        ./heat2d 2000 20 >/dev/null
    xylem view heat.xyt -o view_heat.html
    echo '<script>setTimeout(() => dispatchEvent(new KeyboardEvent("keydown", { key: "w" })), 500)</script>' >>view_heat.html
}

make_docs() {
    write_view && shoot "$out/view.html" "$source/docs/pictures/view.png" 1440 760
    write_view_heat && shoot "$out/view_heat.html" "$source/docs/pictures/view-heat.png" 1440 760
    (cd "$source" && xylem place tests/data/place/treematch8.mat --machine 2x2x2 --heatmap docs/pictures/heatmap.svg >/dev/null)
    write_regions && cp regions.svg "$source/docs/pictures/choose-sort.svg"
    write_report && shoot "$out/report.html" "$source/docs/pictures/report.png" 1180 800
    write_monitor && shoot "$out/monitor.html" "$source/docs/pictures/monitor.png" 800 960
}

if [ "$1" = --docs ]; then
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    cd "$out"
    make_inputs
    make_docs
    exit
fi
mkdir -p "$1"
out=$(realpath "$1")
shift
cd "$out"
[ -s cluster.xml ] || make_inputs
for name in "${@:-$all}"; do
    # shellcheck disable=SC2086 # a list of names
    for page in $name; do
        "write_$page"
        file=$out/$page.html
        [ -e "$file" ] || file=$out/$page.svg
        for mode in ${MODES:-light dark phone print}; do
            mkdir -p "$mode"
            in_mode "$mode" "$file" "$out/$mode/$page.png"
        done
        echo "$page: $(wc -c <"$file") bytes, ${MODES:-light dark phone print}"
    done
done
rm -f frame.html print.pdf
