# SPDX-License-Identifier: BSD-3-Clause
"""Run the completion scripts in bash, zsh and fish: completion.py BUILD.

Each shell must offer every option of every table ('xylem help --json'), every value of a closed set, and the names of
machines. bash and zsh are also asked at a terminal, with the tab key. A shell that is not installed is left out.
"""
import json
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(sys.argv[1]).resolve()
SHARE, BIN = BUILD / "share", BUILD / "bin"
WORK = tempfile.TemporaryDirectory(prefix="xylem-completion-")
ENVIRONMENT = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": WORK.name, "TERM": "dumb", "LC_ALL": "C.UTF-8"}
failures = []


def run(*command, stdin=None):
    result = subprocess.run([str(word) for word in command], input=stdin, capture_output=True, text=True, timeout=300,
                            env=ENVIRONMENT, cwd=WORK.name, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{command}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


# ---- The shells: a list of lines in, a list of sets of answers out ----

def ask_bash(lines):
    script = [f". {SHARE}/bash-completion/completions/xylem", "compopt() { :; }"]
    for line in lines:
        words = [part for word in line.split(" ") for part in re.findall(r"[=:]|[^=:]+", word) or [""]]
        script += [f"COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)} COMPREPLY=()",
                   f"COMP_WORDS=({' '.join(map(shlex.quote, words))}) COMP_CWORD={len(words) - 1}",
                   f"_xylem {shlex.quote(line.split(' ')[0])}; printf '%s\\n' \"${{COMPREPLY[@]}}\"; echo '%'"]
    out = run("bash", "--norc", stdin="\n".join(script) + "\n")
    answers = [set(part.split("\n")) - {""} for part in out.split("%\n")[:-1]]
    # As the other shells answer: the whole word.
    cuts = [re.match(r"(.*[=:])?", line.split(" ")[-1])[0] for line in lines]
    return [{cut + word for word in answer} for cut, answer in zip(cuts, answers)]


ZSH = r"""
fpath=(SHARE/zsh/site-functions $fpath)
autoload -Uz _xylem
_describe() { local w; for w in "${(@P)2}"; do w=${w//\\:/$'\1'}; w=${w%%:*}; print -r -- ${w//$'\1'/:}; done; }
_files() { print -rl -- *(N) }
_default() { : }
compset() { : }
"""


def ask_zsh(lines):
    script = [ZSH.replace("SHARE", str(SHARE))]
    for line in lines:
        words = line.split(" ")
        script += [f"words=({' '.join(shlex.quote(word) for word in words)}); CURRENT={len(words)}; _xylem; print %"]
    out = run("zsh", "-f", stdin="\n".join(script) + "\n")
    return [set(part.split("\n")) - {""} for part in out.split("%\n")[:-1]]


def ask_fish(lines):
    script = [f"set fish_complete_path {SHARE}/fish/vendor_completions.d"]
    for line in lines:
        script += [f"complete -C {shlex.quote(line)}; echo %"]
    out = run("fish", "--no-config", stdin="\n".join(script) + "\n")
    return [{word.split("\t")[0] for word in part.split("\n")} - {""} for part in out.split("%\n")[:-1]]


ASK = {"bash": ask_bash, "zsh": ask_zsh, "fish": ask_fish}
START = {
    "bash": (["bash", "--norc", "-i"], f"PS1='> '; . {SHARE}/bash-completion/completions/xylem"),
    "zsh": (["zsh", "-f", "-i"], f"PS1='> '; fpath=({SHARE}/zsh/site-functions $fpath); autoload -Uz compinit; "
                                 "compinit -u -D"),
}


def press_tab(shell, line, expected):
    """What a terminal shows after the tab key, until `expected` is there."""
    command, setup = START[shell]
    child, terminal = pty.fork()
    if child == 0:
        os.environ.clear()
        os.environ.update(ENVIRONMENT)
        os.chdir(WORK.name)
        os.execvp(command[0], command)
    shown, end = "", time.monotonic() + 120
    todo = [(None, setup + "; echo rea''dy\n"), ("ready\r\n", line + "\t"), (expected, None)]
    try:
        while todo and time.monotonic() < end:
            awaited, text = todo[0]
            if awaited is None or awaited in shown:
                todo.pop(0)
                shown = "" if text else shown
                os.write(terminal, (text or "").encode())
            elif select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 65536).decode(errors="replace").replace("\a", "")
    except OSError:
        pass
    os.close(terminal)
    os.waitpid(child, 0)
    if todo:
        failures.append(f"{shell}: '{line}' and the tab key show no '{expected}': {shown!r}")


# ---- What must be offered ----

