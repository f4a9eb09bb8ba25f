#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How fast it is on this machine: usage bench.py [--json FILE] [--only WORD] [--scale F].

Starts a virtual cluster of 8 nodes for each group of figures, measures, and prints one table.  The column on the
right is what Slurm 26.05 did on a 2-core machine.  --scale 0.1 does a tenth of the work, for a quick look."""
import argparse
import json
import os
import platform
import re
import select
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/lib"))
import wire  # noqa: E402

BIN = Path(os.environ.get("MUSTER_BIN", ROOT / "build/bin"))
NODES = 8
TICK = os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, scale):
        self.scale, self.rows = scale, []
        self.dir = None

    def count(self, n):
        return max(8, int(n * self.scale))

    # --- the cluster ---

    def start(self):
        self.dir = Path(tempfile.mkdtemp(prefix="mb-", dir="/tmp"))
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH"))}
        self.env.update(PATH=f"{BIN}:/usr/bin:/bin", SLURM_CONF=str(self.dir / "etc/slurm.conf"))
        self.muster("up", "--nodes", str(NODES), "--gpus", "8", "--cpus", "64")

    def stop(self):
        if self.dir:
            self.muster("down")
            shutil.rmtree(self.dir, ignore_errors=True)
            self.dir = None

    def muster(self, *args):
        done = subprocess.run([BIN / "muster", *args, "--dir", self.dir], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: muster {args[0]} failed: {done.stderr}")

    def run(self, *command):
        return subprocess.run([str(c) for c in command], env=self.env, cwd=self.dir, check=True, capture_output=True,
                              text=True).stdout

    def controller(self):
        return int((self.dir / "run/slurmctld.pid").read_text())

    def kill_controller(self):
        watch = os.pidfd_open(self.controller())
        signal.pidfd_send_signal(watch, signal.SIGKILL)
        select.select([watch], [], [])
        os.close(watch)

    def cpu(self):
        fields = Path(f"/proc/{self.controller()}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.controller()}/status").read_text())[1]) * 1024

    def wait_empty(self):
        while self.run("squeue", "-h", "-o", "%i"):
            time.sleep(0.02)

    # --- figures ---

    def row(self, name, value, unit, slurm=None, higher_is_better=True):
        factor = None
        if slurm and value:
            factor = value / slurm if higher_is_better else slurm / value
        self.rows.append({"name": name, "value": value, "unit": unit, "slurm": slurm, "factor": factor})
        print(f"  {self.line(self.rows[-1])}", flush=True)

    @staticmethod
    def line(r):
        number = f"{r['value']:,.0f}" if r["value"] >= 100 else f"{r['value']:.3g}"
        slurm = f"{r['slurm']:g}" if r["slurm"] else "-"
        factor = f"{r['factor']:.1f}x" if r["factor"] else ""
        return f"{r['name']:56} {number:>10} {r['unit']:8} {slurm:>6} {factor:>7}"

    def sbatch_many(self, total, parallel, *options):
        """Shells that call sbatch one time after the other, `parallel` of them at once."""
        loop = f"for i in $(seq {total // parallel}); do sbatch -Q -o /dev/null {shlex.join(options)} >/dev/null || exit 1; done"
        start = time.monotonic()
        shells = [subprocess.Popen(["bash", "-c", loop], env=self.env, cwd=self.dir) for _ in range(parallel)]
        if any(s.wait() for s in shells):
            sys.exit("bench: sbatch failed")
        return (total // parallel) * parallel / (time.monotonic() - start)

    def submissions(self):
        """sbatch to the acknowledged number; the jobs are held, so that only submitting is measured."""
        self.row("submissions by one sbatch after the other", self.sbatch_many(self.count(400), 1, "-H", "--wrap", "true"),
                 "jobs/s", 300)
        self.row("submissions by 8 sbatch side by side", self.sbatch_many(self.count(1600), 8, "-H", "--wrap", "true"),
                 "jobs/s", 200)

    def throughput(self):
        jobs = self.count(2000)
        script = self.dir / "true.sh"
        script.write_text("#!/bin/true\n")
        cpu, start = self.cpu(), time.monotonic()
        self.sbatch_many(jobs, 8, str(script))
        self.wait_empty()
        self.row(f"{jobs} batch jobs of /bin/true, submit to completion", jobs / (time.monotonic() - start), "jobs/s", 65)
        self.row("controller CPU for each of them", (self.cpu() - cpu) / jobs * 1000, "ms", 2.5, False)
        cpu, start = self.cpu(), time.monotonic()
        self.run("sbatch", "-Q", "-o", "/dev/null", f"--array=1-{jobs}", script)
        self.wait_empty()
        self.row(f"one array of {jobs} tasks, submit to completion", jobs / (time.monotonic() - start), "jobs/s", 65)
        self.row("controller CPU for each of its tasks", (self.cpu() - cpu) / jobs * 1000, "ms", 2.5, False)

    def steps(self):
        for label, options, times, slurm in (("srun -n1 true", "-n1", self.count(50), 38),
                                             ("srun -N8 -n64 true", "-N8 -n64", self.count(20), 310)):
            script = (f"srun {options} true; for i in $(seq {times}); do a=$EPOCHREALTIME; srun {options} true; "
                      "b=$EPOCHREALTIME; echo $(( ${b/./} - ${a/./} )); done")
            out = self.run("salloc", "-Q", f"-N{NODES}", "-n64", "bash", "-c", script)
            self.row(f"{label} inside an allocation", statistics.median(map(int, out.split())) / 1000, "ms", slurm, False)

    def fill(self, count):
        """Pending jobs over one connection, many requests at a time; each is acknowledged like any other."""
        link = wire.Connection.open(self.port(), self.dir / "run/auth.sock")
        request = {"spec": {"name": "filler", "hold": True, "batch": True, "work_dir": "/tmp", "std_out": "/dev/null",
                            "std_err": "/dev/null", "command": "true.sh", "request": {"nodes_min": 1}},
                   "script": b"#!/bin/true\n", "env": b"PATH=/usr/bin:/bin\0HOME=/root\0"}
        window, sent, done = 512, 0, 0
        start = time.monotonic()
        while done < count:
            while sent < count and sent - done < window:
                link.send("submit", dict(request, token=int(start * 1e6) * 1000000 + sent + 1))
                sent += 1
            link.receive()
            done += 1
        return count / (time.monotonic() - start)

    def port(self):
        return int(re.search(r"^SlurmctldPort=(\d+)", (self.dir / "etc/slurm.conf").read_text(), re.M)[1])

    def timed(self, *command, times=5):
        took = []
        for _ in range(times):
            start = time.monotonic()
            self.run(*command)
            took.append(time.monotonic() - start)
        return statistics.median(took) * 1000

    def queue(self):
        empty, filled = self.memory(), 0
        for total in (self.count(20000), self.count(100000)):
            rate = self.fill(total - filled)
            filled = total
            self.row(f"squeue with {total} pending jobs", self.timed("squeue", "-h"), "ms")
            self.row(f"squeue -j one of {total} pending jobs", self.timed("squeue", "-h", "-j", total // 2), "ms")
        self.row("submissions over one connection (no process start)", rate, "jobs/s")
        self.row("controller memory for each pending job", (self.memory() - empty) / filled, "bytes")
        self.kill_controller()
        start = time.monotonic()
        self.muster("up")
        self.run("squeue", "-h", "-j", "1")
        self.row(f"restart after kill -9 with {filled} jobs, to the first answer", (time.monotonic() - start) * 1000, "ms")

    # --- without a cluster ---

    def placement(self):
        """Finding nodes for one job: half of the nodes busy, a tree of three levels (test/bench/placement.c)."""
        out = self.tool("bench-placement", "10000", "100000")
        for line in out.splitlines():
            nodes, what, value, _ = line.split("\t")
            self.row(f"placing {what} among {int(nodes):,} nodes" if "pool" not in what else
                     f"preparing a pass over {int(nodes):,} nodes", float(value), "us")

    def fragmentation(self):
        """GPUs nobody can use when the first request fails, on a public trace (test/bench/fragmentation.c)."""
        traces = ROOT.parent / "shared/traces"
        files = [traces / "openb_node_list_gpu_node.csv", traces / "openb_pod_list_default.csv"]
        if not all(f.exists() for f in files):
            print("  (fragmentation skipped: the openb traces are not in ../shared/traces)")
            return
        for line in self.tool("bench-fragmentation", *files, str(self.count(10))).splitlines():
            policy, left = line.split("\t")
            self.row(f"GPUs left of 6,212 at the first failure, {policy}", float(left), "GPUs")

    def tool(self, name, *args):
        path = BIN.parent / "test/bench" / name
        return subprocess.run([str(path), *map(str, args)], check=True, capture_output=True, text=True).stdout


def conditions():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return {"cpu": model[1] if model else platform.machine(), "cores": os.cpu_count(), "kernel": platform.release(),
            "date": time.strftime("%Y-%m-%d"), "nodes": NODES,
            "load": os.getloadavg()[0]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    parser.add_argument("--only", help="submissions, throughput, steps, queue, placement or fragmentation")
    parser.add_argument("--scale", type=float, default=1.0)
    args = parser.parse_args()
    bench = Bench(args.scale)
    where = conditions()
    print(f"muster: measuring on {where['cores']} cores of {where['cpu']}, {NODES} virtual nodes")
    print(f"  {'':56} {'here':>10} {'':8} {'Slurm':>6} {'':>7}")
    for group in (bench.submissions, bench.throughput, bench.steps, bench.queue):
        if args.only and args.only != group.__name__:
            continue
        try:
            bench.start()
            group()
        finally:
            bench.stop()
    for group in (bench.placement, bench.fragmentation):
        if not args.only or args.only == group.__name__:
            group()
    if args.json:
        Path(args.json).write_text(json.dumps({"conditions": where, "rows": bench.rows}, indent=1) + "\n")
        print(f"muster: also in {args.json}")


main()
