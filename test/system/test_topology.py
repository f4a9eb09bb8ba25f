# SPDX-License-Identifier: Apache-2.0
"""Fabrics, from the files to the nodes a job gets and what it finds in its environment."""
import pytest
from conftest import until

TREE = "SwitchName=leaf1 Nodes=node[1-4]\nSwitchName=leaf2 Nodes=node[5-8]\nSwitchName=spine Switches=leaf[1-2]\n"
YAML = """---
- topology: fabric
  cluster_default: true
  tree:
    switches:
      - switch: spine
        children: leaf[1-2]
      - switch: leaf1
        nodes: node[1-4]
      - switch: leaf2
        nodes: node[5-8]
- topology: racks
  block:
    block_sizes: [2, 4]
    blocks:
      - {block: b1, nodes: 'node[1-2]'}
      - {block: b2, nodes: 'node[3-4]'}
      - {block: b3, nodes: 'node[5-6]'}
      - {block: b4, nodes: 'node[7-8]'}
"""
CONF = ("ClusterName=ref\nSlurmctldHost=head\nNodeName=node[1-8] CPUs=2 RealMemory=1000\n"
        "PartitionName=debug Nodes=ALL Default=YES\n")


@pytest.fixture
def site(fresh, tmp_path):
    def up(conf, **files):
        (tmp_path / "slurm.conf").write_text(conf)
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        fresh.up("--conf", tmp_path / "slurm.conf")
        return fresh
    return up


def test_tree(site):
    c = site("TopologyPlugin=topology/tree\n" + CONF, topology_conf=TREE)
    assert c.ok("scontrol", "show", "topology") == (
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=node[1-4]\n"
        "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=node[5-8]\n"
        "SwitchName=spine Level=1 LinkSpeed=1 Nodes=node[1-8] Switches=leaf[1-2]\n")
    done = c.run("scontrol", "show", "topology", "leaf1")
    assert (done.code, done.out) == (0, "")
    assert done.err == "slurm_load_topo error: Requested topology configuration is not available\n"
    assert c.ok("scontrol", "show", "topology", "unit=leaf2", "node=node7").startswith("SwitchName=leaf2 ")
    assert c.run("scontrol", "show", "topology", "node=nowhere").code == 1
    env = c.ok("srun", "-w", "node6", "env")
    assert "SLURM_TOPOLOGY_ADDR=spine.leaf2.node6\n" in env and "SLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node\n" in env
    # one node of leaf1 is taken: three fit there best, four only below leaf2
    first = c.ok("sbatch", "--parsable", "-w", "node2", "--exclusive", "--wrap", "sleep 1000").strip()
    until(lambda: c.ok("squeue", "-h", "-j", first, "-o", "%T").strip() == "RUNNING")
    assert c.ok("srun", "-N3", "--exclusive", "-l", "printenv", "SLURM_JOB_NODELIST").splitlines()[0].endswith("node[1,3-4]")
    assert c.ok("srun", "-N4", "--exclusive", "printenv", "SLURM_JOB_NODELIST").splitlines()[0] == "node[5-8]"
    wide = c.ok("sbatch", "--parsable", "-N5", "--switches=1@1:00:00", "--wrap", "true").strip()
    assert "Switches=1@01:00:00" in c.ok("scontrol", "show", "job", wide)
    assert c.ok("squeue", "-h", "-j", wide, "-O", "ReqSwitch").strip() == "1"
    # the patience of two seconds ends; the first job keeps node2
    soon = c.ok("sbatch", "--parsable", "-N5", "--switches=1@0:02", "--wrap", "printenv SLURM_JOB_NODELIST").strip()
    c.ok("scancel", wide)
    assert c.ok("squeue", "-h", "-j", soon, "-o", "%r").strip() in ("Resources", "Priority", "None")
    until(lambda: (c.work / f"slurm-{soon}.out").exists() and (c.work / f"slurm-{soon}.out").read_text())
    assert (c.work / f"slurm-{soon}.out").read_text() == "node[1,5-8]\n"


def test_mistakes_leave_the_old_in_force(site):
    c = site(CONF, topology_conf=TREE)
    (c.dir / "etc/topology.conf").write_text(TREE + "SwitchName=leaf3 Nodes=node1\n")
    done = c.run("scontrol", "reconfigure")
    assert done.code == 1 and "topology.conf:4: node node1 is already in switch leaf1 (topology.conf:1)" in done.err, done
    assert c.ok("scontrol", "show", "topology", "unit=spine")
    check = c.run(c.bin / "slurmctld", "-t", "-f", c.conf)
    assert check.code == 1 and "topology.conf:4: node node1 is already in switch leaf1" in check.out, check
    (c.dir / "etc/topology.conf").write_text("SwitchName=only Nodes=node[1-8]\n")
    c.ok("scontrol", "reconfigure")
    assert c.ok("scontrol", "show", "topology") == "SwitchName=only Level=0 LinkSpeed=1 Nodes=node[1-8]\n"


def test_several_topologies(site):
    c = site(CONF + "PartitionName=racks Nodes=ALL Topology=racks\n", topology_yaml=YAML,
             topology_conf="SwitchName=ignored Nodes=node1\n")
    assert "SwitchName=spine Level=1" in c.ok("scontrol", "show", "topology")
    assert c.ok("scontrol", "show", "topology", "racks", "node=node6") == (
        "BlockName=b3 BlockIndex=2 Nodes=node[5-6] BlockSize=2\n"
        "AggregatedBlock=b[3-4] BlockIndex=5 Nodes=node[5-8] BlockSize=4\n")
    assert c.ok("srun", "-p", "racks", "-w", "node6", "printenv", "SLURM_TOPOLOGY_ADDR").strip() == "b3.node6"
    first = c.ok("sbatch", "--parsable", "-w", "node1", "--exclusive", "--wrap", "sleep 1000").strip()
    until(lambda: c.ok("squeue", "-h", "-j", first, "-o", "%T").strip() == "RUNNING")
    # b1 has one node left: a pair goes into one block, four into one aggregated block
    assert c.ok("srun", "-p", "racks", "-N2", "--exclusive", "printenv", "SLURM_JOB_NODELIST").split()[0] == "node[3-4]"
    assert c.ok("srun", "-p", "racks", "-N4", "--exclusive", "printenv", "SLURM_JOB_NODELIST").split()[0] == "node[5-8]"
    env = c.ok("srun", "-p", "racks", "-N3", "--segment=1", "--spread-segments", "--exclusive", "env")
    assert "SLURM_JOB_SEGMENT_SIZE=1\n" in env