def expectations(tables, machines):
    """(line, words that must be offered, whether these are all)."""
    for call, options in tables.items():
        dash = "-" if call.split(" ")[-1] in ("mpicc", "mpicxx", "mpifort", "cc", "c++") else "--"
        names = {o["name"].split("=")[0] + "=" * ("=" in o["name"]) for o in options}
        if dash == "--":
            yield f"{call} --", {f"--{n}" for n in names if len(n) > 1 or "mpiexec" != call != "xylem run"} | {
                "--help", "--help-all"}, True
            letters = {f"-{n}" for n in names if len(n) == 1}
        else:
            letters = {f"-{n}" for n in names}
        yield f"{call} -", letters, dash == "-"
        for option in options:
            name = f"--{option['name']}"
            if not option["choices"]:
                continue
            if option["argument"].startswith("[="):
                yield f"{call} {name}=", {f"{name}={c}" for c in option["choices"]}, True
            else:
                yield f"{call} {name} ", set(option["choices"]), option["kind"] == "choice"
    for line in ("mpiexec --virtual ", "xylem machine ", "xylem predict --machine ", "xylem stencil -m "):
        yield line, machines, False
    yield "mpiexec --progress=t", {"--progress=tasks", "--progress=threads"}, True
    yield "mpiexec -n 4 --check=leaks,se", {"--check=leaks,sends"}, True
    yield "mpiexec --progress-place bcast=numa,reduce=od", {"bcast=numa,reduce=odd-even"}, True
    yield "mpiexec --algorithm allreduce=ri", {"allreduce=ring"}, True
    yield "xylem predict --algorithm recursive-d", {"recursive-doubling"}, True
    yield "xylem explain coll -a bruc", {"bruck"}, True
    yield "xylem calibrate --kernels dgemm,dtrt", {"dgemm,dtrtri"}, True
    yield "xylem bench nbc --against openmpi,m", {"openmpi,mpich"}, True
    yield "mpirun -comm-c", {"-comm-cores"}, True
    yield "mpiexec -n 2 ./a : --env", {"--env", "--envall"}, True
    yield "mpiexec -n 2 ./a --env", set(), True
    yield "mpiexec -n ", set(), True
    yield "mpiexec --trace ./fi", {"./file.xyt"}, True
    yield "mpiexec --trace=fi", {"--trace=file.xyt"}, True
    yield "mpicc -showme:li", {"-showme:libs", "-showme:libdirs", "-showme:link"}, True
    yield "mpif90 -fc", {"-fc="}, True
    yield "mpicc fi", {"file.xyt"}, True
    yield "xylem hel", {"help"}, True
    yield "xylem explain co", {"coll", "cost"}, True
    yield "xylem stencil --eviction l", {"lru"}, True
    yield f"{WORK.name}/other/mpiexec --comm", set(), True


def check(shell, wanted):
    lines = [line for line, _, _ in wanted]
    answers = ASK[shell](lines)
    if len(answers) != len(lines):
        raise SystemExit(f"{shell} answers {len(answers)} of {len(lines)} lines")
    for (line, words, is_all), answer in zip(wanted, answers):
        # File names are the shell's own: bash adds them itself, the stubs of zsh list the directory.
        files = {word for word in words | answer if "file.xyt" in word or word in ("other", "other/")}
        missing = words - answer - (files if shell != "fish" else set())
        extra = answer - words - files if is_all else set()
        if missing or extra:
            failures.append(f"{shell}: '{line}': missing {sorted(missing)}, too many {sorted(extra)}")


def main():
    told = json.loads(run(BIN / "xylem", "help", "--json"))
    tables = {}
    for verb in told["verbs"]:
        tables[f"xylem {verb['name']}"] = verb["options"]
        for sub in verb.get("verbs", []):
            tables[f"xylem {verb['name']} {sub['name']}"] = sub["options"]
    tables |= {"mpiexec": tables["xylem run"], "mpicc": tables["xylem cc"], "mpicxx": tables["xylem c++"]}
    machines = set(run(BIN / "xylem", "machine", "--list").split())
    (Path(WORK.name) / "file.xyt").write_text("", encoding="utf-8")
    (Path(WORK.name) / "other").mkdir()
    (Path(WORK.name) / "other/mpiexec").write_text("", encoding="utf-8")
    (Path(WORK.name) / "other/mpiexec").chmod(0o755)
    wanted = list(expectations(tables, machines))
    for shell in ASK:
        if not shutil.which(shell):
            print(f"left out: {shell} is not installed (see packages.txt)")
            continue
        check(shell, wanted)
        if shell in START:
            press_tab(shell, "mpiexec --comm-c", "--comm-cores")
            press_tab(shell, "mpiexec --progress=thr", "--progress=threads")
            press_tab(shell, "mpicc -showme:comp", "-showme:compile")
            press_tab(shell, "xylem machine knl6", "knl64")
        print(f"{shell}: {len(wanted)} lines")
    script = SHARE / "bash-completion/completions/xylem"
    if shutil.which("shellcheck"):
        run("shellcheck", "-s", "bash", "-e", "SC2207,SC2034", script)
    usage = run(BIN / "mpicc", "-help")
    for option in tables["xylem cc"]:
        for part in option["name"].split(":"):
            if part.split("=")[0] not in usage:
                failures.append(f"'mpicc -help' omits '-{option['name']}', which its table has")
    print("\n".join(failures))
    return 1 if failures else 0


sys.exit(main())
